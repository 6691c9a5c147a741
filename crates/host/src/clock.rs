//! The clock of a program, and waiting for files.

use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::time::Instant;

/// The time since a start, which may be in the future. The clock never goes back.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Creates a clock that starts in `delay`.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn starting_in(delay: Duration) -> Clock {
        Clock { start: Instant::now() + std::time::Duration::from(delay) }
    }

    /// Creates a clock that shows one second, which leaves room for times before its creation.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn at_one_second() -> Clock {
        let now = Instant::now();
        Clock { start: now.checked_sub(std::time::Duration::from_secs(1)).unwrap_or(now) }
    }

    /// The time since the start. It is zero before the start.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn now(&self) -> Time {
        let since = Instant::now().saturating_duration_since(self.start);
        Time::ZERO + Duration::from(since)
    }

    /// Waits for the start, or until `stopped`.
    #[allow(clippy::disallowed_methods, reason = "here is where waiting is done")]
    pub fn wait_for_start(&self, stopped: impl Fn() -> bool) {
        while !stopped() {
            let left = self.start.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(std::time::Duration::from_millis(100)));
        }
    }

    /// Reads the calendar clock, with which the kernel stamps packets, together with this one.
    pub fn calendar(&self) -> Calendar {
        let mut best = Calendar { now: self.now(), reads: TimeSpec::new(0, 0) };
        // Tries again if the thread loses the processor between the readings.
        for _ in 0..3 {
            let before = self.now();
            let reads = clock_gettime(ClockId::CLOCK_REALTIME);
            let after = self.now();
            if let Ok(reads) = reads {
                best = Calendar { now: after, reads };
            }
            if after.since(before) < Duration::from_us(5) {
                break;
            }
        }
        best
    }

    /// Waits until a file is ready, until `deadline`, or for `most`, which is less than a second. Returns
    /// true if a file is ready. Before the start, no file counts as ready.
    pub fn wait(&self, deadline: Time, most: Duration, files: &mut [PollFd]) -> bool {
        let left = deadline.since(self.now()).min(most);
        let left = TimeSpec::new(0, (left.as_ps() / 1_000) as i64);
        match ppoll(files, Some(left), None) {
            Ok(ready) => ready > 0,
            Err(Errno::EINTR) => false,
            // With these arguments ppoll fails only due to signals. A spinning loop would be worse
            // than lateness.
            Err(_) => {
                std::thread::yield_now();
                false
            }
        }
    }
}

/// A moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Calendar {
    now: Time,
    reads: TimeSpec,
}

impl Calendar {
    /// Returns the time of a kernel time stamp that is at most `apart` from the reading. Any other stamp was
    /// made before the calendar was set, so the result is then the time of the reading.
    pub fn time(&self, stamp: TimeSpec, apart: Duration) -> Time {
        let (stamp, reads): (std::time::Duration, std::time::Duration) =
            (stamp.into(), self.reads.into());
        let between = Duration::from(stamp.abs_diff(reads));
        if between > apart {
            self.now
        } else if stamp > reads {
            self.now + between
        } else {
            Time::from_ps(self.now.as_ps().saturating_sub(between.as_ps()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_a_calendar_that_was_set_are_not_believed() {
        let now = Time::ZERO + Duration::from_secs(5);
        let calendar = Calendar { now, reads: TimeSpec::new(1_700_000_000, 500_000_000) };
        let at =
            |seconds, nanos| calendar.time(TimeSpec::new(seconds, nanos), Duration::from_secs(1));
        assert_eq!(at(1_700_000_000, 400_000_000) + Duration::from_ms(100), now);
        assert_eq!(at(1_700_000_000, 600_000_000), now + Duration::from_ms(100));
        for set in [1_700_003_600, 1_699_996_400, 0, i64::MAX] {
            assert_eq!(at(set, 0), now, "{set}");
        }
    }

    #[test]
    fn a_clock_shows_zero_before_its_start() {
        assert_eq!(Clock::starting_in(Duration::from_secs(3600)).now(), Time::ZERO);
        assert!(Clock::at_one_second().now() >= Time::ZERO + Duration::from_secs(1));
    }
}
