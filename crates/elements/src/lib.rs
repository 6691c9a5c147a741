//! Links and ends of flows, made from a scenario, for every engine that moves packets.
//!
//! The simulator and the live engine have clocks of their own and keep packets in their own ways.
//! They share the rest, which is here: the treatment of a packet by a link ([`port`], [`Loss`],
//! [`InOrder`]), the use of a sender by an application ([`Session`]), and the readings of both for
//! the record.

mod ends;
mod link;
mod reading;
mod session;

pub use ends::ends;
pub use link::{InOrder, Loss, dice, port, timeline};
pub use reading::{read_flow, read_link};
pub use session::Session;
