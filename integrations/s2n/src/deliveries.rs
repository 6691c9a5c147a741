//! Samples of the delivery rate [draft-ietf-ccwg-bbr-06 §4.1], from s2n-quic's callbacks.
//!
//! s2n-quic returns the stored data of the newest packet of an acknowledgement, and the bytes of
//! all packets. The sample needs no more.

use accord_control::{Delivery, Lost};
use accord_units::{Duration, Rate, Time};

/// The data of a packet, which s2n-quic stores until it is acknowledged or lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub(crate) number: u64,
    pub(crate) sent: Time,
    delivered: u64,
    delivered_time: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

/// The state of a connection.
#[derive(Clone, Debug, Default)]
pub struct Deliveries {
    next: u64,
    delivered: u64,
    delivered_time: Time,
    first_sent: Time,
    lost: u64,
    /// Samples are application-limited until more bytes than this are delivered. It is zero if they are not.
    app_limited: u64,
}

/// An acknowledgement that has been counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    total: u64,
    acked: u64,
    lost: u64,
    now: Time,
    newest: Packet,
}

impl Deliveries {
    /// The number of the next packet.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Records a packet, with which `in_flight` bytes are in flight.
    pub fn send(&mut self, bytes: u64, in_flight: u64, app_limited: bool, now: Time) -> Packet {
        if in_flight <= bytes {
            (self.first_sent, self.delivered_time) = (now, now);
        }
        if app_limited {
            self.mark_app_limited(in_flight);
        }
        self.next += 1;
        Packet {
            number: self.next - 1,
            sent: now,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight,
            app_limited: self.is_app_limited(),
        }
    }

    /// Records the acknowledgement of `bytes` bytes, whose newest packet is `newest`.
    pub fn acknowledge(&mut self, bytes: u64, newest: &Packet, now: Time) -> Counted {
        self.delivered += bytes;
        self.delivered_time = now;
        self.first_sent = newest.sent;
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        Counted { total: self.delivered, acked: bytes, lost: self.lost, now, newest: *newest }
    }

    /// Records a lost packet.
    pub fn lose(&mut self, bytes: u64, packet: &Packet) -> Lost {
        self.lost += bytes;
        Lost {
            number: packet.number,
            total: self.delivered,
            size: bytes,
            tx_in_flight: packet.in_flight,
            lost: self.lost - packet.lost,
            app_limited: packet.app_limited,
        }
    }

    /// Records that the application has too little to send, with `in_flight` bytes in flight.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Returns true if the application had too little to send.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }
}

impl Counted {
    /// Returns the sample.
    pub fn sample(
        &self,
        rtt: Duration,
        min_rtt: Duration,
        in_recovery: bool,
        window_limited: bool,
    ) -> Delivery {
        let newest = &self.newest;
        let acked = self.now.since(newest.delivered_time);
        let sent = newest.sent.since(newest.first_sent);
        let interval = acked.max(sent);
        let delivered = self.total - newest.delivered;
        let rate = if interval < min_rtt || interval.is_zero() {
            Rate::ZERO
        } else {
            Rate::from_bps_f64(delivered as f64 * 8.0 / interval.as_secs_f64())
        };
        Delivery {
            total: self.total,
            acked: self.acked,
            rtt,
            prior: newest.delivered,
            delivered,
            interval,
            rate,
            app_limited: newest.app_limited,
            tx_in_flight: newest.in_flight,
            lost: self.lost - newest.lost,
            in_recovery,
            window_limited,
        }
    }
}
