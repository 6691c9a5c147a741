//! The objectives of controllers and the prices of queues, as theory uses them.

use accord_units::{Rate, Size};

/// The target of a controller in equilibrium: the only property of a controller that theory uses.
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
    /// Keeps `target` queued as one of the two above would, judged by round-trip times
    /// against the smallest that it has measured: what was queued when the flow began
    /// counts as propagation [Low02 theorem 3].
    MeasuredAccumulation {
        /// The accumulation kept above what the flow takes for propagation.
        target: Target,
    },
    /// Pays `target` to the links of its path: its rate is `target / price`, the price
    /// being read from the share of marked packets [Low02 eq. 33].
    Marks {
        /// Rate times price.
        target: Target,
        /// Base of the exponential marking, for a price in milliseconds.
        phi: f64,
    },
    /// Fills the buffer and backs off on loss; keeps no accumulation of its own choosing.
    Loss,
    /// The same, as several flows together, by the weight of its service; it holds no contract.
    WeightedLoss,
    /// Does not respond; sends what its demand says.
    Unresponsive,
}

/// An amount of data, or an amount for each unit of base round-trip time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The amount.
    Amount(Size),
    /// The amount divided by the base round-trip time [Low02 §3.2, WPF].
    PerRoundTrip(Rate),
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
    /// A price of its own, shown by marks while the queue stays empty: a packet passes
    /// without one with probability φ to the minus price in milliseconds [Low02 eq. 31].
    Marks {
        /// φ, more than 1.
        phi: f64,
    },
    /// Loss or marks that accumulation-based flows do not read as a price.
    Loss,
}
