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
    /// The preceding link; `None` at the source.
    pub(crate) from: Option<LinkId>,
}

impl Path {
    /// Returns the mean path of flows whose delays differ. The round-trip time is the harmonic
    /// mean, at which a flow sends the flows' mean rate if rates are proportional to 1/rtt, as with
    /// losses.
    ///
    /// # Panics
    ///
    /// Panics if `paths` is empty.
    pub(crate) fn mean(mut paths: impl Iterator<Item = Path>) -> Path {
        let mut mean = paths.next().expect("a class has flows");
        let mut inverse = 1.0 / mean.base_rtt;
        for (i, path) in paths.enumerate() {
            let weight = 1.0 / (i + 2) as f64;
            let mix = |mean: &mut f64, other: f64| *mean += weight * (other - *mean);
            mix(&mut inverse, 1.0 / path.base_rtt);
            mix(&mut mean.base_rtt, path.base_rtt);
            mix(&mut mean.one_way, path.one_way);
            mix(&mut mean.propagation, path.propagation);
            for (hop, other) in mean.hops.iter_mut().zip(&path.hops) {
                mix(&mut hop.after, other.after);
                mix(&mut hop.propagation, other.propagation);
            }
        }
        // The delays of the path keep their ratios to the round-trip time.
        let scale = 1.0 / (inverse * mean.base_rtt);
        mean.base_rtt *= scale;
        mean.one_way *= scale;
        mean.propagation *= scale;
        for hop in &mut mean.hops {
            hop.after *= scale;
            hop.propagation *= scale;
        }
        mean
    }
}
