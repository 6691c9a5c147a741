//! The solution of a phase, either from scratch or, for many flows, from the previous phase.

use accord_record::{Interrupted, Observer};
use accord_scenario::Phase;
use accord_solver::{Problem, Settings, Solution, Status, solve_from, solve_watched};
use std::ops::ControlFlow;

/// The minimum number of flows in a phase whose prices start the next one. Phases with fewer flows take
/// milliseconds, and their digits do not depend on earlier phases.
const MANY: usize = 10_000;
/// The minimum number of links. With fewer links a cold start takes milliseconds.
const LINKS: usize = 1000;
/// The least fraction of the flows of a phase that must also be in the previous one.
const SAME: f64 = 0.9;

/// Solves for a phase. Asks the observer before each step, because a large problem takes long.
pub(crate) fn solve_phase(
    problem: &Problem,
    phase: &Phase,
    observer: &mut dyn Observer,
) -> Result<Solution, Interrupted> {
    solve_phase_from(problem, phase, None, observer)
}

/// Solves for a phase as [`solve_phase`] does, from prices near the solution if there are any.
pub(crate) fn solve_phase_from(
    problem: &Problem,
    phase: &Phase,
    prices: Option<&[f64]>,
    observer: &mut dyn Observer,
) -> Result<Solution, Interrupted> {
    let mut listening = Ok(());
    let settings = Settings::default();
    let watch = &mut |_| {
        listening = observer.progress(phase.start);
        match listening {
            Ok(()) => ControlFlow::Continue(()),
            Err(Interrupted) => ControlFlow::Break(()),
        }
    };
    let solution = match prices {
        Some(prices) => solve_from(problem, &settings, prices, watch),
        None => solve_watched(problem, &settings, watch),
    };
    listening.map(|()| solution)
}

/// The solution of a phase with its acknowledgements and control packets.
pub(crate) struct Settled {
    pub(crate) problem: Problem,
    pub(crate) solution: Solution,
}

/// The capacities that acknowledgements and control packets leave were not found.
pub(crate) struct Unsettled {
    /// The remaining difference in the load of a link, as a fraction of its rate.
    pub(crate) apart: f64,
}

/// The start of a phase with many flows from the previous one.
#[derive(Default)]
pub(crate) struct Warm {
    last: Option<Last>,
}

/// The flows of a phase, in order, and its prices.
struct Last {
    flows: Vec<usize>,
    capacities: Vec<f64>,
    prices: Vec<f64>,
}

impl Warm {
    /// Solves for a phase, whose flows have the numbers of `phase.active` in the scenario. Asks the
    /// observer before each step.
    pub fn solve(
        &mut self,
        problem: &Problem,
        phase: &Phase,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Interrupted> {
        let last = self.last.take();
        if phase.active.len() < MANY || problem.routes().links() < LINKS {
            return solve_phase(problem, phase, observer);
        }
        let last = last.filter(|last| last.is_near(problem, phase));
        let prices = last.as_ref().map(|last| &last.prices[..]);
        let solution = solve_phase_from(problem, phase, prices, observer)?;
        self.last = (solution.status == Status::Solved).then(|| Last {
            flows: phase.active.clone(),
            capacities: problem.capacities().to_vec(),
            prices: solution.prices.clone(),
        });
        Ok(solution)
    }
}

impl Last {
    fn is_near(&self, problem: &Problem, phase: &Phase) -> bool {
        let stay = phase.active.iter().filter(|flow| self.flows.binary_search(flow).is_ok());
        let most = self.flows.len().max(phase.active.len());
        self.capacities == problem.capacities() && stay.count() as f64 >= SAME * most as f64
    }
}
