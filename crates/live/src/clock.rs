//! The real clock: time since the start of the run, and waiting.

use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeSpec, TimeVal, TimeValLike};
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
        Time::ZERO + Duration::from(since)
    }

    /// The calendar clock, on which the kernel stamps packets, against this one.
    pub fn calendar(&self) -> Calendar {
        let mut best = Calendar {
            now: self.now(),
            reads: TimeSpec::new(0, 0),
        };
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

    /// Waits until there is something to read, until `deadline`, or for a tenth of a second; gives
    /// whether there is. Before the start there is nothing to read.
    pub fn wait(&self, deadline: Time, sockets: &mut [PollFd]) -> bool {
        let left = deadline.since(self.now()).min(PATIENCE);
        let left = TimeSpec::new(0, (left.as_ps() / 1_000) as i64);
        match ppoll(sockets, Some(left), None) {
            Ok(ready) => ready > 0,
            Err(Errno::EINTR) => false,
            // It cannot fail otherwise with what it is given; a loop that spins would be worse
            // than one that is late.
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
    /// The time of a stamp that was taken lately; up to `limit`, in case that clock was set.
    pub fn time(&self, stamp: TimeSpec, limit: Time) -> Time {
        let (stamp, reads) = (stamp.into(), self.reads.into());
        let at = match std::time::Duration::checked_sub(stamp, reads) {
            Some(after) => self.now + Duration::from(after),
            None => {
                let age = Duration::from(std::time::Duration::saturating_sub(reads, stamp));
                Time::from_ps(self.now.as_ps().saturating_sub(age.as_ps()))
            }
        };
        at.min(limit)
    }
}

/// CPU time that this thread has used, in all and in the kernel.
pub fn used() -> (Duration, Duration) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
        return (Duration::ZERO, Duration::ZERO);
    };
    let time = |t: TimeVal| Duration::from_us(u64::try_from(t.num_microseconds()).unwrap_or(0));
    let (user, system) = (time(usage.user_time()), time(usage.system_time()));
    (user + system, system)
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
