//! The part of each link that comes with data: acknowledgements, counts, control pairs and reports.
//!
//! That part is a known function of the rates and round-trip times of flows, and leaves the rest of a link to
//! data. Answers reach the link in no time here, so a few hundredths of a link follow the rates of flows
//! about a round trip too early.

use super::Integration;
use crate::flow::Flow;
use crate::model::Model;
use crate::path::Network;
use accord_scenario::Answers;

/// The loads of answers and control pairs.
pub(super) struct Taken {
    /// The answers of each class.
    answers: Vec<Answers>,
    crossings: Vec<Crossing>,
    /// The rate that they take of each queue, and the part of those that overtake it.
    rates: Vec<(f64, f64)>,
}

/// A queue that the answers or control pairs of a class cross.
#[derive(Clone, Copy)]
struct Crossing {
    class: u32,
    queue: u32,
    /// The number of flows.
    many: f64,
    /// True on the way there.
    there: bool,
    /// True if control packets overtake it.
    ahead: bool,
}

impl Taken {
    pub fn new(model: &Model<'_>, queues: usize) -> Taken {
        let flow = |class: &crate::model::Class| &model.scenario.flows[class.members[0]];
        Taken {
            answers: model.classes.iter().map(|class| flow(class).answers()).collect(),
            crossings: Vec::new(),
            rates: vec![(0.0, 0.0); queues],
        }
    }

    /// Changes the network.
    pub fn enter(&mut self, model: &Model<'_>, network: &Network, flows: &[Flow]) {
        self.crossings.clear();
        for (k, path) in network.paths.iter().enumerate() {
            let tunnel = self.answers[k].pairs(1.0, 1.0) > 0.0;
            let cross = |(queue, private): (usize, bool), there| Crossing {
                class: k as u32,
                queue: queue as u32,
                many: if private { 1.0 } else { flows[k].many },
                there,
                ahead: model.overtakes(k, queue),
            };
            if tunnel {
                let there = &path.hops[..path.forward];
                let there = there.iter().map(|hop| cross((hop.queue, hop.private), true));
                self.crossings.extend(there);
            }
            self.crossings.extend(path.back.iter().map(|&queue| cross(queue, false)));
        }
    }
}

impl Integration<'_, '_> {
    /// Subtracts the answers from the capacities of a step, at the rates before it. The method is of order
    /// one in the few hundredths of a link that they use.
    pub(super) fn take_answers(&mut self) {
        let Taken { answers, crossings, rates } = &mut self.taken;
        rates.fill((0.0, 0.0));
        for &Crossing { class, queue, many, there, ahead } in &*crossings {
            let k = class as usize;
            if self.flows[k].active {
                let rtt = self.motion.base_rtt[k] + self.motion.queue(k);
                let (answers, rate) = (&answers[k], self.motion.rate[k]);
                let half = many * answers.half(rate, rtt);
                // One half of a pair waits. On the way back everything overtakes, if anything does.
                let (all, overtaking) = match there {
                    true => (2.0 * half, half),
                    false => {
                        let back = many * answers.rate(rate, rtt);
                        (back, back)
                    }
                };
                let (taken, overtakes) = &mut rates[queue as usize];
                *taken += all;
                *overtakes += if ahead { overtaking } else { 0.0 };
            }
        }
        let taken = self.queues.iter_mut().zip(&*rates);
        taken.for_each(|(queue, &(taken, overtakes))| queue.take(taken, overtakes));
    }
}
