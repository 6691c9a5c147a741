//! The priority and the processor time of threads.

use accord_units::Duration;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ScheduleParams, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The longest wait before the stop flag is examined again.
pub const LONGEST_WAIT: Duration = Duration::from_ms(100);

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
