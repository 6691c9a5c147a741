//! The share of the network that a flow should get.

use accord_units::{Bytes, Rate, words};

/// A contracted rate, and a weighted share of the rate that is not contracted [Har02 eq. 3].
///
/// A controller that keeps an accumulation ā provides a service through the size of its
/// accumulation. This needs only plain FIFO queues, and no admission control. Only the part of the
/// accumulation that carries more than the contracted rate counts against weight × ā [Har02 eqs.
/// 4-8].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// x̂, the rate that the flow gets before the rest is shared. Zero means no contract.
    pub contract: Rate,
    /// φ, the flow's part of the shared rate, as a multiple of its controller's target. It is more
    /// than zero.
    pub weight: f64,
    /// A, the largest total backlog of the flow [Har02 eq. 16]. It is at least weight × target. A
    /// flow at this limit behaves like one without a contract that keeps A queued.
    pub limit: Option<Bytes>,
}

impl Default for Service {
    /// Returns the service of a fair share: no contract, weight 1, no limit.
    fn default() -> Service {
        Service { contract: Rate::ZERO, weight: 1.0, limit: None }
    }
}

words! {
    /// The measure of the backlog in the network that a tunnel uses.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Signal by word {
        /// The first of the others that is found to work.
        #[default]
        Auto = "auto",
        /// The distance between the two halves of a control pair: the path has to forward EF first.
        Pairs = "pairs",
        /// The one-way delay above its minimum.
        Delay = "delay",
    }
}
