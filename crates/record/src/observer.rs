//! Observers of a run in progress.

use crate::run::Series;
use accord_units::Time;

/// The run was asked to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// An observer of a run in progress. It can stop the run, but cannot affect it otherwise.
pub trait Observer {
    /// Notifies the observer that the run has reached `now`. The call is frequent, so it must be
    /// quick. `Err` stops the run.
    fn progress(&mut self, now: Time) -> Result<(), Interrupted>;

    /// Returns whether the observer wants the record so far. Slow engines ask after each sample.
    fn wants_record(&mut self) -> bool {
        false
    }

    /// Takes the record so far: the times of the samples, and the series.
    fn recorded(&mut self, _time: Vec<f64>, _series: Vec<Series>) {}

    /// Returns whether the observer wants all packets that leave a port, as bytes of a pcapng file.
    fn wants_packets(&self) -> bool {
        false
    }

    /// Takes the next bytes of that file.
    fn packets(&mut self, _bytes: &[u8]) {}

    /// Returns whether the observer wants the logs of the streams' senders, as qlog events.
    fn wants_logs(&self) -> bool {
        false
    }

    /// Takes the next records of the log of a flow.
    fn log(&mut self, _flow: usize, _records: &str) {}

    /// Takes the next bytes of the log that another stack writes for an end of a flow: 0 is the
    /// sending end, and 1 the receiving one.
    fn stack_log(&mut self, _flow: usize, _end: usize, _bytes: &[u8]) {}
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Ok(())
    }
}
