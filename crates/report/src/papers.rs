//! Verdicts on the figures and tables of papers.
//!
//! [`Papers`] declares the figures, and [`Papers::summary`] draws the verdicts from the record of
//! [`Readings`]. README, the page of experiments and `accord reproduce --all --summary` print the same
//! [`Summary`].

use crate::class::Class;
use crate::declared::{LAW_AXIS, OUR_LAW, PaperFigure, Papers};
use crate::json::FORMAT_VERSION;
use crate::readings::{FigureReadings, LawChoice, RECORD, Readings, Row, SEEDS};
use crate::results::ExperimentRow;
use crate::show;
use crate::style::Style;
use crate::table::{align_right, fill, finish, new_table};
use crate::verdict::{Judged, Kind, totals};
use accord_units::words;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

words! {
    /// The verdict on a figure or table of a paper.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum FigureVerdict by word {
        /// Under one setting all of its checks are met with at least four of five seeds.
        Reproduced = "reproduced",
        /// Otherwise, under one setting at least three quarters of its checks are met with the median
        /// seed.
        Qualitatively = "qualitatively",
        /// Fewer are met, or there are none.
        #[default]
        Not = "not",
    }
}

impl Serialize for FigureVerdict {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

impl FigureVerdict {
    /// Returns the verdict by one reading.
    fn of(row: &Row) -> FigureVerdict {
        match (row.is_met(), row.of) {
            (true, _) => FigureVerdict::Reproduced,
            (false, of) if of > 0 && 4 * row.median() >= 3 * of => FigureVerdict::Qualitatively,
            _ => FigureVerdict::Not,
        }
    }
}

/// The number of checks that are met, and the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The number of checks that are met.
    pub met: usize,
    /// The number of checks.
    pub of: usize,
}

impl Share {
    fn of(classes: impl Iterator<Item = Class>) -> Share {
        let classes: Vec<Class> = classes.collect();
        let met = classes.iter().filter(|class| **class == Class::Met);
        Share { met: met.count(), of: classes.len() }
    }

    fn text(self) -> String {
        match self.of {
            0 => String::new(),
            of => format!("{} of {of}", self.met),
        }
    }
}

/// The verdict on a figure by one scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// The verdict.
    pub verdict: FigureVerdict,
    /// The checks that are met with the median seed under the best setting.
    #[serde(flatten)]
    pub checks: Share,
    /// The difference of that setting from the scenario files, or "".
    pub setting: String,
    /// The number of seeds with which all checks are met under that setting.
    pub seeds_met: usize,
    /// The number of seeds.
    pub seeds: usize,
    /// The number of readings under which all checks are met with at least four seeds.
    pub readings_met: usize,
    /// The number of readings that were run.
    pub readings: usize,
}

impl Score {
    /// Returns the verdict by `scheme`, under the chosen switches of its law and the best setting.
    fn of(papers: &Papers, figure: &PaperFigure, readings: &Readings, scheme: &str) -> Score {
        let rows = readings.of(figure).map_or(&[][..], |recorded: &FigureReadings| &recorded.rows);
        let own = || rows.iter().filter(|row| row.reading.scheme == scheme);
        let switches = match scheme {
            OUR_LAW => vec![],
            _ => papers.chosen_switches(figure, readings),
        };
        let chosen = own().filter(|row| row.reading.switches == switches);
        // Of equal readings, the first is chosen.
        let best = chosen.reduce(|a, b| if goodness(b) > goodness(a) { b } else { a });
        let Some(best) = best else { return Score::default() };
        Score {
            verdict: FigureVerdict::of(best),
            checks: Share { met: best.median(), of: best.of },
            setting: papers.setting_in_words(figure, &best.reading),
            seeds_met: best.whole(),
            seeds: SEEDS.len(),
            readings_met: own().filter(|row| row.is_met()).count(),
            readings: own().count(),
        }
    }

    fn text(&self) -> String {
        let checks = match self.verdict {
            FigureVerdict::Reproduced => String::new(),
            _ => format!(", {}", self.checks.text()),
        };
        let setting = match &self.setting[..] {
            "" => String::new(),
            setting => format!(" with {setting}"),
        };
        let Score { seeds_met, seeds, readings_met, readings, .. } = self;
        let (verdict, readings) = (self.verdict.word(), show::count(*readings, "reading"));
        format!(
            "{verdict}{checks}{setting}; {readings_met} of {readings}, {seeds_met} of {seeds} seeds"
        )
    }
}

