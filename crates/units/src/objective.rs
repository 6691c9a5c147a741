//! What controllers steer to and what queues charge, as the theory sees them.

use crate::quantity::Rate;
use crate::size::Size;

/// What a controller steers its flow to once nothing changes any more. This is all that
/// the theory needs to know of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Keeps `target` of its own data queued on its path, so that its utility is
    /// `target · ln x` [Xia05 eq. 14, Low02 eq. 3].
    Accumulation {
        /// The accumulation kept.
        target: Size,
    },
    /// Keeps `rate × base round-trip time` queued: Vegas with α in packets per second,
    /// weighted by propagation delay [Low02 §3.2, WPF].
    AccumulationPerRoundTrip {
        /// The accumulation kept, divided by the base round-trip time.
        rate: Rate,
    },
    /// Fills the buffer and backs off on loss; keeps no accumulation of its own choosing.
    Loss,
    /// Does not respond; sends what its demand says.
    Unresponsive,
}

/// The congestion signal that a queue discipline shows to flows: what the theory takes
/// as the price of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Price {
    /// The queuing delay itself; the link can be filled.
    QueuingDelay,
    /// A virtual delay, at a link that is filled to `utilisation` only [Xia05 §IV-D].
    VirtualDelay {
        /// The fraction of the rate that is used in equilibrium.
        utilisation: f64,
    },
    /// Loss or marks that accumulation-based flows do not read as a price.
    Loss,
}
