//! The theory engine: the equilibria of a scenario as a run.

use crate::equilibrium::{EquilibriumError, Found, phases};
use crate::table::Table;
use accord_record::{Manifest, Observer, Run, Statistics};
use accord_scenario::{Engine, Flow, Link, Scenario};
use accord_traffic::Demand;

/// Computes the equilibrium of each phase of a scenario.
///
/// A phase lies between starts, stops, changes and ends of transfers. Phases that no sample shows
/// are passed over if nothing depends on them.
///
/// # Errors
/// Fails if a phase is not a valid problem, or if the observer stops the run. A phase without an
/// equilibrium is not an error: its values are absent and a note says why.
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
    notes.extend(shortfalls.iter().map(|shortfall| {
        let (start, end) = (shortfall.start, shortfall.end);
        format!("theory, {start}-{end}: {}", shortfall.text(scenario))
    }));
    notes.dedup();
    let left_out = scenario.links.iter().filter_map(Link::left_out);
    notes.extend(left_out.map(|text| format!("theory: {text}")));
    let random = |f: &Flow| matches!(f.demand, Demand::OnOff { .. } | Demand::Poisson(_));
    if !certificates.is_empty() && scenario.flows.iter().any(random) {
        notes.push("theory: random demands are taken at their mean rates".into());
    }
    if !certificates.is_empty() && scenario.links.iter().any(Link::is_lossy) {
        notes.push("theory: losses on the wire are left out".into());
    }
    let (time, series) = table.finish();
    let manifest = Manifest::new(Engine::Theory, scenario, Manifest::digest(&series));
    Ok(Run {
        statistics: Statistics { packet_hops: 0, steps },
        certificates,
        notes,
        ..Run::new(manifest, time, series)
    })
}
