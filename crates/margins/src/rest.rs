//! Equilibria from theory, about which a scenario is linearised.

use crate::error::MarginsError;
use crate::rounds::Loop;
use accord_family::WindowLaw;
use accord_fluid::{Control, Hop, Model, Network, Path};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric, Phase, Recorded};
use accord_units::{Duration, Rate, Time};

/// The fraction of a rate that counts as rounding.
pub(crate) const ALIKE: f64 = 1e-9;

/// The equilibrium of one kind of flows.
#[derive(Clone, Debug)]
pub struct Rest {
    /// The group in the scenario.
    pub group: usize,
    /// The number of flows of this kind.
    pub flows: usize,
    /// The rate of one of these flows in bytes/s.
    pub rate: f64,
    /// The round-trip time over empty queues.
    pub base_rtt: f64,
    /// The queuing and virtual delay on the path.
    pub queue: f64,
    /// The virtual delay on the path.
    pub virtual_delay: f64,
    /// The part of the rate that does not depend on the delay, in bytes/s: the contract, unless the
    /// flow is at its accumulation limit.
    pub contract: f64,
    /// The share of marked or lost packets to which a flow reacts, as if all losses were evenly spaced.
    pub signal: f64,
    /// The loop of flows that decide once per round trip. It is a mode of the equilibrium if all flows that
    /// react at the bottleneck are of this kind.
    pub mode: Option<Loop>,
    /// The loop up to whose limit these flows are guaranteed to rest, if that limit is lower. Beyond it, they
    /// may or may not cycle.
    pub bound: Option<Loop>,
}

impl Rest {
    /// Creates the rest of kind `k`, with `flows` flows.
    pub(crate) fn of(
        model: &Model<'_>,
        network: &Network,
        at: &Equilibrium,
        k: usize,
        flows: usize,
    ) -> Rest {
        let kind = &model.classes[k];
        let path = &network.paths[k];
        let sum =
            |of: &[f64], n| path.hops[..n].iter().map(|h| of[model.queues[h.queue]]).sum::<f64>();
        let queue = sum(&at.delays, path.hops.len());
        let virtual_delay = sum(&at.prices, path.forward) - sum(&at.delays, path.forward);
        let rate = at.rates[kind.members[0]];
        let service = kind.control.service;
        let target = match kind.control.dynamics.law {
            WindowLaw::Proportional { target, .. } | WindowLaw::MoWalrand { target, .. } => target,
            _ => 0.0,
        };
        let signal = match kind.control.dynamics.law {
            WindowLaw::Reno => {
                signal(&kind.control, path, path.base_rtt + queue, |h| at.shares[h.queue])
            }
            _ => 0.0,
        };
        let limited = service.limited(rate, queue + virtual_delay, target);
        Rest {
            group: model.scenario.flows[kind.members[0]].group,
            flows,
            rate,
            base_rtt: path.base_rtt,
            queue,
            virtual_delay,
            contract: if limited { 0.0 } else { service.contract },
            signal,
            mode: None,
            bound: None,
        }
    }

    /// Adds the loop of flows of kind `k` that decide once per round trip. `reacts` contains, for each queue,
    /// the rate of all flows that react.
    pub(crate) fn close(
        &mut self,
        model: &Model<'_>,
        network: &Network,
        at: &Equilibrium,
        k: usize,
        reacts: &[f64],
    ) {
        let dynamics = model.classes[k].control.dynamics;
        let rtt = self.base_rtt + self.queue;
        let (rounds, gain) = match (dynamics.rounds, dynamics.law) {
            (Some(rounds), WindowLaw::Proportional { gain, .. }) => (rounds, gain),
            (Some(rounds), WindowLaw::MoWalrand { gain, .. }) => {
                (rounds, gain * self.base_rtt / (self.rate * rtt))
            }
            _ => return,
        };
        let path = &network.paths[k];
        let price = |q: &usize| at.prices[model.queues[*q]];
        let queues = path.hops[..path.forward].iter().map(|h| h.queue);
        let mut queues = queues.filter(|q| price(q) > 0.0);
        // A virtual queue does not equal the outstanding data less the pipe.
        let (Some(q), true) = (queues.next(), self.virtual_delay == 0.0) else {
            return;
        };
        let gain = gain * (1.0 - self.contract / self.rate);
        let within = Loop::within_a_packet(gain, rtt);
        let whole = Loop::whole(rounds, gain, rtt);
        let all =
            queues.next().is_none() && self.rate * self.flows as f64 >= reacts[q] * (1.0 - ALIKE);
        (self.mode, self.bound) = match (all, dynamics.most.is_finite()) {
            (true, true) => (Some(within), Some(whole)),
            (true, false) if whole.largest < within.largest => (Some(whole), None),
            (true, false) => (Some(within), None),
            (false, _) => (None, Some(whole)),
        };
    }
}

