//! Reasons why flows do not get their services: the boundary conditions of [Har02 eqs. 15-17], in numbers and
//! in words.
//!
//! Without admission control the contracts may exceed the capacity of a link (15). Accumulation
//! limits bind first. A flow at its limit A gets the share of a flow of weight A without a contract
//! (16). The equilibrium is then the optimum of the same convex problem.
//!
//! If flows without limits oversubscribe a link, queues grow until a buffer is full (17). This bounds the
//! price ([`Problem::with_price_limits`]). Again there is a single optimum: the rates that flows would send
//! into full buffers. But data that does not fit is lost, windows halve at losses, and rates never settle.
//! Theory therefore reports the demand of each flow, but no equilibrium.

use crate::EquilibriumError;
use crate::equilibrium::State;
use crate::shortfall::{Held, NEAR, Oversubscribed, Shortfall};
use crate::warm::solve_phase;
use accord_family::Price;
use accord_record::Observer;
use accord_scenario::{Limit, LinkId, Phase, Scenario};
use accord_solver::{Problem, Solution, Status};
use accord_units::{Bytes, Rate};

/// The links that overflow, and the flows whose contracts are not delivered.
type Overflow = (Vec<LinkId>, Vec<Held>);

/// Returns the phases in which contracts are not met, or are oversubscribed.
///
/// # Errors
/// Fails as [`run`](crate::run) does.
pub fn unmet_contracts(
    scenario: &Scenario,
    observer: &mut dyn Observer,
) -> Result<Vec<Shortfall>, EquilibriumError> {
    let contracts = scenario.flows.iter().map(|f| f.service.contract);
    if contracts.max().is_none_or(|most| most == Rate::ZERO) {
        return Ok(Vec::new());
    }
    let period = scenario.sample;
    let found = crate::equilibrium::phases(scenario, period, observer, |_, _| true, |_, _| {})?;
    let mut shortfalls = found.shortfalls;
    shortfalls.retain(|s| !s.oversubscribed.is_empty() || s.held.iter().any(Held::breaks_contract));
    Ok(shortfalls)
}

