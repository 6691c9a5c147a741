//! The order in which classes move: in batches, or one by one.

use super::Integration;
use crate::law::Service;
use crate::motion::{Law, Proportional, Run, View};
use accord_family::{BaseRtt, Reads, WindowDynamics, WindowLaw};

/// The classes by the way they move.
#[derive(Default)]
pub(super) struct Order {
    /// Batches of adjacent classes.
    pub runs: Vec<Run>,
    /// The queues that adjacent classes in batches see.
    pub views: Vec<View>,
    /// Classes in batches that see their queues individually.
    pub looks: Vec<u32>,
    /// Active classes outside batches.
    pub others: Vec<u32>,
    /// Inactive classes.
    pub inactive: Vec<u32>,
    /// Classes that start within the next step, and their times.
    pub late: Vec<(u32, f64)>,
    /// False after a change of the active classes.
    pub sorted: bool,
}

impl Integration<'_, '_> {
    /// Returns the law of a class that can move in a batch: out of slow start, unlimited data, and
    /// no memory except CUBIC's.
    fn side_by_side(&self, k: usize) -> Option<Law> {
        let flow = &self.flows[k];
        let endless = flow.offered.is_infinite() && flow.size.is_infinite();
        if !flow.active || flow.slow_start || !endless {
            return None;
        }
        let control = &self.controls[flow.control as usize];
        let WindowDynamics { law, base, reads, most, .. } = control.dynamics;
        if let WindowLaw::Proportional { gain, target } = law
            && control.service == Service::FAIR
            && !flow.signals
            && flow.hops.len() == 1
        {
            let packet = control.packet;
            return Some(Law::Proportional(Proportional { gain, target, packet, most }));
        }
        let remembers =
            matches!(base, BaseRtt::Last { .. }) || matches!(reads, Reads::Marks { .. });
        let hidden = self.taps[flow.hops.clone()].iter().any(|see| see.hidden);
        let moves = law != WindowLaw::Unresponsive && flow.wire_loss == 0.0;
        (moves && !remembers && !hidden).then_some(Law::Of(flow.control))
    }

    /// Sorts the classes into batches.
    pub(super) fn sort(&mut self) {
        self.order.runs.clear();
        self.order.views.clear();
        self.order.looks.clear();
        self.order.others.clear();
        self.order.inactive.clear();
        self.order.sorted = true;
        for k in 0..self.flows.len() {
            let flow = &self.flows[k];
            let Some(law) = self.side_by_side(k) else {
                if flow.active {
                    self.order.others.push(k as u32)
                } else {
                    self.order.inactive.push(k as u32)
                }
                continue;
            };
            let (first, end) = (k, k + 1);
            match self.order.runs.last_mut() {
                Some(r) if r.end == k && r.law == law => r.end += 1,
                _ => self.order.runs.push(Run { first, end, law }),
            }
            if (self.motion.price[k], self.motion.loss[k]) != (0.0, 0.0) {
                self.shown.latest_signal =
                    self.shown.latest_signal.max(self.clock.now - self.shown.furthest - 1);
            }
            match self.taps[flow.hops.clone()] {
                [see] if !flow.signals || see.forward => {
                    self.motion.fraction[k] = see.tap.fraction;
                    let (queue, back) = (see.queue as usize, see.tap.back as usize);
                    match self.order.views.last_mut() {
                        Some(v) if v.end == k && (v.queue, v.back) == (queue, back) => v.end += 1,
                        _ => self.order.views.push(View { first, end, queue, back }),
                    }
                }
                _ => self.order.looks.push(k as u32),
            }
        }
    }
}
