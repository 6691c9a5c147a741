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
        return match a.findings.len() {
            0 => String::new(),
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
        _ => match claimed(far) {
            some if !some.is_empty() => format!("explained in part by {some}"),
            _ => "and no effect explains it".into(),
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
    said(f, |e| f.by.contains(&e.effect))
}

fn claimed(f: &Finding) -> String {
    said(f, |e| e.claimed)
}

fn said(f: &Finding, of: impl Fn(&Explained) -> bool) -> String {
    let part = |e: &Explained| {
        let share = e.part.map_or(f64::NAN, |p| p.mean / f.gap.mean);
        format!("{} ({:.0} %)", e.effect.name(), 100.0 * share)
    };
    let parts: Vec<String> = f.effects.iter().filter(|e| of(e)).map(part).collect();
    parts.join(" and ")
}
