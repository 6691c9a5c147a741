//! The theory engine: the equilibria of a scenario as a run.

use crate::equilibrium::{EquilibriumError, Found, phases};
use crate::table::Table;
use accord_record::{Manifest, Observer, Run, Statistics};
use accord_scenario::{Engine, Flow, Scenario};
use accord_traffic::Demand;

/// The sizes of notes on parts of links and on random demands, whose effects are unknown.
const PARTS: f64 = 0.2;
const RANDOM: f64 = 0.02;

/// Computes the equilibrium of each phase of a scenario.
///
/// A phase lies between starts, stops, changes and ends of transfers. Phases without samples are
/// skipped if nothing depends on them.
///
/// # Errors
/// Fails if a phase is not a valid problem, or if the observer stops the run. A phase without an
/// equilibrium is not an error: its values are absent and a note gives the reason.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Run, EquilibriumError> {
    let mut table = Table::new(scenario);
    let middles = table.middles();
    let mut steps = 0;
    let found = phases(
        scenario,
        table.period,
        observer,
        |start, end| {
            let next = middles.partition_point(|&middle| middle < start.as_secs_f64());
            middles.get(next).is_some_and(|&m| m < end.as_secs_f64())
        },
        |end, equilibrium| {
            steps += equilibrium.map_or(0, |e| e.steps);
            table.add_until(end, equilibrium);
        },
    )?;
    let Found { certificates, mut notes, shortfalls } = found;
    for shortfall in &shortfalls {
        // Each phase has other flows. These are values and not an omitted effect.
        let (start, end) = (shortfall.start, shortfall.end);
        let text = format!("{start}-{end}: {}", shortfall.text(scenario));
        notes.add(text.clone(), f64::MAX, text);
    }
    for link in &scenario.links {
        if let Some(text) = link.left_out() {
            notes.add(text.clone(), PARTS, text);
        }
    }
    let random = |f: &Flow| matches!(f.demand, Demand::OnOff { .. } | Demand::Poisson(_));
    if !certificates.is_empty() && scenario.flows.iter().any(random) {
        notes.add("random", RANDOM, "random demands are taken at their mean rates");
    }
    let (time, series) = table.finish();
    let manifest = Manifest::new(Engine::Theory, scenario, Manifest::digest(&series));
    Ok(Run {
        statistics: Statistics { packet_hops: 0, steps },
        certificates,
        notes: notes.finish("theory"),
        ..Run::new(manifest, time, series)
    })
}
