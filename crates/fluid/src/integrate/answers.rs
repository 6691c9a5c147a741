//! The part of each link that the answers to data take: acknowledgements and counts.
//!
//! The part is a known function of the rates and round-trip times of flows, and leaves the rest of a link to
//! data. Their own way to the link takes no time here: a few hundredths of a link follow the rates of
//! flows some round trip too early.

use super::Integration;
use crate::flow::Flow;
use crate::model::Model;
use crate::path::Network;
use accord_scenario::Answers;

/// The loads of answers.
pub(super) struct Taken {
    /// Of each class.
    answers: Vec<Answers>,
    crossings: Vec<Crossing>,
    /// The rate that they take of each queue.
    rates: Vec<f64>,
}

/// A queue that the answers of a class cross.
#[derive(Clone, Copy)]
struct Crossing {
    class: u32,
    queue: u32,
    /// The number of flows.
    many: f64,
}

impl Taken {
    pub fn new(model: &Model<'_>, queues: usize) -> Taken {
        let flow = |class: &crate::model::Class| &model.scenario.flows[class.members[0]];
        Taken {
            answers: model.classes.iter().map(|class| flow(class).answers()).collect(),
            crossings: Vec::new(),
            rates: vec![0.0; queues],
        }
    }

    /// Changes the network.
    pub fn enter(&mut self, network: &Network, flows: &[Flow]) {
        self.crossings.clear();
        for (k, path) in network.paths.iter().enumerate() {
            let cross = path.back.iter().map(|&(queue, private)| Crossing {
                class: k as u32,
                queue: queue as u32,
                many: if private { 1.0 } else { flows[k].many },
            });
            self.crossings.extend(cross);
        }
    }
}

impl Integration<'_, '_> {
    /// Takes the answers from the capacities of a step, at the rates before it. The method is of order one
    /// in their few hundredths of a link.
    pub(super) fn take_answers(&mut self) {
        let Taken { answers, crossings, rates } = &mut self.taken;
        rates.fill(0.0);
        for &Crossing { class, queue, many } in &*crossings {
            let k = class as usize;
            if self.flows[k].active {
                let rtt = self.motion.base_rtt[k] + self.motion.queue(k);
                rates[queue as usize] += many * answers[k].rate(self.motion.rate[k], rtt);
            }
        }
        self.queues.iter_mut().zip(&*rates).for_each(|(queue, rate)| queue.take(*rate));
    }
}
