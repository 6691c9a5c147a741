//! The verdict of an evaluation: the measures that are worse, better and not significantly
//! different.

use super::Dossier;
use crate::evaluation::{Compared, Finding, Key};
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
}

impl Line {
    pub(super) fn plain(text: String) -> Line {
        Line { text, key: None, finding: None }
    }

    pub(super) fn about(key: Key, text: String) -> Line {
        Line { text, key: Some(key), finding: None }
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

/// Returns how far apart two means are: the larger one over the smaller one.
fn factor(compared: &Compared) -> f64 {
    let mean = |e: Option<accord::report::Estimate>| e.map_or(0.0, |e| e.mean.abs());
    let (a, b) = (mean(compared.before), mean(compared.after));
    a.max(b) / a.min(b)
}

/// Returns the comparisons of a finding, those farthest apart first.
pub(super) fn by_size(all: &[Compared], finding: Finding) -> Vec<&Compared> {
    let mut found: Vec<&Compared> = all.iter().filter(|c| c.finding == finding).collect();
    found.sort_by(|a, b| factor(b).total_cmp(&factor(a)).then_with(|| a.key.cmp(&b.key)));
    found
}

/// Returns the counts of the comparisons with a rival: "16 worse, 11 better and 188 not told
/// apart".
pub(super) fn counts(all: &[Compared]) -> String {
    let count = |finding| all.iter().filter(|c| c.finding == finding).count();
    let moved = match count(Finding::Moved) {
        0 => String::new(),
        n => format!(", {n} different where neither is better"),
    };
    format!(
        "{} worse, {} better{moved} and {} not told apart",
        count(Finding::Worse),
        count(Finding::Better),
        count(Finding::Same)
    )
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
    /// Returns the lines of the verdict against the rivals.
    pub(super) fn beside_rivals(&self) -> Vec<Line> {
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
        lines
    }

    /// Returns the counts against each rival, in a sentence, and whether anything is worse.
    pub(super) fn headline(&self) -> (String, bool) {
        let rivals = self.evaluation.order.subjects[1..].iter().zip(&self.compared);
        let texts = rivals.map(|(rival, all)| format!("against {}: {}", rival.label, counts(all)));
        let worse = |all: &Vec<Compared>| all.iter().any(|c| c.finding == Finding::Worse);
        let texts: Vec<String> = texts.collect();
        (texts.join("; "), self.compared.iter().any(worse))
    }
}
