//! Traffic on the reverse path: the links for which a flow pays, and the loads that come with its
//! data.
//!
//! **Prices.** A flow that measures round trips sees the queues of its reverse path, and keeps x·q = w with q
//! the sum over both paths. For the solver, the links of the reverse path therefore belong to its path.
//! Control pairs of a tunnel see only the forward path.
//!
//! **Loads.** A link serves data, and also control packets ([`Answers`]): control pairs, and
//! acknowledgements, counts and reports of data of the other direction. They are a known function of rates
//! and round-trip times, but the solver does not add them up: it counts the whole rate of each flow at each
//! link of its path. The capacity of each link is therefore set to the rest, from the rates and prices of the
//! last solution, until nothing changes. Let K be the load that the solver counts at a link, T the true load
//! of the same flows, and N the load of pairs and of answers of other flows. The capacity of a link of c is
//! then
//!
//! ```text
//! C = (c − N)·K/T
//! ```
//!
//! One round is exact if the flows of a link keep their proportions. Answers of other flows are a few
//! hundredths of their data, and each round leaves the same fraction of the error. The certificate is that of
//! the last of these problems, and its feasibility includes the remaining difference.

use crate::equilibrium::{EquilibriumError, State};
use crate::signals::{LEAST_PRICE, objective};
use crate::warm::{Settled, Unsettled, Warm, solve_phase_from};
use accord_family::{Objective, Price, Role};
use accord_record::Observer;
use accord_scenario::{Answers, LinkId, Phase};
use accord_solver::{Demand, Problem, Routes, Status};

/// The maximum number of rounds for finding the capacities.
const ROUNDS: usize = 200;
/// The number of rounds after which steps are halved if the loads are no nearer.
const PATIENCE: usize = 10;
/// The largest difference between the load of a link and its rate, as a fraction of the rate.
const SAME: f64 = 1e-10;
/// The least fraction of a link's rate that is left for data.
const LEAST_LEFT: f64 = 1e-3;

/// The loads of a link, in bytes per second.
#[derive(Clone, Copy, Default)]
struct Load {
    /// The rates of the flows whose paths contain the link, as counted by the solver.
    counted: f64,
    /// The loads of these flows.
    shared: f64,
    /// The loads of packets whose flows do not pay for the link.
    other: f64,
}

