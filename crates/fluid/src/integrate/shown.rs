//! The signals of queues, and their delays to the sources.
//!
//! A mark, a drop or a virtual delay applies to arrivals at a queue. It waits with them there and in the
//! remaining queues of the path, as the packets behind a gap in the sequence do. CoDel judges departures.

use super::{Counter, Integration};
use crate::history::{Histories, Tap};
use crate::law::Seen;
use crate::motion::SIGNALS;
use accord_family::QueueLaw;

/// The histories of the signals of queues, at departure and at arrival.
pub(super) struct Shown {
    /// The queuing delays, which are contiguous.
    pub delays: Histories,
    /// The signals of each queue, one row each, as departing bytes carry them.
    pub signals: Histories,
    /// The latest step at which any queue had a signal.
    pub latest_signal: usize,
    /// The number of steps back to the furthest point at which a source sees a queue.
    pub furthest: usize,
    /// The queues that can signal.
    pub signalling: Vec<usize>,
    /// The signals applied to arrivals.
    pub put: Histories,
    /// True for queues that have applied a signal.
    pub has_put: Vec<bool>,
}

impl Shown {
    pub fn new(queues: usize, depth: usize) -> Shown {
        Shown {
            delays: Histories::new(queues, depth),
            signals: Histories::new(SIGNALS * queues, depth),
            latest_signal: 0,
            furthest: 0,
            signalling: Vec::new(),
            put: Histories::new(SIGNALS * queues, depth),
            has_put: vec![false; queues],
        }
    }
}

impl Integration<'_, '_> {
    /// Returns the signals that a source now sees of its queues, and the share of marks. `tap` gives the
    /// delay to each queue.
    #[inline(always)]
    pub(super) fn look(&self, class: usize, tap: impl Fn(&Tap) -> Tap) -> (Seen, f64) {
        let flow = &self.flows[class];
        let now = self.clock.now;
        let (mut seen, mut unmarked) = (Seen::default(), 1.0);
        let hops = &self.taps[flow.hops.clone()];
        for see in hops {
            let [delay] = self.shown.delays.read(see.queue as usize, now, &tap(&see.tap));
            seen.queue += delay;
        }
        if !flow.signals {
            return (seen, 0.0);
        }
        seen.loss = flow.wire_loss;
        let mut passed = 0.0;
        for see in hops.iter().filter(|see| see.forward) {
            let (queue, mut tap) = (see.queue as usize, tap(&see.tap));
            let [delay] = self.shown.delays.read(queue, now, &tap);
            passed += delay;
            // The delay in the remaining queues of the path.
            let rest = seen.queue - passed;
            if rest > 0.0 {
                tap = Tap::new(tap.delay + rest);
                tap.locate(&self.clock);
            }
            let [virtual_delay, loss, mark] = self.shown.signals.read(queue, now, &tap);
            if see.hidden {
                seen.price -= delay;
            }
            seen.price += virtual_delay;
            seen.loss = 1.0 - (1.0 - seen.loss) * (1.0 - loss);
            unmarked *= 1.0 - mark;
        }
        (seen, 1.0 - unmarked)
    }

    /// Repeats the signals of the end of the previous step at the start of a step.
    pub(super) fn keep_signals(&mut self) {
        let now = self.clock.now;
        for &q in &self.shown.signalling {
            for row in SIGNALS * q..SIGNALS * (q + 1) {
                let shown = self.shown.signals.get(row, now - 1);
                self.shown.signals.of_mut(now)[row] = shown;
            }
        }
    }

    /// Writes the signals of the byte that leaves each signalling queue at the end of a step.
    pub(super) fn show_signals(&mut self) {
        let now = self.clock.now;
        for i in 0..self.shown.signalling.len() {
            let q = self.shown.signalling[i];
            let queue = &self.queues[q];
            let all = [queue.discipline.virtual_delay(queue.delay), queue.loss, queue.mark];
            let (put, at_head) = match queue.discipline.law {
                QueueLaw::Codel { .. } => {
                    let overflow = (queue.loss - queue.dropped).max(0.0);
                    ([0.0, overflow, 0.0], (queue.dropped, queue.mark))
                }
                _ => (all, (0.0, 0.0)),
            };
            self.shown.has_put[q] |= put != [0.0; SIGNALS];
            let rows = SIGNALS * q..SIGNALS * (q + 1);
            self.shown.put.of_mut(now)[rows.clone()].copy_from_slice(&put);
            let mut shown = put;
            if self.shown.has_put[q] && queue.backlog > 0.0 && !queue.is_dead() {
                let left = (now - 1, 1.0);
                let counters = self.counters(q, left);
                let waits =
                    counters[Counter::Entered as usize] > counters[Counter::Served as usize];
                if waits {
                    let (_, from) = self.entered(q, left, &counters);
                    shown = std::array::from_fn(|i| self.shown.put.at(rows.start + i, from));
                }
            }
            let [_, loss, mark] = &mut shown;
            *loss = (*loss + at_head.0).min(1.0);
            *mark = (*mark + at_head.1).min(1.0);
            self.shown.signals.of_mut(now)[rows].copy_from_slice(&shown);
            if shown != [0.0; SIGNALS] {
                self.shown.latest_signal = now;
            }
        }
    }
}
