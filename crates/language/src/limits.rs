//! The upper bounds of scenarios, far beyond sensible use. They prevent a slip or a hostile file from
//! exhausting memory or time.

pub(crate) use accord_form::limits::{AMOUNT, DELAY, NAME, RATE, SPAN};
pub(crate) use accord_scenario::LARGEST_PACKET as PACKET;
use accord_units::Duration;

/// The largest size of a scenario file, in bytes.
pub const TEXT: usize = 8 << 20;
/// The maximum number of flows of one run.
pub(crate) const FLOWS: usize = 1_000_000;
/// The maximum number of aggregates of one run.
pub(crate) const AGGREGATES: usize = 64;
/// The maximum number of aggregates that all queues together distinguish.
pub(crate) const PORT_AGGREGATES: usize = 1_000_000;
/// The maximum number of directed links of one run.
pub(crate) const LINKS: usize = 1_000_000;
/// The maximum number of links on the paths of all flows of one run, including route changes.
pub(crate) const HOPS: usize = 10_000_000;
/// The maximum number of links that are examined to find shortest paths.
pub(crate) const SEARCH: usize = 10_000_000;
/// The maximum number of points of a file's sweeps.
pub(crate) const POINTS: usize = 10_000;
/// The maximum number of readings: the values in a file times the number of times that sweeps or `each` read them.
pub(crate) const READS: usize = 20_000_000;
/// The maximum number of samples of a series.
pub(crate) const SAMPLES: u64 = 10_000_000;
/// The largest value of the least retransmission time-out: the longest possible time-out [RFC 6298
/// §2.5].
pub(crate) const MIN_RTO: Duration = Duration::from_secs(60);
/// The most delivery opportunities of a trace: two minutes at 1 Gbps, or three hours at 10 Mbps. The longest
/// trace shipped with mahimahi has half a million.
pub(crate) const OPPORTUNITIES: usize = 10_000_000;
/// The latest time of a trace, in milliseconds: that of the longest run.
pub(crate) const TRACE_LENGTH: u32 = 30 * 24 * 3600 * 1000;
/// The maximum number of steps of a rate.
pub(crate) const STEPS: usize = 100_000;
/// The largest size of a file of a trace or of steps, in bytes.
pub(crate) const TRACE_TEXT: usize = 128 << 20;
/// The maximum number of sizes of a mix of packets.
pub(crate) const SIZES: usize = 100;
/// The longest time in an expectation. Up to this value, picoseconds survive the conversion to
/// floating-point seconds and back.
pub(crate) const FIGURE: Duration = Duration::from_secs(1000);
/// The maximum number of keys of a dotted path.
pub(crate) const PATH: usize = 32;
/// The maximum number of flows and links of all points of a file's sweeps together.
pub(crate) const POINTS_FLOWS: usize = 2_000_000;
/// The maximum number of sweeps of one file.
pub(crate) const SWEEPS: usize = 16;
/// The maximum number of expectations of one file.
pub(crate) const EXPECTATIONS: usize = 10_000;
