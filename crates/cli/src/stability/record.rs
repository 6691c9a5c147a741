//! The JSON of `accord stability`. Infinite or unknown numbers are null.

use super::Found;
use accord::margins::Stability;
use accord::report::{Point, joined, settings_record};
use accord::scenario::Scenario;
use serde_json::{Value, json};

/// Returns the record of the equilibria of one point of a sweep.
pub fn point(scenario: &Scenario, phases: &[Found]) -> Value {
    let (runs, checks) = (&[], &[]);
    let phases = phases.iter().map(|(phase, found)| {
        let span = json!({
            "start_s": phase.start.as_secs_f64(),
            "end_s": phase.end.as_secs_f64(),
            "error": found.as_ref().err().map(ToString::to_string),
        });
        joined(span, found.as_ref().map_or(Value::Null, |found| equilibrium(scenario, found)))
    });
    json!({
        "id": scenario.id,
        "point": Point { scenario, runs, checks }.label(),
        "settings": settings_record(&scenario.point),
        "link_model": scenario.fluid.link_model.name(),
        "phases": phases.collect::<Vec<_>>(),
    })
}

fn equilibrium(scenario: &Scenario, found: &Stability) -> Value {
    let flows = found.rest.iter().map(|rest| {
        json!({
            "group": scenario.groups[rest.group].name,
            "flows": rest.flows,
            "rate_bps": 8.0 * rest.rate,
            "round_trip_s": rest.base_rtt + rest.queue,
            "signal": rest.signal,
            "halving_jitter_s": rest.halving_jitter(),
        })
    });
    let m = found.margins;
    json!({
        "stable": found.is_stable(),
        "guaranteed": found.is_guaranteed(),
        "guaranteed_gain": found.bound.map_or(m.gain, |bound| bound.factor()),
        "gain_margin": m.gain,
        "gain_margin_rad_per_s": m.gain_frequency,
        "packet_gain_margin": found.packets.map(|packets| packets.gain),
        "delay_margin_s": m.delay,
        "phase_margin_degrees": m.phase_degrees(),
        "roots_per_s": found.roots.iter().map(|r| [r.re, r.im]).collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
    })
}
