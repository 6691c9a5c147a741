//! One place of a map of stability: the margins of an equilibrium, and the behaviour of packets
//! there.

use accord_record::{Observer, Run};
use accord_report::Cell;
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::Time;

/// Returns the margins of a scenario's equilibrium in the middle of its steady part. With an observer, also runs
/// packets. The caller fills in the place and the values of the parameters.
pub fn cell(scenario: &Scenario, packets: Option<&mut dyn Observer>) -> Cell {
    let mut cell = Cell {
        at: Vec::new(),
        place: [0, 0],
        gain_margin: f64::NAN,
        delay_margin_s: f64::NAN,
        growth_per_s: f64::NAN,
        packet_queue_variation: None,
        error: None,
    };
    match accord_margins::stability(scenario, steady(scenario)) {
        Ok(found) => {
            cell.gain_margin = found.margins.gain;
            cell.delay_margin_s = found.margins.delay;
            cell.growth_per_s = found.roots.first().map_or(f64::NEG_INFINITY, |r| r.re);
        }
        Err(e) => cell.error = Some(e.to_string()),
    }
    if let Some(observer) = packets
        && let Ok(run) = accord_sim::run(scenario, observer)
    {
        cell.packet_queue_variation = queue_variation(scenario, &run);
    }
    cell
}

/// Returns the coefficient of variation of the longest queue in the steady part.
fn queue_variation(scenario: &Scenario, run: &Run) -> Option<f64> {
    let longest = (0..scenario.links.len())
        .filter_map(|l| {
            let entity = Entity::Link(l);
            let mean = run.mean(Metric::BacklogPackets, entity, scenario.steady)?;
            Some((entity, mean))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let series = run.series(Metric::BacklogPackets, longest.0)?;
    let part = &series.values[run.within(scenario.steady)];
    let variance = part.iter().map(|v| (v - longest.1).powi(2)).sum::<f64>() / part.len() as f64;
    Some(variance.sqrt() / longest.1)
}

/// Returns the middle of the part over which tables average, where a map is judged.
fn steady(scenario: &Scenario) -> Time {
    Time::from_ps((scenario.steady.start.as_ps() + scenario.steady.end.as_ps()) / 2)
}
