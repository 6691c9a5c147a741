//! Distributions of samples.

use super::{Gathered, log_x, nothing, values_axis, window, words};
use crate::figure::select::{Subject, labels};
use crate::figure::{Axis, Content, FigureError, Line, Request};
use crate::measure::quantile;
use crate::range;
use accord_record::Run;
use accord_scenario::Of;

/// The number of steps of a distribution function.
const STEPS: usize = 400;

/// The samples of a subject in all runs of an engine, in order.
fn samples(subject: &Subject, runs: &[&Run], request: &Request) -> Vec<f64> {
    let window = window(subject, request);
    let of = |run: &&Run| -> Vec<f64> {
        let entities = subject.entities.iter();
        let all = entities.flat_map(|e| run.samples(request.metric, *e, window));
        all.collect()
    };
    let mut all: Vec<f64> = runs.iter().flat_map(of).collect();
    all.retain(|v| v.is_finite());
    all.sort_unstable_by(f64::total_cmp);
    all
}

pub fn distribution(subjects: &[Subject], request: &Request) -> Result<Gathered, FigureError> {
    let mut traces = Vec::new();
    let (mut low, mut high, mut positive) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    let (labels, looks) = labels(subjects)?;
    for (subject, (of, colour)) in subjects.iter().zip(labels) {
        for (engine, runs) in subject.engines(request) {
            let samples = samples(subject, &runs, request);
            if samples.is_empty() {
                continue;
            }
            let share = |i: usize| i as f64 / STEPS as f64;
            // The last per cent may be far away.
            low = low.min(quantile(&samples, 0.002));
            high = high.max(quantile(&samples, 0.995));
            positive = positive.min(samples.iter().copied().find(|v| *v > 0.0).unwrap_or(positive));
            let shares = || (0..=STEPS).map(share);
            traces.push(Line {
                of: of.clone(),
                settings: subject.point.manifest.scenario.point.clone(),
                colour,
                engine,
                x: shares().map(|s| quantile(&samples, s)).collect(),
                y: shares().collect(),
                low: vec![],
                high: vec![],
            });
        }
    }
    if traces.is_empty() {
        return Err(nothing(request));
    }
    let shown = range::Shown { low, high, positive };
    let log = log_x(request);
    let ends = if log { range::log_ends(shown) } else { range::ends(shown, false, None) };
    let x = values_axis(request, words(request.metric), high.abs(), ends, log);
    let what = match request.metric.of() {
        Of::Transfer => "Share of transfers",
        _ => "Share of samples",
    };
    let y = Axis { one: 0.01, base: "1", ..Axis::linear(what, "%", (0.0, 1.0)) };
    Ok((x, y, Content::Lines(traces), looks))
}
