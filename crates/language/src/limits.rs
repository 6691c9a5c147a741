//! What is too much. The bounds are far beyond sensible use; they keep a slip or a
//! hostile file from taking the machine's memory or time.

use accord_units::{Bytes, Duration, Rate};

/// Size of a scenario file, in bytes.
pub(crate) const TEXT: usize = 8 << 20;
/// Flows of one run.
pub(crate) const FLOWS: usize = 1_000_000;
/// Aggregates of one run.
pub(crate) const AGGREGATES: usize = 64;
/// Aggregates that all queues together tell apart.
pub(crate) const PORT_AGGREGATES: usize = 1_000_000;
/// Directed links of one run.
pub(crate) const LINKS: usize = 1_000_000;
/// Links on the paths of all flows of one run, route changes included.
pub(crate) const HOPS: usize = 10_000_000;
/// Links looked at to find shortest paths.
pub(crate) const SEARCH: usize = 10_000_000;
/// Points of a file's sweeps.
pub(crate) const POINTS: usize = 10_000;
/// Values of a file times how often sweeps or `each` make it necessary to read them.
pub(crate) const READS: usize = 20_000_000;
/// Samples of a series.
pub(crate) const SAMPLES: u64 = 10_000_000;
/// Length of a run: 30 days.
pub(crate) const SPAN: Duration = Duration::from_secs(30 * 24 * 3600);
/// Propagation delay: an hour.
pub(crate) const DELAY: Duration = Duration::from_secs(3600);
/// Least retransmission time-out: the longest time-out there is [RFC 6298 §2.5].
pub(crate) const MIN_RTO: Duration = Duration::from_secs(60);
/// Rate: 100 Tbps.
pub(crate) const RATE: Rate = Rate::from_bps(100_000_000_000_000);
/// Sizes of a mix of packets.
pub(crate) const SIZES: usize = 100;
/// Size of a packet: that of IP.
pub(crate) const PACKET: Bytes = Bytes::new(65_535);
/// A time that is expected of a run: so long that picoseconds still survive the way into
/// floating seconds and back.
pub(crate) const FIGURE: Duration = Duration::from_secs(1000);
/// Amount of data that an application sends at once: 1 EB.
pub(crate) const AMOUNT: Bytes = Bytes::new(1_000_000_000_000_000_000);
/// Keys of a dotted path.
pub(crate) const PATH: usize = 32;
/// Length of a name, in characters.
pub(crate) const NAME: usize = 100;
/// Flows and links of all points of a file's sweeps together.
pub(crate) const POINTS_FLOWS: usize = 2_000_000;
/// Sweeps of one file.
pub(crate) const SWEEPS: usize = 16;
/// Expectations of one file.
pub(crate) const EXPECTATIONS: usize = 10_000;
