//! The JSON of `accord stability`. Infinite or unknown numbers are null.

use super::Found;
use accord::margins::Stability;
use accord::report::{FORMAT_VERSION, Point, SettingsRecord, StabilityMap, settings_record};
use accord::scenario::Scenario;
use serde::Serialize;

/// The equilibria of one point of a sweep.
#[derive(Serialize)]
pub struct Equilibria {
    id: String,
    /// The point of the sweep, or "".
    point: String,
    settings: SettingsRecord,
    link_model: &'static str,
    phases: Vec<Phase>,
}

#[derive(Serialize)]
struct Phase {
    start_s: f64,
    end_s: f64,
    /// The reason why there is no linearisation.
    error: Option<String>,
    #[serde(flatten)]
    found: Option<Equilibrium>,
}

#[derive(Serialize)]
struct Equilibrium {
    stable: bool,
    /// True if it is stable for any combination of flows that move together, at gains up to the
    /// guaranteed margin.
    guaranteed: bool,
    guaranteed_gain: f64,
    gain_margin: f64,
    gain_margin_rad_per_s: f64,
    /// The gain margin of packets behind RED; null if it is unknown or the same.
    packet_gain_margin: Option<f64>,
    delay_margin_s: f64,
    phase_margin_degrees: f64,
    /// Real and imaginary parts of the rightmost roots.
    roots_per_s: Vec<[f64; 2]>,
    flows: Vec<Flows>,
}

/// The flows of one class.
#[derive(Serialize)]
struct Flows {
    group: String,
    flows: usize,
    rate_bps: f64,
    round_trip_s: f64,
    /// The share of packets marked or lost.
    signal: f64,
    halving_jitter_s: f64,
}

/// The equilibria of all points.
#[derive(Serialize)]
pub struct All {
    format_version: u32,
    points: Vec<Equilibria>,
}

/// Returns the record of all points.
pub fn all(points: Vec<Equilibria>) -> All {
    All { format_version: FORMAT_VERSION, points }
}

/// The JSON of a map.
#[derive(Serialize)]
pub struct Map<'a> {
    format_version: u32,
    #[serde(flatten)]
    map: &'a StabilityMap,
}

/// Returns the record of a map.
pub fn map(map: &StabilityMap) -> Map<'_> {
    Map { format_version: FORMAT_VERSION, map }
}

/// Returns the record of a point.
pub fn point(scenario: &Scenario, phases: &[Found]) -> Equilibria {
    let (runs, checks) = (&[], &[]);
    let point = Point { scenario, runs, checks };
    let phases = phases.iter().map(|(phase, found)| Phase {
        start_s: phase.start.as_secs_f64(),
        end_s: phase.end.as_secs_f64(),
        error: found.as_ref().err().map(ToString::to_string),
        found: found.as_ref().ok().map(|found| equilibrium(scenario, found)),
    });
    Equilibria {
        id: scenario.id.clone(),
        point: point.label(),
        settings: settings_record(&scenario.point),
        link_model: scenario.fluid.link_model.name(),
        phases: phases.collect(),
    }
}

fn equilibrium(scenario: &Scenario, found: &Stability) -> Equilibrium {
    let flows = found.rest.iter().map(|rest| Flows {
        group: scenario.groups[rest.group].name.clone(),
        flows: rest.flows,
        rate_bps: 8.0 * rest.rate,
        round_trip_s: rest.base_rtt + rest.queue,
        signal: rest.signal,
        halving_jitter_s: rest.halving_jitter(),
    });
    let m = found.margins;
    Equilibrium {
        stable: found.is_stable(),
        guaranteed: found.is_guaranteed(),
        guaranteed_gain: found.bound.map_or(m.gain, |bound| bound.factor()),
        gain_margin: m.gain,
        gain_margin_rad_per_s: m.gain_frequency,
        packet_gain_margin: found.packets.map(|packets| packets.gain),
        delay_margin_s: m.delay,
        phase_margin_degrees: m.phase_degrees(),
        roots_per_s: found.roots.iter().map(|r| [r.re, r.im]).collect(),
        flows: flows.collect(),
    }
}
