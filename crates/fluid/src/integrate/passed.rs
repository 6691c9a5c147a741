//! Queues at which nothing waits, since all arrivals come from a queue that is no faster.
//!
//! The equations do not determine which of two equal links in series holds the queue, and rounding
//! would split it between them, so neither link is fully used. Packets wait at the first.

use super::Integration;
use crate::path::{Hop, Network};
use accord_family::QueueLaw;
use std::collections::BTreeSet;

impl Integration<'_, '_> {
    /// Returns for each queue whether all its arrivals come from one preceding queue that is no
    /// faster, and its discipline depends on the backlog. Of equal links in series the first has
    /// the queue.
    pub(super) fn following(&self, network: &Network) -> Vec<bool> {
        let mut before: Vec<Option<Vec<usize>>> = vec![None; self.queues.len()];
        // Acknowledgements may leave the second of two links less than the first.
        let mut back = vec![BTreeSet::new(); self.queues.len()];
        for (k, path) in network.paths.iter().enumerate() {
            path.back.iter().for_each(|&(q, _)| _ = back[q].insert(k));
        }
        let rate = |q: usize| network.rate[self.model.queues[q]];
        for path in &network.paths {
            let hops = &path.hops[..path.forward];
            for (i, hop) in hops.iter().enumerate() {
                let slower = |h: &&Hop| {
                    let (h, q) = (*h, hop.queue);
                    rate(h.queue) <= rate(q)
                        && back[q].is_subset(&back[h.queue])
                        && (!h.private || hop.private)
                };
                let there: Vec<usize> = hops[..i].iter().filter(slower).map(|h| h.queue).collect();
                match &mut before[hop.queue] {
                    Some(known) => known.retain(|q| there.contains(q)),
                    none => *none = Some(there),
                }
            }
        }
        let waits = |law: &QueueLaw| {
            matches!(law, QueueLaw::DropTail | QueueLaw::Red { .. } | QueueLaw::Codel { .. })
        };
        let queues = self.queues.iter().zip(before);
        queues
            .map(|(queue, before)| {
                waits(&queue.discipline.law) && before.is_some_and(|before| !before.is_empty())
            })
            .collect()
    }

    /// Passes arrivals on at a queue where nothing waits.
    pub(super) fn pass(&mut self, q: usize, rate: f64, h: f64) {
        let queue = &mut self.queues[q];
        queue.fills = false;
        queue.set(0.0, rate.min(queue.capacity), h);
    }

    /// Returns true if nothing waits at a queue, by the current arrivals.
    pub(super) fn is_passed(&self, q: usize) -> bool {
        self.equations.follows[q] && self.queues[q].backlog == 0.0 && !self.equations.dead[q]
    }
}
