//! What can be wrong with a problem before it is solved.

use thiserror::Error;

/// A problem that has no meaning. Every variant names the flow or link to look at.
///
/// Flows and links are numbered from 0 in the order in which they were given.
/// A problem that has a meaning but no solution is not an error: see
/// [`Status::Infeasible`](crate::Status::Infeasible).
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// There is no flow.
    #[error("the problem has no flow")]
    NoFlows,
    /// There is no link.
    #[error("the problem has no link")]
    NoLinks,
    /// More flows, links or hops than 32-bit indices can count.
    #[error("{count} {what} are more than 32-bit indices can count")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A flow that crosses no link would have no bound on its rate.
    #[error("flow {flow} crosses no link")]
    EmptyRoute {
        /// The flow.
        flow: usize,
    },
    /// A flow names a link that does not exist.
    #[error("flow {flow} crosses link {link}, but there are only {links} links (0 to {})", links - 1)]
    UnknownLink {
        /// The flow.
        flow: usize,
        /// The link that it names.
        link: u32,
        /// How many links there are.
        links: usize,
    },
    /// A flow names the same link twice: a routing loop.
    #[error("flow {flow} crosses link {link} more than once")]
    RepeatedLink {
        /// The flow.
        flow: usize,
        /// The link.
        link: u32,
    },
    /// The offsets of a compressed route table are not those of one.
    #[error("the offsets of the route table must start at 0, never decrease and end at {hops}")]
    BadOffsets {
        /// How many link indices the table holds.
        hops: usize,
    },
    /// Not one highest price for each link.
    #[error("{limits} highest prices for {links} links")]
    PriceLimitCount {
        /// How many there are.
        limits: usize,
        /// How many links there are.
        links: usize,
    },
    /// A highest price that is not positive.
    #[error("link {link} has the highest price {value}; it must be positive, or infinite")]
    BadPriceLimit {
        /// The link.
        link: usize,
        /// What it has.
        value: f64,
    },
    /// Not one capacity for each link.
    #[error("{capacities} capacities for {links} links")]
    CapacityCount {
        /// How many capacities there are.
        capacities: usize,
        /// How many links there are.
        links: usize,
    },
    /// Not one demand for each flow.
    #[error("{demands} demands for {flows} flows")]
    DemandCount {
        /// How many demands there are.
        demands: usize,
        /// How many flows there are.
        flows: usize,
    },
    /// A capacity that is not a positive finite number.
    #[error("link {link}: the capacity must be positive and finite, not {value}")]
    BadCapacity {
        /// The link.
        link: usize,
        /// Its capacity.
        value: f64,
    },
    /// A parameter of a demand that is outside its range.
    #[error("flow {flow}: {what} must be {expected}, not {value}")]
    BadDemand {
        /// The flow.
        flow: usize,
        /// The parameter.
        what: &'static str,
        /// Its range, in words.
        expected: &'static str,
        /// Its value.
        value: f64,
    },
    /// A demand of a kind that does not fit what is asked.
    #[error("flow {flow}: {expected}")]
    WrongDemand {
        /// The flow.
        flow: usize,
        /// What would fit, in words.
        expected: &'static str,
    },
    /// Not one propagation delay and target for each flow.
    #[error("{delays} propagation delays or targets for {flows} flows")]
    DelayCount {
        /// How many delays or targets there are.
        delays: usize,
        /// How many flows there are.
        flows: usize,
    },
}