impl State<'_> {
    /// Returns the part of a flow's contract that its application uses, in bytes per second.
    fn used_contract(&self, flow: usize) -> f64 {
        let contract = self.scenario.flows[flow].service.contract.as_bps_f64() / 8.0;
        contract.min(self.offered(flow).unwrap_or(f64::INFINITY))
    }

    /// Returns the links that contracts oversubscribe, the worst first.
    pub(crate) fn oversubscribed(&self, phase: &Phase) -> Vec<Oversubscribed> {
        let mut contracts = vec![0.0; self.rate.len()];
        for &flow in &phase.active {
            let contract = self.used_contract(flow);
            for &l in self.network.path(flow) {
                contracts[l] += contract;
            }
        }
        let links = contracts.into_iter().enumerate().map(|(link, contracts)| {
            let (contracts, capacity) = (8.0 * contracts, 8.0 * self.capacity(link));
            Oversubscribed { link, contracts, capacity }
        });
        let mut links: Vec<_> = links.filter(|o| o.contracts > o.capacity).collect();
        links.sort_by(|a, b| (b.contracts / b.capacity).total_cmp(&(a.contracts / a.capacity)));
        links
    }

    /// Returns the flows that are at their accumulation limits in an equilibrium.
    pub(crate) fn held_at_limits(
        &self,
        phase: &Phase,
        problem: &Problem,
        solution: &Solution,
    ) -> Vec<Held> {
        let paid = problem.routes().path_prices(&solution.prices);
        let flows = phase.active.iter().zip(&solution.rates).zip(paid);
        let held = flows.filter_map(|((&flow, &rate), q)| {
            let due = self.unlimited(flow)?.rate(q);
            let limit = self.scenario.flows[flow].service.limit?;
            let held = rate < due * (1.0 - NEAR);
            held.then(|| self.held(flow, rate, due, Some(limit)))
        });
        self.gathered(held.collect())
    }

    fn held(&self, flow: usize, rate: f64, due: f64, limit: Option<Bytes>) -> Held {
        Held {
            flows: vec![flow],
            rate: 8.0 * rate,
            due: 8.0 * due,
            contract: 8.0 * self.used_contract(flow),
            limit,
        }
    }

    /// Joins equal flows of a group into one entry.
    fn gathered(&self, all: Vec<Held>) -> Vec<Held> {
        let near = |a: f64, b: f64| (a - b).abs() <= NEAR * a.max(b);
        let mut gathered: Vec<Held> = Vec::new();
        for held in all {
            let group = |h: &Held| self.scenario.flows[h.flows[0]].group;
            let same = |h: &&mut Held| {
                (group(h), h.limit) == (group(&held), held.limit)
                    && (h.contract == held.contract && near(h.rate, held.rate))
                    && near(h.due, held.due)
            };
            // Only the latest few are compared, which avoids quadratic time for flows that all differ.
            match gathered.iter_mut().rev().take(64).find(same) {
                Some(other) => other.flows.extend(held.flows),
                None => gathered.push(held),
            }
        }
        // Equal parts stay in order despite rounding.
        let part = |h: &Held| (h.rate / h.due / NEAR).round();
        gathered.sort_by(|a, b| part(a).total_cmp(&part(b)));
        gathered
    }

    /// Returns the flows' rates into full buffers, for contracts without limits that leave no
    /// equilibrium, and the part of them that would be delivered.
    pub(crate) fn full_buffers(
        &self,
        phase: &Phase,
        problem: Problem,
        observer: &mut dyn Observer,
    ) -> Result<Option<Overflow>, EquilibriumError> {
        let problem = problem
            .with_price_limits(self.longest_delays(phase))
            .map_err(EquilibriumError::of(phase))?;
        let solution = solve_phase(&problem, phase, observer)?;
        if solution.status != Status::Solved {
            return Ok(None);
        }
        let loads = problem.routes().loads(&solution.rates);
        let full = |&l: &usize| loads[l] > problem.capacities()[l] * (1.0 + NEAR);
        let full = (0..loads.len()).filter(full);
        let full: Vec<LinkId> = full.collect();
        let through = self.getting_through(phase, &solution.rates);
        let flows = phase.active.iter().zip(&solution.rates).zip(through);
        let held = flows
            .map(|((&flow, &due), rate)| self.held(flow, rate, due, None))
            .filter(Held::breaks_contract);
        Ok(Some((full, self.gathered(held.collect()))))
    }

    /// Returns the queuing delay of each link with a full buffer, in seconds.
    fn longest_delays(&self, phase: &Phase) -> Vec<f64> {
        let s = self.scenario;
        let mut packets = vec![(0.0, 0.0); s.links.len()];
        for &flow in &phase.active {
            for &l in self.network.path(flow) {
                packets[l].0 += s.flows[flow].packet.as_f64();
                packets[l].1 += 1.0;
            }
        }
        let buffer = |l: LinkId| match (self.price_of(l), s.links[l].queue.limit) {
            (Price::VirtualDelay { .. } | Price::Marks { .. }, _) | (_, Limit::Unlimited) => {
                f64::INFINITY
            }
            (_, Limit::Bytes(bytes)) => bytes.as_f64(),
            // Packets have the mean size over the flows.
            (_, Limit::Packets(n)) if packets[l].1 > 0.0 => n as f64 * packets[l].0 / packets[l].1,
            (_, Limit::Packets(_)) => f64::INFINITY,
        };
        (0..s.links.len()).map(|l| (buffer(l) / self.rate[l]).max(f64::MIN_POSITIVE)).collect()
    }

    /// Returns the part of the sent rates that is delivered. An overloaded link loses the same
    /// fraction of each flow.
    fn getting_through(&self, phase: &Phase, rates: &[f64]) -> Vec<f64> {
        let mut passes = vec![1.0f64; self.rate.len()];
        let mut through = rates.to_vec();
        // The first pass has no losses. Each further pass is correct for one more hop.
        let longest = phase.active.iter().map(|&f| self.network.path(f).len());
        for _ in 0..=longest.max().unwrap_or(0) {
            let mut arriving = vec![0.0; self.rate.len()];
            for ((&flow, &rate), through) in phase.active.iter().zip(rates).zip(&mut through) {
                *through = rate;
                for &l in self.network.path(flow) {
                    arriving[l] += *through;
                    *through *= passes[l];
                }
            }
            for (l, passes) in passes.iter_mut().enumerate() {
                *passes = (self.capacity(l) / arriving[l]).min(1.0);
            }
        }
        through
    }
}
