//! The paths of flows through the queues, with their delays.

use accord_scenario::LinkId;

/// The network from one event to the next.
#[derive(Clone, Debug)]
pub struct Network {
    /// Rates of all links in bytes/s.
    pub rate: Vec<f64>,
    /// The path of each class.
    pub paths: Vec<Path>,
}

/// The path of a class of flows.
#[derive(Clone, Debug)]
pub struct Path {
    /// The round-trip time over empty queues, in seconds.
    pub base_rtt: f64,
    /// The one-way delay over empty queues, and the propagation delay in it.
    pub(crate) one_way: f64,
    pub(crate) propagation: f64,
    /// The queues on the forward path, then those on the reverse path that the source notices.
    pub hops: Vec<Hop>,
    /// The number of `hops` on the forward path.
    pub forward: usize,
    /// The queues that acknowledgements and counts cross on the way back, and whether each flow has one of its own.
    pub(crate) back: Vec<(usize, bool)>,
    /// The maximum rate of the links without queues, in bytes/s.
    pub peak: f64,
    /// The fraction of sent bytes that no wire loses.
    pub passes: f64,
}

/// A queue on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The index of the queue in the model.
    pub queue: usize,
    /// The delay from the source to the queue, and the propagation delay in it.
    pub after: f64,
    pub(crate) propagation: f64,
    /// True if each flow has a queue of its own.
    pub private: bool,
    /// The fraction of sent bytes that no preceding wire loses.
    pub passes: f64,
    /// The preceding link, or `None` at the source.
    pub(crate) from: Option<LinkId>,
}
