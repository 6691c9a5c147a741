//! Results for programs.

use crate::check::Check;
use crate::class::Class;
use crate::compare::{Column, Row, Subject};
use crate::estimate::Estimate;
use crate::verdict::Tally;
use accord_record::Run;
use accord_scenario::{Engine, Scenario};
use serde::Serialize;

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
    /// The scenario's id.
    pub id: String,
    /// True if every expectation is met.
    pub pass: bool,
    /// The worst class of its checks.
    pub class: Class,
    /// The records of all expectations, point by point.
    pub checks: Vec<CheckRecord>,
}

impl Experiment {
    /// Returns the result of the experiment `id`. In a sweep, the names of checks are followed by
    /// their point in brackets.
    pub fn of(id: &str, points: &[Point]) -> Experiment {
        let records = |point: &Point| -> Vec<CheckRecord> {
            let label = point.label();
            let mut records: Vec<_> = point.checks.iter().map(CheckRecord::of).collect();
            for record in records.iter_mut().filter(|_| points.len() > 1) {
                record.name = format!("{} [{label}]", record.name);
            }
            records
        };
        let checks: Vec<_> = points.iter().flat_map(records).collect();
        Experiment {
            id: id.into(),
            pass: checks.iter().all(|c| c.pass),
            class: Tally::of(checks.iter().map(|c| c.class)).worst(),
            checks,
        }
    }
}

/// A [`Check`] as plain numbers, in the unit that it names. Missing numbers are null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckRecord {
    /// The expectation's name.
    pub name: String,
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
            during_s: (
                check.during.start.as_secs_f64(),
                check.during.end.as_secs_f64(),
            ),
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
