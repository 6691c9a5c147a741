//! Welch's test of two means, and Holm's correction for many tests.
//!
//! Sources: B. L. Welch, *The generalization of "Student's" problem when several different
//! population variances are involved*, Biometrika 34 (1947); S. Holm, *A simple sequentially
//! rejective multiple test procedure*, Scandinavian Journal of Statistics 6 (1979).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The largest number of seeds that is named.
pub const MOST_SEEDS: u64 = 1000;

/// The difference of two means, the second less the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference.
    pub mean: f64,
    /// The half-width of its 95 % confidence interval; zero if neither sample varies, and `None` if
    /// one is of a single run.
    pub half_width: Option<f64>,
    /// The probability of a difference as large or larger if there is none, by a two-sided test;
    /// `None` if no sample varies or one is of a single run.
    pub p: Option<f64>,
    /// The sum of the variances of the two samples; `None` if one is of a single run.
    pub variance: Option<f64>,
}

impl Difference {
    /// Returns how many seeds of each sample, more than `runs`, make a difference of `gap` significant, as
    /// one of `tests` tests at a level of 5 % together; `None` if [`MOST_SEEDS`] do not, or a sample is
    /// of a single run.
    pub fn seeds(&self, gap: f64, tests: usize, runs: usize) -> Option<u64> {
        let deviation = self.variance?.sqrt();
        let level = 0.025 / tests.max(1) as f64;
        enough(runs, |n| {
            let freedom = 2.0 * (n as f64 - 1.0);
            quantile(level, freedom) * deviation / (n as f64).sqrt() < gap
        })
    }
}

/// Returns how many seeds, more than `runs`, make the half-width of the 95 % confidence interval of a mean
/// smaller than `gap`, by the half-width that `runs` seeds have; `None` if [`MOST_SEEDS`] do not.
pub fn seeds(half: f64, runs: usize, gap: f64) -> Option<u64> {
    let n = runs as f64;
    let deviation = half * n.sqrt() / quantile(0.025, n - 1.0);
    enough(runs, |n| quantile(0.025, n as f64 - 1.0) * deviation / (n as f64).sqrt() < gap)
}

/// Returns the smallest number of seeds that is enough, at least 3 and more than `runs`. If a number is
/// enough, all larger ones must be.
fn enough(runs: usize, is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = ((runs as u64 + 1).max(3), MOST_SEEDS);
    if low > high || !is_enough(high) {
        return None;
    }
    while low < high {
        let middle = (low + high) / 2;
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

/// Returns the value that Student's t exceeds with a probability.
fn quantile(probability: f64, freedom: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, freedom);
    law.map_or(f64::INFINITY, |law| law.inverse_cdf(1.0 - probability))
}

/// Returns the difference of the means of two samples, or `None` if one is empty.
pub fn difference(first: &[f64], second: &[f64]) -> Option<Difference> {
    let (a, b) = (Moments::of(first)?, Moments::of(second)?);
    let mean = b.mean - a.mean;
    let (Some(va), Some(vb)) = (a.variance, b.variance) else {
        return Some(Difference { mean, half_width: None, p: None, variance: None });
    };
    let (sa, sb) = (va / a.n, vb / b.n);
    let error = (sa + sb).sqrt();
    // Rounding errors of equal values do not count as variation.
    let least = 1e-12 * a.mean.abs().max(b.mean.abs());
    if error <= least {
        return Some(Difference { mean, half_width: Some(0.0), p: None, variance: Some(0.0) });
    }
    let freedom = (sa + sb).powi(2) / (sa * sa / (a.n - 1.0) + sb * sb / (b.n - 1.0));
    let t = mean / error;
    let law = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(Difference {
        mean,
        half_width: Some(law.inverse_cdf(0.975) * error),
        p: Some((2.0 * law.cdf(-t.abs())).clamp(0.0, 1.0)),
        variance: Some(va + vb),
    })
}

struct Moments {
    n: f64,
    mean: f64,
    variance: Option<f64>,
}

impl Moments {
    fn of(values: &[f64]) -> Option<Moments> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (!values.is_empty()).then(|| Moments {
            n,
            mean,
            variance: (values.len() > 1).then(|| squares / (n - 1.0)),
        })
    }
}

