//! The round-trip time and the retransmission timer [RFC 6298].

use accord_units::Duration;

/// The smoothed round-trip time, its variation, and the time-out that follows from them.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    min: Duration,
    variation: u64,
    srtt: u64,
    latest: Duration,
    min_rto: Duration,
    /// The number of consecutive times that the timer ran out.
    backoff: u32,
    max_backoff: u32,
}

/// The longest time-out [RFC 6298 §2.5].
const MAX_RTO: Duration = Duration::from_secs(60);
/// The time-out before the first sample [RFC 6298 §2.1].
const FIRST_RTO: Duration = Duration::from_secs(1);

impl RoundTrip {
    /// Creates a timer without samples. Time-outs are at least `min_rto`, and double at most
    /// `max_backoff` times.
    pub fn new(min_rto: Duration, max_backoff: u32) -> RoundTrip {
        RoundTrip {
            srtt: 0,
            variation: 0,
            min: Duration::MAX,
            latest: Duration::ZERO,
            backoff: 0,
            min_rto: min_rto.min(MAX_RTO),
            max_backoff: max_backoff.min(16),
        }
    }

    /// Takes a sample.
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        let r = rtt.as_ps();
        self.backoff = 0;
        if self.srtt > 0 {
            return self.sample_next(rtt);
        }
        (self.srtt, self.variation) = (r, r / 2);
        self.min = self.min.min(rtt);
        self.latest = rtt;
    }

    /// Takes a further sample, if [`RoundTrip::is_fresh`] is true.
    #[inline]
    pub(crate) fn sample_next(&mut self, rtt: Duration) {
        let r = rtt.as_ps();
        // RFC 6298 §2.3, alpha = 1/8, beta = 1/4.
        self.variation = self.variation - self.variation / 4 + self.srtt.abs_diff(r) / 4;
        self.srtt = self.srtt - self.srtt / 8 + r / 8;
        self.min = self.min.min(rtt);
        self.latest = rtt;
    }

    /// Returns true if there is a sample and the timer has not run out since the latest one.
    pub(crate) fn is_fresh(&self) -> bool {
        self.srtt > 0 && self.backoff == 0
    }

    /// The smoothed round-trip time. It is zero before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Duration {
        Duration::from_ps(self.srtt)
    }

    /// The smallest round-trip time so far. It is `Duration::MAX` before the first sample.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min
    }

    /// The latest round-trip time. It is zero before the first sample.
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// Doubles the next time-out, because the timer ran out [RFC 6298 §5.5].
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// The time-out.
    #[inline]
    pub fn timeout(&self) -> Duration {
        let rto = if self.srtt == 0 {
            FIRST_RTO
        } else {
            Duration::from_ps(self.srtt.saturating_add(self.variation.saturating_mul(4)))
                .max(self.min_rto)
        };
        if self.backoff == 0 {
            return rto.min(MAX_RTO);
        }
        (rto * (1 << self.backoff.min(self.max_backoff))).min(MAX_RTO)
    }

    /// The least time-out.
    pub fn min_rto(&self) -> Duration {
        self.min_rto
    }

    /// The fine-grained time-out that Vegas checks on a duplicate acknowledgement. It has no floor
    /// [Low02 §1.1].
    pub fn fine_timeout(&self) -> Duration {
        if self.srtt == 0 {
            return FIRST_RTO;
        }
        Duration::from_ps(self.srtt.saturating_add(self.variation.saturating_mul(4)))
    }
}
