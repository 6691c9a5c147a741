//! The lines of a plot over time: of a link, or the mean, the span and single flows of a group, or
//! quantiles over its flows.

use accord_record::Run;
use accord_scenario::{Engine, Entity, Fold, Metric, Window};
use serde::Serialize;

/// The number of flows of a group that are drawn individually.
pub const MOST_FLOWS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A link's value, or the mean over a group's flows, or their median among other quantiles.
    Main,
    /// The controllers' estimates, as a mean over a group's flows.
    Estimate,
    /// The smallest of a group's flows ...
    Low,
    /// ... and the largest.
    High,
    /// A single flow.
    Flow,
    /// The 5th percentile of a group's flows ...
    P5,
    /// ... and the 25th ...
    P25,
    /// ... the 75th ...
    P75,
    /// ... and the 95th.
    P95,
}

impl Kind {
    /// Returns the kind of the line of a quantile.
    fn of_quantile(entity: &Entity) -> Option<Kind> {
        match entity {
            Entity::Quantile { percent: 5, .. } => Some(Kind::P5),
            Entity::Quantile { percent: 25, .. } => Some(Kind::P25),
            Entity::Quantile { percent: 50, .. } => Some(Kind::Main),
            Entity::Quantile { percent: 75, .. } => Some(Kind::P75),
            Entity::Quantile { percent: 95, .. } => Some(Kind::P95),
            _ => None,
        }
    }
}

/// A line in the metric's own unit, before thinning.
pub struct Raw {
    pub kind: Kind,
    /// The flow's index, for a single flow.
    pub flow: Option<usize>,
    pub values: Vec<f64>,
    /// The statistics of the steady part as measured, for a main line.
    pub figures: Option<Figures>,
}

/// Returns the lines of one metric of a group or link in one run. Each value is a mean over
/// `window` samples.
pub fn lines(
    run: &Run,
    metric: Metric,
    entities: &[Entity],
    window: usize,
    steady: Window,
) -> Vec<Raw> {
    let line = |kind, values| Raw { kind, flow: None, values, figures: None };
    // In theory the flows of a group hardly differ, and if they do, packets show it.
    let theory = run.manifest.engine == Engine::Theory;
    let quantiles: Vec<Raw> = (entities.iter())
        .filter_map(|entity| {
            let kind = Kind::of_quantile(entity)?;
            let values = &run.series(metric, *entity)?.values;
            let main = kind == Kind::Main;
            (main || !theory).then(|| Raw {
                figures: main.then(|| Figures::of(&run.time, values, steady)).flatten(),
                ..line(kind, smoothed(values, window))
            })
        })
        .collect();
    if !quantiles.is_empty() {
        return quantiles;
    }
    let series = all(run, metric, entities);
    if series.is_empty() {
        return vec![];
    }
    let means = mean(run, &series);
    if means.iter().all(|v| v.is_nan()) {
        return vec![];
    }
    let figures = Figures::of(&run.time, &means, steady);
    let smooth = |v: &[f64]| smoothed(v, window);
    let mut lines = vec![line(Kind::Main, smooth(&means))];
    match metric.fold() {
        Fold::Sum => lines[0].values = so_far(&means),
        _ => lines[0].figures = figures,
    }
    // In theory, estimates are always exact.
    if metric == Metric::Accumulation && !theory {
        let estimates = all(run, Metric::AccumulationEstimate, entities);
        let means = mean(run, &estimates);
        if means.iter().any(|v| !v.is_nan()) {
            lines.push(line(Kind::Estimate, means));
        }
    }
    if series.len() > 1 && !theory {
        let smooth: Vec<(usize, Vec<f64>)> = series.iter().map(|(i, v)| (*i, smooth(v))).collect();
        let series: Vec<(usize, &[f64])> = smooth.iter().map(|(i, v)| (*i, v.as_slice())).collect();
        let low = across(run, &series, |a, v| if v < a { v } else { a });
        let high = across(run, &series, |a, v| if v > a { v } else { a });
        lines.push(line(Kind::Low, low));
        lines.push(line(Kind::High, high));
        for i in chosen(series.len()) {
            lines.push(Raw {
                kind: Kind::Flow,
                flow: Some(series[i].0),
                values: series[i].1.to_vec(),
                figures: None,
            });
        }
    }
    lines
}

/// Returns the series of those entities that have one, with the entity's index.
pub fn all<'r>(run: &'r Run, metric: Metric, entities: &[Entity]) -> Vec<(usize, &'r [f64])> {
    let found = entities.iter().filter_map(|&entity| {
        let i = match entity {
            Entity::Flow(i) | Entity::Group(i) | Entity::Link(i) => i,
            Entity::Quantile { group, .. } => group,
            Entity::Aggregate { aggregate, .. } => aggregate,
        };
        Some((i, run.series(metric, entity)?.values.as_slice()))
    });
    found.collect()
}

