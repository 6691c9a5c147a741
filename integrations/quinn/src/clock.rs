//! Conversion between quinn's instants and Accord's times.

use accord_units::{Duration, Time};
use std::time::Instant;

/// A clock that presents the time of a run to quinn.
///
/// quinn uses [`Instant`], which cannot be created from a number. The clock therefore has one instant as its
/// zero, and all others are sums with it. quinn's controllers use only differences, so their behaviour does
/// not depend on the zero.
///
/// An instant counts nanoseconds and a time picoseconds, so fractions of a nanosecond are cut off.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: Instant,
}

impl Clock {
    /// Creates a clock whose zero is this instant.
    pub fn starting_at(zero: Instant) -> Clock {
        Clock { zero }
    }

    /// Returns the instant of a time.
    pub fn instant(&self, time: Time) -> Instant {
        self.zero + std::time::Duration::from(time.since(Time::ZERO))
    }

    /// Returns the time of an instant, zero for one before the clock's zero.
    pub fn time(&self, instant: Instant) -> Time {
        let span = instant.saturating_duration_since(self.zero);
        Time::ZERO + Duration::from(span)
    }
}

impl Default for Clock {
    fn default() -> Clock {
        #[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
        let zero = Instant::now();
        Clock { zero }
    }
}
