//! The clock of a gateway: the time since its start, and waiting.

use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::time::Instant;

/// The clock, which only goes forward.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Creates a clock that shows a second. Times before the start can so be written, too.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn new() -> Clock {
        // The kernel wakes this thread at the time asked for, not up to 50 µs later.
        let _ = nix::sys::prctl::set_timerslack(1);
        Clock(Instant::now())
    }

    /// The time.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn now(&self) -> Time {
        let since = Instant::now().saturating_duration_since(self.0);
        Time::ZERO + Duration::from_secs(1) + Duration::from(since)
    }

    /// Reads the calendar, by which the kernel stamps datagrams, together with this clock.
    pub fn calendar(&self) -> Calendar {
        let mut best = Calendar { now: self.now(), reads: TimeSpec::new(0, 0) };
        // A thread that loses the processor between two readings tries again.
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

    /// Waits until something is ready, or until `deadline`, at most half a second.
    pub fn wait(&self, deadline: Time, files: &mut [PollFd]) {
        let left = deadline.since(self.now()).min(Duration::from_ms(500));
        let left = TimeSpec::new(0, (left.as_ps() / 1_000) as i64);
        match ppoll(files, Some(left), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            // With these arguments it cannot fail in another way.
            Err(_) => std::thread::yield_now(),
        }
    }
}

/// A moment on the clock and in the calendar.
#[derive(Clone, Copy, Debug)]
pub struct Calendar {
    now: Time,
    reads: TimeSpec,
}

impl Calendar {
    /// Returns the time of a recent stamp: at most a second before or after the reading, in case the
    /// calendar was set.
    pub fn time(&self, stamp: TimeSpec) -> Time {
        let (stamp, reads): (std::time::Duration, std::time::Duration) =
            (stamp.into(), self.reads.into());
        let between = Duration::from(stamp.abs_diff(reads));
        if between > Duration::from_secs(1) {
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

    /// The calendar is set while datagrams wait: their stamps are of another time, and are not believed.
    #[test]
    fn stamps_of_a_calendar_that_was_set_are_not_believed() {
        let now = Time::ZERO + Duration::from_secs(5);
        let calendar = Calendar { now, reads: TimeSpec::new(1_700_000_000, 500_000_000) };
        let at = |seconds, nanos| calendar.time(TimeSpec::new(seconds, nanos));
        assert_eq!(at(1_700_000_000, 400_000_000) + Duration::from_ms(100), now);
        assert_eq!(at(1_700_000_000, 600_000_000), now + Duration::from_ms(100));
        for set in [1_700_003_600, 1_699_996_400, 0, i64::MAX] {
            assert_eq!(at(set, 0), now, "{set}");
        }
    }
}
