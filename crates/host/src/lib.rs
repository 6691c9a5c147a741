//! The host of programs that move real packets (Linux): the clock, the network commands and the offloads
//! of devices.
#![cfg(target_os = "linux")]

mod clock;
mod iproute;
pub mod offload;

pub use clock::{Calendar, Clock};
pub use iproute::{Error, ip};
