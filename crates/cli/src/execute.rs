//! Runs a scenario file: all points of its sweep, all seeds, all engines, on all cores. The
//! result does not depend on how many there are.

use crate::args::How;
use crate::fail::Failure;
use crate::progress::Progress;
use crate::source::CATALOGUE;
use accord_report::{Check, Point, checks};
use accord_scenario::{Engine, File, Run, Scenario};
use accord_units::Duration;
use rayon::prelude::*;

/// What came out at one point of a sweep.
pub struct Outcome {
    /// The scenario, with the first seed.
    pub scenario: Scenario,
    /// Runs by seed, then engine.
    pub runs: Vec<Run>,
    /// What was expected.
    pub checks: Vec<Check>,
}

impl Outcome {
    /// As the report wants it.
    pub fn point(&self) -> Point<'_> {
        Point {
            scenario: &self.scenario,
            runs: &self.runs,
            checks: &self.checks,
        }
    }
}

/// Runs everything.
pub fn execute(file: &File, how: &How) -> Result<Vec<Outcome>, Failure> {
    let first = file.points(&CATALOGUE, how.seed)?;
    let mut repetitions = vec![first];
    for k in 1..how.reps {
        let seed = repetitions[0][0].seed.wrapping_add(k);
        repetitions.push(file.points(&CATALOGUE, Some(seed))?);
    }
    let mut engines = how.engine.clone();
    engines.sort_unstable();
    engines.dedup();
    let points = repetitions[0].len();
    let jobs: Vec<(usize, &Scenario, Engine)> = (0..points)
        .flat_map(|p| repetitions.iter().map(move |r| (p, &r[p])))
        .flat_map(|(p, s)| engines.iter().map(move |&e| (p, s, e)))
        .collect();
    let total = jobs
        .iter()
        .fold(Duration::ZERO, |sum, (_, s, _)| sum + s.duration);
    let progress = Progress::new(total, how.quiet || how.json);
    let runs: Vec<Run> = (jobs.par_iter())
        .map(|(_, scenario, engine)| simulate(scenario, *engine, &progress))
        .collect::<Result<_, _>>()?;
    drop(progress);
    let mut by_point: Vec<Vec<Run>> = vec![Vec::new(); points];
    for ((p, ..), run) in jobs.iter().zip(runs) {
        by_point[*p].push(run);
    }
    let scenarios = repetitions.swap_remove(0);
    Ok(scenarios
        .into_iter()
        .zip(by_point)
        .map(|(scenario, runs)| {
            let checks = judged(&scenario, &runs, &engines);
            Outcome {
                scenario,
                runs,
                checks,
            }
        })
        .collect())
}

/// The checks of the engines that ran.
fn judged(scenario: &Scenario, runs: &[Run], engines: &[Engine]) -> Vec<Check> {
    let mut scenario = scenario.clone();
    scenario
        .expectations
        .retain(|e| engines.contains(&e.engine));
    checks(&scenario, &runs.iter().collect::<Vec<_>>())
}

fn simulate(scenario: &Scenario, engine: Engine, progress: &Progress) -> Result<Run, Failure> {
    let mut observer = progress.observe();
    let run = match engine {
        Engine::Theory => accord_theory::run(scenario, &mut observer).map_err(|e| match e {
            accord_theory::EquilibriumError::Interrupted => Failure::Interrupted,
            e => Failure::new(format!("theory: {e}")),
        })?,
        Engine::Fluid => accord_fluid::run(scenario, &mut observer).map_err(|e| match e {
            accord_fluid::FluidError::Interrupted => Failure::Interrupted,
            e => Failure::new(format!("fluid: {e}")),
        })?,
        Engine::Packet => {
            accord_sim::run(scenario, &mut observer).map_err(|_| Failure::Interrupted)?
        }
    };
    Ok(run)
}
