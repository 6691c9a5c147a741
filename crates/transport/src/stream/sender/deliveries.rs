//! Samples of the delivery rate [draft-ietf-ccwg-bbr-06 §4.1].
//!
//! Each packet records the data delivered before it was sent. The newest packet that an
//! acknowledgement reports gives the sample: the bytes delivered since that packet was sent,
//! divided by the time of their transmission or of their acknowledgement, whichever is longer.
//!
//! Departures. A receiver's echo identifies the transmission that arrived, so the round-trip time
//! is never ambiguous. The state of a packet is that of its latest transmission, as in TCP. If an
//! earlier one arrives after all, the interval may be too short, and the sample then has no rate
//! [§4.1.3.5]. Packets that arrive twice count once.

use accord_control::{Delivery, Lost};
use accord_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// The state of the connection and of its packets [§4.1.2.1].
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    packet: u64,
    /// The packets in flight, from the first unacknowledged one on.
    packets: VecDeque<Sent>,
    /// The number of the first packet in flight.
    first: u64,
    /// C.delivered and C.lost, in bytes.
    delivered: u64,
    lost: u64,
    /// C.delivered_time and C.first_send_time.
    delivered_time: Time,
    first_send_time: Time,
    /// C.app_limited: samples are limited by the application until more than this is delivered. It
    /// is zero if they are not.
    app_limited: u64,
    /// The newest packet that the current acknowledgement reports, and the bytes that it reports.
    newest: Option<Sent>,
    acked: u64,
}

/// The state of a packet at its latest transmission [§4.1.2.1.2].
#[derive(Clone, Copy, Debug)]
struct Sent {
    delivered: u64,
    lost: u64,
    delivered_time: Time,
    first_send_time: Time,
    send_time: Time,
    tx_in_flight: u64,
    app_limited: bool,
    /// True if the packet has arrived.
    arrived: bool,
    /// True if the packet has been presumed lost since it was sent.
    is_lost: bool,
}

impl Deliveries {
    pub fn new(packet: u64) -> Deliveries {
        Deliveries { packet, ..Deliveries::default() }
    }

    /// OnPacketSent(P) [§4.1.2.2], for a packet that is not yet in the list.
    pub fn send(&mut self, in_flight: u64, now: Time) {
        let sent = self.transmit(in_flight, now);
        self.packets.push_back(sent);
    }

    /// OnPacketSent(P) for packet `i`, which is sent again.
    pub fn send_again(&mut self, i: usize, in_flight: u64, now: Time) {
        self.packets[i] = self.transmit(in_flight, now);
    }

    fn transmit(&mut self, in_flight: u64, now: Time) -> Sent {
        // Nothing was in flight before.
        if in_flight <= self.packet {
            self.first_send_time = now;
            self.delivered_time = now;
        }
        Sent {
            delivered: self.delivered,
            lost: self.lost,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            send_time: now,
            tx_in_flight: in_flight,
            app_limited: self.app_limited != 0,
            arrived: false,
            is_lost: false,
        }
    }

    /// Takes the acknowledgement of the first `n` packets.
    #[cold]
    pub fn acknowledge(&mut self, n: u64, now: Time) {
        for _ in 0..n {
            if let Some(sent) = self.packets.pop_front() {
                self.arrive(sent, now);
            }
        }
        self.first += n;
    }

    /// Takes the arrival of packets `from..to`, counted from the first unacknowledged one.
    pub fn sack(&mut self, from: u64, to: u64, now: Time) {
        for i in from..to {
            let sent = self.packets[i as usize];
            self.arrive(sent, now);
            self.packets[i as usize].arrived = true;
        }
    }

    /// UpdateRateSample(P) [§4.1.2.3]. Packets come in the order of their numbers. So the later of
    /// two sent at the same time counts as the newest.
    fn arrive(&mut self, sent: Sent, now: Time) {
        if sent.arrived {
            return;
        }
        self.delivered += self.packet;
        self.delivered_time = now;
        self.acked += self.packet;
        if self.newest.is_none() || sent.send_time >= self.first_send_time {
            self.newest = Some(sent);
            self.first_send_time = sent.send_time;
        }
    }

    /// Marks packet `i` as lost.
    pub fn lose(&mut self, i: u64) -> Lost {
        self.lost += self.packet;
        let sent = &mut self.packets[i as usize];
        sent.is_lost = true;
        Lost {
            number: self.first + i,
            total: self.delivered,
            size: self.packet,
            tx_in_flight: sent.tx_in_flight,
            lost: self.lost - sent.lost,
            app_limited: sent.app_limited,
        }
    }

    /// Returns the packets, counted from the first unacknowledged one, that have neither arrived
    /// nor been presumed lost.
    pub fn missing(&self) -> Vec<u64> {
        let missing = |&i: &u64| {
            let sent = &self.packets[i as usize];
            !sent.arrived && !sent.is_lost
        };
        (0..self.packets.len() as u64).filter(missing).collect()
    }

    /// GenerateRateSample() [§4.1.2.3], at the end of an acknowledgement. Returns `None` if it
    /// reported no packet.
    pub fn sample(&mut self, rtt: Duration, min_rtt: Duration) -> Option<Delivery> {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newest = self.newest.take()?;
        let ack_elapsed = self.delivered_time.since(newest.delivered_time);
        let send_elapsed = newest.send_time.since(newest.first_send_time);
        let interval = ack_elapsed.max(send_elapsed);
        let delivered = self.delivered - newest.delivered;
        let rate = if interval < min_rtt || interval.is_zero() {
            Rate::ZERO
        } else {
            Rate::from_bps_f64(delivered as f64 * 8.0 / interval.as_secs_f64())
        };
        Some(Delivery {
            total: self.delivered,
            acked: std::mem::take(&mut self.acked),
            rtt,
            prior: newest.delivered,
            delivered,
            interval,
            rate,
            app_limited: newest.app_limited,
            tx_in_flight: newest.tx_in_flight,
            lost: self.lost - newest.lost,
            in_recovery: false,
            window_limited: false,
        })
    }

    /// MarkConnectionAppLimited() [§4.1.2.4], with `in_flight` bytes in flight.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Returns true if samples are limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }
}
