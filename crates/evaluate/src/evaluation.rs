//! The results of an evaluation: values by measure, subject and seed, and their comparisons.

use crate::pack::{Better, Figure, Measure, Pack};
use crate::plan::{Order, Plan, Planned};
use crate::rule::{Limit, Requirement};
use crate::statistics::{difference, holm};
use crate::trial::Measured;
use accord::report::{Estimate, show};
use accord::scenario::MetricUnit;

/// The significance level of a family of tests as a whole.
pub const LEVEL: f64 = 0.05;

/// The results of a pack.
#[derive(Clone, Debug)]
pub struct PackResult {
    /// The pack.
    pub pack: Pack,
    /// The cases that were run.
    pub cases: Vec<CaseResult>,
}

/// The results of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The case as it was planned.
    pub planned: Planned,
    /// The results by point and then measure.
    pub rows: Vec<Row>,
    /// Runs that failed.
    pub failures: Vec<RunFailure>,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFailure {
    /// The index of the subject.
    pub subject: usize,
    /// The point of the sweep, or "".
    pub point: String,
    /// The seed.
    pub seed: u64,
    /// The event and its time.
    pub why: String,
    /// True if this machine did not keep up: that is not a fault of the subject.
    pub unfit: bool,
}

/// A measure at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The point of the sweep, or "".
    pub point: String,
    /// The index of the measure in the pack.
    pub measure: usize,
    /// The unit.
    pub unit: MetricUnit,
    /// True if it is one measure over another.
    pub quotient: bool,
    /// By subject: seed and value, of runs that have one.
    pub values: Vec<Vec<(u64, f64)>>,
    /// By subject: the number of runs without a value, though this machine kept up with them.
    pub without: Vec<usize>,
    /// The runs of the subject that this machine did not keep up with.
    pub unfit: usize,
    /// The quantity that the engine does not record, in words, if there is one.
    pub unrecorded: Option<String>,
}

/// An evaluation.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The order.
    pub order: Order,
    /// The packs.
    pub packs: Vec<PackResult>,
    /// The rules, by measure, case and point.
    pub requirements: Vec<Requirement>,
    /// The limits of counts.
    pub limits: Vec<Limit>,
}

impl Row {
    /// Returns the values of a subject.
    pub fn of(&self, subject: usize) -> Vec<f64> {
        self.values[subject].iter().map(|(_, v)| *v).collect()
    }

    /// Returns the values of a subject, and the number of its runs without one.
    pub fn sample(&self, subject: usize) -> Sample {
        Sample { values: self.of(subject), without: self.without[subject] }
    }

    /// Returns the number of runs of the subject.
    pub fn runs(&self) -> usize {
        self.values[0].len() + self.without[0] + self.unfit
    }

    /// Returns why runs of the subject have no value, or `None` if all have one.
    pub fn lacks(&self) -> Option<String> {
        let (runs, without) = (self.runs(), self.without[0]);
        match (&self.unrecorded, without, self.unfit) {
            (Some(why), ..) if self.values[0].is_empty() => Some(why.clone()),
            (_, 0, 0) => None,
            (_, 0, unfit) if unfit == runs => {
                Some("this machine did not keep up with any run".into())
            }
            (_, 0, unfit) => {
                Some(format!("this machine did not keep up with {unfit} of {runs} runs"))
            }
            (_, _, unfit) => Some(format!("no value in {without} of {} runs", runs - unfit)),
        }
    }

    /// Returns the mean of a subject with its confidence interval.
    pub fn estimate(&self, subject: usize) -> Option<Estimate> {
        Estimate::of(&self.of(subject))
    }

    /// Returns the mean of a subject on its scale, with its confidence interval.
    pub fn placed(&self, subject: usize) -> Option<Estimate> {
        let scale = self.scale(subject);
        let places: Vec<f64> = self.of(subject).into_iter().map(|v| scale.place(v)).collect();
        Estimate::of(&places)
    }

