//! The linearisation about an equilibrium: a system of linear equations with delays.
//!
//! With δw, δp, δV, δC̃ the deviations of windows, queuing delays, virtual backlogs and virtual
//! capacities, D = d + q and x = w/D, and per round trip seen with the delays b (queue to
//! source) and f (source to queue):
//!
//! ```text
//! δdw/dt = −k_q·δq(t) − k_v·δv(t) − m·δw,    δq(t) = Σ δp(t − b)
//!     p:  k_q = κ/D·(x_s − x·(q + v)/D), k_v = κ/D·x_s, m = κ·(q + v)/D²;  mw: times d/w
//!     x_s = x − x̂, what is not contracted [Har02 eq. 3], or x for a flow at its limit
//! integrator   c·δdp/dt = Σ (δw(t − f)/D − x/D·δq(t − f))
//! ack-clocked  Σ (x/D)·Σ δp = Σ δw(t − f)/D,   solved for δp
//! AVD          δdV/dt = δy − δC̃,  δdC̃/dt = −α·δy,  δv = (δV − v·δC̃)/C̃
//! ```
//!
//! Flows of a kind move together here; how they move against each other is left out, and
//! decays at the rate m.

use crate::discipline::{self, Discipline};
use crate::error::FluidError;
use crate::law::Law;
use crate::linear::{Linear, Term};
use crate::model::{Model, Network};
use crate::rest::{Equilibrium, Rest};
use accord_scenario::{LinkModel, Scenario};
use accord_units::Time;
use nalgebra::DMatrix;

/// More unknowns than this take too long.
const LARGEST: usize = 60;

