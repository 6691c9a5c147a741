//! Traffic: the data that applications send, and when.
//!
//! A [`Demand`] is the data that the application of a flow wants to send. An [`Application`] generates it on
//! any clock. [`PacketSizes`] are laws of packet sizes. All random values come from a [`Dice`], one per seed,
//! entity and [`Purpose`], so an additional flow does not change the draws of others.
//!
//! ```
//! use accord_traffic::{Application, Demand};
//! use accord_units::{Bytes, Rate, Time};
//!
//! let demand = Demand::Constant(Rate::from_bps(8_000_000));
//! let mut application = Application::new(demand, Bytes::new(1000), None, 0, 1);
//! let step = application.act(Time::ZERO);
//! assert_eq!(step.supply, 1, "a packet now");
//! assert_eq!(step.again.map(|span| span.as_secs_f64()), Some(0.001), "and one in a millisecond");
//! ```

mod application;
mod browsing;
mod delay;
mod demand;
mod draw;
mod media;
mod random;
mod sizes;
mod web;

pub use application::{Application, Step, UnderWay};
pub use delay::Delay;
pub use demand::{Demand, Draw};
pub use media::Media;
pub use random::{Dice, Purpose, secret, stream};
pub use sizes::{LEAST as LEAST_PACKET, PacketSizes, Sizer};
pub use web::Web;
