//! Flows that measure round trips, and so see the queues of the way back.
//!
//! Such a flow keeps x·(q + b) = w, with q the price of its path and b the queuing delay of its way
//! back. That is no problem of one utility: b is the price of links that its data does not load, and
//! depends on the rates of other flows. For a given b it is one, with b as a surcharge. So b is
//! found as a fixed point: the surcharges move half of the way to the delays that the solution for
//! them shows, until both are the same. The certificate is that of the last of these problems, and
//! its stationarity includes the difference that is left.

use crate::equilibrium::{EquilibriumError, State};
use crate::signals::objective;
use crate::warm::{Settled, Unsettled, Warm, solve_phase};
use accord_family::{Objective, Price, Role};
use accord_record::Observer;
use accord_scenario::Phase;
use accord_solver::{Demand, Problem, ProblemError, Status};

/// The rounds after which the surcharges have to be found.
const ROUNDS: usize = 400;
/// The rounds after which steps are halved if surcharges are no nearer.
const PATIENCE: usize = 40;
/// The largest difference of surcharges and delays, as a part of the price of a flow.
const SAME: f64 = 1e-10;

impl State<'_> {
    /// Returns whether a flow judges its accumulation by round-trip times.
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

    /// Returns the queuing delay that a flow sees on its way back, in seconds.
    pub(crate) fn seen_behind(&self, flow: usize, prices: &[f64]) -> f64 {
        if !self.measures_round_trips(flow) {
            return 0.0;
        }
        let queues = self
            .network
            .reverse_path(flow)
            .iter()
            .filter(|&&link| matches!(self.price_of(link), Price::QueuingDelay | Price::Loss));
        queues.map(|&link| prices[link]).sum()
    }

    /// Solves for a phase whose flows have `demands` on their way there. `problem` makes the problem
    /// of demands.
    pub(crate) fn settle(
        &self,
        phase: &Phase,
        demands: Vec<Demand>,
        problem: impl Fn(Vec<Demand>) -> Result<Problem, ProblemError>,
        warm: &mut Warm,
        observer: &mut dyn Observer,
    ) -> Result<Result<Settled, Unsettled>, EquilibriumError> {
        let invalid = EquilibriumError::of(phase);
        let first = problem(demands.clone()).map_err(&invalid)?;
        let mut settled = Settled {
            solution: warm.solve(&first, phase, observer)?,
            problem: first,
            back: vec![0.0; phase.active.len()],
        };
        let (mut step, mut least, mut since) = (0.5, f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let Settled { problem: solved, solution, back } = &mut settled;
            if solution.status != Status::Solved {
                return Ok(Ok(settled));
            }
            let sees = |&flow: &usize| self.seen_behind(flow, &solution.prices);
            let seen: Vec<f64> = phase.active.iter().map(sees).collect();
            let paid = solved.routes().path_prices(&solution.prices);
            let apart = (seen.iter().zip(&*back).zip(paid))
                .map(|((seen, back), q)| (seen - back).abs() / (q + seen.max(*back)))
                .fold(0.0, f64::max);
            if apart <= SAME {
                let stationarity = &mut solution.certificate.stationarity;
                *stationarity = stationarity.max(apart);
                return Ok(Ok(settled));
            }
            if apart < 0.9 * least {
                (least, since) = (apart, 0);
            } else {
                since += 1;
                if since == PATIENCE {
                    (step, since) = (0.5 * step, 0);
                }
            }
            for (back, seen) in back.iter_mut().zip(seen) {
                *back += step * (seen - *back);
            }
            let mut surcharged = Vec::with_capacity(demands.len());
            for (i, (demand, &surcharge)) in demands.iter().zip(&*back).enumerate() {
                match behind(*demand, surcharge) {
                    Some(demand) => surcharged.push(demand),
                    None => return Ok(Err(Unsettled::Contract(phase.active[i]))),
                }
            }
            *solved = problem(surcharged).map_err(&invalid)?;
            *solution = solve_phase(solved, phase, observer)?;
        }
        Ok(Err(Unsettled::Apart(least)))
    }
}

/// Returns a demand for a price to which a surcharge is added, or `None` if there is no such kind.
fn behind(demand: Demand, surcharge: f64) -> Option<Demand> {
    let of = |weight, surcharge, cap| Demand::Surcharged { weight, surcharge, cap };
    match demand {
        _ if surcharge == 0.0 => Some(demand),
        Demand::Log { weight } => Some(of(weight, surcharge, f64::INFINITY)),
        Demand::Capped { weight, cap } => Some(of(weight, surcharge, cap)),
        Demand::Vegas { weight, bias } => Some(of(weight, surcharge - bias, f64::INFINITY)),
        Demand::Fixed { .. } => Some(demand),
        _ => None,
    }
}
