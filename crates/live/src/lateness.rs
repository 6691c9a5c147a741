//! How late things are done: a histogram with buckets a quarter of an octave wide.

use accord_units::Duration;

/// Buckets for each doubling.
const STEPS: u32 = 4;
/// The first bucket ends here; 2^26 microseconds end the last, which is a minute.
const FIRST_NS: u64 = 1_000;
const BUCKETS: usize = (26 * STEPS) as usize;

/// How late how many things were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lateness {
    buckets: Vec<u64>,
    count: u64,
    max: Duration,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            buckets: vec![0; BUCKETS],
            count: 0,
            max: Duration::ZERO,
        }
    }
}

impl Lateness {
    /// Something was done so late.
    pub fn add(&mut self, late: Duration) {
        self.buckets[bucket(late)] += 1;
        self.count += 1;
        self.max = self.max.max(late);
    }

    /// What was counted elsewhere counts here, too.
    pub fn merge(&mut self, other: &Lateness) {
        for (mine, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += other;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// How many things were done.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latest.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// The share of things that were later than `limit`, which is taken up to the end of its
    /// bucket.
    pub fn share_above(&self, limit: Duration) -> f64 {
        let above: u64 = self.buckets[bucket(limit) + 1..].iter().sum();
        above as f64 / self.count.max(1) as f64
    }

    /// The lateness that the fraction `q` of things did not exceed: the end of a bucket, so up
    /// to 19 % too long.
    pub fn quantile(&self, q: f64) -> Duration {
        let wanted = (q * self.count as f64).ceil() as u64;
        let mut sum = 0;
        let found = self.buckets.iter().position(|n| {
            sum += n;
            sum >= wanted
        });
        found.map_or(self.max, |i| end(i).min(self.max))
    }
}

/// The bucket of a lateness.
fn bucket(late: Duration) -> usize {
    let ratio = late.as_ps() as f64 / (FIRST_NS * 1_000) as f64;
    let steps = (ratio.log2() * f64::from(STEPS)).ceil();
    (steps.max(0.0) as usize).min(BUCKETS - 1)
}

/// The longest lateness of a bucket.
fn end(bucket: usize) -> Duration {
    Duration::from_ns(FIRST_NS).mul_f64((bucket as f64 / f64::from(STEPS)).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bucket() {
        let mut all = Lateness::default();
        let mut half = Lateness::default();
        for us in 1..=1000 {
            let h = if us % 2 == 0 { &mut all } else { &mut half };
            h.add(Duration::from_us(us));
        }
        all.merge(&half);
        assert_eq!((all.count(), all.max()), (1000, Duration::from_ms(1)));
        for (q, us) in [(0.01, 10.0), (0.5, 500.0), (0.99, 990.0)] {
            let found = all.quantile(q).as_secs_f64() * 1e6;
            assert!((us..us * 1.19).contains(&found), "{q}: {found}");
        }
        assert_eq!(all.quantile(1.0), Duration::from_ms(1));
        // Bounds of buckets: 2^(35/4) us = 430.5 us is the first above 400 us.
        assert_eq!(all.share_above(Duration::from_us(400)), 0.57);
        assert_eq!(all.share_above(Duration::from_secs(100)), 0.0);
    }

    #[test]
    fn nothing_and_the_extremes_are_fine() {
        let mut h = Lateness::default();
        assert_eq!(h.quantile(0.99), Duration::ZERO);
        assert_eq!(h.share_above(Duration::ZERO), 0.0);
        h.add(Duration::ZERO);
        h.add(Duration::MAX);
        assert_eq!(h.max(), Duration::MAX);
        assert_eq!(h.share_above(Duration::from_secs(1)), 0.5);
    }
}
