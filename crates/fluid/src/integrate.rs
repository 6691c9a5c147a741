//! The time loop.
//!
//! A step from t to t + h: all queues are predicted to t + h; flows read them at t + h − b,
//! where b is the delay back to the source, and move their windows; queues read the flows at
//! t + h − f, where f is the delay to the queue, and move. Delays are at least a step long on
//! one of the two ways, so nothing is read that is not there, but for the prediction.
//!
//! A queue integrates the bytes that arrive, as the difference of the flows' arrival curves
//! [Xia03 eq. 2], so that none is lost or made. Order two for smooth laws: Heun's method for
//! windows, the trapezoidal rule for what they send, linear interpolation of the past.

use crate::conserve::{Load, Problem};
use crate::error::FluidError;
use crate::history::{Clock, Histories, Tap};
use crate::law::{Law, Seen, Window};
use crate::model::{Model, Network};
use crate::queue::{Discipline, Queue};
use accord_scenario::LinkModel;
use accord_units::param::Role;

/// A flow as it runs.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub active: bool,
    pub state: Window,
    pub seen: Seen,
    pub base_rtt: f64,
    /// Present rate in bytes/s, and all bytes sent.
    pub rate: f64,
    /// One over the round-trip time.
    inverse: f64,
    pub sent: f64,
    /// Bytes lost on the way.
    pub lost: f64,
    /// The most that the application and private links let pass.
    most: f64,
    offered: f64,
    size: f64,
    many: f64,
    /// Its queues in `Integration::taps`.
    hops: std::ops::Range<usize>,
    /// Whether any of its queues does more than delay.
    signals: bool,
    /// For the common case, [`Flow::glide`]: gain, target, packet, and the only queue.
    glides: bool,
    proportional: (f64, f64, f64),
    only: Option<See>,
    /// Steps until its past is the same all over, once it has stopped.
    settling: usize,
}

/// A queue that a source sees, after a delay.
#[derive(Clone, Copy, Debug)]
struct See {
    queue: u32,
    forward: bool,
    /// The source measures by pairs of control packets, and both wait there.
    hidden: bool,
    tap: Tap,
}

/// A flow that arrives at a queue, after a delay.
#[derive(Clone, Copy, Debug)]
struct Feed {
    kind: u32,
    /// How many flows: those of the kind, or one at a private queue.
    many: f64,
    tap: Tap,
}

/// All that moves.
pub(crate) struct Integration<'a, 'b> {
    pub model: &'a Model<'b>,
    link_model: LinkModel,
    pub clock: Clock,
    depth: usize,
    pub flows: Vec<Flow>,
    pub queues: Vec<Queue>,
    taps: Vec<See>,
    feeds: Vec<Vec<Feed>>,
    /// Bytes that had arrived at each queue at the last step.
    arrived: Vec<f64>,
    /// Queuing delays, virtual delays and losses, by queue.
    pub delays: Histories,
    virtual_delays: Histories,
    losses: Histories,
    /// Bytes sent and windows, by kind.
    pub sent: Histories,
    windows: Histories,
    /// Queues on each kind's path, for the ACK-clocked model.
    paths: Vec<Vec<u32>>,
    base_rtts: Vec<f64>,
    capacities: Vec<f64>,
    loads: Vec<Vec<Load>>,
    pub network: Network,
    /// Largest residual of the ACK-clocked model.
    pub residual: f64,
}

/// A history holds no more.
const DEEPEST: f64 = 4_194_304.0;

