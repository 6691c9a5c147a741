//! The distance of packets from theory, in a sentence.

use crate::check::Check;
use crate::class::Class;
use crate::json::Point;
use accord_scenario::{Engine, Target, Window};

/// Returns the distance of packets from theory, over all checks that expect theory's value: "Packets are
/// within 5 % of theory in all phases". The percentage is rounded up. Returns `None` without such a check.
pub fn gap(points: &[Point]) -> Option<String> {
    let compared = |point: &Point| -> Vec<(f64, Class, Window)> {
        let checks = point.checks.iter();
        let checks = checks.filter_map(|c| Some((relative(c)?, c.class, c.during)));
        checks.collect()
    };
    let of_points: Vec<_> = points.iter().map(compared).collect();
    let all = || of_points.iter().flatten();
    let largest = all().map(|(gap, _, _)| *gap).reduce(f64::max)?;
    let met = all().all(|(_, class, _)| *class == Class::Met);
    let covered = (points.iter().zip(&of_points)).all(|(point, compared)| {
        let cuts = point.scenario.cuts();
        let mut phases = cuts.windows(2);
        cuts.len() > 2
            && phases.all(|phase| {
                let within = |w: &Window| phase[0] <= w.start && w.end <= phase[1];
                compared.iter().any(|(_, _, during)| within(during))
            })
    });
    let percent = match 100.0 * largest {
        p if p < 1.0 => (10.0 * p).ceil() / 10.0,
        p => p.ceil(),
    };
    let place = if covered { " in all phases" } else { "" };
    Some(if met {
        format!("Packets are within {percent} % of theory{place}")
    } else {
        format!("Packets are up to {percent} % from theory")
    })
}

/// Returns the distance of a check's packets from theory, relative to theory. Returns `None` if the check
/// expects a value other than theory's.
fn relative(check: &Check) -> Option<f64> {
    if check.engine != Engine::Packet {
        return None;
    }
    let value = |engine| check.value(engine).map(|v| check.unit.settled(v.mean));
    let (theory, packet) = value(Engine::Theory).zip(value(Engine::Packet))?;
    let near = |value: f64, tolerance: f64| (value - theory).abs() <= tolerance * theory.abs();
    let comparable = match check.target {
        Target::Value { value, tolerance } => near(value, tolerance),
        Target::Engine { .. } => true,
        _ => false,
    };
    let gap = (packet - theory).abs() / theory.abs();
    (comparable && gap.is_finite()).then_some(gap)
}
