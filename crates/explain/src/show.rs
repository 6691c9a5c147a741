//! A table for people.

use crate::attribution::{Attribution, Finding, Verdict, is_closed};
use crate::effect::Effect;
use crate::missing::Missing;
use accord_report::{Estimate, show};
use std::fmt::Write;

/// The length above which names are cut.
const NAME: usize = 34;
/// The smallest value that does not round to zero in a column.
const SEEN: f64 = 5e-5;
/// The change of the reference below which it counts as unchanged.
const STILL: f64 = 1e-6;

/// Returns the attribution as text: a line per value with the part of each effect, then the
/// verdicts, the values that runs lack, and then the runs made and the steps that were not possible.
/// Returns "" if there is no value and none should be there.
pub fn text(a: &Attribution) -> String {
    let mut out = format!("{}: {} against {}", a.id, a.measured, a.reference);
    for (what, value) in &a.point {
        let _ = write!(out, ", {what} = {value}");
    }
    out.push('\n');
    let Some(first) = a.findings.first() else {
        let lines: String = a.missing.iter().filter(|m| m.fails).map(missing).collect();
        return if lines.is_empty() { lines } else { out + &lines };
    };
    // The columns of effects that explain a part of some gap.
    let shown = |i: &usize| {
        a.findings
            .iter()
            .any(|f| f.effects[*i].part.is_none_or(|p| f.relative && p.mean.abs() >= SEEN))
    };
    let columns: Vec<usize> = (0..first.effects.len()).filter(shown).collect();
    let mut rows = vec![head(a, &columns)];
    rows.extend(a.findings.iter().map(|f| row(f, &columns)));
    out += &layout(&rows);
    for f in &a.findings {
        let _ = writeln!(out, "{}: {}", f.name, sentence(f));
    }
    out.extend(a.missing.iter().map(missing));
    out.push('\n');
    out += &remarks(a);
    out
}

/// Returns the line about a value that runs lack.
fn missing(m: &Missing) -> String {
    let word = if m.fails { "MISSING" } else { "not compared" };
    format!("{}: {word}: {}\n", m.name, m.why)
}

fn head(a: &Attribution, columns: &[usize]) -> Vec<String> {
    let first = &a.findings[0].effects;
    let effects: Vec<Effect> = columns.iter().map(|&i| first[i].effect).collect();
    let mut cells = ["value", a.reference, a.measured, "gap"].map(String::from).to_vec();
    cells.extend(effects.iter().map(|e| e.name().to_string()));
    if !first.is_empty() {
        cells.extend(["interaction".into(), "left".into()]);
    }
    cells.push("verdict".into());
    cells
}

fn row(f: &Finding, columns: &[usize]) -> Vec<String> {
    let mut cells = vec![
        show::clean(&f.name, NAME),
        show::quantity(f.reference, f.symbol),
        show::quantity(f.measured, f.symbol),
        size(f, f.gap.mean),
    ];
    for e in columns.iter().map(|&i| &f.effects[i]) {
        cells.push(match (e.part, e.claimed) {
            (None, _) => show::NONE.into(),
            (Some(p), true) => size(f, p.mean),
            (Some(p), false) => format!("({})", size(f, p.mean)),
        });
    }
    if !f.effects.is_empty() {
        cells.push(f.interaction.map_or(show::NONE.into(), |x| size(f, x)));
        cells.push(f.left.map_or(show::NONE.into(), |x| size(f, x.mean)));
    }
    cells.push(f.verdict.word().into());
    cells
}

/// Returns a gap or a part of one as text.
fn size(f: &Finding, x: f64) -> String {
    if f.relative { show::error(x) } else { show::quantity(x, f.symbol) }
}

/// Returns a relative size without its sign.
fn unsigned(relative: f64) -> String {
    show::error(relative).trim_start_matches('+').to_string()
}

fn with_noise(f: &Finding, e: Estimate) -> String {
    match e.half_width {
        Some(half) if f.relative => {
            format!("{} ± {}", show::error(e.mean), unsigned(half))
        }
        Some(half) => format!("{} ± {}", size(f, e.mean), size(f, half)),
        None => size(f, e.mean),
    }
}

