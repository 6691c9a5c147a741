//! Interrupts and progress of work that runs without the interpreter's lock.

use crate::own::failure;
use accord::record::{Interrupted, Observer};
use accord::units::Time;
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// The polling interval of the interpreter.
const PERIOD: Duration = Duration::from_millis(50);

/// Polls the interpreter for interrupts.
pub struct Watch<'a> {
    /// Called with the completed fraction, from 0 to 1.
    progress: Option<&'a Py<PyAny>>,
    /// The end of the run in seconds.
    end: f64,
    next: Instant,
    /// The exception that stopped the work.
    pub stopped: Option<PyErr>,
}

impl<'a> Watch<'a> {
    /// Returns a watch of a run that ends at `end` seconds.
    pub fn new(progress: Option<&'a Py<PyAny>>, end: f64) -> Watch<'a> {
        Watch { progress, end, next: now() + PERIOD, stopped: None }
    }

    /// Fails if the user or the callback stops the work. `part` is the completed fraction, from 0
    /// to 1.
    pub fn look(&mut self, part: f64) -> Result<(), Interrupted> {
        let now = now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + PERIOD;
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match self.progress {
                Some(progress) => progress.call1(py, (part,)).map(drop),
                None => Ok(()),
            }
        });
        asked.map_err(|e| {
            self.stopped = Some(e);
            Interrupted
        })
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        if let Some(e) = failure() {
            self.stopped = Some(e);
            return Err(Interrupted);
        }
        self.look((now.as_secs_f64() / self.end).min(1.0))
    }
}

#[allow(clippy::disallowed_methods, reason = "polling the interpreter does not affect results")]
fn now() -> Instant {
    Instant::now()
}
