//! The time loop.
//!
//! A step from t to t + h first predicts all queues at t + h. Flows read them at t + h − b, with b the delay
//! back to the source, and advance their windows. Queues read the flows at t + h − f, with f the delay to the
//! queue, and advance. One of the two delays is at least a step long, so only past values are read, except
//! for the prediction.
//!
//! A queue integrates arriving bytes as the difference of the flows' arrival curves [Xia03 eq. 2],
//! which conserves bytes. The method has order two for smooth laws: Heun's method for windows, the
//! trapezoidal rule for sent bytes, linear interpolation of the past.

mod answers;
mod arrive;
mod order;
mod passed;
mod shown;

use crate::conserve::{Loads, Routes};
use crate::error::FluidError;
use crate::feeds::Feeds;
use crate::flow::{Flow, See};
use crate::history::{Clock, Histories, Tap};
use crate::law::{Control, Seen, Window};
use crate::model::Model;
use crate::motion::{Law, Motion, SIGNALS, hear, move_on, move_proportional, see};
use crate::path::Network;
use crate::queue::Queue;
use accord_family::WindowLaw;
use accord_scenario::{LinkId, LinkModel};
use answers::Taken;
use arrive::{Equations, Inflow};
use order::Order;
use shown::Shown;

/// The state of the integration.
pub(crate) struct Integration<'a, 'b> {
    pub model: &'a Model<'b>,
    link_model: LinkModel,
    pub clock: Clock,
    pub flows: Vec<Flow>,
    /// The controls of the flows. Consecutive classes with equal controls share an entry, which
    /// keeps it in the cache.
    controls: Vec<Control>,
    pub motion: Motion,
    order: Order,
    pub queues: Vec<Queue>,
    taps: Vec<See>,
    inflow: Inflow,
    taken: Taken,
    /// The counters of each queue.
    counters: Histories,
    shown: Shown,
    /// Bytes sent and windows, by class.
    pub sent: Histories,
    windows: Histories,
    /// True if some applications offer a finite rate.
    offers: bool,
    /// The rates of classes whose applications bind, zero for others, and the part of `windows` that is theirs.
    bound: Histories,
    held: Histories,
    /// The windows of a model without histories of them.
    unused: Vec<f64>,
    equations: Equations,
    /// The maximum number of queues on a path, and the longest round-trip time over empty queues.
    hops: usize,
    longest: f64,
    /// The instant at which the histories will begin with the bytes that leave now.
    due: usize,
    pub network: Network,
    /// The largest residual of the ACK-clocked model.
    pub residual: f64,
}

/// The counters of a queue, in bytes since the start of the run. Arrivals are bytes that sources
/// had sent. In the ACK-clocked model they can differ from the bytes that enter the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    Came,
    Entered,
    Served,
    /// The bytes that the link could have served.
    Could,
    Lost,
}

/// The number of counters per queue.
const COUNTERS: usize = 5;

/// The values of a queue's counters at an instant, indexed by [`Counter`].
pub(crate) type Entries = [f64; COUNTERS];

/// The passage of a byte through a queue: the times at which it left and entered, with the counters
/// at both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub left: f64,
    pub leaving: Entries,
    pub entered: f64,
    pub entering: Entries,
}

/// The maximum length of a history.
const DEEPEST: f64 = 4_194_304.0;

