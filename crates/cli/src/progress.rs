//! The progress bar: simulated time over all runs, speed, and time left.

use accord_scenario::{Interrupted, Observer};
use accord_units::{Duration, Time};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by an interrupt from the keyboard.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on, an interrupt ends runs in order instead of killing the program.
pub fn watch_interrupts() {
    // It fails only where a handler is set already, which is as good.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// Progress over several runs at once.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for `total` of simulated time. It is drawn on a terminal only, and not if `quiet`.
    pub fn new(total: Duration, quiet: bool) -> Progress {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        };
        let bar = ProgressBar::with_draw_target(Some(millis(total)), target);
        let style = ProgressStyle::with_template(
            "{bar:30} {percent:>3} %  {msg}  {elapsed} gone, {eta} left",
        )
        .expect("a valid template");
        bar.set_style(style);
        Progress { bar }
    }

    /// An observer for one run.
    pub fn observe(&self) -> Observing<'_> {
        Observing {
            progress: self,
            reached: Time::ZERO,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn millis(d: Duration) -> u64 {
    d.as_ps() / 1_000_000_000
}

/// Listens to one run.
pub struct Observing<'a> {
    progress: &'a Progress,
    reached: Time,
}

impl Observer for Observing<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        let bar = &self.progress.bar;
        bar.inc(millis(now.since_start()) - millis(self.reached.since_start()));
        self.reached = now;
        if !bar.is_hidden() {
            let simulated = bar.position() as f64 / 1e3;
            let speed = simulated / bar.elapsed().as_secs_f64().max(1e-3);
            bar.set_message(format!(
                "{simulated:.1} s simulated, {speed:.1} x real time"
            ));
        }
        Ok(())
    }
}
