//! The real clock: time since the start of the run, and waiting.

use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::time::Instant;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ScheduleParams, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Longest wait without a look around.
const PATIENCE: Duration = Duration::from_ms(100);

/// Shows the time since the start of the run, which may be ahead.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock of a run that starts in `delay`.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn starting_in(delay: std::time::Duration) -> Clock {
        Clock {
            start: Instant::now() + delay,
        }
    }

    /// Waits for the start of the run, or until `stopped`.
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

    /// The time; zero before the start.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn now(&self) -> Time {
        let since = Instant::now().saturating_duration_since(self.start);
        Time::ZERO + from_std(since)
    }

    /// The time of a stamp that the kernel took on its calendar clock a moment ago. What lies in
    /// the future, because that clock was set, is now.
    pub fn of_stamp(&self, stamp: TimeSpec) -> Time {
        let now = self.now();
        let Ok(calendar) = clock_gettime(ClockId::CLOCK_REALTIME) else {
            return now;
        };
        let age = std::time::Duration::from(calendar).saturating_sub(stamp.into());
        Time::from_ps(now.as_ps().saturating_sub(from_std(age).as_ps()))
    }

    /// Waits until there is something to read, until `deadline`, or for a tenth of a second.
    /// Before the start there is nothing to read.
    pub fn wait(&self, deadline: Time, sockets: &mut [PollFd]) {
        let left = deadline.since(self.now()).min(PATIENCE);
        let left = TimeSpec::new(0, (left.as_ps() / 1_000) as i64);
        match ppoll(sockets, Some(left), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            // It cannot fail otherwise with what it is given; a loop that spins would be worse
            // than one that is late.
            Err(_) => std::thread::yield_now(),
        }
    }
}

fn from_std(d: std::time::Duration) -> Duration {
    Duration::from_ns(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

/// CPU time that this thread has used.
pub fn used() -> Duration {
    let used = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    used.map_or(Duration::ZERO, |t| from_std(t.into()))
}

/// Asks the kernel to wake this thread when it asked for, not up to 50 µs later, and before all
/// ordinary threads. Gives whether the second was granted, which takes privileges (CAP_SYS_NICE);
/// without, lateness says what it costs.
pub fn sharpen() -> bool {
    let _ = nix::sys::prctl::set_timerslack(1);
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let lowest = ThreadPriority::from_posix(ScheduleParams { sched_priority: 1 });
    set_thread_priority_and_policy(thread_native_id(), lowest, fifo).is_ok()
}
