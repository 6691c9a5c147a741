//! Equilibria and their margins, as plain data.

use accord::Scenario;
use accord::fluid::Stability;
use serde_json::{Value, json};

/// Returns what was found of the phase from `span.0` to `span.1` seconds. An infinite number is null.
pub fn record(scenario: &Scenario, span: (f64, f64), found: &Stability) -> Value {
    let flows = found.rest.iter().map(|rest| {
        json!({
            "group": scenario.groups[rest.group].name,
            "flows": rest.flows,
            "rate": 8.0 * rest.rate,
            "round_trip": rest.base_rtt + rest.queue,
            "signal": rest.signal,
            "halving_jitter": rest.halving_jitter(),
        })
    });
    let roots = found.roots.iter().map(|r| [r.re, r.im]);
    json!({
        "start": span.0,
        "end": span.1,
        "error": null,
        "stable": found.is_stable(),
        "gain_margin": found.margins.gain,
        "delay_margin": found.margins.delay,
        "phase_margin": found.margins.phase_degrees(),
        "roots": roots.collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
    })
}

/// Returns the record of a phase that has no linearisation.
pub fn missing(span: (f64, f64), why: &str) -> Value {
    json!({"start": span.0, "end": span.1, "error": why})
}
