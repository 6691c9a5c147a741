//! Results for programs.

use crate::check::Check;
use crate::class::Class;
use crate::compare::{Column, Row, Subject};
use crate::compare::{Outline, all_rows, columns};
use crate::estimate::Estimate;
use crate::verdict::Tally;
use accord_record::Run;
use accord_scenario::{Engine, Scenario};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// The version of what `--json` prints. It is raised when a program that reads the last version
/// would misread it. New keys do not raise it.
pub const FORMAT_VERSION: u32 = 1;

/// The settings of a point of a sweep, by name.
pub type SettingsRecord = Map<String, Value>;

/// Returns settings as an object of texts.
pub fn settings_record(settings: &[(String, String)]) -> SettingsRecord {
    let pairs = settings.iter().cloned();
    pairs.map(|(name, value)| (name, Value::String(value))).collect()
}

/// One point of a scenario file with its results. A scenario without a sweep has one point.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The runs: one per engine, or several with different seeds.
    pub runs: &'a [Run],
    /// The checks.
    pub checks: &'a [Check],
}

impl<'a> Point<'a> {
    /// Returns the values that distinguish the point from the others of its sweep: "reverse = 5
    /// Mbps".
    pub fn label(&self) -> String {
        crate::axis::label(&self.scenario.point)
    }

    pub(crate) fn runs(&self) -> Vec<&'a Run> {
        self.runs.iter().collect()
    }
}

/// The result of one experiment, over all points of its sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// The version of the format.
    pub format_version: u32,
    /// The scenario's id.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// True if every expectation is met.
    pub pass: bool,
    /// The worst class of its checks.
    pub class: Class,
    /// The directory with the results, if they are written.
    pub directory: Option<String>,
    /// The points of the sweep; one without a sweep.
    pub points: Vec<PointRecord>,
    /// The records of all expectations, point by point.
    pub checks: Vec<CheckRecord>,
}

/// A point of a sweep with its means.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointRecord {
    /// The number of the point, from 1.
    pub point: usize,
    /// The settings in one line, or "".
    pub label: String,
    /// The settings by name.
    pub settings: SettingsRecord,
    /// The directory of the point, if it is written.
    pub directory: Option<String>,
    /// The file with all series, if it is written.
    pub series: Option<String>,
    /// The start and the end of the steady part, over which means are, in seconds.
    pub steady_s: (f64, f64),
    /// The runs.
    pub runs: Vec<RunOf>,
    /// The means over the steady part, as the tables of sweeps have them.
    pub means: Vec<RowRecord>,
}

/// The attributes that distinguish a run from others of its point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunOf {
    /// The engine.
    pub engine: &'static str,
    /// The seed.
    pub seed: u64,
    /// The hash of the resolved scenario, in hexadecimal.
    pub scenario_hash: String,
    /// The digest of all that happened, in hexadecimal.
    pub digest: String,
    /// The plan of the packet engine: "windows", or "events: " and the reason for events; null of other engines.
    pub plan: Option<String>,
    /// The reason why no verdict may be drawn from it, or null.
    pub unfit: Option<String>,
    /// The time that was skipped, in seconds.
    pub skipped_s: f64,
}

impl PointRecord {
    fn of(number: usize, point: &Point) -> PointRecord {
        let outline = Outline::of(point.scenario);
        let runs = point.runs();
        let columns = columns(&outline, &runs);
        PointRecord {
            point: number,
            label: point.label(),
            settings: settings_record(&point.scenario.point),
            directory: None,
            series: None,
            steady_s: outline.steady_s,
            runs: (point.runs.iter())
                .map(|run| RunOf {
                    engine: run.manifest.engine.name(),
                    seed: run.manifest.seed,
                    scenario_hash: run.manifest.scenario_hash.clone(),
                    digest: run.manifest.digest.clone(),
                    plan: run.manifest.plan.clone(),
                    unfit: run.unfit.clone(),
                    skipped_s: run.skipped().as_secs_f64(),
                })
                .collect(),
            means: RowRecord::of(&columns, &all_rows(point.scenario, &columns)),
        }
    }
}

/// Several experiments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiments {
    /// The version of the format.
    pub format_version: u32,
    /// The experiments, in the order in which they were asked for.
    pub experiments: Vec<Experiment>,
}

impl Experiments {
    /// Returns the record of `experiments`.
    pub fn of(experiments: Vec<Experiment>) -> Experiments {
        Experiments { format_version: FORMAT_VERSION, experiments }
    }
}

impl Experiment {
    /// Returns the result of the experiment `id`. In a sweep, the names of checks are followed by
    /// their point in brackets.
    pub fn of(id: &str, points: &[Point]) -> Experiment {
        let records = |point: &Point| -> Vec<CheckRecord> {
            let label = point.label();
            let mut records: Vec<_> = point.checks.iter().map(CheckRecord::of).collect();
            let number = points.iter().position(|p| std::ptr::eq(p, point)).map_or(1, |i| i + 1);
            records.iter_mut().for_each(|r| r.point = number);
            for record in records.iter_mut().filter(|_| points.len() > 1) {
                record.name = format!("{} [{label}]", record.name);
            }
            records
        };
        let checks: Vec<_> = points.iter().flat_map(records).collect();
        Experiment {
            format_version: FORMAT_VERSION,
            id: id.into(),
            title: points.first().map_or(String::new(), |p| p.scenario.title.clone()),
            directory: None,
            points: (points.par_iter().enumerate())
                .map(|(i, point)| PointRecord::of(i + 1, point))
                .collect(),
            pass: checks.iter().all(|c| c.pass),
            class: Tally::of(checks.iter().map(|c| c.class)).worst(),
            checks,
        }
    }
}

