//! The way of a datagram.

use std::net::SocketAddr;

/// Where a datagram goes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The address.
    pub to: SocketAddr,
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// Whether it goes in one piece or not at all.
    pub whole: bool,
}