impl<'a, 'b> Integration<'a, 'b> {
    /// Creates the integration without running classes. `longest` is the longest delay of the run, `step` the
    /// longest step and `phases` the number of changes of the network.
    pub fn new(
        model: &'a Model<'b>,
        link_model: LinkModel,
        longest: f64,
        step: f64,
        phases: usize,
    ) -> Result<Self, FluidError> {
        let ratio = longest / step;
        let rows = 2 * model.classes.len() + (COUNTERS + 1 + 2 * SIGNALS) * model.queues.len();
        // A span between samples or changes is cut into steps longer than half the longest. A shorter span is
        // a single step.
        let deep = 2.0 * ratio + 2.0 * phases as f64 + 16.0;
        if deep * rows as f64 > 32.0 * DEEPEST || deep > DEEPEST {
            return Err(FluidError::TooDeep { ratio });
        }
        let depth = (deep as usize).next_power_of_two();
        let network = model.network(accord_units::Time::ZERO);
        let (classes, queues) = (model.classes.len(), model.queues.len());
        let windows = match link_model {
            LinkModel::AckClocked => classes,
            LinkModel::Integrator => 0,
        };
        let offers = model.classes.iter().any(|class| class.offered.is_finite());
        let bound = if offers { windows } else { 0 };
        let mut motion = Motion::new(classes);
        for (k, class) in model.classes.iter().enumerate() {
            motion.window[k] = class.control.dynamics.initial;
        }
        let mut controls: Vec<Control> = Vec::new();
        let mut flows = Vec::with_capacity(classes);
        for class in &model.classes {
            if controls.last() != Some(&class.control) {
                controls.push(class.control);
            }
            flows.push(Flow::new(class, controls.len() - 1));
        }
        let mut integration = Integration {
            link_model,
            clock: Clock::new(depth, step),
            flows,
            controls,
            motion,
            order: Order::default(),
            queues: (0..queues)
                .map(|q| {
                    let buffer = model.buffer(q);
                    // A link that is down from the start takes a nominal capacity.
                    let capacity = match network.rate[model.queues[q]] {
                        0.0 => model.scenario.links[model.queues[q]].rate.as_bps_f64() / 8.0,
                        rate => rate,
                    };
                    let discipline = model.rule(q, capacity);
                    Queue::new(discipline, capacity, buffer)
                })
                .collect(),
            taps: Vec::new(),
            inflow: Inflow::new(queues),
            taken: Taken::new(model, queues),
            counters: Histories::new(COUNTERS * queues, depth),
            shown: Shown::new(queues, depth),
            sent: Histories::new(classes, depth),
            windows: Histories::new(windows, depth),
            offers,
            bound: Histories::new(bound, depth),
            held: Histories::new(bound, depth),
            unused: vec![0.0; classes - windows],
            equations: Equations::new(classes, queues),
            hops: 0,
            longest: 0.0,
            due: 0,
            model,
            network,
            residual: 0.0,
        };
        let signals = |q: &usize| integration.queues[*q].signals();
        integration.shown.signalling = (0..queues).filter(signals).collect();
        Ok(integration)
    }

    /// Returns true if the histories are about to lose the bytes that left at the last call of
    /// [`keep_queues`](Self::keep_queues).
    pub fn is_due(&self) -> bool {
        self.clock.now >= self.due
    }

    /// Extends the histories to the current queuing delays, for look-ups of the sending times of
    /// bytes.
    pub fn keep_queues(&mut self) {
        let now = (self.clock.now - 1, 1.0);
        let age = |q| {
            let entered = self.entered(q, now, &self.counters(q, now));
            self.clock.time(self.clock.now) - entered.0
        };
        let queued = (0..self.queues.len()).map(age).fold(0.0, f64::max);
        let time = self.longest + 2.0 * self.hops as f64 * queued;
        let reaches = |clock: &Clock| clock.time(clock.now) - clock.time(clock.oldest());
        let queues = (COUNTERS + 1 + 2 * SIGNALS) * self.queues.len();
        let by_class = if self.offers { 4 } else { 2 };
        let rows = (by_class * self.flows.len() + queues) as f64;
        while reaches(&self.clock) < time && self.clock.depth() as f64 * rows < 16.0 * DEEPEST {
            self.clock.deepen();
            let now = self.clock.now;
            let kept = [
                &mut self.shown.delays,
                &mut self.shown.signals,
                &mut self.shown.put,
                &mut self.sent,
                &mut self.windows,
                &mut self.bound,
                &mut self.held,
                &mut self.counters,
            ];
            kept.into_iter().for_each(|h| h.deepen(now));
        }
        let clock = &self.clock;
        let back = self.longest + self.hops as f64 * queued;
        let (place, _) = clock.place(clock.time(clock.now) - back);
        self.due = clock.now + (place - clock.oldest()).max(1);
    }