    /// Returns the mean of a subject with its interval in words: "2.1 ± 0.3 Mbps", "3.1 (2 to 4.8)".
    pub fn shown(&self, subject: usize) -> String {
        match (self.scale(subject), self.placed(subject)) {
            (_, None) => "no value".into(),
            (Scale::Logarithmic, Some(Estimate { mean, half_width: Some(half), .. })) => {
                let show = |place: f64| show::quantity(place.exp(), self.unit);
                format!("{} ({} to {})", show(mean), show(mean - half), show(mean + half))
            }
            _ => self.estimate(subject).map_or_else(String::new, |e| show::estimate(e, self.unit)),
        }
    }

    /// Returns the scale on which its seeds scatter evenly: a quotient is as likely twice its middle
    /// as half of it, so its logarithm does.
    pub fn scale(&self, subject: usize) -> Scale {
        let positive = self.values[subject].iter().all(|(_, v)| *v > 0.0);
        if self.quotient && positive { Scale::Logarithmic } else { Scale::Linear }
    }
}

/// The scale of an interval of confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The interval is of the mean.
    Linear,
    /// The interval is of the geometric mean.
    Logarithmic,
}

impl Scale {
    /// Returns the place of a value on the scale.
    pub fn place(self, value: f64) -> f64 {
        if self == Scale::Linear { value } else { value.ln() }
    }

    /// Returns the value at a place.
    pub fn value(self, place: f64) -> f64 {
        if self == Scale::Linear { place } else { place.exp() }
    }
}

impl PackResult {
    /// Gathers the measurements, which are in the order of the plan's runs.
    pub fn of(plan: Plan, subjects: usize, measured: &[Measured]) -> PackResult {
        let cases = (plan.cases.iter().enumerate())
            .map(|(i, planned)| case_result(&plan, i, planned, subjects, measured))
            .collect();
        PackResult { pack: plan.pack, cases }
    }

    /// Returns the definition of a row's measure.
    pub fn measure(&self, row: &Row) -> &Measure {
        &self.pack.measures[row.measure]
    }
}

fn case_result(
    plan: &Plan,
    index: usize,
    planned: &Planned,
    subjects: usize,
    measured: &[Measured],
) -> CaseResult {
    let (_, case) = planned.within(&plan.pack);
    let mut rows = Vec::new();
    for point in &planned.points {
        let all = case.measures.iter().zip(&planned.units).zip(&planned.unrecorded);
        for ((&measure, &unit), unrecorded) in all {
            rows.push(Row {
                point: point.clone(),
                measure,
                unit,
                quotient: matches!(plan.pack.measures[measure].figure, Figure::Ratio(..)),
                values: vec![Vec::new(); subjects],
                without: vec![0; subjects],
                unfit: 0,
                unrecorded: unrecorded.clone(),
            });
        }
    }
    let mut failures = Vec::new();
    let runs = plan.trials.iter().zip(measured);
    for (trial, measured) in runs.filter(|(trial, _)| trial.case == index) {
        let seed = trial.scenario.seed;
        if !measured.failure.is_empty() {
            failures.push(RunFailure {
                subject: trial.subject,
                point: planned.points[trial.point].clone(),
                seed,
                why: measured.failure.clone(),
                unfit: measured.unfit,
            });
        }
        let first = trial.point * case.measures.len();
        for (row, value) in rows[first..].iter_mut().zip(&measured.values) {
            row.values[trial.subject].extend(value.map(|v| (seed, v)));
            row.without[trial.subject] += usize::from(value.is_none() && !measured.unfit);
            row.unfit += usize::from(measured.unfit && trial.subject == 0);
        }
    }
    CaseResult { planned: planned.clone(), rows, failures }
}

/// The result of a comparison of two samples of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Significantly better, by more than the least relevant change.
    Better,
    /// Significantly worse, by more than the least relevant change.
    Worse,
    /// Significantly different, of a measure without a direction.
    Moved,
    /// No difference that matters: the 95 % confidence interval has none.
    Same,
    /// The values vary too much from seed to seed for either.
    Unclear,
    /// One of the two has no value.
    Missing,
}

