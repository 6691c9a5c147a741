//! A mean over repetitions, with its confidence interval.

use serde::{Deserialize, Serialize};

/// A figure from one run, or its mean over several with different seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean, in the metric's unit.
    pub mean: f64,
    /// Half-width of the 95 % confidence interval of the mean, in the metric's unit;
    /// none for a single run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_width: Option<f64>,
    /// The number of runs that it is the mean of; at least one.
    pub runs: usize,
}

impl Estimate {
    /// The estimate from one value for each run; `None` without values.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let n = runs as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half_width = (runs > 1).then(|| {
            // The sample's variance: the runs stand for all runs there could be.
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            student_975(runs - 1) * (squares / (n - 1.0) / n).sqrt()
        });
        Some(Estimate {
            mean,
            half_width,
            runs,
        })
    }
}

/// The 97.5 % quantile of Student's t distribution, for two-sided 95 % intervals. Between
/// the tabulated degrees of freedom it gives the next lower one's, so that the interval
/// is never too narrow.
fn student_975(degrees: usize) -> f64 {
    const FIRST_30: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        d @ 1..=30 => FIRST_30[d - 1],
        31..=39 => 2.042,
        40..=59 => 2.021,
        60..=119 => 2.000,
        120..=999 => 1.980,
        _ => 1.962,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_known_numbers() {
        // Mean 10, sample deviation 2, n 4: 3.182 · 2 / 2.
        let d = 3f64.sqrt();
        let e = Estimate::of(&[10.0 - d, 10.0 - d, 10.0 + d, 10.0 + d]).unwrap();
        assert_eq!((e.mean, e.runs), (10.0, 4));
        assert!((e.half_width.unwrap() - 3.182).abs() < 1e-9);
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