    /// Returns the constant parameters of a class.
    pub fn control(&self, class: usize) -> &Control {
        &self.controls[self.flows[class].control as usize]
    }

    /// Returns the counters of a queue at an instant of the clock.
    #[inline(always)]
    pub fn counters(&self, queue: usize, (at, part): (usize, f64)) -> Entries {
        let row = |at| &self.counters.of(at)[queue * COUNTERS..][..COUNTERS];
        let (a, b) = (row(at), row(at + 1));
        std::array::from_fn(|i| a[i] + part * (b[i] - a[i]))
    }

    /// Returns the passage of the byte that leaves a queue at a time.
    pub fn passage(&self, queue: usize, left: f64) -> Passage {
        let place = self.clock.place(left);
        let leaving = self.counters(queue, place);
        let (entered, from) = self.entered(queue, place, &leaving);
        Passage { left, leaving, entered, entering: self.counters(queue, from) }
    }

    /// Returns the time and the instant of the entry of a byte into a queue, given the instant of its
    /// departure: the latest instant before which no more bytes had entered than were served at
    /// departure. `counters` are those at departure.
    fn entered(&self, queue: usize, left: (usize, f64), counters: &Entries) -> (f64, (usize, f64)) {
        let clock = &self.clock;
        let time = |(at, part): (usize, f64)| {
            clock.time(at) + part * (clock.time(at + 1) - clock.time(at))
        };
        let served = counters[Counter::Served as usize];
        if counters[Counter::Entered as usize] <= served {
            return (time(left), left);
        }
        let entered = |at| self.counters.get(queue * COUNTERS + Counter::Entered as usize, at);
        // Guess by the delay at departure.
        let (back, now) = (clock.now - left.0, self.delay(queue, left.0));
        let guess = back + (now / clock.step() - left.1) as usize + 1;
        let low = clock.search(guess, |at| entered(at) <= served);
        let (a, b) = (entered(low), entered(low + 1));
        let part = ((served - a) / (b - a)).clamp(0.0, 1.0);
        (time((low, part)), (low, part))
    }

