//! The objectives of controllers and the prices of queues, as theory uses them.

use accord_units::{Rate, Size};

/// The target of a controller in equilibrium. It is the only property of a controller that theory
/// uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Keeps `target` of the flow's own data queued on its path. So the utility of the flow is
    /// `target · ln x` [Xia05 eq. 14, Low02 eq. 3].
    Accumulation {
        /// The accumulation kept.
        target: Size,
    },
    /// Keeps `target` queued as `Accumulation` does. The flow keeps more if it finds that others fill the
    /// queue, or takes its own backlog for theirs. Theory covers only the first case, and says so.
    AccumulationUnlessOthers {
        /// The accumulation that the flow keeps while no other flows fill the queue.
        target: Size,
    },
    /// Keeps `rate × base round-trip time` queued. This is Vegas with α in packets per second,
    /// whose shares are weighted by propagation delay [Low02 §3.2, WPF].
    AccumulationPerRoundTrip {
        /// The accumulation kept, divided by the base round-trip time.
        rate: Rate,
    },
    /// Keeps `target` queued as one of the two above would. The flow infers its accumulation from
    /// round-trip times relative to the smallest that it has measured. So data that was queued when
    /// the flow began counts as propagation [Low02 theorem 3].
    MeasuredAccumulation {
        /// The accumulation kept beyond the part that the flow takes for propagation.
        target: Target,
    },
    /// Pays `target` to the links of its path. The rate of the flow is `target / price`, and it
    /// reads the price from the share of marked packets [Low02 eq. 33].
    Marks {
        /// The product of rate and price.
        target: Target,
        /// The base φ of the exponential marking, for a price in milliseconds.
        phi: f64,
    },
    /// Fills the buffer and backs off on loss. It keeps no accumulation at a target.
    Loss,
    /// Fills the buffer as several flows together would, by the weight of its service. It does not
    /// hold a contract.
    WeightedLoss,
    /// Keeps no accumulation at a target: it steers a rate, a delay or a share of marks.
    /// No utility is known that describes its shares.
    Other,
    /// Does not respond to the network. Its rate is its demand.
    Unresponsive,
}

/// An amount of data, or an amount per unit of base round-trip time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// An amount of data.
    Amount(Size),
    /// An amount of data divided by the base round-trip time [Low02 §3.2, WPF].
    PerRoundTrip(Rate),
}

/// The congestion signal that a queue discipline gives to flows. Theory takes it as the price of
/// the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Price {
    /// The queuing delay itself. The link can be filled.
    QueuingDelay,
    /// A virtual delay, at a link that is filled only to `utilisation` [Xia05 §IV-D].
    VirtualDelay {
        /// The fraction of the rate that is used in equilibrium.
        utilisation: f64,
    },
    /// A price that marks convey while the queue stays empty. A packet passes without a mark with
    /// probability φ to the power of minus the price in milliseconds [Low02 eq. 31].
    Marks {
        /// The base φ, more than 1.
        phi: f64,
    },
    /// Loss, or marks that accumulation-based flows do not read as a price.
    Loss,
}
