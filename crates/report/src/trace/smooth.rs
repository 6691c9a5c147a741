//! Over how many samples the lines of a plot are means, so single packets and bursts are no
//! teeth.

use crate::compare::Outline;
use accord_record::Run;
use accord_scenario::{Engine, Entity, Metric};

/// Packets of a sample below which single packets show as teeth.
const FEW_PACKETS: f64 = 20.0;
/// Round trips of a sample below which the bursts of a window show as teeth.
const ROUND_TRIPS: f64 = 2.0;
/// The longest window of smoothing, as a share of the run, which is hardly visible.
const LONGEST_WINDOW: f64 = 0.01;

/// The samples over which the lines of a run are smoothed, an odd number. They span
/// some packets and some round trips, so single packets and bursts do not show.
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
        return 1; // Directories of earlier programs do not say it.
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
        (mean > 0.0).then_some(mean) // What sends nothing has no teeth.
    };
    // The slowest subject; a few flows speak for a large group.
    let slowest = subjects.iter().filter_map(|(_, entities)| {
        let some: Vec<f64> = entities.iter().take(16).filter_map(known).collect();
        (!some.is_empty()).then(|| some.iter().sum::<f64>() / some.len() as f64)
    });
    let Some(rate) = slowest.reduce(f64::min) else {
        return 1;
    };
    let held = rate * period(run) / packet;
    // A window may leave in one burst a round trip.
    let bursts = ROUND_TRIPS * outline.round_trip_s / period(run);
    let longest = (run.time.len() as f64 * LONGEST_WINDOW) as usize;
    let wanted = (FEW_PACKETS / held).max(bursts).ceil() as usize;
    match wanted.min(longest) {
        0..=2 => 1,
        n => n - (n + 1) % 2,
    }
}

/// The time between samples, in seconds.
pub fn period(run: &Run) -> f64 {
    match (run.time.first(), run.time.last()) {
        (Some(first), Some(last)) if run.time.len() > 1 => {
            (last - first) / (run.time.len() - 1) as f64
        }
        (first, _) => first.copied().unwrap_or(0.0),
    }
}