impl<'a, 'b> Integration<'a, 'b> {
    /// Nothing runs yet. `longest` is the longest delay there will be, `step` the longest step
    /// and `extra` how many steps may be shorter.
    pub fn new(
        model: &'a Model<'b>,
        link_model: LinkModel,
        longest: f64,
        step: f64,
        extra: usize,
    ) -> Result<Self, FluidError> {
        let ratio = longest / step;
        let rows = 2 * model.kinds.len() + 3 * model.queues.len();
        let deep = 2.0 * ratio + extra as f64 + 16.0;
        if deep * rows as f64 > 32.0 * DEEPEST || deep > DEEPEST {
            return Err(FluidError::TooDeep { ratio });
        }
        let depth = (deep as usize).next_power_of_two();
        let network = model.network(accord_units::Time::ZERO);
        let (kinds, queues) = (model.kinds.len(), model.queues.len());
        let windows = match link_model {
            LinkModel::AckClocked => kinds,
            LinkModel::Integrator => 0,
        };
        Ok(Integration {
            link_model,
            clock: Clock::new(depth, step),
            depth,
            flows: model
                .kinds
                .iter()
                .map(|k| Flow {
                    active: false,
                    state: Window {
                        window: k.control.initial,
                        slow_start: true,
                        min_rtt: f64::INFINITY,
                    },
                    seen: Seen::default(),
                    base_rtt: 0.0,
                    rate: 0.0,
                    inverse: 0.0,
                    sent: 0.0,
                    lost: 0.0,
                    most: f64::INFINITY,
                    offered: k.offered,
                    size: k.size,
                    many: k.members.len() as f64,
                    hops: 0..0,
                    signals: false,
                    glides: false,
                    proportional: match k.control.law {
                        Law::Proportional { gain, target } => (gain, target, k.control.packet),
                        _ => (0.0, 0.0, 0.0),
                    },
                    only: None,
                    settling: 0,
                })
                .collect(),
            queues: (0..queues)
                .map(|q| {
                    let buffer = model.buffer(q);
                    let capacity = network.rate[model.queues[q]];
                    Queue::new(
                        Discipline::of(model.discipline(q), buffer),
                        capacity,
                        buffer,
                    )
                })
                .collect(),
            taps: Vec::new(),
            feeds: vec![Vec::new(); queues],
            arrived: vec![0.0; queues],
            delays: Histories::new(queues, depth),
            virtual_delays: Histories::new(queues, depth),
            losses: Histories::new(queues, depth),
            sent: Histories::new(kinds, depth),
            windows: Histories::new(windows, depth),
            paths: Vec::new(),
            base_rtts: Vec::new(),
            capacities: Vec::new(),
            loads: vec![Vec::new(); queues],
            model,
            network,
            residual: 0.0,
        })
    }

    /// From now on the network is `network`, the kinds with `active` run, and steps last `h`.
    pub fn enter(&mut self, network: Network, active: &[bool], h: f64) {
        let mut longest = 0.0f64;
        self.taps.clear();
        self.feeds.iter_mut().for_each(Vec::clear);
        self.paths.clear();
        for (q, queue) in self.queues.iter_mut().enumerate() {
            let capacity = network.rate[self.model.queues[q]];
            queue.set_capacity(capacity, self.model.buffer(q));
        }
        for (k, path) in network.paths.iter().enumerate() {
            longest = longest.max(path.base_rtt);
            let first = self.taps.len();
            let member = self.model.kinds[k].members[0];
            let controller = &self.model.scenario.flows[member].controller;
            let pairs = matches!(controller.family().role, Role::Tunnel(_));
            for (i, hop) in path.hops.iter().enumerate() {
                let link = &self.model.scenario.links[self.model.queues[hop.queue]];
                let mut tap = Tap::new(path.base_rtt - hop.after);
                tap.locate(&self.clock);
                self.taps.push(See {
                    queue: hop.queue as u32,
                    forward: i < path.forward,
                    hidden: pairs && !link.control_priority,
                    tap,
                });
                if i < path.forward {
                    let mut tap = Tap::new(hop.after);
                    tap.locate(&self.clock);
                    self.feeds[hop.queue].push(Feed {
                        kind: k as u32,
                        many: if hop.private { 1.0 } else { self.flows[k].many },
                        tap,
                    });
                }
            }
            self.paths
                .push(path.hops.iter().map(|h| h.queue as u32).collect());
            let flow = &mut self.flows[k];
            flow.hops = first..self.taps.len();
            flow.base_rtt = path.base_rtt;
            flow.most = path.peak.min(flow.offered);
            flow.signals = self.taps[first..].iter().any(|t| {
                let queue = &self.queues[t.queue as usize];
                t.hidden || queue.longest.is_finite() || queue.discipline != Discipline::DropTail
            });
        }
        self.only();
        self.base_rtts = network.paths.iter().map(|p| p.base_rtt).collect();
        self.capacities = self.queues.iter().map(|q| q.capacity).collect();
        self.network = network;
        self.clock.reaches(longest, h);
        for (q, feeds) in self.feeds.iter().enumerate() {
            self.arrived[q] = arrived(feeds, &self.sent, self.clock.now);
        }
        self.switch(active);
    }

    /// Notes the queue of flows that have just one.
    fn only(&mut self) {
        for flow in &mut self.flows {
            flow.only = match &self.taps[flow.hops.clone()] {
                [see] => Some(*see),
                _ => None,
            };
        }
    }