    /// Changes the network, and the step to `h`. A call of [`switch`](Self::switch), which starts and stops
    /// flows, must follow.
    pub fn enter(&mut self, network: Network, h: f64) {
        self.longest = 0.0;
        self.taps.clear();
        let before = std::mem::take(&mut self.inflow.feeds);
        self.inflow.feeds = vec![Feeds::default(); before.len()];
        self.equations.routes = Routes::default();
        let mut shorter = vec![false; before.len()];
        let mut lines: Vec<Vec<(LinkId, f64)>> = vec![Vec::new(); self.queues.len()];
        for (q, queue) in self.queues.iter_mut().enumerate() {
            queue.set_capacity(network.rate[self.model.queues[q]]);
        }
        for (k, path) in network.paths.iter().enumerate() {
            self.longest = self.longest.max(path.base_rtt);
            let first = self.taps.len();
            for (i, hop) in path.hops.iter().enumerate() {
                self.taps.push(See {
                    queue: hop.queue as u32,
                    forward: i < path.forward,
                    hidden: self.model.hidden(k, hop.queue),
                    tap: Tap::new(path.base_rtt - hop.after),
                });
                if i < path.forward {
                    let many = if hop.private { 1.0 } else { self.flows[k].many };
                    self.inflow.feeds[hop.queue].push(k, many * hop.passes, hop.after);
                    lines[hop.queue].push(match hop.from {
                        Some(link) => (link, self.model.lines(link, many) * network.rate[link]),
                        None => (LinkId::MAX, f64::INFINITY),
                    });
                }
            }
            self.equations.routes.push(path.hops.iter().map(|h| h.queue));
            let flow = &mut self.flows[k];
            flow.hops = first..self.taps.len();
            flow.wire_loss = 1.0 - path.passes;
            flow.signals = flow.wire_loss > 0.0
                || self.taps[first..]
                    .iter()
                    .any(|t| t.hidden || self.queues[t.queue as usize].signals());
            if path.base_rtt < self.motion.base_rtt[k] {
                let hops = path.hops[..path.forward].iter();
                hops.for_each(|hop| shorter[hop.queue] = true);
            }
            self.motion.base_rtt[k] = path.base_rtt;
            self.motion.most[k] = path.peak;
        }
        self.hops = self.equations.routes.longest();
        self.equations.dead = self.queues.iter().map(Queue::is_dead).collect();
        self.equations.follows = self.following(&network);
        self.equations.capacities = self.queues.iter().map(|q| q.capacity).collect();
        for (sum, lines) in self.inflow.lines.iter_mut().zip(&mut lines) {
            lines.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            lines.dedup_by_key(|line| line.0);
            *sum = lines.iter().map(|line| line.1).sum();
        }
        self.equations.loads = Loads::default();
        for feeds in &self.inflow.feeds {
            let base_rtt = |k| network.paths[k as usize].base_rtt;
            self.equations.loads.push(&feeds.classes, base_rtt);
        }
        self.network = network;
        self.taken.enter(self.model, &self.network, &self.flows);
        self.clock.reaches(self.longest, h);
        self.locate();
        for (q, (new, old)) in self.inflow.feeds.iter().zip(&before).enumerate() {
            let now = self.clock.now;
            let total = new.sum(&self.sent, now);
            self.inflow.moved[q] +=
                total - self.inflow.arrived[q] - new.beyond(old, self.sent.of(now));
            self.inflow.arrived[q] = total;
            let joined = !old.classes.is_empty() && old.classes != new.classes;
            let unbound = |&k: &u32| {
                self.model.classes[k as usize].control.dynamics.law == WindowLaw::Unresponsive
            };
            let queue = &mut self.queues[q];
            queue.open = new.classes.iter().all(unbound);
            queue.fills |= queue.open || joined || shorter[q];
        }
    }

    /// Starts and stops flows: each class of `classes` runs from now on if its flag is true.
    pub fn switch(&mut self, classes: Vec<(usize, bool)>) {
        for (k, active) in classes {
            let (seen, _) = self.look(k, |tap| *tap);
            self.turn(k, active, seen);
        }
        if self.link_model == LinkModel::AckClocked {
            // Bytes in flight of stopped flows no longer belong to a window.
            let now = self.windows.of_mut(self.clock.now);
            for (window, _) in (now.iter_mut().zip(&self.flows)).filter(|(_, f)| !f.active) {
                *window = 0.0;
            }
        }
        self.order.sorted = false;
    }

    /// Starts an inactive class at `start`, within the next step.
    pub fn start_within(&mut self, class: usize, start: f64) {
        self.order.late.push((class as u32, start));
    }

    /// Activates or deactivates a class, with its initial signals.
    fn turn(&mut self, k: usize, active: bool, seen: Seen) {
        let (flow, motion) = (&mut self.flows[k], &mut self.motion);
        let was = flow.active;
        motion.loss[k] = seen.loss;
        flow.active = active && motion.sent[k] < flow.size;
        if flow.active && !was {
            flow.start();
            motion.price[k] = 0.0;
            let control = &self.controls[flow.control as usize];
            motion.window[k] = control.dynamics.initial;
            let (base_rtt, sent) = (motion.base_rtt[k], motion.sent[k]);
            motion.min_rtt[k] = flow.base(control, f64::INFINITY, base_rtt, seen.queue, sent);
        }
        motion.set_rate(k, seen.queue, flow.active);
    }

