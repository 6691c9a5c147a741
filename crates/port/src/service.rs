//! Exact service: the transmission times of a line, without loss of fractions of a picosecond.

use crate::Bucket;
use crate::opportunities::Opportunities;
use accord_units::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

/// Picoseconds in a second times bits in a byte.
const PS_BITS: u64 = 8_000_000_000_000;

/// A line that sends packets one after the other.
///
/// Back-to-back packets end at the exact multiples of size / rate, each rounded down by less than a
/// picosecond. The fraction is carried over, so a busy line never runs fast or slow. A change of
/// the rate also applies to the packet that the line is sending.
#[derive(Clone, Debug)]
pub struct Service {
    /// The rate in bit/s. While the line is stopped, it is the last rate above zero.
    rate: u64,
    /// The time at which the line is free. It is [`Time::MAX`] while the line is stopped in the
    /// middle of a packet.
    busy_until: Time,
    /// The fraction of a picosecond owed, as a numerator over `rate`.
    fraction: u64,
    /// The last size served. Most ports see a single size over and over.
    size: Bytes,
    /// The transmission time of this size in whole picoseconds, and the remainder as a numerator
    /// over `rate`.
    whole: Duration,
    rest: u64,
    /// The state of a line that does not send at its rate. `size` is then zero, which is not the
    /// size of any packet, so every packet takes the slow path. Other lines pay nothing for this.
    unusual: Option<Box<Unusual>>,
}

/// A line that does not send at its rate.
#[derive(Clone, Debug)]
enum Unusual {
    /// The rate is zero. The value is the rest of the packet in service, in bits times picoseconds
    /// per second.
    Rest(u128),
    /// The line sends at delivery opportunities. The rate is their mean.
    Trace(Opportunities),
    /// The line begins a packet once the bucket has tokens for it.
    Shaped(Bucket),
}

impl Service {
    /// Creates an idle line.
    ///
    /// # Panics
    /// Panics if the rate is zero, because the line would have no rate to return to.
    pub fn new(rate: Rate) -> Service {
        assert!(rate > Rate::ZERO, "a line begins with a rate above zero");
        Service {
            rate: rate.as_bps(),
            busy_until: Time::ZERO,
            fraction: 0,
            size: Bytes::ZERO,
            whole: Duration::ZERO,
            rest: 0,
            unusual: None,
        }
    }

    /// Creates an idle line that sends `bytes` bytes at each of the times, in milliseconds. They
    /// repeat after the last one. `mean` is their rate.
    ///
    /// # Panics
    /// Panics if the mean or the last time is zero.
    pub fn with_trace(mean: Rate, times: Arc<[u32]>, bytes: Bytes) -> Service {
        let trace = Opportunities::new(times, bytes);
        Service { unusual: Some(Box::new(Unusual::Trace(trace))), ..Service::new(mean) }
    }

    /// Creates an idle line that begins to send a packet once the bucket has tokens for it.
    ///
    /// # Panics
    /// Panics if the rate is zero.
    pub fn shaped(rate: Rate, bucket: Bucket) -> Service {
        Service { unusual: Some(Box::new(Unusual::Shaped(bucket))), ..Service::new(rate) }
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        match self.unusual.as_deref() {
            Some(Unusual::Rest(_)) => Rate::ZERO,
            _ => Rate::from_bps(self.rate),
        }
    }

    /// The rate at which the line serves a queue: its own rate, or that of its bucket if it is less.
    pub fn sustained_rate(&self) -> Rate {
        match self.unusual.as_deref() {
            Some(Unusual::Shaped(bucket)) => self.rate().min(bucket.rate()),
            _ => self.rate(),
        }
    }

    /// The rate or, while it is zero, the last rate above zero.
    pub fn nominal_rate(&self) -> Rate {
        Rate::from_bps(self.rate)
    }

    /// Changes the rate at `now`. The rest of the packet in service is sent at the new rate. At
    /// rate zero the line stops until the rate changes again. A line with a trace or a bucket keeps
    /// its rate.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        let left = match self.unusual.as_deref() {
            Some(Unusual::Rest(left)) => *left,
            Some(Unusual::Trace(_) | Unusual::Shaped(_)) => return,
            None if self.busy_until < now => 0,
            None => {
                let span = u128::from(self.busy_until.since(now).as_ps());
                span * u128::from(self.rate) + u128::from(self.fraction)
            }
        };
        if rate == Rate::ZERO {
            self.unusual = Some(Box::new(Unusual::Rest(left)));
            // No packet has this size, so every packet takes the path on which the line is stopped.
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

    /// The time at which the line is free. It is [`Time::MAX`] while the rate is zero and a packet
    /// is in service.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Returns the bytes in the line that have not been sent by `now`.
    pub fn unsent(&self, now: Time) -> f64 {
        match self.unusual.as_deref() {
            Some(Unusual::Rest(left)) => *left as f64 / PS_BITS as f64,
            Some(Unusual::Trace(trace)) => trace.unsent(now) as f64,
            _ if now >= self.busy_until => 0.0,
            _ => self.busy_until.since(now).as_secs_f64() * self.rate as f64 / 8.0,
        }
    }

    /// Sends a packet that is ready at `now` as soon as the line is free. Returns its departure,
    /// which is [`Time::MAX`] at rate zero.
    #[inline]
    pub fn send(&mut self, now: Time, size: Bytes) -> Time {
        if size != self.size {
            if self.unusual.is_some() {
                return self.send_unusual(now, size);
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

    #[cold]
    fn send_unusual(&mut self, now: Time, size: Bytes) -> Time {
        let busy_until = self.busy_until;
        self.busy_until = match self.unusual.as_deref_mut() {
            Some(Unusual::Rest(left)) => {
                *left += u128::from(size.get() * PS_BITS);
                Time::MAX
            }
            Some(Unusual::Trace(trace)) => trace.send(now, busy_until, size),
            Some(Unusual::Shaped(bucket)) => {
                let begin = bucket.wait(now.max(busy_until), size);
                begin + Rate::from_bps(self.rate).transmission(size)
            }
            None => busy_until,
        };
        self.busy_until
    }

    /// Stores the transmission time of a packet of another size.
    fn measure(&mut self, size: Bytes) {
        let total = size.get() * PS_BITS;
        self.size = size;
        self.whole = Duration::from_ps(total / self.rate);
        self.rest = total % self.rate;
    }
}
