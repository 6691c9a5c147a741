//! The way of a datagram.

use std::net::SocketAddr;

/// The destination and header fields of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The address.
    pub to: SocketAddr,
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// True if it goes in one piece or not at all.
    pub whole: bool,
}