fn sentence(f: &Finding) -> String {
    let gap = with_noise(f, f.gap);
    let allowed = unsigned(f.tolerance);
    match f.verdict {
        Verdict::Agree => format!("AGREE: {gap}, ± {allowed} allowed"),
        Verdict::Unclear => {
            format!("UNCLEAR: {gap}, ± {allowed} allowed; the seeds vary too much, more may decide")
        }
        Verdict::None => "no verdict: the reference is zero, so no gap is relative to it".into(),
        Verdict::Explained => {
            let parts = f.by.iter().map(|by| {
                let e = f.effects.iter().find(|e| e.effect == *by);
                let part = e.and_then(|e| e.part).map(|p| with_noise(f, p));
                format!("{} ({} by itself)", by.name(), part.unwrap_or_default())
            });
            let parts: Vec<String> = parts.collect();
            let without = f.without.map(|w| with_noise(f, w)).unwrap_or_default();
            // Small packets are compared in longer phases, which have less of the start-up.
            let longer = f.by.contains(&Effect::Packets)
                && !f.by.contains(&Effect::StartUp)
                && f.effects.iter().any(|e| e.effect == Effect::StartUp);
            format!(
                "EXPLAINED by {}: {gap}, without {}{} {without}, ± {allowed} allowed",
                parts.join(" and "),
                if f.by.len() == 1 { "it" } else { "them" },
                if longer { " (in longer phases)" } else { "" }
            )
        }
        Verdict::Divergent => {
            let left = f.left.filter(|_| !f.effects.is_empty());
            let Some(left) = left else {
                return format!("DIVERGENT: {gap}, ± {allowed} allowed");
            };
            let closes = match left.mean.abs() <= f.tolerance {
                true if is_closed(left, f.tolerance) => ", but that is within the noise",
                true => ", which the seeds do not decide",
                false => "",
            };
            format!(
                "DIVERGENT: {gap}, ± {allowed} allowed; without all effects {} is left{closes}",
                with_noise(f, left)
            )
        }
    }
}

fn remarks(a: &Attribution) -> String {
    let mut out = String::new();
    if a.findings.iter().any(|f| !f.effects.is_empty()) {
        out += "Columns: the part of the gap that vanishes without the effect; in brackets where that is noise, \
                less than a tenth of the gap, or against it. Effects that explain no value have no column.\n";
    } else {
        out += match a.findings.iter().any(|f| f.verdict == Verdict::Unclear) {
            true => "No gap is beyond its tolerance, so no effect was removed.\n",
            false => "All values agree, so no effect was removed.\n",
        };
    }
    out += &match (a.seeds.count, a.seeds.differ) {
        (1, _) => "One seed: noise cannot be estimated.\n".to_string(),
        (n, true) => format!("Means over {n} seeds, ± their 95 % confidence intervals.\n"),
        (n, false) => {
            format!("All {n} seeds gave identical results, so noise cannot be estimated.\n")
        }
    };
    for s in &a.shifts {
        let _ = write!(out, "  {}: {}", s.effect.name(), s.how);
        if s.reference > STILL {
            let moved = unsigned(s.reference);
            let _ = write!(out, "; moves {} by up to {moved}, accounted for", a.reference);
        }
        out.push('\n');
    }
    for s in &a.skipped {
        let _ = writeln!(out, "  {}: not switched: {}", s.effect.name(), s.why);
    }
    out
}

/// Lays out columns. The first is aligned to the left and the others to the right. A name of two
/// words takes two lines.
fn layout(rows: &[Vec<String>]) -> String {
    let mut rows: Vec<Vec<String>> = rows.to_vec();
    let split = |cell: &String| match cell.split_once(' ') {
        Some((a, b)) => (a.to_string(), b.to_string()),
        None => (cell.clone(), String::new()),
    };
    let (upper, lower): (Vec<String>, Vec<String>) = rows[0].iter().map(split).unzip();
    if lower.iter().any(|cell| !cell.is_empty()) {
        rows[0] = upper;
        rows.insert(1, lower);
    }
    let columns = rows[0].len();
    let width = |c: usize| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (c, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = match c {
                0 => write!(line, "{cell:<width$}"),
                _ if c + 1 == columns => write!(line, "  {cell}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out.push('\n');
    out
}