/// Returns the key that orders readings: the number of seeds with which all checks are met, and the fraction
/// of the checks met with the median seed.
fn goodness(row: &Row) -> (usize, usize) {
    (row.whole(), (1_000_000 * row.median()).checked_div(row.of).unwrap_or(0))
}

/// The verdicts on a figure or table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FigureRecord {
    /// The key of the paper.
    pub paper: String,
    /// The name in the paper.
    pub figure: String,
    /// The subject, in a few words.
    pub title: String,
    /// The verdict by the paper's scheme.
    pub by_papers_scheme: Score,
    /// The verdict by our law, or the same one if there is no law of ours.
    pub by_our_law: Score,
    /// The metrics of the checks that fail with unchanged scenario files, with their number, the most
    /// frequent first: "throughput 3, losses 1".
    pub fails: String,
}

/// A finding on a paper: a check that fails under each reading and seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingRecord {
    /// The key of the paper.
    pub paper: String,
    /// The name of the figure.
    pub figure: String,
    /// The experiment.
    pub experiment: String,
    /// The settings of the point, or "".
    pub point: String,
    /// The name of the check.
    pub check: String,
    /// The row of the record of readings: "scenarios/readings.txt:12".
    pub row: String,
}

/// Checks against a paper that do not count for a figure: at another setting, or of a claim in the
/// text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RivalRecord {
    /// The experiment.
    pub experiment: String,
    /// The setting, or "" for the whole experiment.
    pub setting: String,
    /// The checks by the paper's scheme.
    pub by_papers_scheme: Share,
    /// The checks by our law, or the same ones if there is no law of ours.
    pub by_our_law: Share,
}

/// The checks of packets of an experiment without checks against a paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnRecord {
    /// The experiment.
    pub experiment: String,
    /// The checks.
    #[serde(flatten)]
    pub checks: Share,
}

/// The number of figures and tables by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FigureCounts {
    /// The figures that are reproduced.
    pub reproduced: usize,
    /// The figures that are reproduced qualitatively.
    pub qualitatively: usize,
    /// The others.
    pub not: usize,
}

impl FigureCounts {
    fn of(verdicts: impl Iterator<Item = FigureVerdict> + Clone) -> FigureCounts {
        let count = |verdict| verdicts.clone().filter(|v| *v == verdict).count();
        FigureCounts {
            reproduced: count(FigureVerdict::Reproduced),
            qualitatively: count(FigureVerdict::Qualitatively),
            not: count(FigureVerdict::Not),
        }
    }
}

/// The verdicts on all figures and tables, and the checks that count for none of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The version of the format.
    pub format_version: u32,
    /// The reading of each law of a paper.
    pub laws: Vec<LawChoice>,
    /// The figures and tables.
    pub figures: Vec<FigureRecord>,
    /// The findings on the papers.
    pub findings: Vec<FindingRecord>,
    /// The numbers of figures by verdict, by the papers' schemes.
    pub by_papers_schemes: FigureCounts,
    /// The numbers of figures by verdict, by our law.
    pub by_our_law: FigureCounts,
    /// The number of checks of all experiments that fail by a fault of Accord.
    pub ours_at_fault: usize,
    /// The number of those that are checks of a figure.
    pub ours_at_fault_in_figures: usize,
    /// Other settings, and claims of the text.
    pub rivals: Vec<RivalRecord>,
    /// Our own experiments.
    pub own: Vec<OwnRecord>,
    /// The counts of all checks, in a sentence.
    pub checks: String,
}