impl Finding {
    /// Returns the finding in a word.
    pub const fn word(self) -> &'static str {
        match self {
            Finding::Better => "better",
            Finding::Worse => "worse",
            Finding::Moved => "different",
            Finding::Same => "alike",
            Finding::Unclear => "unclear",
            Finding::Missing => "not compared",
        }
    }

    /// Returns whether there is a significant difference.
    pub const fn differs(self) -> bool {
        matches!(self, Finding::Better | Finding::Worse | Finding::Moved)
    }
}

/// The values of a measure over seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The values of the runs that have one.
    pub values: Vec<f64>,
    /// The number of runs without a value.
    pub without: usize,
}

impl From<Vec<f64>> for Sample {
    /// Returns the sample of runs that all have a value.
    fn from(values: Vec<f64>) -> Sample {
        Sample { values, without: 0 }
    }
}

/// A measure of two subjects, or of one at two times.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The subject of the comparison.
    pub key: Key,
    /// The unit.
    pub unit: MetricUnit,
    /// The first, by which changes are judged.
    pub before: Option<Estimate>,
    /// The second.
    pub after: Option<Estimate>,
    /// The number of runs without a value, of the first and of the second.
    pub without: [usize; 2],
    /// The difference, with the half-width of its 95 % confidence interval if it has one.
    pub change: Option<(f64, Option<f64>)>,
    /// The probability after the correction for all tests of the family.
    pub p: Option<f64>,
    /// The result.
    pub finding: Finding,
    /// For [`Finding::Unclear`]: how many seeds would decide, or `None` if more than
    /// [`MOST_SEEDS`](crate::MOST_SEEDS), or if there is only one now.
    pub seeds: Option<u64>,
}

impl Compared {
    /// Returns whether the second has lost values that the first has: one run lacks a value where none
    /// did, or the share of runs with a value is less than half of the first's.
    pub fn has_lost(&self) -> bool {
        let [before, after] = [self.before, self.after].map(|e| e.map_or(0, |e| e.runs));
        let [none_before, none_after] = self.without;
        let runs = [before + none_before, after + none_after];
        let halved = 2 * after * runs[0] < before * runs[1];
        before > 0 && none_after > 0 && (none_before == 0 || halved)
    }
}

/// The name of a measure of a case at a point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The pack.
    pub pack: String,
    /// The case.
    pub case: String,
    /// The point, or "".
    pub point: String,
    /// The measure.
    pub measure: String,
}

/// Two samples of a measure.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The subject of the comparison.
    pub key: Key,
    /// The unit.
    pub unit: MetricUnit,
    /// The direction.
    pub better: Better,
    /// The least relative change that matters.
    pub relevant: f64,
    /// The first sample, by which changes are judged.
    pub before: Sample,
    /// The second sample.
    pub after: Sample,
}

/// Returns the least absolute change of a unit that matters, whatever it is relative to: a change
/// from nothing to next to nothing is none.
pub fn least(unit: MetricUnit) -> f64 {
    match unit {
        MetricUnit::BitPerSecond => 10e3,
        MetricUnit::Bytes => 1500.0,
        MetricUnit::Seconds => 0.5e-3,
        MetricUnit::Packets => 1.0,
        MetricUnit::Ratio => 0.005,
    }
}

