//! The verdict of an evaluation: PASS, FAIL or INCONCLUSIVE per section of a standard, by rules.

use crate::evaluation::{CaseResult, Compared, Evaluation, Finding, PackResult, Row, least};
use crate::rule::{Counted, Limit, Requirement};
use crate::statistics::{MOST_SEEDS, seeds};
use accord::report::{Estimate, show};
use std::collections::BTreeMap;

/// The result of a rule or of a section, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// A rule is not met.
    Fail,
    /// No data decides.
    Inconclusive,
    /// All rules are met.
    Pass,
}

impl Outcome {
    /// Returns the word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Fail => "FAIL",
            Outcome::Inconclusive => "INCONCLUSIVE",
            Outcome::Pass => "PASS",
        }
    }
}

/// A rule at a measure, a case and a point.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The rule.
    pub requirement: &'a Requirement,
    /// The figures.
    pub row: &'a Row,
    /// The result.
    pub outcome: Outcome,
    /// For a rule that is not decided: how many seeds would decide it, or `None` if more than
    /// [`MOST_SEEDS`].
    pub seeds: Option<u64>,
    /// The distance of the subject beyond the bound: the logarithm of the factor, below 0 if it meets it.
    excess: f64,
}

/// The verdict on a section.
#[derive(Clone, Debug)]
pub struct SectionVerdict<'a> {
    /// The results of the pack.
    pub pack: &'a PackResult,
    /// The index of the section in the pack.
    pub section: usize,
    /// The worst result of its rules.
    pub outcome: Outcome,
    /// The rules of its cases.
    pub rules: Vec<Judged<'a>>,
    /// The verdict in one line.
    pub line: String,
}

/// The verdict on a limit of counts.
#[derive(Clone, Debug)]
pub struct LimitVerdict<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// True if the count does not exceed it.
    pub passes: bool,
    /// The verdict in one line.
    pub line: String,
}

impl<'a> LimitVerdict<'a> {
    /// Judges a limit by parts of its count, each with its words.
    pub(crate) fn of(limit: &'a Limit, counts: &[(usize, String)]) -> LimitVerdict<'a> {
        let passes = counts.iter().map(|(n, _)| n).sum::<usize>() < limit.from;
        let word = if passes { Outcome::Pass } else { Outcome::Fail }.word();
        let says: Vec<&str> = counts.iter().map(|(_, says)| says.as_str()).collect();
        // The limit says what fails.
        let line = format!("{word} {}, {}: {}", limit.source, limit.text, says.join(", "));
        LimitVerdict { limit, passes, line }
    }
}

/// Judges a rule by the 95 % confidence interval of the mean of the subject, or of the geometric mean
/// for one measure over another. A subject fails if one of its runs has no value: the event that the rule
/// is about did not happen there, and the mean of the other runs does not show that. Runs that this machine
/// did not keep up with do not count. A quantity that the engine does not record decides nothing.
pub fn judge<'a>(requirement: &'a Requirement, row: &'a Row) -> Judged<'a> {
    let bound = requirement.value;
    let judged = |outcome, seeds, excess| Judged { requirement, row, outcome, seeds, excess };
    if row.unrecorded.is_some() && row.values[0].is_empty() {
        return judged(Outcome::Inconclusive, None, f64::INFINITY);
    }
    if row.without[0] > 0 {
        return judged(Outcome::Fail, None, f64::INFINITY);
    }
    let scale = row.scale(0);
    let Some(Estimate { mean: middle, half_width, runs }) = row.placed(0) else {
        let outcome = if row.unfit > 0 { Outcome::Inconclusive } else { Outcome::Fail };
        return judged(outcome, None, f64::INFINITY);
    };
    let mean = scale.value(middle);
    let smallest = least(row.unit);
    let excess = ((mean.max(0.0) + smallest) / (bound + smallest)).ln();
    let excess = if requirement.bound.is_ceiling() { excess } else { -excess };
    let Some(half) = half_width else {
        return judged(Outcome::Inconclusive, (row.runs() < 2).then_some(2), excess);
    };
    let holds = |place| requirement.bound.holds(scale.value(place), bound);
    match (holds(middle - half), holds(middle + half)) {
        (true, true) => judged(Outcome::Pass, None, excess),
        (false, false) => judged(Outcome::Fail, None, excess),
        _ => {
            let gap = (middle - scale.place(bound)).abs();
            judged(Outcome::Inconclusive, seeds(half, runs, gap), excess)
        }
    }
}

/// Returns the number of seeds that an undecided rule needs, in words.
pub fn need(seeds: Option<u64>) -> String {
    match seeds {
        Some(2) => "one seed has no interval: --reps 5".into(),
        Some(n) => format!("about {n} seeds would decide: --reps {n}"),
        None => format!("{MOST_SEEDS} seeds would not decide: it is at the bound"),
    }
}

impl Judged<'_> {
    /// Returns whether there are too few values for an interval.
    fn has_no_interval(&self) -> bool {
        self.row.values[0].len() < 2
    }

