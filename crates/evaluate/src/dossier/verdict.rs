//! The lines of a dossier's verdict: sections by their rules, and the measures that are worse, better,
//! alike and unclear compared with those of rivals.

use super::Dossier;
use crate::evaluation::{Compared, Finding, Key, least};
use crate::judge::Outcome;
use crate::statistics::MOST_SEEDS;
use accord::report::show;

/// Comparisons with a rival that the verdict names, the largest differences first.
const MOST: usize = 12;

/// A line of the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The text.
    pub text: String,
    /// The measure that it is about, whose case has figures.
    pub key: Option<Key>,
    /// The verdict against a rival, if the line has one.
    pub finding: Option<Finding>,
    /// The verdict by rules, if the line has one.
    pub outcome: Option<Outcome>,
}

impl Line {
    pub(super) fn plain(text: String) -> Line {
        Line { text, key: None, finding: None, outcome: None }
    }

    pub(super) fn about(key: Key, text: String) -> Line {
        Line { text, key: Some(key), finding: None, outcome: None }
    }

    /// Returns the name of the case that the line leads to, for a link on the page.
    pub(super) fn anchor(&self) -> Option<String> {
        self.key.as_ref().map(|key| anchor(&key.pack, &key.case))
    }
}

/// Returns the name of a case for links.
pub(super) fn anchor(pack: &str, case: &str) -> String {
    format!("case-{pack}-{case}")
}

/// Returns how far apart two means are: the larger one over the smaller one. Both have the least change
/// that matters added, so zero and a tiny value are close.
fn factor(compared: &Compared) -> f64 {
    let smallest = least(compared.unit);
    let mean = |e: Option<accord::report::Estimate>| e.map_or(0.0, |e| e.mean.abs()) + smallest;
    let (a, b) = (mean(compared.before), mean(compared.after));
    a.max(b) / a.min(b)
}

/// Returns the comparisons of a finding, those farthest apart first.
pub(super) fn by_size(all: &[Compared], finding: Finding) -> Vec<&Compared> {
    let mut found: Vec<&Compared> = all.iter().filter(|c| c.finding == finding).collect();
    found.sort_by(|a, b| factor(b).total_cmp(&factor(a)).then_with(|| a.key.cmp(&b.key)));
    found
}

/// Returns the counts of the comparisons with a rival: "16 worse, 11 better, 150 alike and 38 unclear".
pub(super) fn counts(all: &[Compared]) -> String {
    let count = |finding| all.iter().filter(|c| c.finding == finding).count();
    let moved = match count(Finding::Moved) {
        0 => String::new(),
        n => format!(", {n} different with no preferred direction"),
    };
    format!(
        "{} worse, {} better{moved}, {} alike and {} unclear",
        count(Finding::Worse),
        count(Finding::Better),
        count(Finding::Same),
        count(Finding::Unclear)
    )
}

/// Returns how many seeds would decide the unclear comparisons, in a sentence; `None` without any.
fn noise(all: &[&Compared]) -> Option<String> {
    let unclear = all.iter().filter(|c| c.finding == Finding::Unclear);
    let unclear: Vec<&&Compared> = unclear.collect();
    if unclear.is_empty() {
        return None;
    }
    let n = show::count(unclear.len(), "comparison");
    let runs = |e: Option<accord::report::Estimate>| e.is_some_and(|e| e.runs == 1);
    if unclear.iter().any(|c| runs(c.before) || runs(c.after)) {
        return Some(format!("{n} unclear: one seed has no interval; --reps 5 has one."));
    }
    // Comparisons that take more than the largest number come last.
    let mut seeds: Vec<u64> = unclear.iter().map(|c| c.seeds.unwrap_or(u64::MAX)).collect();
    seeds.sort_unstable();
    let named = |n: u64| match n {
        u64::MAX => format!("more than {MOST_SEEDS} seeds"),
        n => format!("about {n} seeds (--reps {n})"),
    };
    let (half, all) = (seeds[(seeds.len() - 1) / 2], seeds[seeds.len() - 1]);
    let says = match half == all {
        true => format!("{} would decide", named(all)),
        false => format!("{} would decide half of them, and {} all", named(half), named(all)),
    };
    Some(format!("{n} unclear, since they vary from seed to seed: {says}."))
}