/// Linearises a scenario at the equilibrium of the phase at `at`.
///
/// # Errors
/// When there is no equilibrium, a law is one of the sign, or the network is too large.
pub fn linearise(scenario: &Scenario, at: Time) -> Result<(Linear, Vec<Rest>), FluidError> {
    let model = Model::new(scenario)?;
    let phases = scenario.phases();
    let phase = (phases.iter().rev().find(|p| p.start <= at)).unwrap_or(&phases[0]);
    let network = model.network(phase.start);
    let at_rest = Equilibrium::of(scenario, phase)?;
    let kinds: Vec<usize> = (0..model.kinds.len())
        .filter(|&k| phase.active.contains(&model.kinds[k].members[0]))
        .collect();
    let mut moving: Vec<usize> = Vec::new();
    let mut flows: Vec<usize> = Vec::new();
    for &k in &kinds {
        let kind = &model.kinds[k];
        match kind.control.law {
            Law::Unresponsive => {}
            Law::Proportional { .. } | Law::MoWalrand { .. } => {
                // Kinds that differ in their times only are one here.
                let twin = moving.iter().position(|&m| {
                    model.kinds[m].control == kind.control
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
            _ => {
                let flow = &scenario.flows[kind.members[0]];
                return Err(FluidError::Sign {
                    group: scenario.groups[flow.group].name.clone(),
                    law: flow.controller.family().name,
                });
            }
        }
    }
    let rest: Vec<Rest> = (moving.iter().zip(flows))
        .map(|(&k, flows)| Rest::of(&model, &network, &at_rest, k, flows))
        .collect();
    if rest.iter().any(|r| r.rate.is_nan() || r.rate <= 0.0) {
        return Err(FluidError::NoEquilibrium("a flow has no rate".into()));
    }
    let linear = Builder {
        model: &model,
        network: &network,
        moving: &moving,
        rest: &rest,
        at_rest: &at_rest,
    }
    .build(scenario.fluid.link_model)?;
    Ok((linear, rest))
}

struct Builder<'a, 'b> {
    model: &'a Model<'b>,
    network: &'a Network,
    moving: &'a [usize],
    rest: &'a [Rest],
    at_rest: &'a Equilibrium,
}

/// What a queue's deviation is made of, seen at that queue: (unknown, delay, coefficient).
type Mix = Vec<(usize, f64, f64, u32)>;

impl Builder<'_, '_> {
    fn build(&self, link_model: LinkModel) -> Result<Linear, FluidError> {
        let n = self.moving.len();
        let mut size = n;
        // Queues that are not empty, and virtual queues that show a price.
        let mut real = Vec::new();
        let mut virtuals = Vec::new();
        for (q, &l) in self.model.queues.iter().enumerate() {
            let utilised = (0..n).any(|i| self.hop(i, q).is_some());
            match self.discipline(q) {
                discipline::Law::Avd { gain, .. } if utilised && self.at_rest.prices[l] > 1e-12 => {
                    virtuals.push((q, gain, self.at_rest.prices[l]));
                }
                _ if utilised && self.at_rest.delays[l] > 1e-12 => real.push(q),
                _ => {}
            }
        }
        let mut delay: Vec<Mix> = vec![Mix::new(); self.model.queues.len()];
        if link_model == LinkModel::Integrator {
            for &q in &real {
                delay[q] = vec![(size, 0.0, 1.0, 0)];
                size += 1;
            }
        } else {
            self.conserve(&real, &mut delay)?;
        }
        let first_virtual = size;
        size += 2 * virtuals.len();
        if size > LARGEST {
            return Err(FluidError::TooLarge {
                kinds: n,
                queues: real.len() + virtuals.len(),
                size,
                limit: LARGEST,
            });
        }
        let mut terms = Vec::new();
        for i in 0..n {
            self.law(i, &delay, &virtuals, first_virtual, &mut terms);
        }
        let capacity = |q: usize| self.network.rate[self.model.queues[q]];
        if link_model == LinkModel::Integrator {
            for (j, &q) in real.iter().enumerate() {
                self.arrivals(q, link_model, &delay, n + j, 1.0 / capacity(q), &mut terms);
            }
        }
        for (j, &(q, gain, _)) in virtuals.iter().enumerate() {
            let backlog = first_virtual + 2 * j;
            self.arrivals(q, link_model, &delay, backlog, 1.0, &mut terms);
            self.arrivals(q, link_model, &delay, backlog + 1, -gain, &mut terms);
            terms.push(Term {
                row: backlog,
                column: backlog + 1,
                delay: 0.0,
                coefficient: -1.0,
                feedbacks: 0,
            });
        }
        Ok(Linear {
            windows: n,
            size,
            terms,
        })
    }

    fn discipline(&self, queue: usize) -> discipline::Law {
        let (v, buffer) = (self.model.discipline(queue), self.model.buffer(queue));
        Discipline::new(v, buffer, self.model.packets[queue], false, 1.0).law
    }

    /// A kind's delay to a queue on its way there.
    fn hop(&self, i: usize, queue: usize) -> Option<(f64, bool)> {
        let path = &self.network.paths[self.moving[i]];
        let hop = path.hops[..path.forward]
            .iter()
            .find(|h| h.queue == queue)?;
        Some((hop.after, hop.private))
    }

    /// The row of a window.
    fn law(
        &self,
        i: usize,
        delay: &[Mix],
        virtuals: &[(usize, f64, f64)],
        first_virtual: usize,
        terms: &mut Vec<Term>,
    ) {
        let r = &self.rest[i];
        let path = &self.network.paths[self.moving[i]];
        let d = r.base_rtt + r.queue;
        let control = &self.model.kinds[self.moving[i]].control;
        let (gain, target) = match control.law {
            Law::MoWalrand { gain, target } => (gain * r.base_rtt / (r.rate * d), target),
            Law::Proportional { gain, target } => (gain, target),
            _ => unreachable!("only smooth laws are linearised"),
        };
        let both = r.queue + r.virtual_delay;
        // At rest there is no excess, so only its derivative counts.
        let excess = control.service.excess(r.rate * both, both, target);
        debug_assert!(excess.abs() < 1e-3 * target);
        let k_q = gain / d * (r.rate - r.contract - r.rate * both / d);
        let k_v = gain / d * (r.rate - r.contract);
        let mut push = |column, delay, coefficient, feedbacks| {
            terms.push(Term {
                row: i,
                column,
                delay,
                coefficient,
                feedbacks,
            });
        };
        push(i, 0.0, -gain * both / (d * d), 0);
        for (h, hop) in path.hops.iter().enumerate() {
            let back = path.base_rtt - hop.after;
            for &(column, lag, c, feedbacks) in &delay[hop.queue] {
                push(column, back + lag, -k_q * c, feedbacks + 1);
            }
            let shown = virtuals.iter().position(|v| v.0 == hop.queue);
            if let (Some(j), true) = (shown, h < path.forward) {
                let (q, _, v) = virtuals[j];
                let utilised: f64 = (0..self.moving.len())
                    .filter(|&k| self.hop(k, q).is_some())
                    .map(|k| self.rest[k].rate * self.rest[k].flows as f64)
                    .sum();
                let backlog = first_virtual + 2 * j;
                push(backlog, back, -k_v / utilised, 1);
                push(backlog + 1, back, k_v * v / utilised, 1);
            }
        }
    }

    /// Adds `scale` times what arrives at a queue to a row.
    fn arrivals(
        &self,
        queue: usize,
        link_model: LinkModel,
        delay: &[Mix],
        row: usize,
        scale: f64,
        terms: &mut Vec<Term>,
    ) {
        for i in 0..self.moving.len() {
            let Some((after, private)) = self.hop(i, queue) else {
                continue;
            };
            let r = &self.rest[i];
            let d = r.base_rtt + r.queue;
            let many = if private { 1.0 } else { r.flows as f64 } * scale;
            let mut push = |column, delay, coefficient, feedbacks| {
                terms.push(Term {
                    row,
                    column,
                    delay,
                    coefficient,
                    feedbacks,
                });
            };
            push(i, after, many / d, 0);
            let path = &self.network.paths[self.moving[i]];
            for hop in &path.hops {
                let (back, round) = match link_model {
                    LinkModel::Integrator => (path.base_rtt - hop.after + after, 1),
                    LinkModel::AckClocked => (0.0, 0),
                };
                for &(column, lag, c, feedbacks) in &delay[hop.queue] {
                    push(
                        column,
                        back + lag,
                        -many * r.rate / d * c,
                        feedbacks + round,
                    );
                }
            }
        }
    }

    /// The ACK-clocked queues as mixtures of past windows.
    fn conserve(&self, real: &[usize], delay: &mut [Mix]) -> Result<(), FluidError> {
        let n = real.len();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut right: Vec<Mix> = vec![Mix::new(); n];
        for (a, &q) in real.iter().enumerate() {
            for i in 0..self.moving.len() {
                let Some((after, private)) = self.hop(i, q) else {
                    continue;
                };
                let r = &self.rest[i];
                let d = r.base_rtt + r.queue;
                let many = if private { 1.0 } else { r.flows as f64 };
                right[a].push((i, after, many / d, 0));
                for hop in &self.network.paths[self.moving[i]].hops {
                    if let Some(b) = real.iter().position(|&m| m == hop.queue) {
                        matrix[(a, b)] += many * r.rate / d;
                    }
                }
            }
        }
        let inverse = matrix.try_inverse().ok_or_else(|| {
            FluidError::NoEquilibrium("the queues do not follow from the windows uniquely".into())
        })?;
        for (b, &q) in real.iter().enumerate() {
            for (a, mix) in right.iter().enumerate() {
                delay[q].extend(
                    mix.iter()
                        .map(|&(i, lag, c, f)| (i, lag, c * inverse[(b, a)], f)),
                );
            }
        }
        Ok(())
    }
}
