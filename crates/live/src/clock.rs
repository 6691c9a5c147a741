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

/// The longest wait before the stop flag is examined again.
const PATIENCE: Duration = Duration::from_ms(100);

/// The clock of a run. It shows the time since the start, which may be in the future.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Creates the clock of a run that starts in `delay`.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn starting_in(delay: std::time::Duration) -> Clock {
        Clock { start: Instant::now() + delay }
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

    /// The time since the start. It is zero before the start.
    #[allow(clippy::disallowed_methods, reason = "here is where time comes in")]
    pub fn now(&self) -> Time {
        let since = Instant::now().saturating_duration_since(self.start);
        Time::ZERO + Duration::from(since)
    }

    /// Reads the calendar clock, on which the kernel stamps packets, together with this one.
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

    /// Waits until there is something to read, until `deadline`, or for a tenth of a second.
    /// Returns true if there is something to read. Before the start there is nothing.
    pub fn wait(&self, deadline: Time, sockets: &mut [PollFd]) -> bool {
        let left = deadline.since(self.now()).min(PATIENCE);
        let left = TimeSpec::new(0, (left.as_ps() / 1_000) as i64);
        match ppoll(sockets, Some(left), None) {
            Ok(ready) => ready > 0,
            Err(Errno::EINTR) => false,
            // With these arguments it cannot fail in another way. A spinning loop would be worse
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
    /// Returns the time of a recent stamp, at most `limit`, in case the calendar clock was set.
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

/// Returns the CPU time of this thread, in total and in the kernel.
pub fn used() -> (Duration, Duration) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
        return (Duration::ZERO, Duration::ZERO);
    };
    let time = |t: TimeVal| Duration::from_us(u64::try_from(t.num_microseconds()).unwrap_or(0));
    let (user, system) = (time(usage.user_time()), time(usage.system_time()));
    (user + system, system)
}

/// Asks the kernel for precise wake-ups of this thread, without the default slack of up to 50 µs,
/// and for a priority above all ordinary threads. Returns true if the priority was granted, which
/// requires a privilege (CAP_SYS_NICE). Without it, packets are later, which the run reports.
pub fn sharpen() -> bool {
    let _ = nix::sys::prctl::set_timerslack(1);
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let lowest = ThreadPriority::from_posix(ScheduleParams { sched_priority: 1 });
    set_thread_priority_and_policy(thread_native_id(), lowest, fifo).is_ok()
}
