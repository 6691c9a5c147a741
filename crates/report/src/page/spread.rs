//! Distributions over the steady part: of delays, queues and completion times.

use super::panels::Plan;
use crate::measure::quantile;
use crate::show;
use crate::trace::lines::{all, within};
use crate::trace::thin::{Line, Number};
use accord_record::Run;
use accord_scenario::{Entity, Metric, MetricUnit};
use serde::Serialize;

/// The maximum number of groups or links in a distribution's plot. More would not be distinguishable.
const MOST_SUBJECTS: usize = 8;
/// The number of steps of a distribution function.
const STEPS: usize = 100;
/// The maximum number of samples of a distribution. Of more samples, every n-th is taken.
const MOST_SAMPLES: usize = 1_000_000;

/// The distribution of one quantity, for each subject and engine.
#[derive(Serialize)]
pub struct Spread {
    title: &'static str,
    /// The values that are counted, in words.
    about: &'static str,
    unit: &'static str,
    pub lines: Vec<SpreadLine>,
}

#[derive(Serialize)]
pub struct SpreadLine {
    of: String,
    engine: &'static str,
    /// The number of samples.
    n: usize,
    mean: Number,
    /// The quantiles from 0 to 1 in even steps.
    q: Line,
}

/// Returns the distributions of one point that have more than one value somewhere.
pub fn spreads(plan: &Plan) -> Vec<Spread> {
    let mut spreads = Vec::new();
    for metric in Metric::placed(|row| Some(row.distribution?.0)) {
        let title = metric.row().distribution.map_or("", |(_, title)| title);
        let subjects = plan.subjects(metric);
        let of_runs = subjects.iter().take(MOST_SUBJECTS).flat_map(|(of, entities)| {
            let runs = plan.runs.iter();
            runs.map(move |(engine, run)| {
                let values = samples(plan, run, metric, entities);
                (of.clone(), engine.name(), values)
            })
        });
        let about = "samples of the steady part, of all flows of a group";
        spreads.extend(spread(title, about, metric.unit(), of_runs));
    }
    let steady = plan.point.scenario.steady;
    let groups = plan.outline.groups.iter().enumerate().take(MOST_SUBJECTS);
    let transfers = groups.flat_map(|(g, group)| {
        let runs = plan.runs.iter();
        runs.map(move |(engine, run)| {
            let own = run.transfers.iter().filter(|t| t.group == g);
            let done = own.filter(|t| t.ended_in(steady)).map(|t| t.duration);
            (group.title(60), engine.name(), done.collect())
        })
    });
    let about = "transfers that ended in the steady part";
    spreads.extend(spread("Completion time", about, MetricUnit::Seconds, transfers));
    spreads
}

/// The samples of the steady part of all entities together.
fn samples(plan: &Plan, run: &Run, metric: Metric, entities: &[Entity]) -> Vec<f64> {
    let series = all(run, metric, entities);
    let steady = plan.point.scenario.steady;
    let stride = (series.len() * run.time.len()).div_ceil(MOST_SAMPLES).max(1);
    let values = series.iter().flat_map(|(_, v)| within(&run.time, v, steady));
    values.step_by(stride).collect()
}

fn spread(
    title: &'static str,
    about: &'static str,
    unit: MetricUnit,
    of: impl Iterator<Item = (String, &'static str, Vec<f64>)>,
) -> Option<Spread> {
    let known: Vec<_> = of.filter(|(_, _, values)| !values.is_empty()).collect();
    let varies = |values: &[f64]| values.iter().any(|v| *v != values[0]);
    if !known.iter().any(|(_, _, values)| varies(values)) {
        return None; // The means say it all.
    }
    let all = known.iter().flat_map(|(_, _, values)| values);
    let largest = all.fold(0.0f64, |a, b| a.max(b.abs()));
    let (one, unit) = show::scale(largest, unit);
    let line = |(of, engine, mut values): (String, &'static str, Vec<f64>)| {
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len();
        let at = |i: usize| quantile(&values, i as f64 / STEPS as f64) / one;
        SpreadLine {
            of,
            engine,
            n,
            mean: Number::rounded(values.iter().sum::<f64>() / n as f64 / one),
            q: Line((0..=STEPS).map(at).collect()),
        }
    };
    Some(Spread { title, about, unit, lines: known.into_iter().map(line).collect() })
}
