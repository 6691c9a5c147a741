//! Reports of the kernel, and decisions for it: the layout of `bpf/tcp.bpf.c`.

use accord_units::words;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The connection is closed, or has another congestion control.
pub const CLOSED: u32 = 1;
/// The window was full since the last report, or slow start may continue.
pub const WINDOW_LIMITED: u32 = 2;
/// The application had too little to send during the sample of the delivery rate.
pub const APP_LIMITED: u32 = 4;
/// The connection continues as Reno, since no decision came.
pub const ALONE: u32 = 8;
/// There is a sample of the delivery rate.
pub const SAMPLE: u32 = 16;
/// The report follows an acknowledgement.
pub const ACKNOWLEDGED: u32 = 32;

/// A report on a connection: totals since its start, and the latest sample. A number counts packets
/// unless stated otherwise, and wraps around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, IntoBytes)]
#[repr(C)]
pub struct Report {
    /// The time in nanoseconds, by the monotonic clock.
    pub now: u64,
    /// The pace in bytes of payload per second.
    pub pacing_rate: u64,
    /// The slot of the connection's decisions.
    pub slot: u32,
    /// The generation of the connection, which distinguishes it from earlier ones in the slot.
    pub generation: u32,
    /// The number of the report.
    pub number: u32,
    /// The flags, such as [`CLOSED`].
    pub flags: u32,
    /// The state: see [`State`].
    pub state: u32,
    /// Round trips.
    pub rounds: u32,
    /// Packets delivered.
    pub delivered: u32,
    /// Packets delivered whose acknowledgements echoed marks.
    pub delivered_ce: u32,
    /// Packets declared lost.
    pub lost: u32,
    /// Packets sent, including retransmissions.
    pub sent: u32,
    /// The latest round-trip time in microseconds, or a negative number without one.
    pub rtt_us: i32,
    /// The smallest round-trip time since the previous report in microseconds, or a negative number without one.
    pub least_rtt_us: i32,
    /// The smoothed round-trip time in microseconds.
    pub srtt_us: u32,
    /// The number of packets delivered while the sample's packet was in flight.
    pub sample_delivered: u32,
    /// The number of packets delivered when that packet was sent.
    pub sample_prior: u32,
    /// The interval of the sample in microseconds.
    pub sample_interval_us: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Packets in flight before the acknowledgement.
    pub prior_in_flight: u32,
    /// Packets neither acknowledged nor selectively acknowledged, including those declared lost.
    pub unacknowledged: u32,
    /// The window in force.
    pub cwnd: u32,
    /// The slow-start threshold in force.
    pub ssthresh: u32,
    /// The largest payload of a packet, in bytes.
    pub mss: u32,
    /// The bytes of the TCP header.
    pub header: u32,
    /// Round trips with losses.
    pub losses: u32,
    /// Timeouts.
    pub timeouts: u32,
    /// Timeouts of a packet that had timed out.
    pub repeated_timeouts: u32,
    /// Round trips with marks.
    pub marks: u32,
    /// Congestion responses undone.
    pub undone: u32,
    /// Periods without data in flight longer than the retransmission timeout.
    pub idles: u32,
    /// Restarts after periods without application data.
    pub restarts: u32,
}

words! {
    /// The state of a connection in the kernel (`enum tcp_ca_state`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State by word {
        /// No congestion.
        Open = "open",
        /// Packets arrived out of order, or twice.
        Disorder = "disorder",
        /// The window was reduced by marks, or by a drop in the host's own queue.
        Reduced = "reduced",
        /// Losses are being repaired.
        Recovery = "recovery",
        /// A timeout.
        Loss = "loss",
    }
}

impl Report {
    /// Reads a report. Returns `None` if bytes are missing.
    pub fn read(bytes: &[u8]) -> Option<Report> {
        Report::read_from_prefix(bytes).ok().map(|(report, _)| report)
    }

    /// Returns true if a flag is set.
    pub fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The state.
    pub fn state(&self) -> State {
        *State::ALL.get(self.state as usize).unwrap_or(&State::Loss)
    }
}

/// A decision on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The generation of its connection.
    pub generation: u32,
    /// The number of the report that it answers.
    pub answered: u32,
    /// The window in packets. The BPF program bounds it to 1 to 2^20.
    pub cwnd: u32,
    /// The slow-start threshold in packets.
    pub ssthresh: u32,
    /// A counter. When it changes, the samples of the next round trip are application-limited.
    pub limited: u32,
    /// The pace in bytes of payload per second, or `u64::MAX` for none. The BPF program bounds it to at least
    /// ten packets per second.
    pub pace: u64,
    /// The time of the report that it answers.
    pub stamp: u64,
}

/// The slot of a connection's decisions, which the kernel reads while this program writes.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Slot {
    /// The version, odd while the slot is being written.
    version: AtomicU32,
    generation: AtomicU32,
    answered: AtomicU32,
    cwnd: AtomicU32,
    ssthresh: AtomicU32,
    limited: AtomicU32,
    pace: AtomicU64,
    stamp: AtomicU64,
}

impl Slot {
    /// Writes a decision. Only one thread may write.
    pub fn write(&self, decision: &Decision) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.generation.store(decision.generation, Ordering::Relaxed);
        self.answered.store(decision.answered, Ordering::Relaxed);
        self.cwnd.store(decision.cwnd, Ordering::Relaxed);
        self.ssthresh.store(decision.ssthresh, Ordering::Relaxed);
        self.limited.store(decision.limited, Ordering::Relaxed);
        self.pace.store(decision.pace, Ordering::Relaxed);
        self.stamp.store(decision.stamp, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let report = Report { now: 1 << 40, rtt_us: -1, restarts: 7, ..Report::default() };
        let bytes = report.as_bytes();
        assert_eq!(bytes.len(), 2 * 8 + 30 * 4);
        assert_eq!(Report::read(bytes), Some(report));
        assert_eq!(Report::read(&bytes[1..]), None);
    }

    #[test]
    fn a_slot_is_a_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }
}
