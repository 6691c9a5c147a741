//! Results for programs.

use crate::check::Check;
use crate::compare::{Column, Outline, Row, all_rows, columns, with_values};
use crate::verdict::Tally;
use accord_record::Run;
use accord_scenario::{Engine, Scenario};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// The version of the output of `--json`. It is raised when a program for the last version would
/// misread the output. New keys do not raise it.
pub const FORMAT_VERSION: u32 = 1;

/// Returns settings as an object of texts.
pub fn settings_record(settings: &[(String, String)]) -> Value {
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

/// Returns the entries of `first`, then those of `more` except nulls.
pub fn joined(first: impl Serialize, more: Value) -> Value {
    let mut all = json!(first);
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
}

/// Returns the result of the experiment `id`, over all points of its sweep. In a sweep, the names of checks
/// are followed by their point in brackets. `dir` is the place at which
/// [`write_run_dir`](crate::write_run_dir) or [`write_sweep_dir`](crate::write_sweep_dir) wrote the results,
/// if they were written.
pub fn experiment_record(id: &str, points: &[Point], dir: Option<&Path>) -> Value {
    let several = points.len() > 1;
    let records = points.par_iter().enumerate().map(|(i, point)| {
        let dir =
            dir.map(|dir| if several { dir.join(format!("{:03}", i + 1)) } else { dir.into() });
        point_record(i + 1, point, dir.as_deref())
    });
    let records: Vec<Value> = records.collect();
    let checks = points.iter().enumerate().flat_map(|(i, point)| {
        let label = if several { format!(" [{}]", point.label()) } else { String::new() };
        let record = move |check: &Check| {
            let mut record = check_record(check);
            record["name"] = format!("{}{label}", check.name).into();
            record["point"] = (i + 1).into();
            record
        };
        point.checks.iter().map(record)
    });
    let all = || points.iter().flat_map(|point| point.checks);
    json!({
        "format_version": FORMAT_VERSION,
        "id": id,
        "title": points.first().map_or("", |p| &p.scenario.title),
        "pass": all().all(|c| c.pass),
        "class": Tally::of(all().map(|c| c.class)).worst(),
        "directory": dir.map(|dir| dir.display().to_string()),
        "points": records,
        "checks": checks.collect::<Vec<Value>>(),
    })
}

fn point_record(number: usize, point: &Point, dir: Option<&Path>) -> Value {
    let outline = Outline::of(point.scenario);
    // As in the tables: an engine without values is not the reference.
    let columns = with_values(&columns(&outline, &point.runs()));
    let run = |run: &Run| {
        json!({
            "engine": run.manifest.engine.name(),
            "seed": run.manifest.seed,
            "scenario_hash": run.manifest.scenario_hash,
            "digest": run.manifest.digest,
            "plan": run.manifest.plan,
            "unfit": run.unfit,
            "skipped_s": run.skipped().as_secs_f64(),
            "notes": run.notes,
        })
    };
    json!({
        "point": number,
        "label": point.label(),
        "settings": settings_record(&point.scenario.point),
        "directory": dir.map(|dir| dir.display().to_string()),
        "series": dir.map(|dir| dir.join("series.parquet").display().to_string()),
        "steady_s": outline.steady_s,
        "runs": point.runs.iter().map(run).collect::<Vec<_>>(),
        "means": row_records(&columns, &all_rows(point.scenario, &columns)),
    })
}

/// Returns the record of a check: plain numbers, in the unit that the record names.
pub fn check_record(check: &Check) -> Value {
    let (measured, known) = (check.measured(), check.fails.as_ref());
    json!({
        "name": check.name,
        "point": 1,
        "engine": check.engine.name(),
        "paper": check.paper,
        "theory": check.value(Engine::Theory).map(|v| v.mean),
        "measured": measured.map(|v| v.mean),
        "half_width": measured.and_then(|v| v.half_width),
        "error": check.error,
        "tolerance": check.tolerance(),
        "allowed": crate::show::allowed(check.target, check.unit),
        "pass": check.pass,
        "reason": check.reason,
        "class": check.class,
        "claim": check.claim.name(),
        "why": known.map(|k| k.why.name()),
        "because": known.map(|k| &k.because),
        "recorded": known.and_then(|k| Some(k.record?.value)),
        "metric": check.metric.name(),
        "of": check.of,
        "unit": check.unit.symbol(),
        "during_s": [check.during.start.as_secs_f64(), check.during.end.as_secs_f64()],
    })
}

/// Returns the records of `rows`, made from `columns`.
pub(crate) fn row_records(columns: &[Column], rows: &[Row]) -> Vec<Value> {
    let record = |row: &Row| {
        let values = columns.iter().zip(&row.values);
        let values = values.map(|(c, v)| joined(json!({ "column": c.label }), json!(v)));
        let more = json!({
            "quantity": row.quantity,
            "unit": row.unit.symbol(),
            "values": values.collect::<Vec<_>>(),
            "error": row.error(),
        });
        match row.counted(columns) {
            Some(counted) => joined(&row.of, joined(more, json!({ "counted": counted }))),
            None => joined(&row.of, more),
        }
    };
    rows.iter().map(record).collect()
}
