//! `--point`: the choice of points of a sweep, by number or by settings.

use crate::fail::Failure;
use accord::report::show::count;
use accord::scenario::Scenario;

/// The maximum number of points in a message.
const NAMED: usize = 8;

/// Returns the indices of the points that `wanted` names, in order; all if `wanted` is empty.
pub fn chosen(points: &[Scenario], wanted: &[String]) -> Result<Vec<usize>, Failure> {
    if wanted.is_empty() {
        return Ok((0..points.len()).collect());
    }
    let mut found = vec![false; points.len()];
    for text in wanted {
        let hits: Vec<usize> =
            (0..points.len()).filter(|&i| is_named(&points[i], i, text)).collect();
        if hits.is_empty() {
            return Err(unknown(points, text));
        }
        hits.into_iter().for_each(|i| found[i] = true);
    }
    Ok((0..points.len()).filter(|i| found[*i]).collect())
}

/// Keeps the points with these indices.
pub fn retain(points: &mut Vec<Scenario>, chosen: &[usize]) {
    let mut indices = 0..;
    points.retain(|_| indices.next().is_some_and(|i| chosen.contains(&i)));
}

/// Returns the name of the directory of chosen points: one point is not a sweep and does not
/// replace one.
pub fn directory(id: &str, points: usize, chosen: &[usize]) -> String {
    match chosen {
        _ if chosen.len() == points => id.into(),
        [one] => format!("{id}-{:03}", one + 1),
        _ => format!("{id}-points"),
    }
}

/// Returns true if a text is a point's number from 1, its label, or some of its settings.
fn is_named(point: &Scenario, index: usize, text: &str) -> bool {
    if text.trim().parse() == Ok(index + 1) {
        return true;
    }
    // A number beyond the points may still be the value of a variable.
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let sets = |part: &str| {
        let part = plain(part);
        let mut settings = point.point.iter();
        settings.any(|(name, value)| match part.split_once('=') {
            Some((n, v)) => (n, v) == (&plain(name)[..], &plain(value)[..]),
            None => part == plain(value),
        })
    };
    let number = text.trim().parse::<usize>().is_ok();
    !number && !point.point.is_empty() && text.split(',').all(sets)
}

fn unknown(points: &[Scenario], text: &str) -> Failure {
    let label = |(i, p): (usize, &Scenario)| {
        let settings = p.point.iter().map(|(name, value)| format!("{name} = {value}"));
        format!("{} ({})", i + 1, settings.collect::<Vec<_>>().join(", "))
    };
    if points.iter().all(|p| p.point.is_empty()) {
        return Failure::new(format!("unknown point \"{text}\""))
            .hint("the scenario has no sweep: leave --point out");
    }
    let mut names: Vec<String> = points.iter().enumerate().take(NAMED).map(label).collect();
    if points.len() > NAMED {
        names.push("...".into());
    }
    Failure::new(format!("unknown point \"{text}\" among {}", count(points.len(), "point"))).hint(
        format!(
            "expected a number or settings, such as --point 1 or --point NAME=VALUE; known: {}",
            names.join("; ")
        ),
    )
}