/// Folds the values of several series at each sample. The result is NaN if none has a value.
fn across(run: &Run, series: &[(usize, &[f64])], fold: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut out = vec![f64::NAN; run.time.len()];
    for (_, values) in series {
        for (out, &v) in out.iter_mut().zip(*values).filter(|(_, v)| !v.is_nan()) {
            *out = if out.is_nan() { v } else { fold(*out, v) };
        }
    }
    out
}

fn mean(run: &Run, series: &[(usize, &[f64])]) -> Vec<f64> {
    let mut counts = vec![0.0; run.time.len()];
    for (_, values) in series {
        for (n, _) in counts.iter_mut().zip(*values).filter(|(_, v)| !v.is_nan()) {
            *n += 1.0;
        }
    }
    let sums = across(run, series, |sum, v| sum + v);
    sums.iter().zip(counts).map(|(sum, n)| sum / n).collect()
}

/// Returns the running sum, in which NaN counts as zero.
fn so_far(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |v: &f64| {
        sum += if v.is_nan() { 0.0 } else { *v };
        sum
    };
    values.iter().map(add).collect()
}

/// Chooses some of `n` flows, from the first to the last.
fn chosen(n: usize) -> Vec<usize> {
    if n <= MOST_FLOWS {
        (0..n).collect()
    } else {
        (0..MOST_FLOWS).map(|i| i * (n - 1) / (MOST_FLOWS - 1)).collect()
    }
}

/// Returns the mean of the `window` samples around each sample, or of fewer at the ends and next to
/// gaps. A gap stays a gap.
fn smoothed(values: &[f64], window: usize) -> Vec<f64> {
    if window <= 1 {
        return values.to_vec();
    }
    // These are sums up to each sample, so each mean is a difference.
    let mut sums = vec![(0.0, 0usize)];
    for v in values {
        let (sum, n) = sums[sums.len() - 1];
        sums.push(if v.is_finite() { (sum + v, n + 1) } else { (sum, n) });
    }
    let half = window / 2;
    let around = |i: usize| {
        let (from, to) = (i.saturating_sub(half), (i + half + 1).min(values.len()));
        (sums[to].0 - sums[from].0) / (sums[to].1 - sums[from].1) as f64
    };
    let value = |(i, v): (usize, &f64)| if v.is_finite() { around(i) } else { *v };
    values.iter().enumerate().map(value).collect()
}

/// The distribution of the samples of the steady part: least, mean, median, 95th and 99th
/// percentile, largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures(pub [f64; 6]);

impl Figures {
    fn of(time: &[f64], values: &[f64], steady: Window) -> Option<Figures> {
        let mut known = within(time, values, steady);
        known.sort_unstable_by(f64::total_cmp);
        let (least, most) = (*known.first()?, *known.last()?);
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let at = |q| crate::measure::quantile(&known, q);
        Some(Figures([least, mean, at(0.5), at(0.95), at(0.99), most]))
    }
}

/// Returns the known samples of a window: those whose periods end in it.
pub fn within(time: &[f64], values: &[f64], window: Window) -> Vec<f64> {
    let (start, end) = (window.start.as_secs_f64(), window.end.as_secs_f64());
    // Times are sums of periods, and rounding must not move a sample over an edge.
    let slack = time.first().copied().unwrap_or(0.0) * 1e-6;
    let inside = |t: &f64| *t > start + slack && *t <= end + slack;
    let both = time.iter().zip(values).filter(|(t, _)| inside(t));
    both.map(|(_, v)| *v).filter(|v| v.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::Time;

    #[test]
    fn smoothing_keeps_what_was_carried_and_leaves_gaps() {
        // One packet in every other period corresponds to half a packet in each.
        let teeth: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let even = smoothed(&teeth, 21);
        assert!(even[10..90].iter().all(|v| (v - 0.5).abs() < 0.03), "{even:?}");
        assert_eq!(smoothed(&teeth, 1), teeth);
        let nan = f64::NAN;
        let gap = smoothed(&[2.0, 4.0, nan, 6.0], 3);
        assert_eq!(format!("{gap:?}"), "[3.0, 3.0, NaN, 6.0]");
        // A step stays where it is.
        let step: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i >= 50))).collect();
        let soft = smoothed(&step, 5);
        assert_eq!((soft[47], soft[52]), (0.0, 1.0));
    }

    #[test]
    fn figures_are_of_the_steady_part_only() {
        let time: Vec<f64> = (1..=200).map(|i| f64::from(i) * 0.1).collect();
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        let steady = Window { start: Time::from_secs_f64(10.0), end: Time::from_secs_f64(20.0) };
        let Figures(known) = Figures::of(&time, &values, steady).unwrap();
        assert_eq!(known, [101.0, 150.5, 150.5, 195.05, 199.01, 200.0]);
        assert_eq!(Figures::of(&time, &[f64::NAN; 200], steady), None);
    }
}