/// Returns a comparison with a rival: the figure of the subject, then that of the rival.
pub(crate) fn beside(compared: &Compared, rival: &str) -> String {
    let text = |e: Option<accord::report::Estimate>| {
        e.map_or(show::NONE.into(), |e| show::quantity(e.mean, compared.unit))
    };
    let relative = match (compared.before, compared.change) {
        (Some(before), Some((change, _))) if before.mean != 0.0 => {
            format!(" ({})", show::error(change / before.mean.abs()))
        }
        _ => String::new(),
    };
    let (after, before) = (text(compared.after), text(compared.before));
    format!("{after}, {rival} {before}{relative}")
}

impl Dossier<'_> {
    /// Returns a line per section with rules, the failed first, then a line per limit, and the
    /// conclusion.
    pub fn verdict(&self) -> Vec<Line> {
        let e = self.evaluation;
        let mut lines = Vec::new();
        for section in e.sections() {
            let first = section.rules.first().map(|judged| judged.requirement.key.clone());
            let line = Line { key: first, ..Line::plain(section.line) };
            lines.push(Line { outcome: Some(section.outcome), ..line });
        }
        for limit in e.limits() {
            let outcome = if limit.passes { Outcome::Pass } else { Outcome::Fail };
            lines.push(Line { outcome: Some(outcome), ..Line::plain(limit.line) });
        }
        lines.extend(self.not_measured());
        lines.extend(self.left_out());
        lines.push(Line::plain(e.conclusion_with(self.regressions())));
        lines
    }

    /// Returns the sections that a pack does not measure, a line per pack; nothing if cases were named.
    fn not_measured(&self) -> Vec<Line> {
        let e = self.evaluation;
        let mut lines = Vec::new();
        for result in e.packs.iter().filter(|_| e.order.cases.is_empty()) {
            let empty = result.pack.sections.iter().filter(|section| section.cases.is_empty());
            let names: Vec<String> = empty.map(|section| result.pack.label(section)).collect();
            if !names.is_empty() {
                let text =
                    format!("Not measured, with reasons in the dossier: {}.", names.join(", "));
                lines.push(Line::plain(text));
            }
        }
        lines
    }

    /// Returns the number of runs that this machine did not keep up with, if there are any.
    fn left_out(&self) -> Option<Line> {
        let cases = self.evaluation.packs.iter().flat_map(|result| &result.cases);
        let failures = cases.flat_map(|case| &case.failures);
        let late = match failures.filter(|failure| failure.unfit).count() {
            0 => return None,
            1 => "a run, whose values are".to_string(),
            n => format!("{n} runs, whose values are"),
        };
        Some(Line::plain(format!("This machine did not keep up with {late} left out.")))
    }

    /// Returns the counts against each rival, a line each, and how many seeds would decide more.
    pub fn beside(&self) -> Vec<Line> {
        let subjects = &self.evaluation.order.subjects;
        let mut lines = Vec::new();
        for (rival, all) in subjects[1..].iter().zip(&self.compared) {
            let text = format!("{} against {}: {}.", subjects[0].label, rival.label, counts(all));
            lines.push(Line::plain(text));
        }
        let all: Vec<&Compared> = self.compared.iter().flatten().collect();
        lines.extend(noise(&all).map(Line::plain));
        lines
    }

    /// Returns the lines of the verdict against the rivals: the counts, and the measures farthest
    /// apart.
    pub fn beside_rivals(&self) -> Vec<Line> {
        let subjects = &self.evaluation.order.subjects;
        let subject = &subjects[0].label;
        let mut lines = Vec::new();
        for (rival, all) in subjects[1..].iter().zip(&self.compared) {
            let rival = &rival.label;
            let text = format!("{subject} against {rival}: {}.", counts(all));
            lines.push(Line::plain(text));
            for finding in [Finding::Worse, Finding::Better] {
                let (found, word) = (by_size(all, finding), finding.word());
                for compared in found.iter().take(MOST) {
                    let text = format!("{word}: {}: {}", compared.key, beside(compared, rival));
                    let line = Line::about(compared.key.clone(), text);
                    lines.push(Line { finding: Some(finding), ..line });
                }
                if found.len() > MOST {
                    let more = found.len() - MOST;
                    lines.push(Line::plain(format!("{word}: {more} more, in the tables")));
                }
            }
        }
        let all: Vec<&Compared> = self.compared.iter().flatten().collect();
        lines.extend(noise(&all).map(Line::plain));
        lines
    }
}
