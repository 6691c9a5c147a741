//! A mean over repetitions, with its confidence interval.

use distrs::StudentsT;
use serde::{Deserialize, Serialize};

/// A value from one run, or its mean over several runs with different seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean, in the metric's unit.
    pub mean: f64,
    /// The half-width of the 95 % confidence interval of the mean, in the metric's unit. It is
    /// `None` for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_width: Option<f64>,
    /// The number of runs averaged, at least one.
    pub runs: usize,
}

impl Estimate {
    /// Returns the estimate from one value per run, or `None` without values.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let n = runs as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half_width = (runs > 1).then(|| {
            // The variance is that of a sample, because the runs stand for all possible runs.
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            // Half of the probability outside a two-sided interval is above it.
            let quantile = StudentsT::ppf(1.0 - 0.05 / 2.0, n - 1.0);
            quantile * (squares / (n - 1.0) / n).sqrt()
        });
        Some(Estimate { mean, half_width, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_known_numbers() {
        // Mean 10, sample deviation 2, n 4: the quantile is 3.182446, times 2 / 2.
        let d = 3f64.sqrt();
        let e = Estimate::of(&[10.0 - d, 10.0 - d, 10.0 + d, 10.0 + d]).unwrap();
        assert_eq!((e.mean, e.runs), (10.0, 4));
        let half = e.half_width.unwrap();
        assert!((half - 3.182446).abs() < 1e-5, "{half}");
    }

    /// Published quantiles, from few runs to many. Values of ±1 have a sample variance of
    /// n / (n − 1).
    #[test]
    fn intervals_of_few_runs_and_of_many() {
        for (runs, quantile) in [
            (2, 12.706204736),
            (6, 2.570581836),
            (10, 2.262157163),
            (22, 2.079613845),
            (30, 2.045229642),
            (1000, 1.962341461),
        ] {
            let values: Vec<f64> = (0..runs).map(|i| f64::from(i % 2 * 2 - 1)).collect();
            let found = Estimate::of(&values).and_then(|e| e.half_width).unwrap();
            let expected = quantile / f64::from(runs - 1).sqrt();
            assert!((found / expected - 1.0).abs() < 1e-6, "{runs}: {found}");
        }
    }

    #[test]
    fn one_run_has_no_interval_and_none_no_estimate() {
        assert_eq!(Estimate::of(&[5.0]).unwrap().half_width, None);
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn equal_runs_have_a_zero_interval() {
        assert_eq!(Estimate::of(&[5.0; 40]).unwrap().half_width, Some(0.0));
    }
}