impl State<'_> {
    /// Returns whether a flow infers its accumulation from round-trip times.
    fn measures_round_trips(&self, flow: usize) -> bool {
        let controller = &self.scenario.flows[flow].controller;
        let keeps = matches!(
            objective(controller),
            Some(
                Objective::Accumulation { .. }
                    | Objective::AccumulationUnlessOthers { .. }
                    | Objective::AccumulationPerRoundTrip { .. }
                    | Objective::MeasuredAccumulation { .. }
            )
        );
        keeps && matches!(controller.family().role, Role::Controller(_))
    }

    /// Returns the links of a flow's reverse path whose queues it sees.
    fn seen_back(&self, flow: usize) -> impl Iterator<Item = LinkId> {
        let back = match self.measures_round_trips(flow) {
            true => self.network.reverse_path(flow),
            false => &[],
        };
        let queues = |l: &LinkId| matches!(self.price_of(*l), Price::QueuingDelay | Price::Loss);
        back.iter().copied().filter(queues)
    }

    /// Returns the queuing delay that a flow sees on its reverse path, in seconds.
    pub(crate) fn seen_behind(&self, flow: usize, prices: &[f64]) -> f64 {
        self.seen_back(flow).map(|link| prices[link]).sum()
    }

    /// Returns the round-trip time of a flow's data and answers, in seconds.
    pub(crate) fn data_rtt(&self, flow: usize, prices: &[f64]) -> f64 {
        let there = self.network.path(flow).iter().filter(|&&l| self.has_queue(l));
        self.base_rtt(flow)
            + there.map(|&l| prices[l]).sum::<f64>()
            + self.seen_behind(flow, prices)
    }

    /// Returns whether the price of a link is a queuing delay.
    fn has_queue(&self, link: LinkId) -> bool {
        matches!(self.price_of(link), Price::QueuingDelay | Price::Loss)
    }

    /// Solves for a phase whose flows have `demands`.
    pub(crate) fn settle(
        &self,
        phase: &Phase,
        demands: &[Demand],
        warm: &mut Warm,
        observer: &mut dyn Observer,
    ) -> Result<Result<Settled, Unsettled>, EquilibriumError> {
        let invalid = EquilibriumError::of(phase);
        // None of the flows crosses a stopped link.
        let rate = |l: LinkId| if self.rate[l] > 0.0 { self.capacity(l) } else { 1.0 };
        let rate: Vec<f64> = (0..self.rate.len()).map(rate).collect();
        let answers: Vec<Answers> =
            phase.active.iter().map(|&flow| self.scenario.flows[flow].answers()).collect();
        // The links for which flows pay. A link that only acknowledgements cross is among them if
        // they fill it.
        let mut paid = vec![false; rate.len()];
        for &flow in &phase.active {
            self.network.path(flow).iter().for_each(|&l| paid[l] = true);
        }
        let mut capacity = rate.clone();
        let mut last: Option<Vec<f64>> = None;
        let (mut step, mut least, mut since) = (1.0, f64::INFINITY, 0);
        let mut routes = self.routes(phase, &paid).map_err(&invalid)?;
        for _ in 0..ROUNDS {
            let problem = Problem::new(routes.clone(), capacity.clone(), demands.to_vec());
            let problem = problem.map_err(&invalid)?;
            let mut solution = match &last {
                None => warm.solve(&problem, phase, observer)?,
                Some(prices) => solve_phase_from(&problem, phase, Some(prices), observer)?,
            };
            if solution.status != Status::Solved {
                return Ok(Ok(Settled { problem, solution }));
            }
            let loads = self.loads(phase, &paid, &answers, &solution.rates, &solution.prices);
            let mut apart = 0.0f64;
            let mut fills = false;
            for (l, load) in loads.iter().enumerate() {
                let over = (load.shared + load.other) / rate[l] - 1.0;
                if paid[l] {
                    let off =
                        if solution.prices[l] > LEAST_PRICE { over.abs() } else { over.max(0.0) };
                    apart = apart.max(off);
                } else if over > 0.0 && self.is_seen(phase, l) {
                    (paid[l], fills) = (true, true);
                }
            }
            if apart <= SAME && !fills {
                let feasibility = &mut solution.certificate.primal;
                *feasibility = feasibility.max(apart);
                return Ok(Ok(Settled { problem, solution }));
            }
            if apart < 0.9 * least {
                (least, since) = (apart, 0);
            } else {
                since += 1;
                if since == PATIENCE {
                    (step, since) = (0.5 * step, 0);
                }
            }
            for (l, load) in loads.iter().enumerate().filter(|(l, _)| paid[*l]) {
                let left = (rate[l] - load.other).max(LEAST_LEFT * rate[l]);
                let grown = if load.shared > 0.0 { load.counted / load.shared } else { 1.0 };
                capacity[l] *= libm::pow(left * grown / capacity[l], step);
            }
            if fills {
                routes = self.routes(phase, &paid).map_err(&invalid)?;
            }
            last = Some(solution.prices);
        }
        Ok(Err(Unsettled { apart: least }))
    }

    /// Returns whether a flow sees the queue of a link through its acknowledgements.
    fn is_seen(&self, phase: &Phase, link: LinkId) -> bool {
        phase.active.iter().any(|&flow| self.seen_back(flow).any(|l| l == link))
    }

    /// Returns the links for which each flow pays: those of its path, and those of `paid` that it sees on its
    /// reverse path.
    fn routes(&self, phase: &Phase, paid: &[bool]) -> Result<Routes, accord_solver::ProblemError> {
        let path = |&flow: &usize| {
            let there = self.network.path(flow);
            let back = self.seen_back(flow).filter(|&l| paid[l] && !there.contains(&l));
            there.iter().copied().chain(back).map(|l| l as u32).collect::<Vec<u32>>()
        };
        Routes::new(paid.len(), phase.active.iter().map(path))
    }

    /// Returns the load of each link.
    fn loads(
        &self,
        phase: &Phase,
        paid: &[bool],
        answers: &[Answers],
        rates: &[f64],
        prices: &[f64],
    ) -> Vec<Load> {
        let mut loads = vec![Load::default(); self.rate.len()];
        for ((&flow, answers), &rate) in phase.active.iter().zip(answers).zip(rates) {
            let rtt = self.data_rtt(flow, prices);
            let pairs = 2.0 * answers.half(rate, rtt);
            for &l in self.network.path(flow) {
                loads[l].counted += rate;
                loads[l].shared += rate;
                loads[l].other += pairs;
            }
            let back = answers.rate(rate, rtt);
            for &l in self.network.reverse_path(flow) {
                let pays = paid[l] && self.seen_back(flow).any(|seen| seen == l);
                if pays && !self.network.path(flow).contains(&l) {
                    loads[l].counted += rate;
                    loads[l].shared += back;
                } else {
                    loads[l].other += back;
                }
            }
        }
        loads
    }
}