impl Papers {
    /// Draws the verdicts from the record of readings, and counts the checks of experiments.
    pub fn summary(&self, rows: &[ExperimentRow], readings: &Readings) -> Summary {
        let laws: BTreeSet<&str> = (self.figures.iter()).filter_map(|f| f.law.as_deref()).collect();
        // Checks of a scheme without a law of ours, such as Vegas, count for both.
        let shares = |checks: &[&Judged]| {
            let by_law = checks.iter().map(|c| (c.setting(LAW_AXIS), c.class));
            let ours = by_law.clone().filter(|(law, _)| law.is_none_or(|law| !laws.contains(law)));
            let papers = by_law.filter(|(law, _)| *law != Some(OUR_LAW));
            (Share::of(papers.map(|(_, class)| class)), Share::of(ours.map(|(_, class)| class)))
        };
        let shows = |figure: &PaperFigure, row: &ExperimentRow, check: &Judged| {
            figure.experiments.contains(&row.id) && figure.difference(check, &laws).is_none()
        };
        // Two papers may show the same figure.
        let in_figures = |row: &ExperimentRow, check: &Judged| {
            let mut figures = self.figures.iter();
            figures.any(|figure| shows(figure, row, check))
        };
        let checks = || {
            let of = |row| ExperimentRow::against_paper(row).map(move |check| (row, check));
            rows.iter().flat_map(of)
        };
        let figures = self.figures.iter().map(|figure| {
            let own = checks().filter(|(row, check)| shows(figure, row, check));
            let own: Vec<&Judged> = own.map(|(_, check)| check).collect();
            let scheme = figure.law.as_deref().unwrap_or_default();
            let by_papers_scheme = Score::of(self, figure, readings, scheme);
            FigureRecord {
                paper: figure.paper.clone(),
                figure: figure.name.clone(),
                title: figure.title.clone(),
                by_our_law: match figure.law {
                    Some(_) => Score::of(self, figure, readings, OUR_LAW),
                    None => by_papers_scheme.clone(),
                },
                by_papers_scheme,
                fails: failing_metrics(&own),
            }
        });
        let figures: Vec<FigureRecord> = figures.collect();
        let mut rivals = Vec::new();
        let mut own = Vec::new();
        for row in rows {
            let figure = (self.figures.iter()).find(|f| f.experiments.contains(&row.id));
            let mut settings: Vec<(String, Vec<&Judged>)> = Vec::new();
            for check in row.against_paper().filter(|c| !in_figures(row, c)) {
                let setting = figure.and_then(|f| f.difference(check, &laws)).unwrap_or_default();
                match settings.iter_mut().find(|(known, _)| *known == setting) {
                    Some((_, checks)) => checks.push(check),
                    None => settings.push((setting, vec![check])),
                }
            }
            rivals.extend(settings.into_iter().map(|(setting, checks)| {
                let (by_papers_scheme, by_our_law) = shares(&checks);
                RivalRecord { experiment: row.id.clone(), setting, by_papers_scheme, by_our_law }
            }));
            if row.against_paper().next().is_none() {
                let packets = row.checks().filter(|(kind, _)| *kind != Kind::Models);
                let checks = Share::of(packets.map(|(_, class)| class));
                own.push(OwnRecord { experiment: row.id.clone(), checks });
            }
        }
        let all = || rows.iter().flat_map(|row| &row.judged);
        let is_ours = |check: &&Judged| check.class == Class::Ours;
        let verdicts = |by: fn(&FigureRecord) -> &Score| {
            FigureCounts::of(figures.iter().map(|f| by(f).verdict))
        };
        Summary {
            format_version: FORMAT_VERSION,
            laws: self.choices(readings),
            findings: self.findings(rows, readings),
            by_papers_schemes: verdicts(|f| &f.by_papers_scheme),
            by_our_law: verdicts(|f| &f.by_our_law),
            ours_at_fault: all().filter(is_ours).count(),
            ours_at_fault_in_figures: (checks())
                .filter(|(row, check)| is_ours(check) && in_figures(row, check))
                .count(),
            rivals,
            own,
            checks: totals(all().map(|c| (c.kind, c.class))),
            figures,
        }
    }

    /// Returns the checks of experiments that are findings, with their row in the record.
    fn findings(&self, rows: &[ExperimentRow], readings: &Readings) -> Vec<FindingRecord> {
        let findings = rows.iter().flat_map(|row| {
            let checks = row.judged.iter().filter(|check| check.class == Class::Finding);
            checks.map(move |check| (row, check))
        });
        let record = |(row, check): (&ExperimentRow, &Judged)| {
            let found = self.never(readings, &row.id, check).ok()?;
            let (figure, never) = found.first()?;
            Some(FindingRecord {
                paper: figure.paper.clone(),
                figure: figure.name.clone(),
                experiment: row.id.clone(),
                point: crate::axis::label(&check.point),
                check: check.name.clone(),
                row: format!("{RECORD}:{}", never.line),
            })
        };
        findings.filter_map(record).collect()
    }

    /// Returns the findings of experiments that the record does not confirm, with the reason, one
    /// line each.
    pub fn unproven(&self, rows: &[ExperimentRow], readings: &Readings) -> Vec<String> {
        let mut unproven = Vec::new();
        for row in rows {
            for check in row.judged.iter().filter(|check| check.class == Class::Finding) {
                if let Err(why) = self.never(readings, &row.id, check) {
                    let (id, point) = (&row.id, crate::axis::label(&check.point));
                    unproven.push(format!("{id} [{point}], {}: {why}", check.name));
                }
            }
        }
        unproven
    }

