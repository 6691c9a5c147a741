//! The upper bounds of quantities, far beyond sensible use. They prevent a slip or a hostile file from
//! exhausting memory or time.

use accord_units::{Bytes, Duration, Rate};

/// The longest time: 30 days.
pub const SPAN: Duration = Duration::from_secs(30 * 24 * 3600);
/// The longest delay: an hour.
pub const DELAY: Duration = Duration::from_secs(3600);
/// The highest rate: 100 Tbps.
pub const RATE: Rate = Rate::from_bps(100_000_000_000_000);
/// The largest amount of data: 1 EB.
pub const AMOUNT: Bytes = Bytes::new(1_000_000_000_000_000_000);
/// The longest name, in characters.
pub const NAME: usize = 100;
