//! Exact service: the time a line needs for packets, without losing a fraction.

use accord_units::{Bytes, Duration, Rate, Time};

/// Picoseconds in a second times bits in a byte.
const PS_BITS: u64 = 8_000_000_000_000;

/// A line that sends one packet after the other.
///
/// Back-to-back packets end at the exact multiples of size / rate, rounded down each by
/// less than a picosecond: the fraction is carried on, so that a busy line never runs
/// fast or slow. A change of its rate reaches the packet that it is sending.
#[derive(Clone, Debug)]
pub struct Service {
    /// In bit/s; while the line is at rest, the last rate that was not zero.
    rate: u64,
    /// When it is free; [`Time::MAX`] while it is at rest in the middle of a packet.
    busy_until: Time,
    /// Fraction of a picosecond owed, as a numerator over `rate`.
    fraction: u64,
    /// The size served last: most ports see one size over and over.
    size: Bytes,
    /// Time that it takes in whole picoseconds, and the rest as a numerator over `rate`.
    whole: Duration,
    rest: u64,
    /// At rest: the rate is zero.
    rests: Option<Box<Rest>>,
}

/// A line whose rate is zero.
#[derive(Clone, Debug)]
struct Rest {
    /// The rest of the packet in service, in bits times picoseconds in a second.
    left: u128,
}

impl Service {
    /// An idle line.
    ///
    /// # Panics
    /// At rate zero: it would have no rate to return to.
    pub fn new(rate: Rate) -> Service {
        assert!(rate > Rate::ZERO, "a line begins with a rate above zero");
        Service {
            rate: rate.as_bps(),
            busy_until: Time::ZERO,
            fraction: 0,
            size: Bytes::ZERO,
            whole: Duration::ZERO,
            rest: 0,
            rests: None,
        }
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        match self.rests {
            None => Rate::from_bps(self.rate),
            Some(_) => Rate::ZERO,
        }
    }

    /// The rate, or while that is zero the last one that was not.
    pub fn nominal_rate(&self) -> Rate {
        Rate::from_bps(self.rate)
    }

    /// Changes the rate at `now`: what is left of the packet in service is sent at the new one.
    /// At rate zero nothing is sent until the rate is another.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        let left = match &self.rests {
            Some(rest) => rest.left,
            None if self.busy_until < now => 0,
            None => {
                let span = u128::from(self.busy_until.since(now).as_ps());
                span * u128::from(self.rate) + u128::from(self.fraction)
            }
        };
        if rate == Rate::ZERO {
            self.rests = Some(Box::new(Rest { left }));
            // No packet has this size, so each sees that the line rests.
            self.size = Bytes::ZERO;
            if left > 0 {
                self.busy_until = Time::MAX;
            }
            return;
        }
        let busy_until = self.busy_until;
        *self = Service::new(rate);
        self.busy_until = match left {
            0 => busy_until.min(now),
            _ => {
                let rate = u128::from(self.rate);
                self.fraction = (left % rate) as u64;
                let span = u64::try_from(left / rate).unwrap_or(u64::MAX);
                now + Duration::from_ps(span)
            }
        };
    }

    /// When the line is free; [`Time::MAX`] if that is not known, as its rate is zero.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Bytes that the line still has to send at `now` of what it was given.
    pub fn unsent(&self, now: Time) -> f64 {
        match &self.rests {
            Some(rest) => rest.left as f64 / PS_BITS as f64,
            None if now >= self.busy_until => 0.0,
            None => self.busy_until.since(now).as_secs_f64() * self.rate as f64 / 8.0,
        }
    }

    /// Sends a packet that is ready at `now` as soon as the line is free; gives the time
    /// when its last bit is out, which is [`Time::MAX`] at rate zero.
    #[inline]
    pub fn send(&mut self, now: Time, size: Bytes) -> Time {
        if size != self.size {
            if let Some(rest) = &mut self.rests {
                rest.left += u128::from(size.get() * PS_BITS);
                self.busy_until = Time::MAX;
                return Time::MAX;
            }
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

    /// The transmission time of a packet of another size.
    fn measure(&mut self, size: Bytes) {
        let total = size.get() * PS_BITS;
        self.size = size;
        self.whole = Duration::from_ps(total / self.rate);
        self.rest = total % self.rate;
    }
}