    /// Returns why a rule is not decided, and what would decide it.
    fn open(&self) -> String {
        match self.row.lacks() {
            Some(why) if self.has_no_interval() && self.row.unfit > 0 => {
                format!("{why}; a quieter or faster one would")
            }
            Some(why) if self.has_no_interval() => why,
            _ => need(self.seeds),
        }
    }

    /// Returns where the rule is: "", or " with buffer = 2 BDP".
    fn place(&self) -> String {
        match self.requirement.key.point.as_str() {
            "" => String::new(),
            point => format!(" with {point}"),
        }
    }

    /// Returns the figure of the subject and the bound in words, without the rivals.
    pub fn says(&self) -> String {
        let line = self.line(&[]);
        match self.outcome {
            Outcome::Inconclusive => format!("{line}; {}", self.open()),
            _ => line,
        }
    }

    /// Returns the same with the figures of the rivals.
    fn line(&self, rivals: &[&str]) -> String {
        let unit = self.row.unit;
        let mut figure = self.row.shown(0);
        if self.row.without[0] > 0
            && !self.row.values[0].is_empty()
            && let Some(lacks) = self.row.lacks()
        {
            figure += &format!(", {lacks}");
        }
        let mut figures = String::new();
        for (i, rival) in rivals.iter().enumerate().take(3) {
            if let Some(e) = self.row.estimate(i + 1) {
                let separator = if figures.is_empty() { "" } else { ", " };
                figures += &format!("{separator}{rival} {}", show::quantity(e.mean, unit));
            }
        }
        if !figures.is_empty() {
            figures += "; ";
        }
        let Requirement { source, key, .. } = self.requirement;
        let words = self.requirement.words(unit);
        format!("{} {figure}{} ({figures}{words}, {source})", key.measure, self.place())
    }
}