    /// Takes a step of length `h`, which ends at `time`.
    pub fn step(&mut self, time: f64, h: f64) {
        self.clock.tick(time, h);
        let now = self.clock.now;
        if !self.clock.regular {
            self.locate();
        }
        if !self.order.sorted {
            self.sort();
        }
        self.take_answers();
        let delays = self.shown.delays.of_mut(now).iter_mut();
        (delays.zip(&self.queues)).for_each(|(delay, queue)| *delay = queue.predicted(h));
        // The prediction assumes that queues lose and mark as in the previous step.
        self.keep_signals();
        // The previous signals count as well, because they arrive later behind other queues.
        let heard = match self.hops {
            0 | 1 => now - self.shown.latest_signal <= self.shown.furthest + 1,
            _ => self.shown.latest_signal > 0,
        };
        self.see_all(heard);
        let motion = &mut self.motion;
        let sent = self.sent.of_mut(now);
        let flight = match self.link_model {
            LinkModel::AckClocked => self.windows.of_mut(now),
            LinkModel::Integrator => &mut self.unused[..],
        };
        for run in &self.order.runs {
            let classes = run.first..run.end;
            match run.law {
                Law::Proportional(law) => move_proportional(motion, classes, law, h, sent, flight),
                Law::Of(control) => {
                    let control = &self.controls[control as usize];
                    move_on(motion, classes, control, heard, h, sent, flight);
                }
            }
        }
        for i in 0..self.order.others.len() {
            self.move_flow(self.order.others[i] as usize, h);
        }
        for i in 0..self.order.late.len() {
            let (k, start) = self.order.late[i];
            self.begin(k as usize, time - start);
        }
        let sent = self.sent.of_mut(now);
        for &k in self.order.others.iter().chain(&self.order.inactive) {
            sent[k as usize] = self.motion.sent[k as usize];
        }
        match self.link_model {
            LinkModel::Integrator => self.integrate(now, h),
            LinkModel::AckClocked => {
                let flight = self.windows.of_mut(now);
                self.order.inactive.iter().for_each(|&k| flight[k as usize] = 0.0);
                let late = self.order.late.iter().map(|(k, _)| k);
                for &k in self.order.others.iter().chain(late) {
                    flight[k as usize] = self.motion.flight(k as usize);
                }
                if self.offers {
                    let (bound, held) = (self.bound.of_mut(now), self.held.of_mut(now));
                    for (k, flow) in self.flows.iter().enumerate() {
                        let rate = if flow.active && flow.offered.is_finite() {
                            self.motion.bound(k)
                        } else {
                            0.0
                        };
                        (bound[k], held[k]) = (rate, if rate > 0.0 { flight[k] } else { 0.0 });
                    }
                }
                self.conserve(now, h);
            }
        }
        self.order.late.clear();
        let delays = self.shown.delays.of_mut(now).iter_mut();
        let (counters, _) = self.counters.of_mut(now).as_chunks_mut::<COUNTERS>();
        let queues = self.queues.iter().zip(&self.inflow.came);
        for ((queue, &came), (delay, counters)) in queues.zip(delays.zip(counters)) {
            *delay = queue.delay;
            let entered = queue.served + queue.backlog;
            *counters = [came, entered, queue.served, queue.could, queue.lost];
        }
        self.show_signals();
    }

    /// Starts a class `left` seconds before the end of this step and advances it to the end. It sees the
    /// queues as they are at its start. Other places see its bytes and window spread evenly over the step,
    /// which is correct on average over many starts.
    fn begin(&mut self, k: usize, left: f64) {
        let (seen, _) = self.look(k, |tap| {
            let mut then = Tap::new(tap.delay + left);
            then.locate(&self.clock);
            then
        });
        self.turn(k, true, seen);
        self.move_flow(k, left);
        self.order.sorted = false;
    }

