//! The host of programs that move real packets (Linux): the clock and the network commands.
#![cfg(target_os = "linux")]

mod clock;
mod iproute;

pub use clock::{Calendar, Clock};
pub use iproute::{Error, ip};
