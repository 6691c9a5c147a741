//! The lateness of packets: a histogram whose buckets are at most 1 % wide.

use accord_units::Duration;
use hdrhistogram::Histogram;

/// The resolution of lateness, in nanoseconds.
const FINEST_NS: u64 = 1;
/// The maximum lateness, in nanoseconds: a minute. Greater values count as this.
const LATEST_NS: u64 = 60_000_000_000;
/// The significant digits. With two, a bucket is 1 % wide.
const DIGITS: u8 = 2;

/// A histogram of lateness.
#[derive(Clone, Debug, PartialEq)]
pub struct Lateness {
    histogram: Histogram<u64>,
    /// The exact maximum, which the histogram has only to within a bucket.
    max: Duration,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            histogram: Histogram::new_with_bounds(FINEST_NS, LATEST_NS, DIGITS)
                .expect("bounds and digits that it can have"),
            max: Duration::ZERO,
        }
    }
}

impl Lateness {
    /// Adds a lateness.
    pub fn add(&mut self, late: Duration) {
        self.histogram.saturating_record(nanoseconds(late));
        self.max = self.max.max(late);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Lateness) {
        (self.histogram.add(&other.histogram)).expect("all have the same bounds");
        self.max = self.max.max(other.max);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the largest lateness.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// Returns the share of values above `limit`, rounded up to the end of its bucket.
    pub fn share_above(&self, limit: Duration) -> f64 {
        let next = self.histogram.next_non_equivalent(nanoseconds(limit));
        let above = self.histogram.count_between(next, u64::MAX);
        above as f64 / self.count().max(1) as f64
    }

    /// Returns the quantile `q` of the lateness. It is the end of a bucket, so it is up to 1 %
    /// too long.
    pub fn quantile(&self, q: f64) -> Duration {
        let found = self.histogram.value_at_quantile(q);
        Duration::from_ns(found).min(self.max)
    }
}

fn nanoseconds(late: Duration) -> u64 {
    late.as_ps() / 1_000
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
            assert!((us..us * 1.01).contains(&found), "{q}: {found}");
        }
        assert_eq!(all.quantile(1.0), Duration::from_ms(1));
        let share = all.share_above(Duration::from_us(400));
        assert!((0.596..=0.6).contains(&share), "{share}");
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
