//! Quantities with units, and their text form.
//!
//! Every boundary of Accord speaks in these types; the unit is in the name of each
//! constructor and getter. Time is counted in whole picoseconds, so that one byte at
//! 1 Tbit/s (8 ps) is still exact and a run of 200 days still fits.
//!
//! ```
//! use accord_units::{Bytes, Duration, Rate};
//! let rate: Rate = "30 Mbps".parse()?;
//! assert_eq!(rate.transmission(Bytes::new(1000)), Duration::from_ps(266_666_666));
//! assert_eq!("2 ms".parse::<Duration>()?, Duration::from_ms(2));
//! assert_eq!(rate.to_string(), "30 Mbps");
//! # Ok::<(), accord_units::ParseError>(())
//! ```

mod quantity;
mod size;
mod text;
mod time;

pub use quantity::{Bytes, Rate};
pub use size::Size;
pub use text::ParseError;
pub use time::{Duration, Time};
