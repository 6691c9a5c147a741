//! Token buckets, exact to the picosecond and the bit.

use accord_units::{Bytes, Duration, Rate, Time};

/// Picoseconds in a second times bits in a byte.
const PS_BITS: i128 = 8_000_000_000_000;

/// A token bucket, which counts bytes, fills at a rate, and is full at the start.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// The rate in bit/s.
    rate: i128,
    /// The capacity, and the tokens at `since`, in bits times picoseconds per second. They are negative
    /// after a packet larger than the bucket.
    most: i128,
    tokens: i128,
    since: Time,
}

impl Bucket {
    /// Creates a full bucket.
    ///
    /// # Panics
    /// Panics if the rate is zero.
    pub fn new(rate: Rate, burst: Bytes) -> Bucket {
        assert!(rate > Rate::ZERO, "a bucket fills");
        let most = i128::from(burst.get()) * PS_BITS;
        Bucket { rate: rate.as_bps().into(), most, tokens: most, since: Time::ZERO }
    }

    /// The rate at which the bucket fills.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bps(self.rate as u64)
    }

    /// Fills the bucket up to `now`, which is not before the time of an earlier call.
    fn fill(&mut self, now: Time) {
        let span = i128::from(now.since(self.since).as_ps());
        self.tokens = self.most.min(self.tokens + span * self.rate);
        self.since = now;
    }

    /// Takes the tokens for a packet that arrives at `now`. Returns false and takes none if there
    /// are too few.
    pub fn take(&mut self, now: Time, size: Bytes) -> bool {
        self.fill(now);
        let cost = i128::from(size.get()) * PS_BITS;
        let enough = self.tokens >= cost;
        if enough {
            self.tokens -= cost;
        }
        enough
    }

    /// Takes the tokens for a packet that is ready at `now`, as soon as the bucket has them. Returns that
    /// time. A packet larger than the bucket is sent when the bucket is full. The next packet then waits for
    /// its own tokens and for those that this one lacked.
    pub fn wait(&mut self, now: Time, size: Bytes) -> Time {
        self.fill(now);
        let cost = i128::from(size.get()) * PS_BITS;
        let missing = (cost.min(self.most) - self.tokens).max(0);
        // Rounded up.
        let span = u64::try_from((missing + self.rate - 1) / self.rate).unwrap_or(u64::MAX);
        let at = now + Duration::from_ps(span);
        self.fill(at);
        self.tokens -= cost;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// 8 Mbps is a byte per microsecond.
    #[test]
    fn a_policer_lets_a_burst_and_its_rate_through() {
        let mut bucket = Bucket::new(Rate::from_bps(8_000_000), Bytes::new(3000));
        let size = Bytes::new(1000);
        let taken = |bucket: &mut Bucket, at| bucket.take(us(at), size);
        // Three pass at once. The next comes a microsecond too early, which costs no tokens, and
        // then in time.
        for (at, passes) in [
            (0, true),
            (0, true),
            (0, true),
            (0, false),
            (999, false),
            (1000, true),
            (1999, false),
            (2000, true),
            // The bucket is full again after 3 ms, and no fuller after a second.
            (1_000_000, true),
            (1_000_000, true),
            (1_000_000, true),
            (1_000_000, false),
        ] {
            assert_eq!(taken(&mut bucket, at), passes, "{at} us");
        }
    }

    #[test]
    fn a_shaper_makes_packets_wait() {
        let mut bucket = Bucket::new(Rate::from_bps(8_000_000), Bytes::new(2500));
        let size = Bytes::new(1000);
        let starts: Vec<Time> = (0..4).map(|_| bucket.wait(us(0), size)).collect();
        assert_eq!(starts[..2], [us(0), us(0)]);
        // The bucket holds 500 bytes, so the packet waits 500 us.
        assert_eq!(starts[2], us(500));
    }

    /// 3 bit/s: 8 bits take 2.67 s, and the third of a picosecond is carried over. The first two
    /// packets do not wait.
    #[test]
    fn no_fraction_is_lost() {
        let mut bucket = Bucket::new(Rate::from_bps(3), Bytes::new(2));
        let mut at = Time::ZERO;
        for _ in 0..302 {
            at = bucket.wait(at, Bytes::new(1));
        }
        assert_eq!(at, Time::ZERO + Duration::from_secs(800));
    }
}