impl Evaluation {
    /// Returns the rules with their results.
    pub fn judged(&self) -> Vec<Judged<'_>> {
        self.by_section().into_iter().flat_map(|(.., rules)| rules).collect()
    }

    /// Returns the rules by pack and section, of cases that the subject can run.
    fn by_section(&self) -> Vec<(&PackResult, usize, Vec<Judged<'_>>)> {
        let mut rules: BTreeMap<_, Vec<&Requirement>> = BTreeMap::new();
        for requirement in &self.requirements {
            rules.entry(&requirement.key).or_default().push(requirement);
        }
        let mut found: Vec<(&PackResult, usize, Vec<Judged>)> = Vec::new();
        for (result, case, row) in self.rows() {
            let section = case.planned.section;
            let new =
                |last: &(&PackResult, usize, _)| !std::ptr::eq(last.0, result) || last.1 != section;
            if found.last().is_none_or(new) {
                found.push((result, section, Vec::new()));
            }
            if case.planned.impossible[0].is_some() {
                continue;
            }
            let here = rules.get(&result.key(case, row)).into_iter().flatten();
            let (.., judged) = found.last_mut().expect("it was pushed");
            judged.extend(here.map(|requirement| judge(requirement, row)));
        }
        found
    }

    /// Returns the verdicts on the sections, the failed first, then those that no data decides.
    /// Sections without rules have none, unless a run failed.
    pub fn sections(&self) -> Vec<SectionVerdict<'_>> {
        let rivals: Vec<&str> = self.order.subjects[1..].iter().map(|s| s.label.as_str()).collect();
        let subject = &self.order.subjects[0].label;
        let mut found: Vec<SectionVerdict> = Vec::new();
        for (result, section, rules) in self.by_section() {
            let definition = &result.pack.sections[section];
            let cases = result.cases.iter().filter(|case| case.planned.section == section);
            let cases: Vec<&CaseResult> = cases.collect();
            let failure = cases.iter().find_map(|case| {
                let failure = case.failures.iter().find(|f| f.subject == 0 && !f.unfit)?;
                let name = &case.planned.within(&result.pack).1.name;
                Some(format!("{name}, seed {}: {}", failure.seed, failure.why))
            });
            let impossible = cases.iter().find_map(|case| case.planned.impossible[0].as_ref());
            let worst = rules.iter().map(|judged| judged.outcome).min();
            let (outcome, says) = match (failure, worst, impossible) {
                (Some(failure), ..) => (Outcome::Fail, format!("a run failed: {failure}")),
                (None, Some(outcome), _) => (outcome, deciding(&rules, outcome, &rivals)),
                (None, None, Some(why)) if !definition.rules.is_empty() => {
                    (Outcome::Inconclusive, format!("not possible with {subject}: {why}"))
                }
                _ => continue,
            };
            let line = format!("{} {}: {says}", outcome.word(), result.pack.label(definition));
            found.push(SectionVerdict { pack: result, section, outcome, rules, line });
        }
        // Stable: within an outcome the order is that of the packs.
        found.sort_by_key(|verdict| verdict.outcome);
        found
    }

    /// Returns the verdicts on the limits of counts.
    pub fn limits(&self) -> Vec<LimitVerdict<'_>> {
        let count = |finding: Finding| -> Vec<(usize, String)> {
            let rivals = self.order.subjects.iter().enumerate().skip(1);
            rivals
                .map(|(i, rival)| {
                    let all = self.against(i);
                    // A measure that has lost values is worse, whatever those are that are left.
                    let lost = |c: &Compared| finding == Finding::Worse && c.has_lost();
                    let n = all.iter().filter(|c| c.finding == finding || lost(c)).count();
                    (n, format!("{n} against {}", rival.label))
                })
                .collect()
        };
        (self.limits.iter())
            .map(|limit| {
                let counts = match limit.counted {
                    Counted::Worse => count(Finding::Worse),
                    Counted::Unclear => count(Finding::Unclear),
                    Counted::Inconclusive => {
                        let sections = self.sections();
                        let open = sections.iter().filter(|s| s.outcome == Outcome::Inconclusive);
                        let n = open.count();
                        vec![(n, show::count(n, "section"))]
                    }
                };
                LimitVerdict::of(limit, &counts)
            })
            .collect()
    }

    /// Returns the last line of the verdict: its counts.
    pub fn conclusion(&self) -> String {
        self.conclusion_with(0)
    }

    /// Returns the last line of the verdict with a number of measures that are worse than those of an
    /// earlier evaluation.
    pub fn conclusion_with(&self, regressions: usize) -> String {
        let worse = format!("{} worse than the baseline", show::count(regressions, "measure"));
        let sections = self.sections();
        let count = |outcome| sections.iter().filter(|s| s.outcome == outcome).count();
        let (failed, open) = (count(Outcome::Fail), count(Outcome::Inconclusive));
        let limits = self.limits().iter().filter(|limit| !limit.passes).count();
        let word = match (failed + limits + regressions, open, sections.len()) {
            (_, 0, 0) if failed + limits == 0 && regressions > 0 => {
                return format!("FAIL: {worse}.");
            }
            (0, 0, 0) => return "No rule of these packs is about these cases.".into(),
            (0, 0, _) => "PASS",
            (0, ..) => "INCONCLUSIVE",
            _ => "FAIL",
        };
        let mut says = format!(
            "{word}: of {} {failed} failed, {open} are inconclusive and {} passed",
            show::count(sections.len(), "section"),
            count(Outcome::Pass)
        );
        if limits > 0 {
            says += &format!("; {} not kept", show::count(limits, "limit"));
        }
        if regressions > 0 {
            says += &format!("; {worse}");
        }
        says + "."
    }
}

/// Returns the rule that decides a section in words: the one farthest beyond its bound, or the
/// nearest to it.
fn deciding(rules: &[Judged], outcome: Outcome, rivals: &[&str]) -> String {
    let own: Vec<&Judged> = rules.iter().filter(|judged| judged.outcome == outcome).collect();
    let last = own.iter().copied().max_by(|a, b| a.excess.total_cmp(&b.excess));
    let mut says = last.map_or(String::new(), |judged| judged.line(rivals));
    if outcome == Outcome::Inconclusive {
        // Rules that more than the largest number would not decide come last.
        let most = own.iter().map(|judged| judged.seeds.unwrap_or(u64::MAX)).max();
        let scarce = own.iter().find(|judged| judged.has_no_interval());
        let needed = || need(most.filter(|n| *n < u64::MAX));
        says += &format!("; {}", scarce.map_or_else(needed, |judged| judged.open()));
    }
    if outcome != Outcome::Pass && own.len() > 1 {
        says += &format!("; {} more", own.len() - 1);
    }
    says
}
