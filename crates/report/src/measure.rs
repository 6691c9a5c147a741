//! Measurement: from series to single values, over time, across flows and over repetitions.

use crate::estimate::Estimate;
use accord_record::Run;
use accord_scenario::{Across, Engine, Entity, Fold, Metric, Of, Over, Window};

/// The value to take from a run.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    pub metric: Metric,
    pub over: Over,
    pub across: Across,
    pub during: Window,
}

impl Figure {
    /// Returns the value over `runs` of one engine: one per entity for [`Across::Each`], and
    /// otherwise a single one. A value is `None` if a run lacks it.
    pub fn of(&self, runs: &[&Run], entities: &[Entity]) -> Vec<Option<Estimate>> {
        let per_run: Vec<Vec<Option<f64>>> = runs
            .iter()
            .map(|run| {
                if self.across == Across::Sum && self.metric.of() == Of::Flow {
                    return vec![self.sum(run, entities)];
                }
                let each: Vec<_> = entities.iter().map(|&e| self.over_time(run, e)).collect();
                match self.across {
                    Across::Each => each,
                    // A flow without a value was not active, so neither the mean nor the fairness
                    // includes it.
                    _ => vec![combine(self.across, each.iter().flatten().copied())],
                }
            })
            .collect();
        let figures = match self.across {
            Across::Each => entities.len(),
            _ => 1,
        };
        (0..figures)
            .map(|i| {
                let values: Option<Vec<f64>> = per_run.iter().map(|run| run[i]).collect();
                Estimate::of(&values?)
            })
            .collect()
    }

    /// Returns one number for all flows taken as one: their sum at each sample, and then the statistic over
    /// time. An inactive flow adds nothing, and the whole window counts. Only theory can lack a value for a
    /// sample, if it has no equilibrium.
    fn sum(&self, run: &Run, entities: &[Entity]) -> Option<f64> {
        if run.only_over.is_some() {
            // The one value of a flow is its mean over the time in which it was active.
            return None;
        }
        let within = run.within(self.during);
        let series = entities.iter().map(|&e| run.series(self.metric, e));
        let columns: Vec<&[f64]> = (series.flatten()).map(|s| &s.values[within.clone()]).collect();
        if columns.is_empty() {
            return None;
        }
        let may_lack = run.manifest.engine == Engine::Theory;
        let first = within.start;
        let counts = |i: &usize| self.over == Over::Mean || !run.is_skipped(first + i);
        let sums = (0..within.len()).filter(counts).filter_map(|i| {
            let there = columns.iter().map(|c| c[i]).filter(|v| !v.is_nan());
            let sum = there.reduce(|a, b| a + b);
            sum.or((!may_lack).then_some(0.0))
        });
        reduce(self.over, self.metric.fold(), sums.collect())
    }

    /// Returns one number for one flow or link of one run.
    fn over_time(&self, run: &Run, entity: Entity) -> Option<f64> {
        if self.over == Over::Mean {
            return run.mean(self.metric, entity, self.during);
        }
        if run.only_over.is_some() && self.metric.of() != Of::Transfer {
            // The one value of each series is a mean.
            return None;
        }
        let samples = run.samples(self.metric, entity, self.during);
        if let Over::State(name) = self.over {
            let state = self.metric.states().iter().position(|state| *state == name)? as f64;
            return reduce(
                Over::Mean,
                Fold::Mean,
                samples.map(|v| f64::from(v == state)).collect(),
            );
        }
        let samples = samples.collect();
        reduce(self.over, self.metric.fold(), samples)
    }
}

fn reduce(over: Over, fold: Fold, mut samples: Vec<f64>) -> Option<f64> {
    if samples.is_empty() {
        return None;
    }
    match over {
        Over::Mean => match fold {
            Fold::Sum => Some(samples.iter().sum()),
            Fold::Max => samples.into_iter().reduce(f64::max),
            _ => Some(mean(&samples)),
        },
        Over::Min => samples.into_iter().reduce(f64::min),
        Over::Max => samples.into_iter().reduce(f64::max),
        Over::Variation => variation(&samples),
        // States have been counted above.
        Over::State(_) => None,
        Over::Quantile(fraction) => {
            samples.sort_unstable_by(f64::total_cmp);
            Some(quantile(&samples, fraction))
        }
    }
}

/// Returns the quantile of one or more values in order. It is linear between the two nearest ranks, which is
/// the common definition.
pub(crate) fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let rank = fraction.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = sorted[rank.floor() as usize];
    let above = sorted[rank.ceil() as usize];
    if below == above { below } else { below + (above - below) * rank.fract() }
}

fn combine(across: Across, values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    if values.is_empty() {
        return None;
    }
    match across {
        Across::Mean | Across::Each => Some(mean(&values)),
        Across::Sum => Some(values.iter().sum()),
        Across::Min => values.into_iter().reduce(f64::min),
        Across::Max => values.into_iter().reduce(f64::max),
        Across::Variation => variation(&values),
        Across::Jain => {
            let sum: f64 = values.iter().sum();
            let squares: f64 = values.iter().map(|v| v * v).sum();
            // The index is undefined if all values are zero.
            (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the standard deviation over the mean. The values are the whole population, not a sample,
/// so the sum of squares is divided by their number. The result is undefined for a mean of zero.
fn variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean != 0.0).then(|| (squares / values.len() as f64).sqrt() / mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_one_number() {
        let known = [
            (Over::Mean, 5.0),
            (Over::Min, 2.0),
            (Over::Max, 9.0),
            // This is the textbook set with standard deviation 2 and mean 5.
            (Over::Variation, 0.4),
            (Over::Quantile(0.0), 2.0),
            (Over::Quantile(0.5), 4.5),
            (Over::Quantile(0.9), 7.6),
            (Over::Quantile(1.0), 9.0),
        ];
        for (over, expected) in known {
            let samples = vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
            let got = reduce(over, Fold::Mean, samples).unwrap();
            assert!((got - expected).abs() < 1e-12, "{over:?}: {got}");
        }
        assert_eq!(reduce(Over::Mean, Fold::Sum, vec![1.0, 2.0]), Some(3.0));
        assert_eq!(reduce(Over::Max, Fold::Mean, vec![]), None);
        assert_eq!(reduce(Over::Variation, Fold::Mean, vec![0.0, 0.0]), None);
    }

    #[test]
    fn flows_become_one_number() {
        let known = [
            (Across::Mean, 2.5),
            (Across::Sum, 10.0),
            (Across::Min, 1.0),
            (Across::Max, 4.0),
            (Across::Variation, 5f64.sqrt() / 5.0),
            (Across::Jain, 100.0 / 120.0),
        ];
        for (across, expected) in known {
            let got = combine(across, [1.0, 2.0, 3.0, 4.0].into_iter()).unwrap();
            assert!((got - expected).abs() < 1e-12, "{across:?}: {got}");
        }
        assert_eq!(combine(Across::Jain, [0.0, 0.0].into_iter()), None);
        assert_eq!(combine(Across::Sum, [].into_iter()), None);
    }
}
