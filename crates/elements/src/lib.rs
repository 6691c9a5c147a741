//! Links and ends of flows, made from a scenario, for every engine that moves packets.
//!
//! The simulator and the live engine have clocks of their own and keep packets in their own ways.
//! What a link does with a packet ([`port`], [`Loss`], [`InOrder`]), what an application does with
//! its sender ([`Session`]), and what is read of both for the record is the same, and is here.

mod ends;
mod link;
mod reading;
mod session;

pub use ends::ends;
pub use link::{InOrder, Loss, dice, port, timeline};
pub use reading::{read_flow, read_link};
pub use session::Session;
