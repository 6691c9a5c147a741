//! The solution of a phase: from the start, or from the phase before where flows are many.

use accord_record::{Interrupted, Observer};
use accord_scenario::Phase;
use accord_solver::{Problem, Sequence, Settings, Solution, Status, solve_watched};
use std::ops::ControlFlow;

/// The fewest flows of a phase for which it pays to keep it. Phases of fewer flows take milliseconds, and
/// their digits depend on nothing before them.
const MANY: usize = 10_000;
/// The fewest links. Over fewer of them a cold start takes milliseconds, and the kept state takes some 300
/// bytes per flow.
const LINKS: usize = 1000;
/// The most flows that come, go or change from one phase to the next, as a part of all.
const MOST: f64 = 0.1;

/// Solves for a phase. Asks the observer before each step, because a large problem takes long.
pub(crate) fn solve_phase(
    problem: &Problem,
    phase: &Phase,
    observer: &mut dyn Observer,
) -> Result<Solution, Interrupted> {
    let mut listening = Ok(());
    let solution = solve_watched(problem, &Settings::default(), &mut |_| {
        listening = observer.progress(phase.start);
        match listening {
            Ok(()) => ControlFlow::Continue(()),
            Err(Interrupted) => ControlFlow::Break(()),
        }
    });
    listening.map(|()| solution)
}

/// The solution of a phase in which flows may see queues of the way back.
pub(crate) struct Settled {
    pub(crate) problem: Problem,
    pub(crate) solution: Solution,
    /// The queuing delay of the way back that each flow of the phase answers to, in seconds.
    pub(crate) back: Vec<f64>,
}

/// The reason why the surcharges were not found.
pub(crate) enum Unsettled {
    /// A flow has a contract, which theory has over the way there only.
    Contract(usize),
    /// The fixed point was not reached. The value is the remaining difference, as a part of the price of a flow.
    Apart(f64),
}

/// The last phase of many flows.
#[derive(Default)]
pub(crate) struct Warm {
    last: Option<Last>,
}

struct Last {
    shares: Sequence,
    capacities: Vec<f64>,
    /// The number of each flow of the scenario in `shares`.
    numbers: Vec<Option<usize>>,
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
        let mut last = last
            .filter(|last| last.capacities == problem.capacities())
            .and_then(|last| last.moved_to(problem, phase))
            .unwrap_or_else(|| Last::new(problem, phase));
        let mut listening = Ok(());
        let status = last.shares.solve_watched(&mut |_| {
            listening = observer.progress(phase.start);
            match listening {
                Ok(()) => ControlFlow::Continue(()),
                Err(Interrupted) => ControlFlow::Break(()),
            }
        });
        listening?;
        let rates = phase.active.iter().map(|&flow| {
            let number = last.numbers[flow].expect("it is in the phase");
            last.shares.rate(number).expect("it is there")
        });
        let (iterations, inner_iterations) = last.shares.steps();
        let solution = Solution {
            rates: rates.collect(),
            prices: last.shares.prices().to_vec(),
            status,
            certificate: *last.shares.certificate(),
            iterations,
            inner_iterations,
        };
        if status == Status::Solved {
            self.last = Some(last);
        }
        Ok(solution)
    }
}

impl Last {
    fn new(problem: &Problem, phase: &Phase) -> Last {
        let flows = phase.active.iter().max().map_or(0, |last| last + 1);
        let mut numbers = vec![None; flows];
        for (number, &flow) in phase.active.iter().enumerate() {
            numbers[flow] = Some(number);
        }
        Last {
            shares: Sequence::new(problem, Settings::default()),
            capacities: problem.capacities().to_vec(),
            numbers,
        }
    }

    /// Makes it the problem of another phase, or returns `None` if too much is different there.
    fn moved_to(mut self, problem: &Problem, phase: &Phase) -> Option<Last> {
        let flows = phase.active.iter().max().map_or(0, |last| last + 1);
        let most = (MOST * phase.active.len() as f64) as usize;
        self.numbers.resize(flows.max(self.numbers.len()), None);
        let mut gone: Vec<bool> = self.numbers.iter().map(Option::is_some).collect();
        let mut come = Vec::new();
        for (i, &flow) in phase.active.iter().enumerate() {
            let now = (problem.routes().path(i), problem.demands()[i]);
            let before = self.numbers[flow].and_then(|number| self.shares.flow(number));
            if before == Some(now) {
                gone[flow] = false
            } else {
                come.push((flow, now))
            }
            if come.len() > most {
                return None;
            }
        }
        let gone: Vec<usize> = (0..gone.len()).filter(|&flow| gone[flow]).collect();
        if come.len() + gone.len() > most {
            return None;
        }
        for flow in gone {
            let number = self.numbers[flow].take();
            self.shares.depart(number.expect("it was there"));
        }
        for (flow, (path, demand)) in come {
            self.numbers[flow] = self.shares.arrive(path, demand).ok();
        }
        Some(self)
    }
}
