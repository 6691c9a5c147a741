//! Quantities with units, and their text form.
//!
//! Every interface of Accord uses these types. The name of each constructor and getter states its unit. Time
//! is counted in whole picoseconds, so one byte at 1 Tbit/s (8 ps) is exact and a run of 200 days fits.
//!
//! ```
//! use accord_units::{Bytes, Duration, Rate, Time};
//!
//! let rate: Rate = "30 Mbps".parse()?;
//! let service = rate.transmission(Bytes::new(1000));
//! assert_eq!(service, Duration::from_ps(266_666_666));
//!
//! // A packet that is put on this link at 2 ms leaves it one service later.
//! let start = Time::ZERO + "2 ms".parse::<Duration>()?;
//! assert_eq!((start + service).as_ps(), 2_266_666_666);
//!
//! // Texts are printed without loss, and a unit is mandatory.
//! assert_eq!(rate.to_string(), "30 Mbps");
//! assert!("30".parse::<Rate>().is_err());
//! # Ok::<(), accord_units::ParseError>(())
//! ```

mod quantity;
mod round;
mod size;
mod text;
mod time;
mod words;

pub use quantity::{Bytes, Rate};
pub use size::Size;
pub use text::{ParseError, percent};
pub use time::{Duration, Time};
pub use words::Words;
