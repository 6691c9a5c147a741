//! The linearisation about an equilibrium: a system of linear equations with delays.
//!
//! Let δw, δp, δV and δC̃ be the deviations of windows, queuing delays, virtual backlogs and
//! virtual capacities, D = d + q and x = w/D. With the delays b (queue to source) and f (source to
//! queue), per round trip:
//!
//! ```text
//! δdw/dt = −k_q·δq(t) − k_v·δv(t) − m·δw,    δq(t) = Σ δp(t − b)
//!     p:  k_q = κ/D·(x_s − x·(q + v)/D), k_v = κ/D·x_s, m = κ·(q + v)/D²;  mw: times d/w
//!     x_s = x − x̂, the rate that is not contracted [Har02 eq. 3], or x for a flow at its limit
//! integrator   c·δdp/dt = Σ (δw(t − f)/D − x/D·δq(t − f))
//! ack-clocked  Σ (x/D)·Σ δp = Σ δw(t − f)/D,   solved for δp
//! AVD          δdV/dt = δy − δC̃,  δdC̃/dt = −α·δy,  δv = (δV − v·δC̃)/C̃
//!     reno:  δdw/dt = −packet/(D·m)·δm(t − b − q̂) − x·m/packet·δw
//! ```
//!
//! A share is applied to arriving packets, and waits with them for q̂, there and in the queues of the rest of
//! the path. The delay from the window to its feedback is therefore a round trip, including its queues
//! [Hollot et al., "A Control Theoretic Analysis of RED", INFOCOM 2001]. The same holds for a virtual delay.
//!
//! The response of the share m of marks and losses is in [`crate::signal`]. Dropped packets do not
//! enter the queue. Then (1 − m)·y replaces y above.
//!
//! Flows of a kind move together here. Their motion against each other, which decays at the rate m, is omitted.

use crate::balance::balance;
use crate::error::MarginsError;
use crate::linear::{Linear, Term};
use crate::rest::{ALIKE, Equilibrium, Rest, passed};
use crate::signal::{Answer, Signal, signals};
use accord_family::{QueueLaw, WindowLaw};
use accord_fluid::{Hop, Model, Network, Path};
use accord_scenario::{LinkModel, Scenario};
use accord_units::Time;
use nalgebra::DMatrix;

/// `E[w²]` over `E[w]²`.
const SPREAD: f64 = 7.0 / 6.0;

/// The fraction of the largest singular value below which a system counts as singular.
const SINGULAR: f64 = 1e-9;

/// The maximum number of unknowns. More take too long.
const LARGEST: usize = 60;

/// Linearises a scenario at the equilibrium of the phase at `at`.
///
/// # Errors
/// If there is no equilibrium, if a law depends only on a sign, or if the network is too large.
pub fn linearise(scenario: &Scenario, at: Time) -> Result<(Linear, Vec<Rest>), MarginsError> {
    let near = nearby(scenario, at)?;
    Ok((near.fluid, near.rest))
}

/// The linear systems near an equilibrium.
pub(crate) struct Nearby {
    /// The fluid.
    pub fluid: Linear,
    /// The same system for the responses of packets to RED's marks and losses: see [`Answers::Packets`].
    pub packets: Option<Linear>,
    /// The reason, if any, why the cycles of packets are unknown.
    pub unknown: Option<&'static str>,
    pub rest: Vec<Rest>,
}

/// The model of the response of windows to a share of marks and losses.
#[derive(Clone, Copy, PartialEq)]
enum Answers {
    /// By the equations above.
    Fluid,
    /// Windows of many flows differ, and the large ones are halved more often: E[w²] is 7/6 of E[w]² [see
    /// `advance.rs`]. A sender whose window is halved waits until half of it has been acknowledged. The data
    /// in flight therefore falls over half a round trip, on average a quarter of a round trip later.
    Packets,
}

