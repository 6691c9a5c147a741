//! The share of the network that a flow is to get.

use accord_units::{Bytes, Rate};

/// A contracted rate, and a weighted share of what is not contracted [Har02 eq. 3].
///
/// A controller that keeps an accumulation ā holds a service by what it keeps queued, over
/// plain FIFO queues and without admission control: of its accumulation, only the part that
/// carries more than the contracted rate counts against weight × ā [Har02 eqs. 4-8].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// x̂, the rate that the flow gets before anything is shared; zero for none.
    pub contract: Rate,
    /// φ, its part of what is shared, as a multiple of its controller's target; more than
    /// zero.
    pub weight: f64,
    /// A, the most that it may have queued in all [Har02 eq. 16]; no less than weight ×
    /// target. A flow stopped by it is one without a contract that keeps A queued.
    pub limit: Option<Bytes>,
}

impl Default for Service {
    /// The default: a fair share.
    fn default() -> Service {
        Service {
            contract: Rate::ZERO,
            weight: 1.0,
            limit: None,
        }
    }
}