    /// Whether a flow is the common case: proportional, out of slow start, one queue that
    /// only delays, always more to send.
    fn glides(&self, k: usize) -> bool {
        let flow = &self.flows[k];
        let law = self.model.kinds[k].control.law;
        (flow.active && !flow.state.slow_start && !flow.signals && flow.only.is_some())
            && matches!(law, Law::Proportional { .. })
            && flow.offered.is_infinite()
            && flow.size.is_infinite()
    }

    /// Starts and stops flows.
    fn switch(&mut self, active: &[bool]) {
        for (k, &active) in active.iter().enumerate() {
            let was = self.flows[k].active;
            let seen = self.see(k);
            let flow = &mut self.flows[k];
            flow.seen = seen;
            flow.active = active && flow.sent < flow.size;
            if flow.active && !was {
                flow.state.window = self.model.kinds[k].control.initial;
                flow.state.slow_start = true;
                flow.state.min_rtt = flow.base_rtt + seen.queue;
            }
            flow.rate = if flow.active { flow.sends() } else { 0.0 };
            flow.inverse = 1.0 / (flow.base_rtt + seen.queue);
            if was && !flow.active {
                flow.settling = self.depth;
                if self.link_model == LinkModel::AckClocked {
                    // What is left in flight is no window any more.
                    self.windows.put(k, self.clock.now, 0.0);
                }
            }
            self.flows[k].glides = self.glides(k);
        }
    }

    /// What a source sees now.
    #[inline]
    fn see(&self, kind: usize) -> Seen {
        let flow = &self.flows[kind];
        let mut seen = Seen::default();
        for see in &self.taps[flow.hops.clone()] {
            let queue = see.queue as usize;
            let delay = self.delays.read(queue, self.clock.now, &see.tap);
            seen.queue += delay;
            if flow.signals && see.forward {
                let now = self.clock.now;
                seen.virtual_delay += self.virtual_delays.read(queue, now, &see.tap);
                if see.hidden {
                    seen.virtual_delay -= delay;
                }
                let loss = self.losses.read(queue, now, &see.tap);
                seen.loss = 1.0 - (1.0 - seen.loss) * (1.0 - loss);
            }
        }
        seen
    }

    /// One step of length `h`, to `time`.
    pub fn step(&mut self, time: f64, h: f64) {
        self.clock.tick(time, h);
        let now = self.clock.now;
        if !self.clock.regular {
            self.locate();
        }
        for (q, queue) in self.queues.iter().enumerate() {
            self.delays.put(q, now, queue.predicted(h));
            if queue.longest.is_finite() || queue.discipline != Discipline::DropTail {
                self.virtual_delays.put(q, now, queue.virtual_delay());
                self.losses.put(q, now, queue.loss);
            }
        }
        let conserving = self.link_model == LinkModel::AckClocked;
        for k in 0..self.flows.len() {
            let flow = &mut self.flows[k];
            if flow.glides
                && let Some(see) = flow.only
            {
                let queue = self.delays.read(see.queue as usize, now, &see.tap);
                flow.glide(queue, h);
                self.sent.put(k, now, flow.sent);
                if conserving {
                    self.windows.put(k, now, flow.rate / flow.inverse);
                }
            } else {
                self.move_flow(k, now, h);
            }
        }
        match self.link_model {
            LinkModel::Integrator => self.integrate(now, h),
            LinkModel::AckClocked => self.conserve(now, h),
        }
        for (q, queue) in self.queues.iter().enumerate() {
            self.delays.put(q, now, queue.delay);
            if queue.longest.is_finite() || queue.discipline != Discipline::DropTail {
                self.virtual_delays.put(q, now, queue.virtual_delay());
                self.losses.put(q, now, queue.loss);
            }
        }
    }

    fn locate(&mut self) {
        for see in &mut self.taps {
            see.tap.locate(&self.clock);
        }
        self.only();
        for feed in self.feeds.iter_mut().flatten() {
            feed.tap.locate(&self.clock);
        }
    }