/// Does the same as [`linearise`], for the fluid and for packets.
pub(crate) fn nearby(scenario: &Scenario, at: Time) -> Result<Nearby, MarginsError> {
    let model = Model::new(scenario)?;
    let phase = scenario.phase_at(at);
    let network = model.network(phase.start);
    let kinds: Vec<usize> = (0..model.classes.len())
        .filter(|&k| phase.active.contains(&model.classes[k].members[0]))
        .collect();
    let mut moving: Vec<usize> = Vec::new();
    let mut flows: Vec<usize> = Vec::new();
    for &k in &kinds {
        let kind = &model.classes[k];
        match kind.control.dynamics.law {
            WindowLaw::Unresponsive => {}
            WindowLaw::Proportional { .. } | WindowLaw::MoWalrand { .. } | WindowLaw::Reno => {
                // Kinds that differ only in their times count as one here.
                let twin = moving.iter().position(|&m| {
                    model.classes[m].control == kind.control
                        && model.same(&network.paths[m], &network.paths[k])
                });
                match twin {
                    Some(m) => flows[m] += kind.members.len(),
                    None => {
                        moving.push(k);
                        flows.push(kind.members.len());
                    }
                }
            }
            WindowLaw::Cubic { .. } => {
                return Err(MarginsError::NoEquilibrium(format!(
                    "margins are undefined for {}: its window follows the time since its last loss",
                    model.group(k)
                )));
            }
            WindowLaw::Additive { .. } | WindowLaw::Vegas { .. } => {
                let controller = &scenario.flows[kind.members[0]].controller;
                return Err(MarginsError::Sign {
                    group: model.group(k).to_string(),
                    law: controller.family().name,
                });
            }
        }
    }
    let reacts_to_loss = |k: &&usize| model.classes[**k].control.dynamics.law == WindowLaw::Reno;
    let at_rest = match (
        moving.iter().find(reacts_to_loss),
        moving.iter().find(|k| !reacts_to_loss(k)),
    ) {
        (None, _) => {
            let lossy = |k: &&usize| network.paths[**k].passes < 1.0;
            if let Some(&k) = moving.iter().find(lossy) {
                return Err(MarginsError::NoEquilibrium(format!(
                    "a wire on the way of {} loses packets, and how far that moves flows that go by delays is not known",
                    model.group(k)
                )));
            }
            Equilibrium::of(&model, &phase)?
        }
        (Some(_), None) => balance(&model, &network, &kinds)?,
        (Some(&one), Some(&other)) => {
            return Err(MarginsError::NoEquilibrium(format!(
                "{} goes by marks and losses, {} by delays; where both rest is not known",
                model.group(one),
                model.group(other)
            )));
        }
    };
    // A flow does not move if its application or host link bounds its rate.
    let free = |k: &usize| {
        let (kind, path) = (&model.classes[*k], &network.paths[*k]);
        at_rest.rates[kind.members[0]] < path.peak * (1.0 - ALIKE)
    };
    let (moving, flows): (Vec<usize>, Vec<usize>) =
        (moving.into_iter().zip(flows)).filter(|(k, _)| free(k)).unzip();
    let mut rest: Vec<Rest> = (moving.iter().zip(flows))
        .map(|(&k, flows)| Rest::of(&model, &network, &at_rest, k, flows))
        .collect();
    let mut reacts = vec![0.0; model.queues.len()];
    for (&k, rest) in moving.iter().zip(&rest) {
        let path = &network.paths[k];
        for hop in &path.hops[..path.forward] {
            reacts[hop.queue] += rest.rate * rest.flows as f64;
        }
    }
    for (&k, rest) in moving.iter().zip(&mut rest) {
        rest.close(&model, &network, &at_rest, k, &reacts);
    }
    if rest.iter().any(|r| r.rate.is_nan() || r.rate <= 0.0) {
        return Err(MarginsError::NoEquilibrium("a flow has no rate".into()));
    }
    let mut builder = Builder {
        model: &model,
        network: &network,
        moving: &moving,
        rest: &rest,
        at_rest: &at_rest,
        signals: signals(&model, &network, &at_rest)?,
        answers: Answers::Fluid,
    };
    let fluid = builder.build(scenario.fluid.link_model)?;
    let signalled = builder.signals.iter().find_map(|s| s.answer.unknown());
    let once = |(k, rest): (&usize, &Rest)| {
        model.classes[*k].control.dynamics.rounds.is_some() && rest.virtual_delay > 0.0
    };
    let unknown = signalled.or(moving.iter().zip(&rest).any(once).then_some(
        "windows are decided once per round trip, and a virtual queue is not the data outstanding less the pipe",
    ));
    builder.answers = Answers::Packets;
    let packets = if signalled.is_none() && !builder.signals.is_empty() {
        Some(builder.build(scenario.fluid.link_model)?)
    } else {
        None
    };
    Ok(Nearby { fluid, packets, unknown, rest })
}