/// Compares pairs of samples, as one family of tests: by Welch's test at [`LEVEL`] with Holm's
/// correction. For a measure that should be near 100 %, the distances from it are tested. Samples
/// that do not vary are compared as they are, and single runs are always unclear. A change counts if
/// it is larger than `relevant` of the first mean, and than [`least`].
pub fn compare(pairs: &[Pair]) -> Vec<Compared> {
    let judged = |p: &Pair| {
        difference(&p.better.judged(&p.before.values), &p.better.judged(&p.after.values))
    };
    let found: Vec<_> = pairs.iter().map(judged).collect();
    let p: Vec<_> = found.iter().map(|d| d.and_then(|d| d.p)).collect();
    let adjusted = holm(&p);
    let tests = p.iter().flatten().count();
    (pairs.iter().zip(found).zip(adjusted))
        .map(|((pair, difference), p)| {
            let [before, after] = [&pair.before, &pair.after].map(|s| Estimate::of(&s.values));
            let mut seeds = None;
            let finding = match (difference, before) {
                (Some(difference), Some(before)) => {
                    let matters = (pair.relevant * before.mean.abs()).max(least(pair.unit));
                    // Samples that do not vary are different if their means are. A single run has
                    // no estimate of its variance.
                    let certain = difference.half_width == Some(0.0);
                    let told_apart = p.map_or(certain, |p| p < LEVEL);
                    if difference.mean.abs() > matters && told_apart {
                        direction(pair.better, difference.mean)
                    } else if difference
                        .half_width
                        .is_some_and(|half| difference.mean.abs() + half <= matters)
                    {
                        Finding::Same
                    } else {
                        let runs = pair.before.values.len().min(pair.after.values.len());
                        seeds = difference.seeds(difference.mean.abs().max(matters), tests, runs);
                        Finding::Unclear
                    }
                }
                _ => Finding::Missing,
            };
            Compared {
                key: pair.key.clone(),
                unit: pair.unit,
                before,
                after,
                without: [pair.before.without, pair.after.without],
                // The movement of the values themselves.
                change: match pair.better {
                    Better::Even => self::difference(&pair.before.values, &pair.after.values),
                    _ => difference,
                }
                .map(|d| (d.mean, d.half_width)),
                p,
                finding,
                seeds,
            }
        })
        .collect()
}

fn direction(better: Better, change: f64) -> Finding {
    match (better, change > 0.0) {
        (Better::None, _) => Finding::Moved,
        (Better::More, true) | (Better::Less | Better::Even, false) => Finding::Better,
        (Better::More, false) | (Better::Less | Better::Even, true) => Finding::Worse,
    }
}

impl Evaluation {
    /// Returns the comparison of the subject with one of its rivals, over all packs, as one family
    /// of tests: "better" is better of the subject.
    pub fn against(&self, rival: usize) -> Vec<Compared> {
        compare(&self.pairs(|row| (row.sample(rival), row.sample(0))))
    }

    /// Returns pairs of samples for every measure.
    pub fn pairs(&self, samples: impl Fn(&Row) -> (Sample, Sample)) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (result, case, row) in self.rows() {
            let (before, after) = samples(row);
            let measure = result.measure(row);
            pairs.push(Pair {
                key: result.key(case, row),
                unit: row.unit,
                better: measure.better,
                relevant: measure.relevant,
                before,
                after,
            });
        }
        pairs
    }

    /// Returns all rows, with where they are.
    pub fn rows(&self) -> impl Iterator<Item = (&PackResult, &CaseResult, &Row)> {
        self.packs.iter().flat_map(|result| {
            let cases = result.cases.iter();
            cases.flat_map(move |case| case.rows.iter().map(move |row| (result, case, row)))
        })
    }

    /// Returns the runs of the subject that failed, with their place and failure, but for those that this
    /// machine did not keep up with.
    pub fn failures(&self) -> Vec<(Key, &RunFailure)> {
        let mut found = Vec::new();
        for result in &self.packs {
            for case in &result.cases {
                let own = case.failures.iter().filter(|f| f.subject == 0 && !f.unfit);
                found.extend(own.map(|f| (result.key_at(case, &f.point, ""), f)));
            }
        }
        found
    }
}

impl PackResult {
    /// Returns the name of a row.
    pub fn key(&self, case: &CaseResult, row: &Row) -> Key {
        self.key_at(case, &row.point, &self.measure(row).name)
    }

    fn key_at(&self, case: &CaseResult, point: &str, measure: &str) -> Key {
        Key {
            pack: self.pack.name.clone(),
            case: case.planned.within(&self.pack).1.name.clone(),
            point: point.into(),
            measure: measure.into(),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.pack, self.case)?;
        if !self.point.is_empty() {
            write!(f, " ({})", self.point)?;
        }
        match self.measure.as_str() {
            "" => Ok(()),
            measure => write!(f, ", {measure}"),
        }
    }
}
