//! `accord stability`: stability margins of equilibria, at one point or over a map.

mod map;
mod record;

use crate::args::Stability as Args;
use crate::fail::Failure;
use crate::output::{heading, json, prose};
use crate::progress::{at_once, parts};
use crate::source::load;
use accord::Catalogue;
use accord::margins::{MarginsError, Stability};
use accord::report::FORMAT_VERSION;
use accord::report::show::visible;
use accord::scenario::{Phase, Scenario};
use serde_json::json;

type Found = (Phase, Result<Stability, MarginsError>);

/// Carries out the command. Returns `Ok(false)` if an equilibrium is not stable.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    if args.x.is_some() {
        return map::run(args, catalogue);
    }
    let points = load(&args.scenario, &args.set)?.points(catalogue, args.seed)?;
    let all = at_once(|| {
        let count = points.iter().map(|p| p.phases().count()).sum();
        let progress = parts(count, args.quiet || args.json);
        let found = |scenario: &Scenario| -> Vec<Found> {
            (scenario.phases())
                .map(|phase| {
                    let found = accord::margins::stability(scenario, phase.start);
                    progress.done();
                    (phase, found)
                })
                .collect()
        };
        points.iter().map(found).collect::<Vec<_>>()
    })?;
    let mut stable = true;
    let mut records = Vec::new();
    for (scenario, phases) in points.iter().zip(&all) {
        let found = phases.iter().filter_map(|(_, found)| found.as_ref().ok());
        stable &= { found }.all(Stability::is_stable);
        if args.json {
            records.push(record::point(scenario, phases));
        } else {
            prose(visible(&page(scenario, phases)))?;
        }
    }
    if args.json {
        json(&json!({ "format_version": FORMAT_VERSION, "points": records }))?;
    }
    Ok(stable)
}

/// Returns the margins of every phase of a scenario as text.
fn page(scenario: &Scenario, phases: &[Found]) -> String {
    let mut out = heading(scenario) + "\n";
    for (name, value) in &scenario.point {
        out += &format!("{name} = {value}\n");
    }
    let model = scenario.fluid.link_model.name();
    let texts = phases.iter().map(|(phase, found)| {
        let found = match found {
            Ok(found) => accord::margins::text(scenario, found),
            Err(e) => format!("{e}\n"),
        };
        format!("{} to {}, {model}: {found}", phase.start, phase.end)
    });
    out + &texts.collect::<Vec<_>>().join("\n")
}