    /// Counts the checks of a figure by a scheme, with the scenario files unchanged.
    pub fn as_shipped(&self, figure: &PaperFigure, rows: &[ExperimentRow], scheme: &str) -> Share {
        let laws: BTreeSet<&str> = self.figures.iter().filter_map(|f| f.law.as_deref()).collect();
        let rows = rows.iter().filter(|row| figure.experiments.contains(&row.id));
        let checks = rows.flat_map(ExperimentRow::against_paper);
        let checks = checks.filter(|check| {
            let law = check.setting(LAW_AXIS).filter(|law| *law == OUR_LAW || laws.contains(law));
            law.is_none_or(|law| law == scheme) && figure.difference(check, &laws).is_none()
        });
        Share::of(checks.map(|check| check.class))
    }

    /// Returns the figures and tables that experiments show.
    pub fn shown_by(&self, ids: &[String]) -> Vec<&PaperFigure> {
        let shown = |figure: &&PaperFigure| figure.experiments.iter().any(|id| ids.contains(id));
        self.figures.iter().filter(shown).collect()
    }
}

/// Returns the metrics of the checks that fail, with their number.
fn failing_metrics(checks: &[&Judged]) -> String {
    let failing = checks.iter().filter(|c| c.class != Class::Met);
    let metrics: Vec<&str> = failing.map(|c| c.metric.name()).collect();
    let count = |metric: &&str| metrics.iter().filter(|m| *m == metric).count();
    let mut once = show::once(metrics.iter().copied());
    once.sort_by_key(|metric| std::cmp::Reverse(count(metric)));
    let texts = once.iter().map(|m| format!("{} {}", m.replace('_', " "), count(m)));
    texts.collect::<Vec<_>>().join(", ")
}

impl Summary {
    /// Returns the counts in two sentences: of figures and tables, and of checks.
    pub fn counts(&self) -> [String; 2] {
        let (paper, ours) = (self.by_papers_schemes, self.by_our_law);
        let figures = format!(
            "By the papers' schemes {} of {} figures and tables are reproduced, {} come out \
             qualitatively and {} do not; by our law {}, {} and {}.",
            paper.reproduced,
            self.figures.len(),
            paper.qualitatively,
            paper.not,
            ours.reproduced,
            ours.qualitatively,
            ours.not,
        );
        [figures, self.checks.clone()]
    }

    /// Returns the verdicts on figures, and the readings of the laws.
    pub fn verdicts(&self, style: Style) -> String {
        let header = [
            "paper",
            "figure",
            "title",
            "by the paper's scheme",
            "by our law",
            "what fails as shipped",
        ];
        let figures = self.figures.iter().map(|f| {
            let texts = [&f.paper, &f.figure, &f.title].map(String::clone);
            let scores = [&f.by_papers_scheme, &f.by_our_law].map(Score::text);
            [&texts[..], &scores, std::slice::from_ref(&f.fails)].concat()
        });
        let mut text = table(&header, figures, 0..0, style);
        if !self.laws.is_empty() {
            let why: Vec<&str> = self.laws.iter().map(|law| law.why.as_str()).collect();
            text += &format!("Readings of the laws:\n{}\n\n", why.join("\n"));
        }
        text.trim_end().to_string()
    }

    /// Returns the tables and the counts, for people.
    pub fn text(&self, style: Style) -> String {
        let mut text = self.verdicts(style) + "\n\n";
        if !self.findings.is_empty() {
            let header = ["finding on", "figure", "experiment", "point", "check", "row"];
            let findings = self.findings.iter().map(|f| {
                let texts = [&f.paper, &f.figure, &f.experiment, &f.point, &f.check, &f.row];
                texts.map(String::clone).to_vec()
            });
            text += &table(&header, findings, 0..0, style);
        }
        if !self.rivals.is_empty() {
            let header =
                ["other settings and claims", "setting", "by the paper's scheme", "by our law"];
            let rivals = self.rivals.iter().map(|r| {
                let shares = [r.by_papers_scheme, r.by_our_law].map(Share::text);
                [&[r.experiment.clone(), r.setting.clone()][..], &shares].concat()
            });
            text += &table(&header, rivals, 2..4, style);
        }
        if !self.own.is_empty() {
            let own = self.own.iter();
            let own = own.map(|o| vec![o.experiment.clone(), o.checks.text()]);
            text += &table(&["our own experiments", "met"], own, 1..2, style);
        }
        text + &self.counts().join("\n")
    }
}

fn table(
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    right: std::ops::Range<usize>,
    style: Style,
) -> String {
    let header: Vec<String> = header.iter().map(|text| text.to_string()).collect();
    let mut table = new_table(style);
    fill(&mut table, std::iter::once(header).chain(rows).collect());
    align_right(&mut table, right);
    finish(table) + "\n\n"
}
