//! `--check-crowd`: the validity of a fluid in place of packets.

use crate::execute::Outcome;
use crate::fail::Failure;
use crate::point;
use crate::progress::Progress;
use crate::run_options::RunOptions;
use accord::scenario::{Engine, Scenario};
use accord::{Catalogue, CrowdCheck, File, Run, check_crowd};

/// Checks the crowd at each point that has one, and adds the result to the notes of the packet
/// engine's runs.
///
/// # Errors
/// Fails if there is no crowd, or no run of the packet engine.
pub fn check(
    outcomes: &mut [Outcome],
    flows: u64,
    (file, catalogue): (&File, &Catalogue),
    options: &RunOptions,
) -> Result<Vec<Option<CrowdCheck>>, Failure> {
    let mut by_seed = Vec::new();
    for k in 0..options.reps {
        let seed = outcomes[0].scenario.seed.wrapping_add(k);
        let mut points = file.points(catalogue, Some(seed))?;
        let chosen = point::chosen(&points, &options.point)?;
        let mut i = 0;
        points.retain(|_| {
            i += 1;
            chosen.contains(&(i - 1))
        });
        by_seed.push(points);
    }
    let mut checks = Vec::new();
    for (p, outcome) in outcomes.iter_mut().enumerate() {
        if !outcome.scenario.has_fluid() {
            checks.push(None);
            continue;
        }
        let packets = |run: &&Run| run.manifest.engine == Engine::Packet;
        let scenarios = by_seed.iter().map(|points| &points[p]);
        let runs: Vec<(&Scenario, &Run)> =
            scenarios.zip(outcome.runs.iter().filter(packets)).collect();
        let total = outcome.scenario.duration * (2 * runs.len() as u64);
        let progress = Progress::new(total, options.quiet);
        let check = check_crowd(&runs, flows as usize, |_| progress.observe(None, None))?;
        let own = |run: &&mut Run| run.manifest.engine == Engine::Packet;
        for run in outcome.runs.iter_mut().filter(own) {
            run.notes.push(check.note());
        }
        checks.push(Some(check));
    }
    Ok(checks)
}

/// Fails unless there is a crowd, and the packet engine runs.
pub fn possible(points: &[Scenario], engines: &[Engine]) -> Result<(), Failure> {
    if !points.iter().any(Scenario::has_fluid) {
        let why = "--check-crowd needs flows with `as = \"fluid\"`, and there are none";
        return Err(Failure::new(why).hint("docs/src/hybrid.md shows how to write them"));
    }
    if !engines.is_empty() && !engines.contains(&Engine::Packet) {
        let why = "--check-crowd needs the packet engine, which does not run here";
        return Err(Failure::new(why).hint("name it, for example --engine theory,packet"));
    }
    Ok(())
}