struct Builder<'a, 'b> {
    model: &'a Model<'b>,
    network: &'a Network,
    moving: &'a [usize],
    rest: &'a [Rest],
    at_rest: &'a Equilibrium,
    signals: Vec<Signal>,
    answers: Answers,
}

/// The terms of a deviation as seen at a queue: (unknown, delay, coefficient, feedbacks).
pub(crate) type Mix = Vec<(usize, f64, f64, u32)>;

/// The deviations of delays and shares of queues.
struct Near {
    delay: Vec<Mix>,
    share: Vec<Mix>,
}

impl Builder<'_, '_> {
    fn build(&self, link_model: LinkModel) -> Result<Linear, MarginsError> {
        let n = self.moving.len();
        let mut size = n;
        // Queues that follow the arrivals, and virtual queues that signal a price.
        let mut real = Vec::new();
        let mut virtuals = Vec::new();
        for (q, &l) in self.model.queues.iter().enumerate() {
            let used = (0..n).any(|i| self.hop(i, q).is_some());
            let full = self.signal(q).is_some_and(|s| s.answer == Answer::Full);
            match self.model.rule(q, self.capacity(q)).law {
                QueueLaw::Avd { gain, utilisation, .. }
                    if used && !full && self.at_rest.prices[l] > self.at_rest.delays[l] + 1e-12 =>
                {
                    let service = utilisation * self.capacity(q);
                    virtuals.push((q, gain, self.at_rest.prices[l], service));
                }
                _ if used && !full && self.at_rest.delays[l] > 1e-12 => real.push(q),
                _ => {}
            }
        }
        let mut near = Near {
            delay: vec![Mix::new(); self.model.queues.len()],
            share: vec![Mix::new(); self.model.queues.len()],
        };
        let first_signal = size;
        let moves = |s: &&Signal| s.answer.moves();
        for (j, signal) in self.signals.iter().filter(moves).enumerate() {
            let coefficient = match signal.answer {
                Answer::Average { slope, .. } | Answer::Price { slope } => slope,
                Answer::Virtual { .. } | Answer::Full => -1.0 / signal.arrives,
            };
            near.share[signal.queue] = vec![(size + j, 0.0, coefficient, 0)];
        }
        size += self.signals.iter().filter(moves).count();
        let first_queue = size;
        self.check_unique(&real)?;
        if link_model == LinkModel::Integrator {
            for &q in &real {
                near.delay[q] = vec![(size, 0.0, 1.0, 0)];
                size += 1;
            }
        } else {
            self.conserve(&real, &mut near)?;
        }
        for signal in &self.signals {
            if let Answer::Virtual { .. } | Answer::Full = signal.answer {
                let per_byte = (1.0 - signal.share) / signal.arrives;
                let arriving = self.arriving(signal.queue, link_model, &near);
                let scaled = arriving.into_iter().map(|(u, lag, c, f)| (u, lag, c * per_byte, f));
                near.share[signal.queue].extend(scaled);
            }
        }
        let first_virtual = size;
        size += 2 * virtuals.len();
        if size > LARGEST {
            return Err(MarginsError::TooLarge {
                kinds: n,
                queues: real.len() + virtuals.len(),
                size,
                limit: LARGEST,
            });
        }
        let mut terms = Vec::new();
        let mut add = |row: usize, mix: Mix, scale: f64| {
            terms.extend(mix.into_iter().map(|(column, delay, c, feedbacks)| Term {
                row,
                column,
                delay,
                coefficient: c * scale,
                feedbacks,
            }));
        };
        for i in 0..n {
            add(i, self.law(i, &near, &virtuals, first_virtual), 1.0);
        }
        for (j, signal) in self.signals.iter().filter(moves).enumerate() {
            let (row, q) = (first_signal + j, signal.queue);
            match signal.answer {
                Answer::Average { pace, .. } => {
                    add(row, near.delay[q].clone(), pace);
                    add(row, vec![(row, 0.0, 1.0, 0)], -pace);
                }
                Answer::Price { .. } => add(row, self.arriving(q, link_model, &near), 1.0),
                Answer::Virtual { gain } => add(row, self.arriving(q, link_model, &near), -gain),
                Answer::Full => {}
            }
        }
        if link_model == LinkModel::Integrator {
            for (j, &q) in real.iter().enumerate() {
                let (row, capacity) = (first_queue + j, self.capacity(q));
                let (dropped, arrives) = self.dropped(q);
                let arriving = self.arriving(q, link_model, &near);
                add(row, arriving, (1.0 - dropped) / capacity);
                if dropped > 0.0 {
                    add(row, near.share[q].clone(), -arrives / capacity);
                }
            }
        }
        for (j, &(q, gain, ..)) in virtuals.iter().enumerate() {
            let backlog = first_virtual + 2 * j;
            add(backlog, self.arriving(q, link_model, &near), 1.0);
            add(backlog + 1, self.arriving(q, link_model, &near), -gain);
            add(backlog, vec![(backlog + 1, 0.0, -1.0, 0)], 1.0);
        }
        if terms.iter().any(|t| t.feedbacks > 1) {
            return Err(MarginsError::NoEquilibrium(
                "a queue that answers at once (a full buffer, avq) behind another queue is not linearised".into(),
            ));
        }
        Ok(Linear { windows: n, open: !self.signals.is_empty(), size, terms })
    }

