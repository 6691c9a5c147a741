//! The ways of flows through the queues, with their delays.

use accord_scenario::LinkId;

/// The network from one event to the next.
#[derive(Clone, Debug)]
pub struct Network {
    /// Rates of all links in bytes/s.
    pub rate: Vec<f64>,
    /// For each kind.
    pub paths: Vec<Path>,
}

/// The way of a kind of flows.
#[derive(Clone, Debug)]
pub struct Path {
    /// Round trip over empty queues, in seconds.
    pub base_rtt: f64,
    /// One way over empty queues, and what of it is propagation.
    pub(crate) one_way: f64,
    pub(crate) propagation: f64,
    /// The queues on the way there, then those on the way back that the source feels.
    pub hops: Vec<Hop>,
    /// The number of `hops` on the way there.
    pub forward: usize,
    /// The most that links without queues let pass, in bytes/s.
    pub peak: f64,
    /// The part of what is sent that no wire loses.
    pub passes: f64,
}

/// A queue on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Its place in the queues of the model.
    pub queue: usize,
    /// Delay from the source to the queue, and what of it is propagation.
    pub after: f64,
    pub(crate) propagation: f64,
    /// Each flow has such a queue for itself.
    pub private: bool,
    /// The part of what is sent that no wire before it loses.
    pub passes: f64,
    /// The link before it; none at the source.
    pub(crate) from: Option<LinkId>,
}

impl Path {
    /// Returns the way of flows whose delays differ, with the means of these. The round trip is the harmonic
    /// mean, at which a flow sends what they do in the mean if its rate goes by 1/rtt, as with losses.
    ///
    /// # Panics
    /// Panics if there is none.
    pub(crate) fn mean(mut paths: impl Iterator<Item = Path>) -> Path {
        let mut mean = paths.next().expect("a kind has flows");
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
        // Parts of the way are as large a part of it.
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
