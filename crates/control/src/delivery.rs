//! Delivery-rate samples, for controllers that ask for them
//! ([`Capabilities::deliveries`](crate::Capabilities::deliveries)).
//!
//! The transport takes them by draft-ietf-ccwg-bbr-06 §4.1. The names in brackets are the draft's:
//! C for the connection, RS for the sample and P for a packet. All amounts are in bytes on the
//! wire.

use accord_units::{Duration, Rate};

/// The deliveries that an acknowledgement reports, and the sample that they give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The bytes delivered since the connection began [C.delivered].
    pub total: u64,
    /// The bytes that this acknowledgement is the first to report as arrived [RS.newly_acked].
    pub acked: u64,
    /// The round-trip time of the packet that caused this acknowledgement [RS.rtt].
    pub rtt: Duration,
    /// The bytes delivered when the newest of these packets was sent [RS.prior_delivered].
    pub prior: u64,
    /// The bytes delivered since then [RS.delivered].
    pub delivered: u64,
    /// The longer of the times of their transmission and of their acknowledgement [RS.interval].
    pub interval: Duration,
    /// The delivery rate [RS.delivery_rate]. It is zero if the interval is shorter than any round-trip time
    /// so far, because no sample is reliable then.
    pub rate: Rate,
    /// True if the application had too little to send at some time in that interval
    /// [RS.is_app_limited].
    pub app_limited: bool,
    /// The bytes in flight when the newest packet was sent, including that packet
    /// [RS.tx_in_flight].
    pub tx_in_flight: u64,
    /// The bytes presumed lost since the newest packet was sent [RS.lost].
    pub lost: u64,
    /// True until all packets that were out when a loss was found are acknowledged.
    pub in_recovery: bool,
    /// True if the window was full at some time after the first packet in flight was sent
    /// [C.is_cwnd_limited].
    pub window_limited: bool,
}

/// A packet that is presumed lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The number of the packet.
    pub number: u64,
    /// The bytes delivered since the connection began [C.delivered].
    pub total: u64,
    /// The size of the packet [P.size].
    pub size: u64,
    /// The bytes in flight when it was sent, including the packet [P.tx_in_flight].
    pub tx_in_flight: u64,
    /// The bytes presumed lost since it was sent, including the packet [C.lost - P.lost].
    pub lost: u64,
    /// True if the application had too little to send when the packet was sent [P.is_app_limited].
    pub app_limited: bool,
}