    fn capacity(&self, queue: usize) -> f64 {
        self.network.rate[self.model.queues[queue]]
    }

    fn signal(&self, queue: usize) -> Option<&Signal> {
        self.signals.iter().find(|s| s.queue == queue)
    }

    /// Returns the share that a queue drops, and the arrivals there, if it drops.
    fn dropped(&self, queue: usize) -> (f64, f64) {
        self.signal(queue).map_or((0.0, 0.0), |s| (s.dropped, s.arrives))
    }

    /// Returns a kind's delay to a queue on its forward path, and the number of its flows that come there,
    /// less the losses on wires.
    fn hop(&self, i: usize, queue: usize) -> Option<(f64, f64)> {
        let path = &self.network.paths[self.moving[i]];
        let hop = path.hops[..path.forward].iter().find(|h| h.queue == queue)?;
        let many = if hop.private { 1.0 } else { self.rest[i].flows as f64 };
        Some((hop.after, many * hop.passes))
    }

    /// Returns the time for which a signal that is applied to arrivals at a hop waits with them, there and in
    /// the queues of the rest of the path.
    fn behind(&self, path: &Path, hop: &Hop) -> f64 {
        let rest = path.hops.iter().skip_while(|h| h.queue != hop.queue);
        rest.map(|h| self.at_rest.delays[self.model.queues[h.queue]]).sum()
    }

    /// Returns the terms of the derivative of a window.
    fn law(
        &self,
        i: usize,
        near: &Near,
        virtuals: &[(usize, f64, f64, f64)],
        first_virtual: usize,
    ) -> Mix {
        let r = &self.rest[i];
        let path = &self.network.paths[self.moving[i]];
        let d = r.base_rtt + r.queue;
        let control = &self.model.classes[self.moving[i]].control;
        let mut row = Mix::new();
        let (gain, target) = match control.dynamics.law {
            WindowLaw::MoWalrand { gain, target } => (gain * r.base_rtt / (r.rate * d), target),
            WindowLaw::Proportional { gain, target } => (gain, target),
            WindowLaw::Reno => {
                row.push((i, 0.0, -r.rate * r.signal / control.packet, 0));
                let passed = passed(path, |h| self.at_rest.shares[h.queue]);
                for hop in &path.hops[..path.forward] {
                    let others = passed / (1.0 - self.at_rest.shares[hop.queue]);
                    let k_m = control.packet / (d * r.signal) * others;
                    let back = path.base_rtt - hop.after + self.behind(path, hop);
                    let (k_m, back) = match self.answers {
                        Answers::Fluid => (k_m, back),
                        Answers::Packets => (SPREAD * k_m, back + 0.25 * d),
                    };
                    for &(column, lag, c, feedbacks) in &near.share[hop.queue] {
                        row.push((column, back + lag, -k_m * c, feedbacks + 1));
                    }
                }
                return row;
            }
            _ => unreachable!("only smooth laws are linearised"),
        };
        let both = r.queue + r.virtual_delay;
        // The excess is zero at rest, so only its derivative counts.
        let excess = control.service.excess(r.rate * both, both, target);
        debug_assert!(excess.abs() < 1e-3 * target);
        let k_q = gain / d * (r.rate - r.contract - r.rate * both / d);
        let k_v = gain / d * (r.rate - r.contract);
        row.push((i, 0.0, -gain * both / (d * d), 0));
        for (h, hop) in path.hops.iter().enumerate() {
            let back = path.base_rtt - hop.after;
            for &(column, lag, c, feedbacks) in &near.delay[hop.queue] {
                row.push((column, back + lag, -k_q * c, feedbacks + 1));
            }
            let shown = virtuals.iter().position(|v| v.0 == hop.queue);
            if let (Some(j), true) = (shown, h < path.forward) {
                let (_, _, v, service) = virtuals[j];
                let back = back + self.behind(path, hop);
                let backlog = first_virtual + 2 * j;
                row.push((backlog, back, -k_v / service, 1));
                row.push((backlog + 1, back, k_v * v / service, 1));
            }
        }
        row
    }