/// Returns the probabilities adjusted by Holm's procedure, in the order of `p`: each may be
/// compared with the level of the whole family of tests. An entry without a probability is not a
/// test, and stays `None`.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..p.len()).filter(|i| p[*i].is_some()).collect();
    let value = |i: usize| p[i].unwrap_or(1.0);
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let mut adjusted = vec![None; p.len()];
    let (tests, mut largest) = (order.len(), 0.0f64);
    for (rank, i) in order.into_iter().enumerate() {
        largest = largest.max(((tests - rank) as f64 * value(i)).min(1.0));
        adjusted[i] = Some(largest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, known: f64) {
        assert!((found - known).abs() < 1e-6 * known.abs().max(1e-9), "{found}, not {known}");
    }

    /// Computed by `scipy.stats.ttest_ind(a, b, equal_var=False)` of SciPy 1.17.1.
    #[test]
    fn tests_agree_with_scipy() {
        let cases: [(&[f64], &[f64], f64, f64); 3] = [
            (
                &[
                    27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0,
                    21.7, 21.4,
                ],
                &[
                    27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9,
                    30.5, 24.4,
                ],
                0.008071938172194903,
                2.034689408458634,
            ),
            (&[1.0, 2.0], &[10.0, 14.0], 0.10337700379948069, 20.243378906988756),
            (
                &[0.91, 0.93, 0.9, 0.92, 0.94],
                &[0.9, 0.95, 0.8, 0.99, 0.85, 0.93],
                0.589193146609167,
                0.07243407585860089,
            ),
        ];
        for (a, b, p, half) in cases {
            let found = difference(a, b).expect("there are values");
            near(found.p.expect("it varies"), p);
            near(found.half_width.expect("it varies"), half);
        }
    }

    /// Computed by `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` of R.
    #[test]
    fn corrections_agree_with_r() {
        let p = [Some(0.01), None, Some(0.04), Some(0.03), Some(0.005)];
        let adjusted = holm(&p);
        for (found, known) in adjusted.iter().flatten().zip([0.03, 0.06, 0.06, 0.02]) {
            near(*found, known);
        }
        assert_eq!(adjusted[1], None);
    }

    /// By hand: a deviation of 1 and a gap of 1 need the first n with t(n − 1) < √n, which is 7:
    /// 2.447 < 2.646, and 2.571 > 2.449 for 6.
    #[test]
    fn seeds_are_as_many_as_the_interval_needs() {
        let half = |runs: f64, quantile: f64| quantile / runs.sqrt();
        assert_eq!(seeds(half(5.0, 2.776445), 5, 1.0), Some(7));
        assert_eq!(seeds(half(2.0, 12.706205), 2, 1.0), Some(7));
        assert_eq!(seeds(1.0, 5, 0.0), None);
        assert_eq!(seeds(0.0, 5, 1.0), Some(6), "more than there are");
        // Two samples of variance 1/2 each: t(2n − 2) < √n, which is 6: 2.228 < 2.449, and
        // 2.306 > 2.236 for 5. As one of a hundred tests it takes more.
        let two = Difference { mean: 1.0, half_width: None, p: None, variance: Some(1.0) };
        assert_eq!(two.seeds(1.0, 1, 2), Some(6));
        assert!(two.seeds(1.0, 100, 2) > Some(12));
        assert_eq!(Difference { variance: None, ..two }.seeds(1.0, 1, 1), None);
    }

    #[test]
    fn without_variation_there_is_no_test() {
        let same = difference(&[2.0, 2.0], &[3.0, 3.0, 3.0]).expect("values");
        assert_eq!((same.mean, same.half_width, same.p), (1.0, Some(0.0), None));
        let single = difference(&[2.0], &[3.0, 4.0]).expect("values");
        assert_eq!((single.half_width, single.p), (None, None));
        assert_eq!(difference(&[], &[1.0]), None);
    }
}