impl Experiment {
    /// Says where the results are: what [`write_run_dir`](crate::write_run_dir) or
    /// [`write_sweep_dir`](crate::write_sweep_dir) wrote into `dir`.
    pub fn written(mut self, dir: &Path) -> Experiment {
        let several = self.points.len() > 1;
        for point in &mut self.points {
            let own = if several { dir.join(format!("{:03}", point.point)) } else { dir.into() };
            point.series = Some(own.join("series.parquet").display().to_string());
            point.directory = Some(own.display().to_string());
        }
        self.directory = Some(dir.display().to_string());
        self
    }
}

/// A [`Check`] as plain numbers, in the unit that it names. Missing numbers are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckRecord {
    /// The expectation's name.
    pub name: String,
    /// The number of the point of the sweep, from 1.
    pub point: usize,
    /// The engine that is judged.
    pub engine: &'static str,
    /// The paper's claim, as text, or "".
    pub paper: String,
    /// The figure of theory.
    pub theory: Option<f64>,
    /// The measured figure: the mean over repetitions.
    pub measured: Option<f64>,
    /// The half-width of the 95 % confidence interval of `measured`, for repetitions.
    pub half_width: Option<f64>,
    /// The difference from the target, relative to the target.
    pub error: Option<f64>,
    /// The relative error that is allowed. It is null for a range.
    pub tolerance: Option<f64>,
    /// The target, as text: "3 Mbps ± 5 %".
    pub allowed: String,
    /// True if the expectation is met.
    pub pass: bool,
    /// The reason of the verdict, in words.
    pub reason: String,
    /// The class of the verdict.
    pub class: Class,
    /// The author of the claim: "paper", "theory" or "ours".
    pub claim: &'static str,
    /// The cause of a known failure: "paper", "setting" or "ours".
    pub why: Option<&'static str>,
    /// The cause of a known failure in words.
    pub because: Option<String>,
    /// The recorded figure of a known failure.
    pub recorded: Option<f64>,
    /// The quantity.
    pub metric: &'static str,
    /// The flow, group or link.
    pub of: String,
    /// The unit of `theory`, `measured` and `half_width`.
    pub unit: &'static str,
    /// The start and the end of the part of the run that counts, in seconds.
    pub during_s: (f64, f64),
}

impl CheckRecord {
    /// Returns the record of `check`.
    pub fn of(check: &Check) -> CheckRecord {
        let measured = check.measured();
        CheckRecord {
            name: check.name.clone(),
            point: 1,
            engine: check.engine.name(),
            paper: check.paper.clone(),
            theory: check.value(Engine::Theory).map(|v| v.mean),
            measured: measured.map(|v| v.mean),
            half_width: measured.and_then(|v| v.half_width),
            error: check.error,
            tolerance: check.tolerance(),
            allowed: crate::show::allowed(check.target, check.unit),
            pass: check.pass,
            reason: check.reason.clone(),
            class: check.class,
            claim: check.claim.name(),
            why: check.known.as_ref().map(|k| k.why.name()),
            because: check.known.as_ref().map(|k| k.because.clone()),
            recorded: check.known.as_ref().and_then(|k| Some(k.record?.value)),
            metric: check.metric.name(),
            of: check.of.clone(),
            unit: check.unit.symbol(),
            during_s: (check.during.start.as_secs_f64(), check.during.end.as_secs_f64()),
        }
    }
}

/// The record of a [`Row`], with the labels of its columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowRecord {
    /// The group or link.
    #[serde(flatten)]
    pub of: Subject,
    /// The quantity.
    pub quantity: &'static str,
    /// The unit of the values.
    pub unit: &'static str,
    /// The value of each column.
    pub values: Vec<ValueRecord>,
    /// The largest relative difference from the first column.
    pub error: Option<f64>,
}

/// One column's value in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueRecord {
    /// The engine, or the run directory.
    pub column: String,
    /// The value. It is null if there is none.
    #[serde(flatten)]
    pub estimate: Option<Estimate>,
}

impl RowRecord {
    /// Returns the records of `rows`, made from `columns`.
    pub fn of(columns: &[Column], rows: &[Row]) -> Vec<RowRecord> {
        let value = |(column, estimate): (&Column, &Option<Estimate>)| ValueRecord {
            column: column.label.clone(),
            estimate: *estimate,
        };
        rows.iter()
            .map(|row| RowRecord {
                of: row.of.clone(),
                quantity: row.quantity,
                unit: row.unit.symbol(),
                values: columns.iter().zip(&row.values).map(value).collect(),
                error: row.error(),
            })
            .collect()
    }
}
