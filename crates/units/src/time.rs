//! Instants and spans on the engines' clock, in whole picoseconds.

use crate::round::rounded;
use crate::text::{Unit, text};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A span of time in picoseconds; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// An instant later than any event, for "never".
    pub const MAX: Time = Time(u64::MAX);

    /// Creates the instant `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// The picoseconds since the start.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The seconds since the start.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Creates the instant `s` seconds after the start, rounded to the picosecond. A negative
    /// number and NaN give the start. A number that is too large gives [`Time::MAX`].
    pub fn from_secs_f64(s: f64) -> Time {
        Time(rounded(s * PS_PER_S as f64))
    }

    /// Returns the span since `earlier`, or zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Returns the span since the start.
    #[inline]
    pub const fn since_start(self) -> Duration {
        Duration(self.0)
    }
}

impl Duration {
    /// A span of zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest span, about 213 days.
    pub const MAX: Duration = Duration(u64::MAX);

    /// Creates a span of `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Duration {
        Duration(ps)
    }

    /// Creates a span of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Duration {
        Duration(ns.saturating_mul(PS_PER_NS))
    }

    /// Creates a span of `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Duration {
        Duration(us.saturating_mul(PS_PER_US))
    }

    /// Creates a span of `ms` milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Duration {
        Duration(ms.saturating_mul(PS_PER_MS))
    }

    /// Creates a span of `s` seconds.
    #[inline]
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(PS_PER_S))
    }

    /// Creates a span of `s` seconds, rounded to the picosecond. A negative number and NaN give
    /// zero. A number that is too large gives [`Duration::MAX`].
    #[inline]
    pub fn from_secs_f64(s: f64) -> Duration {
        Duration(rounded(s * PS_PER_S as f64))
    }

    /// The span in picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The span in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span in milliseconds.
    #[inline]
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / PS_PER_MS as f64
    }

    /// Returns this span less `other`, or zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// Returns `true` for a span of zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the span times `factor`, rounded. A negative factor and NaN give zero.
    #[inline]
    pub fn mul_f64(self, factor: f64) -> Duration {
        Duration(rounded(self.0 as f64 * factor))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

/// Saturates at zero, as [`Duration::saturating_sub`] does.
impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, d: Duration) -> Duration {
        self.saturating_sub(d)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}

/// Saturates at [`Duration::MAX`], about 213 days.
impl From<std::time::Duration> for Duration {
    fn from(d: std::time::Duration) -> Duration {
        let ps = d.as_nanos().saturating_mul(u128::from(PS_PER_NS));
        Duration(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Truncates fractions of a nanosecond.
impl From<Duration> for std::time::Duration {
    fn from(d: Duration) -> std::time::Duration {
        std::time::Duration::from_nanos(d.0 / PS_PER_NS)
    }
}

/// The units of time, shortest first.
pub(crate) const UNITS: &[Unit] = &[
    Unit::new("ps", 1.0),
    Unit::new("ns", PS_PER_NS as f64),
    Unit::new("us", PS_PER_US as f64),
    Unit::new("µs", PS_PER_US as f64).alias(),
    Unit::new("ms", PS_PER_MS as f64),
    Unit::new("s", PS_PER_S as f64),
    Unit::new("min", 60.0 * PS_PER_S as f64).alias(),
    Unit::new("h", 3600.0 * PS_PER_S as f64).alias(),
];

text!(Duration, UNITS, "0 s", "a time such as \"2 ms\" or \"0.5 s\"");

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.since_start().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration as Std;

    #[test]
    fn the_time_of_the_standard_library_goes_in_and_out() {
        let there = Duration::from(Std::new(2, 3));
        assert_eq!(there, Duration::from_secs(2) + Duration::from_ns(3));
        assert_eq!(Std::from(there), Std::new(2, 3));
        assert_eq!(Std::from(Duration::from_ps(1999)), Std::from_nanos(1));
        assert_eq!(Duration::from(Std::MAX), Duration::MAX);
    }
}
