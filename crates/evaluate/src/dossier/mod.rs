//! The dossier of a subject: the questions of a standard, the measurements, and the rivals next to
//! them.

mod chart;
mod html;
mod verdict;

pub use html::html;
pub use verdict::Line;
pub(crate) use verdict::beside;

use crate::baseline::Changes;
use crate::command::{evaluate_command, run_command};
use crate::evaluation::{CaseResult, Compared, Evaluation, Finding, Key, PackResult, Row};
use accord::report::{Estimate, show};
use chart::Chart;
use std::collections::BTreeMap;

/// The contents of a dossier.
pub struct Dossier<'a> {
    evaluation: &'a Evaluation,
    /// By rival: the subject compared with it.
    compared: Vec<Vec<Compared>>,
    /// The comparisons, by rival.
    against: Vec<BTreeMap<Key, Finding>>,
    changes: Option<&'a Changes>,
}

/// The maximum number of rows of a case that a dossier shows; the table has all.
const MOST_ROWS: usize = 200;

impl<'a> Dossier<'a> {
    /// Returns the dossier of an evaluation, which may have been compared with an earlier one.
    pub fn of(evaluation: &'a Evaluation, changes: Option<&'a Changes>) -> Dossier<'a> {
        let findings = |compared: &Vec<Compared>| {
            let pairs = compared.iter().map(|c| (c.key.clone(), c.finding));
            pairs.collect()
        };
        let rivals = 1..evaluation.order.subjects.len();
        let compared: Vec<_> = rivals.map(|r| evaluation.against(r)).collect();
        Dossier { evaluation, against: compared.iter().map(findings).collect(), compared, changes }
    }

    /// Returns the runs that failed, and the measures worse than in an earlier evaluation.
    pub fn failed(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (key, failure) in self.evaluation.failures() {
            let text = format!("Failed: {key}, seed {}: {}.", failure.seed, failure.why);
            lines.push(Line::about(key, text));
        }
        if let Some(changes) = self.changes {
            let (worse, better) = (changes.regressions().count(), changes.improvements().count());
            let unmatched = match changes.unmatched {
                0 => String::new(),
                n => format!("; {n} not compared, since only one of the two has them"),
            };
            lines.push(Line::plain(format!(
                "Against the baseline: {} compared, {worse} worse, {better} better{unmatched}.",
                show::count(changes.all.len(), "measure")
            )));
            lines.extend(changes.regressions().map(|compared| {
                let text = format!("Regression: {}.", crate::baseline::sentence(compared));
                Line::about(compared.key.clone(), text)
            }));
        }
        lines
    }

    /// Returns the number of measures that are worse than in an earlier evaluation.
    fn regressions(&self) -> usize {
        self.changes.map_or(0, |changes| changes.regressions().count())
    }

    /// Returns a description of the figures: the subjects, the number of runs, the engine, and the
    /// test by which they are compared.
    fn method(&self) -> Vec<String> {
        let order = &self.evaluation.order;
        let rivals: Vec<&str> = order.subjects[1..].iter().map(|s| s.label.as_str()).collect();
        let beside = if rivals.is_empty() {
            String::new()
        } else {
            format!(", against {}", rivals.join(", "))
        };
        let last = order.seed.wrapping_add(order.reps - 1);
        let seeds = match order.reps {
            1 => format!("seed {}", order.seed),
            n => format!("{n} seeds ({} to {last})", order.seed),
        };
        let mut lines = vec![format!(
            "{}{beside}; {} tier, {} engine, {seeds}. Accord {}.",
            order.subjects[0].label,
            order.tier.name(),
            order.engine.name(),
            env!("CARGO_PKG_VERSION"),
        )];
        if order.reps > 1 {
            lines.push(
                "Figures are means over the seeds, with 95 % confidence intervals. ↑: more is \
                 better, ↓: less is better, → 100 %: nearer to it is better."
                    .into(),
            );
        }
        if !rivals.is_empty() {
            lines.push(
                "Next to the subject's figure, \"better than\" and \"worse than\" name the rivals, and \
                 \"different from\" those from which it differs where neither is better: by Welch's t-test \
                 at a level of 5 % for all measures of a rival together (Holm's correction), and by more \
                 than the least relevant change of the measure, 5 % if the pack names no other. \"Alike\" \
                 are measures whose 95 % interval has no such change, and the others are unclear."
                    .into(),
            );
        }
        lines
    }

    /// Returns the texts of a row: the point, the measure, and a figure per subject.
    fn cells(&self, result: &PackResult, case: &CaseResult, row: &Row) -> (String, Vec<String>) {
        let subjects = self.evaluation.order.subjects.len();
        let estimates: Vec<Option<Estimate>> = (0..subjects).map(|i| row.estimate(i)).collect();
        let mut texts = show::row(&estimates, row.unit);
        for (i, text) in texts.iter_mut().enumerate() {
            if case.planned.impossible[i].is_some() {
                *text = show::NONE.into();
            }
        }
        if row.without[0] > 0
            && !row.values[0].is_empty()
            && let Some(lacks) = row.lacks()
        {
            texts[0] += &format!(", {lacks}");
        }
        let key = result.key(case, row);
        for finding in [Finding::Better, Finding::Worse, Finding::Moved] {
            let rivals = self.evaluation.order.subjects[1..].iter().zip(&self.against);
            let rivals = rivals.filter(|(_, findings)| findings.get(&key) == Some(&finding));
            let names: Vec<&str> = rivals.map(|(rival, _)| rival.label.as_str()).collect();
            if !names.is_empty() {
                let word = match finding {
                    Finding::Moved => "different from",
                    Finding::Worse => "worse than",
                    _ => "better than",
                };
                texts[0] += &format!(", {word} {}", names.join(" and "));
            }
        }
        let measure = result.measure(row);
        let name = match measure.better.sign() {
            "" => measure.name.clone(),
            sign => format!("{}\u{a0}{sign}", measure.name),
        };
        (name, texts)
    }

    /// Returns the remarks below the table of a case.
    fn remarks(&self, result: &PackResult, case: &CaseResult) -> Vec<String> {
        let subjects = &self.evaluation.order.subjects;
        let (_, definition) = case.planned.within(&result.pack);
        let mut lines = Vec::new();
        if !definition.notes.is_empty() {
            lines.push(definition.notes.clone());
        }
        for (subject, why) in subjects.iter().zip(&case.planned.impossible) {
            if let Some(why) = why {
                lines.push(format!("Not possible with {}: {why}.", subject.label));
            }
        }
        for (subject, margin) in subjects.iter().zip(&case.planned.margins) {
            lines.push(match margin {
                Ok(margin) => format!("Equilibrium with {}: {}.", subject.label, said(margin)),
                Err(why) => format!("No margins with {}: {why}.", subject.label),
            });
        }
        for failure in &case.failures {
            let subject = &subjects[failure.subject].label;
            let point = match failure.point.as_str() {
                "" => String::new(),
                point => format!(", {point}"),
            };
            let seed = failure.seed;
            let failed = if failure.unfit { "has no measurement" } else { "failed" };
            lines.push(format!("{subject} {failed}{point}, seed {seed}: {}.", failure.why));
        }
        if case.rows.len() > MOST_ROWS {
            let more = case.rows.len() - MOST_ROWS;
            lines.push(format!("{more} rows more are in evaluation.csv."));
        }
        lines
    }

    /// Returns the commands that print a case again: its figures, and its runs.
    fn commands(&self, result: &PackResult, case: &CaseResult) -> [String; 2] {
        let order = &self.evaluation.order;
        let (_, definition) = case.planned.within(&result.pack);
        let evaluate = evaluate_command(&result.pack, definition, order);
        let run = run_command(&result.pack, definition, &order.subjects[0], order);
        [evaluate, run]
    }

    /// Returns the plots of a case: its measures, and its ellipse.
    fn charts(&self, result: &PackResult, case: &CaseResult) -> Vec<Chart> {
        let subjects = &self.evaluation.order.subjects;
        let labels: Vec<&str> = subjects.iter().map(|s| s.label.as_str()).collect();
        let (_, definition) = case.planned.within(&result.pack);
        let mut charts = Vec::new();
        for &measure in &definition.measures {
            let rows = case.rows.iter().filter(|row| row.measure == measure);
            let rows: Vec<&Row> = rows.collect();
            let measure = &result.pack.measures[measure];
            charts.extend(Chart::dots(&measure.name, measure.better, &rows, &labels));
        }
        if let Some([delay, rate]) = definition.ellipse {
            let find = |measure| case.rows.iter().filter(move |row| row.measure == measure);
            let names = [delay, rate].map(|m| result.pack.measures[m].name.as_str());
            for (x, y) in find(delay).zip(find(rate)) {
                charts.extend(Chart::ellipses(names, x, y, &labels));
            }
        }
        charts
    }
}

fn said(margin: &crate::plan::Margin) -> String {
    let gain = match margin.gain {
        g if g.is_finite() && g > 0.0 => {
            format!("gain margin {g:.2} ({:.1} dB)", 20.0 * g.log10())
        }
        _ if margin.stable => "no larger gain makes it cycle".to_string(),
        _ => "no smaller gain makes it stable".to_string(),
    };
    let delay = if margin.delay.is_finite() {
        show::quantity(margin.delay, accord::scenario::MetricUnit::Seconds)
    } else {
        "any".into()
    };
    match margin.stable {
        true => format!("stable, {gain}, delay margin {delay}"),
        false => format!("not stable, {gain}"),
    }
}

/// The columns of a case's table before the figures: the point too if the case has several.
fn has_points(case: &CaseResult) -> bool {
    case.rows.iter().any(|row| !row.point.is_empty())
}
