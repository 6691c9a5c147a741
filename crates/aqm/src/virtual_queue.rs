//! A virtual queue: a computed queue of real arrivals, served at a virtual capacity.
//!
//! [`Avq`](crate::Avq) and [`Avd`](crate::Avd) share it, but each adapts the capacity in its own
//! way.

use accord_units::{Rate, Time};

/// The virtual queue VQ with its capacity C̃.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VirtualQueue {
    /// VQ: the bytes queued at the last arrival.
    pub backlog: f64,
    /// C̃: the service rate in bytes/s.
    pub capacity: f64,
    /// The time of the last arrival.
    pub last: Option<Time>,
}

impl VirtualQueue {
    /// Serves the queue until `now`. Returns the seconds since the previous arrival, and C, the
    /// capacity of the real link in bytes/s. The first call sets the capacity to `utilisation` × C,
    /// the equilibrium of a saturated link.
    #[inline]
    pub fn advance(&mut self, now: Time, rate: Rate, utilisation: f64) -> (f64, f64) {
        let link = rate.as_bps_f64() / 8.0;
        let seconds = match self.last {
            Some(last) => now.since(last).as_secs_f64(),
            None => {
                self.capacity = utilisation * link;
                0.0
            }
        };
        self.last = Some(now);
        self.backlog = (self.backlog - self.capacity * seconds).max(0.0);
        (seconds, link)
    }
}