/// The equilibrium of a phase.
pub(crate) struct Equilibrium {
    /// The rates of flows, in bytes/s.
    pub rates: Vec<f64>,
    /// Queuing delays and prices of links, in seconds.
    pub delays: Vec<f64>,
    pub prices: Vec<f64>,
    /// The shares that queues of the model mark or drop.
    pub shares: Vec<f64>,
}

impl Equilibrium {
    /// Computes the equilibrium by theory, for a scenario that stays forever as it is at the start of the phase.
    ///
    /// # Errors
    /// Fails if there is no equilibrium, or if a queue loses packets there, which theory omits.
    pub fn of(model: &Model<'_>, phase: &Phase) -> Result<Equilibrium, MarginsError> {
        let scenario = model.scenario;
        let mut whole = scenario.clone();
        // Theory records no series for host links, but they are needed here.
        whole.links.iter_mut().for_each(|l| l.attachment = false);
        (whole.groups.iter_mut()).for_each(|g| g.recorded = Recorded::Flows);
        let state = scenario.at(phase.start);
        for (l, link) in whole.links.iter_mut().enumerate() {
            (link.rate, link.delay) = (state.rate[l], state.delay[l]);
        }
        for (f, flow) in whole.flows.iter_mut().enumerate() {
            flow.path = state.path(f).to_vec();
            flow.reverse_path = state.reverse_path(f).to_vec();
            flow.demand = state.demand(f);
            let runs = phase.active.contains(&f);
            flow.start = if runs { Time::ZERO } else { Time::MAX };
            flow.stop = None;
        }
        whole.events.clear();
        whole.duration = Duration::from_secs(1);
        whole.sample = Duration::from_secs(1);
        let run = accord_theory::run(&whole, &mut Quiet)
            .map_err(|e| MarginsError::NoEquilibrium(e.to_string()))?;
        let last = |metric, entity| {
            let values = run.series(metric, entity).map(|s| &s.values[..]);
            values.and_then(|v| v.last().copied()).unwrap_or(f64::NAN)
        };
        let rates: Vec<f64> = (0..whole.flows.len())
            .map(|f| last(Metric::Throughput, Entity::Flow(f)) / 8.0)
            .collect();
        if rates.iter().all(|x| x.is_nan()) {
            let why = run.notes.first().cloned();
            let why = why.unwrap_or_else(|| "no flow sends then".into());
            return Err(MarginsError::NoEquilibrium(why));
        }
        let of_links = |metric| {
            (0..whole.links.len()).map(|l| last(metric, Entity::Link(l))).collect::<Vec<f64>>()
        };
        let prices = of_links(Metric::Price);
        // The price of a queue is its delay. Its backlog over the rate of the link would be less, because of
        // the packets that overtake it.
        let backlogs = of_links(Metric::Backlog);
        let delay = |(price, backlog): (&f64, f64)| if backlog > 0.0 { *price } else { backlog };
        let found = Equilibrium {
            rates,
            delays: prices.iter().zip(backlogs).map(delay).collect(),
            prices,
            shares: vec![0.0; model.queues.len()],
        };
        found.fits(model, &state.rate)?;
        Ok(found)
    }

    /// Checks that the queues hold their equilibrium backlog without loss.
    fn fits(&self, model: &Model<'_>, rates: &[Rate]) -> Result<(), MarginsError> {
        for (q, &l) in model.queues.iter().enumerate() {
            let backlog = self.delays[l] * rates[l].as_bps_f64() / 8.0;
            if backlog > model.buffer(q) * (1.0 + 1e-9) {
                return Err(MarginsError::NoEquilibrium(format!(
                    "the queue of {} would be {:.1} pkt, more than its buffer holds: flows lose packets and do not rest there",
                    model.scenario.links[l].name,
                    backlog / model.packets[q]
                )));
            }
        }
        Ok(())
    }
}

/// Returns the share of the packets of a flow that is marked or lost on its way, from the shares of queues,
/// as if all losses were evenly spaced.
pub(crate) fn signal(control: &Control, path: &Path, rtt: f64, share: impl Fn(&Hop) -> f64) -> f64 {
    let wires = 1.0 - path.passes;
    let even = if wires > 0.0 { control.even_losses(wires, rtt) - wires } else { 0.0 };
    (1.0 - passed(path, share) + even).min(1.0)
}

/// Returns the share of the packets of a flow that is neither marked nor lost on its way.
pub(crate) fn passed(path: &Path, share: impl Fn(&Hop) -> f64) -> f64 {
    let passes = |h: &Hop| 1.0 - share(h);
    path.passes * path.hops[..path.forward].iter().map(passes).product::<f64>()
}