    #[inline]
    fn move_flow(&mut self, k: usize, now: usize, h: f64) {
        if !self.flows[k].active {
            let flow = &mut self.flows[k];
            if flow.settling > 0 {
                flow.settling -= 1;
                self.sent.put(k, now, flow.sent);
                if self.link_model == LinkModel::AckClocked {
                    self.windows.put(k, now, 0.0);
                }
            }
            return;
        }
        let seen = self.see(k);
        let flow = &mut self.flows[k];
        let control = &self.model.kinds[k].control;
        control.advance(&mut flow.state, flow.base_rtt, &flow.seen, &seen, h);
        flow.seen = seen;
        if flow.offered.is_finite() && flow.state.window.is_finite() {
            // A window that is not used does not grow.
            let rtt = flow.base_rtt + seen.queue;
            flow.state.window = flow.state.window.min(flow.offered * rtt);
        }
        let rate = flow.sends();
        let bytes = 0.5 * h * (flow.rate + rate);
        flow.lost += bytes * seen.loss;
        flow.sent += bytes;
        flow.rate = rate;
        flow.inverse = 1.0 / (flow.base_rtt + seen.queue);
        if flow.sent >= flow.size {
            // The last byte leaves within the step.
            flow.sent = flow.size;
            flow.active = false;
            flow.rate = 0.0;
            flow.settling = self.depth;
        }
        self.sent.put(k, now, flow.sent);
        if self.link_model == LinkModel::AckClocked {
            let window = flow.rate * (flow.base_rtt + seen.queue);
            self.windows.put(k, now, window);
        }
        self.flows[k].glides = self.glides(k);
    }

    fn integrate(&mut self, now: usize, h: f64) {
        for (q, queue) in self.queues.iter_mut().enumerate() {
            let total = arrived(&self.feeds[q], &self.sent, now);
            queue.integrate((total - self.arrived[q]).max(0.0), h);
            self.arrived[q] = total;
        }
    }

    fn conserve(&mut self, now: usize, h: f64) {
        for (loads, feeds) in self.loads.iter_mut().zip(&self.feeds) {
            loads.clear();
            loads.extend(feeds.iter().map(|f| Load {
                kind: f.kind,
                window: f.many * self.windows.read(f.kind as usize, now, &f.tap),
            }));
        }
        let mut delay: Vec<f64> = self.queues.iter().map(|q| q.predicted(h)).collect();
        let mut rate = vec![0.0; delay.len()];
        let problem = Problem {
            capacity: &self.capacities,
            loads: &self.loads,
            base_rtt: &self.base_rtts,
            queues: &self.paths,
        };
        let residual = problem.solve(&mut delay, &mut rate);
        self.residual = self.residual.max(residual);
        let longest = self.queues.iter().map(|q| q.longest);
        if delay.iter().zip(longest.clone()).any(|(p, most)| *p > most) {
            // What the windows send beyond a full buffer is lost.
            for (p, most) in delay.iter_mut().zip(longest) {
                *p = p.min(most);
            }
            problem.evaluate(&delay, &mut rate);
        }
        for ((queue, p), y) in self.queues.iter_mut().zip(delay).zip(rate) {
            let fills = (p - queue.delay) * queue.capacity;
            queue.set(p, (y * h + fills).max(0.0), h);
        }
    }
}

impl Flow {
    /// [`crate::law::Control::advance`] and what is sent, for the common case: the same
    /// arithmetic with one division.
    #[inline]
    fn glide(&mut self, queue: f64, h: f64) {
        let (gain, target, packet) = self.proportional;
        let w = self.state.window;
        let rtt = self.base_rtt + queue;
        let inverse = 1.0 / rtt;
        let slope = |w: f64, queue: f64, inverse: f64| {
            (gain * (target - w * queue * inverse)).min(packet) * inverse
        };
        let first = slope(w, self.seen.queue, self.inverse);
        let second = slope((w + h * first).max(1e-3 * packet), queue, inverse);
        let next = (w + 0.5 * h * (first + second)).max(1e-3 * packet);
        let rate = (next * inverse).min(self.most);
        self.state.window = next;
        self.state.min_rtt = self.state.min_rtt.min(rtt);
        self.seen.queue = queue;
        self.inverse = inverse;
        self.sent += 0.5 * h * (self.rate + rate);
        self.rate = rate;
    }

    /// Its rate, as its window and its application have it.
    #[inline]
    fn sends(&self) -> f64 {
        (self.state.window / (self.base_rtt + self.seen.queue)).min(self.most)
    }
}

/// Bytes that have arrived at a queue: the arrival curve [Xia03 eq. 1].
#[inline]
fn arrived(feeds: &[Feed], sent: &Histories, now: usize) -> f64 {
    let bytes = |f: &Feed| f.many * sent.read(f.kind as usize, now, &f.tap);
    feeds.iter().map(bytes).sum()
}
