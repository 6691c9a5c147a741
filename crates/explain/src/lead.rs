//! The first sentence about an attribution.

use crate::attribution::{Attribution, Explained, Finding, Verdict};
use accord_report::show;

/// Returns the answer in a sentence: the value that is farthest off, and the part of its gap that its effects
/// explain. It is "" without values.
pub fn lead(a: &Attribution) -> String {
    let far = a
        .findings
        .iter()
        .filter(|f| f.relative && matches!(f.verdict, Verdict::Explained | Verdict::Divergent));
    let Some(far) = far.max_by(|a, b| a.gap.mean.abs().total_cmp(&b.gap.mean.abs())) else {
        let unclear = a.findings.iter().filter(|f| f.verdict == Verdict::Unclear).count();
        return match a.findings.len() {
            0 => String::new(),
            n if unclear > 0 => {
                let figures = show::count(n, "value");
                let (measured, reference) = (a.measured, a.reference);
                format!(
                    "Of {figures} of {measured} and {reference}, {unclear} vary too much from seed to seed."
                )
            }
            n => {
                let figures = show::count(n, "value");
                format!("No gap to explain in {figures} of {} and {}.", a.measured, a.reference)
            }
        };
    };
    let (reference, figure) = (a.reference, show::clean(&far.name, 60));
    let gap = show::error(far.gap.mean);
    let off = a.findings.iter().filter(|f| f.verdict != Verdict::Agree).count();
    let why = match far.verdict {
        Verdict::Explained => format!("explained by {}", parts(far)),
        _ => match (claimed(far), &far.left) {
            (some, _) if some.is_empty() => "and no effect explains it".into(),
            (some, None) => format!("explained in part by {some}"),
            (some, Some(left)) => {
                let left = show::error(left.mean);
                format!("explained in part by {some}: without all effects it is {left} off")
            }
        },
    };
    let others = match off {
        1 => String::new(),
        n => format!(", the farthest of {n} values"),
    };
    format!("{figure} is {gap} off {reference}{others}, {why}.")
}

/// Returns the effects that explain a gap, each with its part of it: "buffers (101 %)".
fn parts(f: &Finding) -> String {
    let part = |e: &Explained| {
        let share = e.part.map_or(f64::NAN, |p| p.mean / f.gap.mean);
        format!("{} ({:.0} %)", e.effect.name(), 100.0 * share)
    };
    listed(f.effects.iter().filter(|e| f.by.contains(&e.effect)).map(part))
}

/// Returns the effects that claim a part of a gap which they do not explain. Their single parts may add up to
/// more than the gap.
fn claimed(f: &Finding) -> String {
    listed(f.effects.iter().filter(|e| e.claimed).map(|e| e.effect.name().to_string()))
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(" and ")
}
