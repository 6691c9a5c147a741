//! Controllers of Accord in quinn, and controllers of quinn in Accord.
//!
//! [quinn] is a widely used QUIC stack in Rust. Controllers are connected through its trait
//! [`quinn_proto::congestion::Controller`] in both directions:
//!
//! - [`Factory`] creates any supported controller of Accord for quinn's connections.
//! - [`FAMILIES`] are quinn's NewReno, CUBIC and BBR, for the engines of Accord. They bring
//!   [`STACK`] into a catalogue: transfers of quinn that carry flows in packets and live.
//! - [`with`] carries flows of tests by quinn, with any controller of that trait.
//! - [`family`](fn@family) makes a family of any other controller with that trait.
//!
//! ```
//! use accord_quinn::FAMILIES;
//!
//! let names: Vec<_> = FAMILIES.iter().map(|f| f.name).collect();
//! assert_eq!(names, ["quinn-newreno", "quinn-cubic", "quinn-bbr"]);
//! ```
//!
//! [quinn]: https://github.com/quinn-rs/quinn

mod carried;
mod clock;
mod end;
mod estimator;
mod factories;
mod families;
mod ours;
mod plain;
mod theirs;

pub use accord_family::Family;
pub use carried::with;
pub use clock::Clock;
pub use estimator::Estimator;
pub use factories::Made;
pub use families::{BBR, CUBIC, FAMILIES, NEWRENO, STACK, STACK_TLS, family};
pub use ours::{Factory, Ours, Refused};
pub use plain::Plain;
pub use theirs::Theirs;
