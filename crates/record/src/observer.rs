//! Listeners to a run that goes on.

use accord_units::Time;

/// The run was asked to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Listens to a run while it goes on. It can stop the run, and change nothing else.
pub trait Observer {
    /// The run has reached `now`; called often, so it has to be quick. `Err` stops it.
    fn progress(&mut self, now: Time) -> Result<(), Interrupted>;

    /// It wants all packets that leave a port, as bytes of a pcapng file.
    fn wants_packets(&self) -> bool {
        false
    }

    /// The next bytes of that file.
    fn packets(&mut self, _bytes: &[u8]) {}
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Ok(())
    }
}
