//! The progress bar: simulated time over all runs, speed, and time left.

use crate::capture::CaptureFile;
use crate::fail::{Failure, INTERRUPTED_TEXT};
use crate::output::{is_dumb, note};
use crate::qlogs::QlogDir;
use accord::record::{Interrupted, Observer};
use accord::units::{Duration, Time};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by an interrupt from the keyboard, by SIGTERM or by SIGHUP.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Set while an interrupt may end the program at once.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// The time that work has to end in order after an interrupt. Work that does not poll, such as
/// creating a network of many flows, is then ended. Only that work is lost,
/// since a file is written under a temporary name (`.NAME.PROCESS-N.partial`) and then renamed.
const GRACE: std::time::Duration = std::time::Duration::from_secs(1);

/// Installs the handler: from now on an interrupt ends runs in order and does not kill the program.
pub fn watch_interrupts() {
    // It fails only if a handler is set already, which is fine.
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        if !again {
            if !AT_ONCE.load(Ordering::SeqCst) {
                #[expect(clippy::disallowed_methods, reason = "it waits for the other threads")]
                std::thread::sleep(GRACE);
            }
            note(INTERRUPTED_TEXT);
        }
        std::process::exit(130);
    });
}

/// Installs a handler for a command whose programs get the same interrupt: it is noted, and the record
/// is written. A second one ends the program.
pub fn watch_gently() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Does work that cannot be interrupted in order, and that leaves nothing half done. An interrupt
/// during it ends the program at once.
pub fn at_once<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    AT_ONCE.store(true, Ordering::SeqCst);
    // An interrupt before the previous line did not end the program.
    if interrupted() {
        return Err(Failure::Interrupted);
    }
    let done = work();
    AT_ONCE.store(false, Ordering::SeqCst);
    if interrupted() { Err(Failure::Interrupted) } else { Ok(done) }
}

/// Returns true if the user has interrupted the program.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A bar on a terminal, removed at its end.
pub struct Bar(ProgressBar);

impl Bar {
    fn new(length: u64, quiet: bool, template: &str) -> Bar {
        let target = if quiet || is_dumb() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        Bar(bar)
    }

    /// Counts a part as done.
    pub fn done(&self) {
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress of an iteration towards its tolerance, in digits.
pub struct Convergence {
    bar: Bar,
    digits: f64,
}

impl Convergence {
    /// Returns a bar from a residual of 1 down to `tolerance`. It is drawn on a terminal only, and
    /// not if `quiet`.
    pub fn new(tolerance: f64, quiet: bool) -> Convergence {
        let bar = Bar::new(100, quiet, "{bar:30} {msg}  {elapsed} gone");
        Convergence { bar, digits: -tolerance.log10() }
    }

    pub fn show(&self, steps: usize, residual: f64) {
        let done = (-residual.log10() / self.digits).clamp(0.0, 1.0);
        self.bar.0.set_position((100.0 * done) as u64);
        self.bar.0.set_message(format!("step {steps}, residual {residual:.0e}"));
    }
}

/// Returns the progress over parts of a task of about the same duration, which [`Bar::done`] counts. It
/// is drawn on a terminal only, and not if `quiet`.
pub fn parts(parts: usize, quiet: bool) -> Bar {
    let bar = Bar::new(parts as u64, quiet, "{bar:30} {pos} of {len} points  {elapsed} gone");
    // A single part can take long, so the elapsed time is updated as well.
    bar.0.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}

/// Progress over several runs at once.
pub struct Progress(Bar);

impl Progress {
    /// Returns a bar for `total` of simulated time. It is drawn on a terminal only, and not if
    /// `quiet`.
    pub fn new(total: Duration, quiet: bool) -> Progress {
        let template = "{bar:30} {percent:>3} %  {msg}  {elapsed} gone, {eta} left";
        Progress(Bar::new(millis(total), quiet, template))
    }

    /// Prints a message above the bar.
    pub fn note(&self, text: impl Display) {
        self.0.0.suspend(|| note(text));
    }

    /// Runs `print` above the bar.
    pub fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.0.suspend(print)
    }

    /// Counts this amount of simulated time as done.
    pub fn pass(&self, time: Duration) {
        self.0.0.inc(millis(time));
    }

    /// Returns an observer for one run, which writes its packets to `capture`, and the logs of its
    /// senders to `logs`.
    pub fn observe<'a>(
        &'a self,
        capture: Option<&'a CaptureFile>,
        logs: Option<&'a QlogDir>,
    ) -> Observing<'a> {
        Observing { progress: self, reached: Time::ZERO, capture, logs }
    }
}

fn millis(d: Duration) -> u64 {
    d.as_ps() / 1_000_000_000
}

/// The observer of one run.
pub struct Observing<'a> {
    progress: &'a Progress,
    reached: Time,
    capture: Option<&'a CaptureFile>,
    logs: Option<&'a QlogDir>,
}

impl Observer for Observing<'_> {
    fn wants_packets(&self) -> bool {
        self.capture.is_some()
    }

    fn packets(&mut self, bytes: &[u8]) {
        if let Some(capture) = self.capture {
            capture.write(bytes);
        }
    }

    fn wants_logs(&self) -> bool {
        self.logs.is_some()
    }

    fn log(&mut self, flow: usize, records: &str) {
        if let Some(logs) = self.logs {
            logs.write(flow, records);
        }
    }

    fn stack_log(&mut self, flow: usize, end: usize, bytes: &[u8]) {
        if let Some(logs) = self.logs {
            logs.write_of_stack(flow, end, bytes);
        }
    }

    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        if INTERRUPTED.load(Ordering::SeqCst) {
            return Err(Interrupted);
        }
        let bar = &self.progress.0.0;
        bar.inc(millis(now.since_start()) - millis(self.reached.since_start()));
        self.reached = now;
        if !bar.is_hidden() {
            let simulated = bar.position() as f64 / 1e3;
            let speed = simulated / bar.elapsed().as_secs_f64().max(1e-3);
            bar.set_message(format!("{simulated:.1} s simulated, {speed:.1} x real time"));
        }
        Ok(())
    }
}
