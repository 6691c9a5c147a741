//! Observers of a run in progress.

use accord_units::Time;

/// The run was asked to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// An observer of a run in progress. It can stop the run, and change nothing else.
pub trait Observer {
    /// Notifies the observer that the run has reached `now`. It is called often, so it has to be
    /// quick. `Err` stops the run.
    fn progress(&mut self, now: Time) -> Result<(), Interrupted>;

    /// Returns whether the observer wants all packets that leave a port, as bytes of a pcapng file.
    fn wants_packets(&self) -> bool {
        false
    }

    /// Takes the next bytes of that file.
    fn packets(&mut self, _bytes: &[u8]) {}
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Ok(())
    }
}
