//! Arrivals at queues, and the equations of the links.

use super::Integration;
use crate::conserve::{Loads, Problem, Routes};
use crate::feeds::Feeds;

/// The arrivals at each queue.
pub(super) struct Inflow {
    pub feeds: Vec<Feeds>,
    /// The bytes that had arrived at each queue by the previous step, without changes of delays.
    pub arrived: Vec<f64>,
    /// The bytes on the wires to each queue that changes of delays and routes have moved.
    pub moved: Vec<f64>,
    /// The total rate of the preceding links.
    pub lines: Vec<f64>,
    /// The total bytes that arrived at each queue.
    pub came: Vec<f64>,
    /// The bytes that arrive in this step.
    pub comes: Vec<f64>,
}

impl Inflow {
    pub fn new(queues: usize) -> Inflow {
        Inflow {
            feeds: vec![Feeds::default(); queues],
            arrived: vec![0.0; queues],
            moved: vec![0.0; queues],
            lines: vec![f64::INFINITY; queues],
            came: vec![0.0; queues],
            comes: vec![0.0; queues],
        }
    }
}

/// The equations of the ACK-clocked model.
pub(super) struct Equations {
    /// The queues on each class's path.
    pub routes: Routes,
    pub round_trips: Vec<f64>,
    pub capacities: Vec<f64>,
    pub loads: Loads,
    /// True for queues of links with rate 0.
    pub dead: Vec<bool>,
    /// True for queues at which nothing waits, because all arrivals come from one preceding queue that is no
    /// faster.
    pub follows: Vec<bool>,
    /// The queues of known delay: those of `dead` links, and those where nothing waits.
    pub given: Vec<bool>,
    /// The bounds of the new queuing delays.
    pub bounds: Vec<(f64, f64)>,
    /// The new queuing delays.
    pub next: Vec<f64>,
    /// The arrival rates of the queues by the equations, and the additional rates of applications.
    pub arrives: Vec<f64>,
    pub bound: Vec<f64>,
    /// Scratch space: the windows of one queue whose applications bind.
    held: Vec<f64>,
}

impl Equations {
    pub fn new(classes: usize, queues: usize) -> Equations {
        Equations {
            routes: Routes::default(),
            round_trips: vec![0.0; classes],
            capacities: Vec::new(),
            loads: Loads::default(),
            dead: vec![false; queues],
            follows: vec![false; queues],
            given: vec![false; queues],
            bounds: vec![(0.0, f64::INFINITY); queues],
            next: vec![0.0; queues],
            arrives: vec![0.0; queues],
            bound: vec![0.0; queues],
            held: Vec::new(),
        }
    }
}

/// The part of a link up to which rates of applications leave less and less room for windows.
const ROOM: f64 = 0.2;

impl Integration<'_, '_> {
    /// Returns the bytes that arrive at a queue in a step, if `total` bytes have been sent to it.
    /// Bytes that a shorter delay has moved arrive as well, at most at the rate of the preceding
    /// links. Bytes that a longer delay holds back arrive later.
    #[inline]
    fn comes(&mut self, q: usize, total: f64, h: f64) -> f64 {
        let mut arrived = (total - self.inflow.arrived[q]).max(0.0);
        self.inflow.arrived[q] = total;
        let moved = self.inflow.moved[q];
        if moved != 0.0 {
            let most = (self.inflow.lines[q] * h - arrived).max(0.0);
            let part = moved.clamp(-arrived, most);
            self.inflow.moved[q] -= part;
            arrived += part;
        }
        self.inflow.came[q] += arrived;
        arrived
    }

    pub(super) fn integrate(&mut self, now: usize, h: f64) {
        for q in 0..self.queues.len() {
            let total = self.inflow.feeds[q].sum(&self.sent, now);
            let arrived = self.comes(q, total, h);
            if self.is_passed(q) {
                self.pass(q, arrived / h, h)
            } else {
                self.queues[q].integrate(arrived, h)
            }
        }
    }

    pub(super) fn conserve(&mut self, now: usize, h: f64) {
        for q in 0..self.queues.len() {
            let windows = self.equations.loads.windows_mut(q);
            let total =
                self.inflow.feeds[q].sum_and_gather(&self.sent, &self.windows, now, windows);
            self.inflow.comes[q] = self.comes(q, total, h);
            let admits = self.queues[q].admits();
            self.bind(q, now, admits);
            self.equations.capacities[q] = admits - self.equations.bound[q];
            self.equations.given[q] = self.equations.dead[q] || self.is_passed(q);
            let arriving = self.equations.bound[q] / admits;
            self.equations.bounds[q] = self.queues[q].bounds(self.inflow.comes[q], arriving, h);
        }
        let mut problem = Problem {
            capacity: &self.equations.capacities,
            loads: &self.equations.loads,
            base_rtt: &self.motion.base_rtt,
            routes: &self.equations.routes,
            crossed_once: self.hops <= 1,
            given: &self.equations.given,
            bounds: &self.equations.bounds,
            round_trips: &mut self.equations.round_trips,
        };
        let (delay, rate) = (&mut self.equations.next[..], &mut self.equations.arrives[..]);
        // The prediction.
        delay.copy_from_slice(self.shown.delays.of(now));
        let residual = problem.solve(delay, rate);
        self.residual = self.residual.max(residual);
        let mut filled = false;
        let bounds = self.equations.bounds.iter();
        let known = self.inflow.comes.iter().zip(&self.equations.given);
        let queues = self.queues.iter_mut().zip(bounds).zip(known);
        for (p, ((queue, &(_, most)), (&arrived, &given))) in delay.iter_mut().zip(queues) {
            if queue.fills && (!given || queue.is_dead()) {
                let next = queue.filled(*p, most, arrived, h);
                filled |= next != *p;
                *p = next;
            }
        }
        if filled {
            problem.evaluate(delay, rate);
        }
        for q in 0..self.queues.len() {
            if self.is_passed(q) {
                self.pass(q, self.equations.arrives[q] + self.equations.bound[q], h);
                continue;
            }
            let queue = &mut self.queues[q];
            if queue.fills {
                queue.integrate(self.inflow.comes[q], h)
            } else {
                let arrives = self.equations.arrives[q] + self.equations.bound[q];
                queue.set(self.equations.next[q], arrives, h)
            }
        }
    }

    /// Counts classes whose applications bind by their rates and not by their windows. Such a window follows
    /// the delays of all queues on the path, as of a round trip ago. As the load of two queues, it would
    /// swing forever. Beyond [`ROOM`] the rates leave little to the equation of the queue, and windows count
    /// again.
    fn bind(&mut self, q: usize, now: usize, admits: f64) {
        if !self.offers {
            return;
        }
        let windows = self.equations.loads.windows_mut(q);
        self.equations.held.resize(windows.len(), 0.0);
        let held = &mut self.equations.held[..];
        let bound = self.inflow.feeds[q].sum_and_gather(&self.bound, &self.held, now, held);
        // Windows bound little of such arrivals, so the queue holds no more than has arrived.
        self.queues[q].fills |= bound > (1.0 - ROOM) * admits;
        let part = if bound > 0.0 { ((1.0 - bound / admits) / ROOM).clamp(0.0, 1.0) } else { 0.0 };
        for (window, held) in windows.iter_mut().zip(held) {
            *window = (*window - part * *held).max(0.0);
        }
        self.equations.bound[q] = part * bound;
    }
}
