//! Exact service: the time a line needs for packets, without losing a fraction.

use accord_units::{Bytes, Duration, Rate, Time};

/// Picoseconds in a second times bits in a byte.
const PS_BITS: u64 = 8_000_000_000_000;

/// A line of a fixed rate that sends one packet after the other.
///
/// Back-to-back packets end at the exact multiples of size / rate, rounded down each by
/// less than a picosecond: the fraction is carried on, so that a busy line never runs
/// fast or slow.
#[derive(Clone, Debug)]
pub struct Service {
    rate: u64,
    busy_until: Time,
    /// Fraction of a picosecond owed, as a numerator over `rate`.
    fraction: u64,
    /// The size served last: most ports see one size over and over.
    size: Bytes,
    /// Time that it takes in whole picoseconds, and the rest as a numerator over `rate`.
    whole: Duration,
    rest: u64,
}

impl Service {
    /// An idle line.
    ///
    /// # Panics
    /// At rate zero.
    pub fn new(rate: Rate) -> Service {
        assert!(
            rate > Rate::ZERO,
            "a line of rate zero never sends anything"
        );
        Service {
            rate: rate.as_bps(),
            busy_until: Time::ZERO,
            fraction: 0,
            size: Bytes::ZERO,
            whole: Duration::ZERO,
            rest: 0,
        }
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate)
    }

    /// Changes the rate, from the next packet on.
    ///
    /// # Panics
    /// At rate zero.
    pub fn set_rate(&mut self, rate: Rate) {
        *self = Service {
            busy_until: self.busy_until,
            ..Service::new(rate)
        };
    }

    /// When the line is free.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Sends a packet that is ready at `now` as soon as the line is free; gives the time
    /// when its last bit is out.
    #[inline]
    pub fn send(&mut self, now: Time, size: Bytes) -> Time {
        if size != self.size {
            self.measure(size);
        }
        if now > self.busy_until {
            self.busy_until = now;
            self.fraction = 0;
        }
        self.busy_until += self.whole;
        if self.rest > 0 {
            self.fraction += self.rest;
            if self.fraction >= self.rate {
                self.fraction -= self.rate;
                self.busy_until += Duration::from_ps(1);
            }
        }
        self.busy_until
    }

    /// How long a packet of another size takes.
    fn measure(&mut self, size: Bytes) {
        let total = size.get() * PS_BITS;
        self.size = size;
        self.whole = Duration::from_ps(total / self.rate);
        self.rest = total % self.rate;
    }
}
