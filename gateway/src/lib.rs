//! The gateway: contracted rates and weights between sites, over a network of somebody else.
//!
//! A gateway at the edge of a site takes the packets of a TUN device, queues them, and sends them encrypted
//! to the gateway of another site. A controller sets the rate: it keeps a target of the tunnel's bytes queued
//! in the network [Xia05 note 2, Har02 §VII]. So a tunnel gets a contracted rate and a weighted share of a
//! bottleneck without support from routers.
//!
//! [`Gateway`] is the whole of it except for the operating system: packets and datagrams in, datagrams and
//! packets out. It has no clock and does no I/O. [`run`] drives it with a device, a socket and a clock. The
//! wire format is WireGuard's, through boringtun ([`WireGuard`]).

mod breaker;
pub mod check;
pub mod config;
#[cfg(target_os = "linux")]
mod driver;
mod edge;
mod error;
mod failover;
mod flood;
mod gateway;
pub mod inner;
pub mod keys;
pub mod message;
pub mod outer;
mod path_mtu;
mod peer;
mod promise;
mod receiver;
mod repair;
mod routes;
mod sender;
mod sessions;
pub mod status;
#[cfg(test)]
mod tests;
pub mod too_big;
mod trial;
mod wireguard;

pub use accord_port::ClassCounts;
pub use accord_transport::tunnel::repair::{Missing, Place};
pub use breaker::{Breaker, Cause};
#[cfg(target_os = "linux")]
pub use driver::{Ended, Options, RENEWAL, Taken, guard, run, taken};
pub use edge::{Head, wire_size};
pub use error::RunError;
pub use gateway::{Dropped, Gateway, Output};
pub use path_mtu::{PathMtu, Probe};
pub use peer::{Peer, Traffic, Way};
pub use promise::Promise;
pub use receiver::Receiver;
pub use sender::{Sender, State};
pub use sessions::{Opened, Sessions};
pub use trial::{LONGEST as LONGEST_TRIAL, TrialStatus};
pub use wireguard::{PeerKeys, WireGuard};
