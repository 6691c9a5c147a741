//! Controllers of a run in the kernel's TCP. Each has a thread, which decides for the connections
//! of its flows.

use crate::LiveError;
use crate::thread::sharpen;
use accord_family::Values;
use accord_kernel::{Attached, Ended, Error, Status};
use accord_scenario::{Carrier, Congestion, Flow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{JoinHandle, spawn};

/// The attached controllers. They are detached when this is dropped or the process ends, however it
/// ends.
#[derive(Debug, Default)]
pub struct Deciders {
    all: Vec<Decider>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Decider {
    values: Arc<Values>,
    /// The name of the congestion control.
    name: String,
    thread: JoinHandle<Result<Status, Error>>,
}

impl From<Error> for LiveError {
    fn from(e: Error) -> LiveError {
        match e {
            Error::Wrong(why) => LiveError::Scenario(why),
            Error::Unable(why) => LiveError::Unable(why),
        }
    }
}

/// Returns the controllers of the flows that have `kernel = "accord"`, each once.
pub fn controllers<'a>(flows: impl IntoIterator<Item = &'a Flow>) -> Vec<&'a Arc<Values>> {
    let mut all = Vec::new();
    for flow in flows {
        if flow.carrier == Carrier::Kernel(Congestion::Accord) && !all.contains(&&flow.controller) {
            all.push(&flow.controller);
        }
    }
    all
}

/// Returns a name of a congestion control that no other run uses.
fn name() -> String {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed) % 0x10_0000;
    // At most 14 of the 15 bytes that the kernel allows.
    format!("a{:x}_{run:x}", std::process::id())
}

impl Deciders {
    /// Attaches the controllers of these flows.
    ///
    /// # Errors
    ///
    /// Fails if the machine or the user's permissions do not allow it, or this build cannot.
    pub fn start<'a>(flows: impl IntoIterator<Item = &'a Flow>) -> Result<Deciders, LiveError> {
        let mut deciders = Deciders::default();
        for values in controllers(flows) {
            let (name, stop, values) = (name(), deciders.stop.clone(), values.clone());
            let (done, attached) = channel();
            let of = (name.clone(), values.clone());
            let thread = spawn(move || decide(&of.0, &of.1, &done, &stop));
            // Without an answer the thread has ended with the reason.
            let failed = attached.recv().is_err();
            deciders.all.push(Decider { values, name, thread });
            if failed {
                deciders.finish()?;
            }
        }
        Ok(deciders)
    }

    /// Returns the name of the congestion control that is the controller of this flow.
    pub fn name_of(&self, flow: &Flow) -> Option<&str> {
        let decider = self.all.iter().find(|d| d.values == flow.controller);
        decider.map(|d| d.name.as_str())
    }

    /// Detaches the controllers, and returns their states at the end.
    ///
    /// # Errors
    ///
    /// Fails if a thread could not decide.
    pub fn finish(&mut self) -> Result<Vec<Status>, LiveError> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.all.drain(..).map(|decider| decider.thread.join());
        let ended: Vec<_> = ended.collect();
        let mut states = Vec::new();
        for end in ended {
            match end {
                Ok(state) => states.push(state?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(states)
    }
}

impl Drop for Deciders {
    fn drop(&mut self) {
        // An error ended the run before.
        let _ = self.finish();
    }
}

/// Attaches a controller, reports its attachment, and decides until the end.
fn decide(
    name: &str,
    values: &Values,
    done: &Sender<()>,
    stop: &AtomicBool,
) -> Result<Status, Error> {
    let attached = Attached::new(name, values)?;
    sharpen();
    // The receiver waits for it.
    let _ = done.send(());
    let mut watch = || stop.load(Ordering::Relaxed).then_some(Ended::Stopped);
    attached.serve(&[], &mut watch).map(|(_, state)| state)
}

/// Returns notes on the decisions of a run, and the reason why it cannot be judged, if there is one.
pub fn notes(states: &[Status]) -> (Vec<String>, Option<String>) {
    let mut notes = Vec::new();
    let mut unfit = None;
    for state in states {
        let (controller, ages) = (state.controller, state.decision_age_s);
        notes.push(format!(
            "{controller} in the kernel's TCP, connections: {}; decisions after {:.2} ms (mean), {:.2} ms \
             (99 %), {:.2} ms (maximum)",
            state.connections_total,
            ages.mean * 1e3,
            ages.p99 * 1e3,
            ages.max * 1e3,
        ));
        for problem in state.problems() {
            notes.push(format!("{controller}: {problem}"));
        }
        let reno =
            [state.failed_connections_total, state.refused_connections_total, state.silences_total];
        if let Some(why) = state.problems().first()
            && reno.iter().any(|count| *count > 0)
        {
            unfit.get_or_insert_with(|| {
                format!("connections in the kernel's TCP had Reno in place of {controller} ({why})")
            });
        }
    }
    (notes, unfit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(of: impl Fn(&mut Status)) -> Status {
        let values = accord_control::FAMILIES[0].defaults();
        let registry = accord_kernel::Registry::new(values);
        let base = Status { controller: "copa", ..Status::default() };
        let mut state = accord_kernel::status(&registry, base, |_| Default::default());
        of(&mut state);
        state
    }

    #[test]
    fn a_run_in_which_reno_stood_in_is_not_judged() {
        let (all, unfit) = notes(&[state(|s| s.connections_total = 2)]);
        assert_eq!((all.len(), unfit), (1, None));
        assert!(all[0].starts_with("copa in the kernel's TCP, connections: 2; "));
        // A report that found no room is made up for by the next one.
        let (all, unfit) = notes(&[state(|s| s.lost_reports_total = 3)]);
        assert_eq!((all.len(), unfit), (2, None));
        for of in [
            |s: &mut Status| s.silences_total = 1,
            |s: &mut Status| s.refused_connections_total = 1,
            |s: &mut Status| {
                s.failed_connections_total = 1;
                s.failure = Some("it panicked".into());
            },
        ] {
            let (all, unfit) = notes(&[state(|_| ()), state(of)]);
            assert_eq!(all.len(), 3, "{all:?}");
            assert!(unfit.is_some_and(|why| why.contains("Reno in place of copa")));
        }
    }

    #[test]
    fn controllers_are_attached_once_and_names_differ() {
        let s = crate::tests::read(
            r#"
            duration = "1 s"
            topology.dumbbell = { rate = "1 Mbps", delay = "20 ms" }
            [flow.a]
            from = "left"
            to = "right"
            packet = "1500 B"
            controller = "copa"
            each = [
                { kernel = "accord" },
                { kernel = "accord" },
                { kernel = "accord", controller = { name = "copa", delta = 0.25 } },
                { kernel = "cubic" },
                {},
            ]
            "#,
        );
        let found: Vec<_> = controllers(&s.flows).into_iter().cloned().collect();
        assert_eq!(found, [s.flows[0].controller.clone(), s.flows[2].controller.clone()]);
        let names = [name(), name()];
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| accord_kernel::check_name(name).is_ok()));
    }
}