    /// Returns the terms of the arrival rate at a queue.
    fn arriving(&self, queue: usize, link_model: LinkModel, near: &Near) -> Mix {
        let mut mix = Mix::new();
        for i in 0..self.moving.len() {
            let Some((after, many)) = self.hop(i, queue) else {
                continue;
            };
            let r = &self.rest[i];
            let d = r.base_rtt + r.queue;
            mix.push((i, after, many / d, 0));
            let path = &self.network.paths[self.moving[i]];
            for hop in &path.hops {
                let (back, round) = match link_model {
                    LinkModel::Integrator => (path.base_rtt - hop.after + after, 1),
                    LinkModel::AckClocked => (0.0, 0),
                };
                for &(column, lag, c, feedbacks) in &near.delay[hop.queue] {
                    mix.push((column, back + lag, -many * r.rate / d * c, feedbacks + round));
                }
            }
        }
        mix
    }

    /// Rejects queues to which flows respond only jointly, because the one that moves is unknown.
    fn check_unique(&self, real: &[usize]) -> Result<(), MarginsError> {
        let n = real.len();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        for (a, &q) in real.iter().enumerate() {
            for i in 0..self.moving.len() {
                let Some((_, many)) = self.hop(i, q) else {
                    continue;
                };
                let rate = many * self.rest[i].rate / self.capacity(q);
                for hop in &self.network.paths[self.moving[i]].hops {
                    if let Some(b) = real.iter().position(|&m| m == hop.queue) {
                        matrix[(a, b)] += rate;
                    }
                }
            }
        }
        let unique = || {
            let values = matrix.singular_values();
            values.iter().all(|&v| v > SINGULAR * values.max())
        };
        if n > 0 && !unique() {
            return Err(MarginsError::NoEquilibrium(
                "queues do not follow from the windows uniquely: flows answer to sums of their delays only".into(),
            ));
        }
        Ok(())
    }

    /// Expresses the ACK-clocked queues as mixtures of past windows.
    fn conserve(&self, real: &[usize], near: &mut Near) -> Result<(), MarginsError> {
        let n = real.len();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut right: Vec<Mix> = vec![Mix::new(); n];
        for (a, &q) in real.iter().enumerate() {
            let (dropped, arrives) = self.dropped(q);
            if dropped > 0.0 {
                let less = -arrives / (1.0 - dropped);
                right[a] = (near.share[q].iter())
                    .map(|&(column, lag, c, f)| (column, lag, c * less, f))
                    .collect();
            }
            for i in 0..self.moving.len() {
                let Some((after, many)) = self.hop(i, q) else {
                    continue;
                };
                let r = &self.rest[i];
                let d = r.base_rtt + r.queue;
                right[a].push((i, after, many / d, 0));
                for hop in &self.network.paths[self.moving[i]].hops {
                    if let Some(b) = real.iter().position(|&m| m == hop.queue) {
                        matrix[(a, b)] += many * r.rate / d;
                    }
                }
            }
        }
        let inverse = matrix.try_inverse().ok_or_else(|| {
            MarginsError::NoEquilibrium("the queues do not follow from the windows uniquely".into())
        })?;
        for (b, &q) in real.iter().enumerate() {
            for (a, mix) in right.iter().enumerate() {
                near.delay[q]
                    .extend(mix.iter().map(|&(i, lag, c, f)| (i, lag, c * inverse[(b, a)], f)));
            }
        }
        Ok(())
    }
}
