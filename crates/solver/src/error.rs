//! Errors of a problem before it is solved.

use thiserror::Error;

/// A meaningless problem. Every variant names the flow or link concerned.
///
/// Flows and links are numbered from 0 in the order in which they were given. A meaningful problem without a
/// solution is not an error, but [`Status::Infeasible`](crate::Status::Infeasible).
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
        /// The plural name of the items.
        what: &'static str,
        /// The number of these items.
        count: usize,
    },
    /// A flow crosses no link, so its rate would have no bound.
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
        /// The number of links.
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
    /// The offsets of a compressed route table are not valid.
    #[error("the offsets of the route table must start at 0, never decrease and end at {hops}")]
    BadOffsets {
        /// The number of link indices in the table.
        hops: usize,
    },
    /// The number of highest prices is not the number of links.
    #[error("{limits} highest prices for {links} links")]
    PriceLimitCount {
        /// The number of highest prices.
        limits: usize,
        /// The number of links.
        links: usize,
    },
    /// A highest price that is not positive.
    #[error("link {link} has the highest price {value}; it must be positive, or infinite")]
    BadPriceLimit {
        /// The link.
        link: usize,
        /// The highest price of the link.
        value: f64,
    },
    /// The number of capacities is not the number of links.
    #[error("{capacities} capacities for {links} links")]
    CapacityCount {
        /// The number of capacities.
        capacities: usize,
        /// The number of links.
        links: usize,
    },
    /// The number of demands is not the number of flows.
    #[error("{demands} demands for {flows} flows")]
    DemandCount {
        /// The number of demands.
        demands: usize,
        /// The number of flows.
        flows: usize,
    },
    /// A capacity that is not a positive finite number.
    #[error("link {link}: the capacity must be positive and finite, not {value}")]
    BadCapacity {
        /// The link.
        link: usize,
        /// The capacity.
        value: f64,
    },
    /// A parameter of a demand that is outside its range.
    #[error("flow {flow}: {what} must be {expected}, not {value}")]
    BadDemand {
        /// The flow.
        flow: usize,
        /// The parameter.
        what: &'static str,
        /// The valid range, as text.
        expected: &'static str,
        /// The value.
        value: f64,
    },
    /// A demand that does not fit the method.
    #[error("flow {flow}: {expected}")]
    WrongDemand {
        /// The flow.
        flow: usize,
        /// The valid demands, as text.
        expected: &'static str,
    },
}
