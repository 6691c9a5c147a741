//! The number of samples over which the lines of a plot are averaged to hide single packets and
//! bursts.

use crate::compare::Outline;
use accord_record::Run;
use accord_scenario::{Engine, Entity, Metric};

/// The packets per sample below which single packets are visible as teeth.
const FEW_PACKETS: f64 = 20.0;
/// The round trips per sample below which the bursts of a window are visible as teeth.
const ROUND_TRIPS: f64 = 2.0;
/// The longest window of smoothing, as a share of the run. Its effect is hardly visible.
const LONGEST_WINDOW: f64 = 0.01;

/// Returns the number of samples, an odd one, over which the lines of a run are smoothed. They span
/// several packets and round trips, so single packets and bursts are invisible.
pub fn window(
    outline: &Outline,
    engine: Engine,
    run: &Run,
    metric: Metric,
    subjects: &[(String, Vec<Entity>)],
) -> usize {
    if !matches!(engine, Engine::Packet | Engine::Live) || !metric.row().smoothed {
        return 1;
    }
    let packet = 8.0 * outline.packet_bytes;
    if packet == 0.0 {
        return 1; // Directories of earlier programs lack it.
    }
    let mean = |metric, entity: Entity| {
        let values = run.series(metric, entity)?.values.iter().copied();
        let values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    let known = |&entity: &Entity| {
        let one = match metric {
            Metric::Utilisation => mean(Metric::LinkRate, entity)?,
            _ => 1.0,
        };
        let mean = one * mean(metric, entity)?;
        (mean > 0.0).then_some(mean) // A silent subject has no teeth.
    };
    // The slowest subject decides. A few flows represent a large group.
    let slowest = subjects.iter().filter_map(|(_, entities)| {
        let some: Vec<f64> = entities.iter().take(16).filter_map(known).collect();
        (!some.is_empty()).then(|| some.iter().sum::<f64>() / some.len() as f64)
    });
    let Some(rate) = slowest.reduce(f64::min) else {
        return 1;
    };
    let held = rate * period(run) / packet;
    // A window may leave in one burst per round trip.
    let bursts = ROUND_TRIPS * outline.round_trip_s / period(run);
    let longest = (run.time.len() as f64 * LONGEST_WINDOW) as usize;
    let wanted = (FEW_PACKETS / held).max(bursts).ceil() as usize;
    match wanted.min(longest) {
        0..=2 => 1,
        n => n - (n + 1) % 2,
    }
}

/// Returns the time between samples, in seconds.
pub fn period(run: &Run) -> f64 {
    match (run.time.first(), run.time.last()) {
        (Some(first), Some(last)) if run.time.len() > 1 => {
            (last - first) / (run.time.len() - 1) as f64
        }
        (first, _) => first.copied().unwrap_or(0.0),
    }
}