    /// Updates what classes in batches see of their queues, and their signals if there are any
    /// (`heard`).
    fn see_all(&mut self, heard: bool) {
        let now = self.clock.now;
        let Motion { sees, fraction, .. } = &mut self.motion;
        see(&mut sees.queue, fraction, &self.order.views, &self.shown.delays, now);
        if heard {
            hear(sees, fraction, &self.order.views, &self.shown.signals, now);
        }
        for i in 0..self.order.looks.len() {
            let k = self.order.looks[i] as usize;
            if heard {
                let (mut seen, marks) = self.look(k, |tap| *tap);
                let flow = &mut self.flows[k];
                if flow.signals {
                    let control = &self.controls[flow.control as usize];
                    flow.signal(control, &mut seen, marks, 0.0);
                }
                self.motion.sees.set(k, &seen);
                continue;
            }
            let delay = |see: &See| -> f64 {
                let [delay] = self.shown.delays.read(see.queue as usize, now, &see.tap);
                delay
            };
            let hops = &self.taps[self.flows[k].hops.clone()];
            self.motion.sees.queue[k] = hops.iter().map(delay).fold(0.0, |sum, delay| sum + delay);
        }
    }

    /// Returns the queuing delay of a queue at an instant.
    #[inline(always)]
    fn delay(&self, queue: usize, at: usize) -> f64 {
        self.shown.delays.get(queue, at)
    }

    fn locate(&mut self) {
        self.shown.furthest = 0;
        for see in &mut self.taps {
            see.tap.locate(&self.clock);
            self.shown.furthest = self.shown.furthest.max(see.tap.back as usize);
        }
        for feeds in &mut self.inflow.feeds {
            feeds.locate(&self.clock);
        }
        self.order.sorted = false;
    }

    #[inline]
    fn move_flow(&mut self, k: usize, h: f64) {
        let (mut seen, marks) = self.look(k, |tap| *tap);
        let from = self.motion.seen(k);
        let (flow, motion) = (&mut self.flows[k], &mut self.motion);
        let control = &self.controls[flow.control as usize];
        let mut state = Window {
            window: motion.window[k],
            slow_start: flow.slow_start,
            min_rtt: motion.min_rtt[k],
            epoch: motion.epoch[k],
        };
        let base_rtt = motion.base_rtt[k];
        if flow.signals {
            flow.signal(control, &mut seen, marks, motion.rate[k] * h);
        }
        state.min_rtt = flow.base(control, state.min_rtt, base_rtt, seen.queue, motion.sent[k]);
        if flow.wire_loss > 0.0 {
            let even = control.even_losses(flow.wire_loss, base_rtt + seen.queue) - flow.wire_loss;
            let felt = |seen: &Seen| Seen { loss: (seen.loss + even).clamp(0.0, 1.0), ..*seen };
            control.advance(&mut state, base_rtt, &felt(&from), &felt(&seen), h);
        } else {
            control.advance(&mut state, base_rtt, &from, &seen, h);
        }
        (motion.price[k], motion.loss[k]) = (seen.price, seen.loss);
        if flow.offered.is_finite() && state.window.is_finite() {
            // An unused window does not grow.
            state.window = state.window.min(flow.offered * (base_rtt + seen.queue));
        }
        motion.epoch[k] = state.epoch;
        self.order.sorted &= flow.slow_start == state.slow_start;
        flow.slow_start = state.slow_start;
        motion.window[k] = state.window;
        motion.min_rtt[k] = state.min_rtt;
        let before = motion.rate[k];
        motion.set_rate(k, seen.queue, true);
        let bytes = 0.5 * h * (before + motion.rate[k]);
        motion.lost[k] += bytes * seen.loss;
        motion.sent[k] += bytes;
        if motion.sent[k] >= flow.size {
            // The last byte leaves within the step.
            motion.sent[k] = flow.size;
            motion.set_rate(k, seen.queue, false);
            flow.active = false;
            self.order.sorted = false;
        }
    }
}
