//! Controllers of quinn in the engines of Accord.
//!
//! | call of quinn | when |
//! |---|---|
//! | `on_sent` | a packet goes, for the first time or again; each counts as a packet of its own |
//! | `on_ack`, `on_end_acks` | an acknowledgement reports packets: their bytes, and when the newest of them was sent |
//! | `on_congestion_event`, with the bytes lost | the stream finds a loss that is news |
//! | the same with no bytes | packets were marked |
//! | the same as persistent congestion | the retransmission timer runs out twice for one packet |
//!
//! The stream repairs losses with selective acknowledgements, which is closest to QUIC. It spaces packets as
//! quinn's pacer does: with a token bucket that fills at 1.25 windows per smoothed round-trip time [RFC 9002
//! §7.7] and holds 2 ms of a window per round-trip time, at least ten packets and at most 256. If the bucket
//! is empty, the next packets leave when it is full, or with an acknowledgement. The window stays unchanged
//! after an idle time.
//!
//! Departures from a connection of quinn: `docs/src/quinn.md`.

use crate::clock::Clock;
use crate::estimator::Estimator;
use accord_control::{
    Acked, Allowance, Burst, Capabilities, Congestion, Controller, Delivery, Lost, Marks, PathView,
    Recovery,
};
use accord_units::{Bytes, Duration, Rate, Time};
use quinn_proto::congestion;
use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

/// The windows per smoothed round-trip time at which packets are spaced [RFC 9002 §7.7].
const PACE: f64 = 1.25;
/// The size of the bucket of quinn's pacer, as a time at a window per smoothed round-trip time, and its
/// minimum and maximum in packets.
const BURST: f64 = 2e-3;
const PACKETS: (u64, u64) = (10, 256);
/// The round-trip time that quinn assumes before the first sample.
const FIRST_RTT: Duration = Duration::from_ms(333);

/// A controller of quinn in a stream of Accord.
pub struct Theirs {
    inner: Box<dyn congestion::Controller>,
    clock: Clock,
    /// The estimator of round-trip times that the controller receives.
    estimator: Estimator,
    packet: u64,
    marks: Marks,
    /// The times and numbers of the transmissions that no acknowledgement has yet passed.
    sent: VecDeque<(Time, u64)>,
    /// The number of the last transmission.
    number: u64,
    /// The number of the newest acknowledged transmission.
    acked: Option<u64>,
    /// The bytes lost that have not been reported to the controller.
    lost: u64,
    /// The time of the last congestion event.
    congested: Time,
    srtt: Duration,
}

impl Theirs {
    /// Creates a controller for packets of `packet` bytes: the one that `make` returns, given the
    /// present instant. `marks` defines the meaning of marks: none, or that of a loss.
    pub fn new(
        make: impl FnOnce(Instant) -> Box<dyn congestion::Controller>,
        packet: Bytes,
        marks: Marks,
    ) -> Theirs {
        let clock = Clock::default();
        Theirs {
            inner: make(clock.instant(Time::ZERO)),
            clock,
            estimator: Estimator::default(),
            packet: packet.get(),
            marks,
            sent: VecDeque::new(),
            number: 0,
            acked: None,
            lost: 0,
            congested: Time::ZERO,
            srtt: Duration::ZERO,
        }
    }

    /// Returns the number of the newest transmission that an acknowledgement of `packets` packets
    /// covers, if its packet was sent at `sent`. Packets sent at the same time are acknowledged in
    /// order.
    fn newest(&mut self, sent: Time, packets: u64) -> Option<u64> {
        let mut same = 0;
        while let Some(&(at, number)) = self.sent.front() {
            if at > sent || at == sent && same == packets {
                break;
            }
            same += u64::from(at == sent);
            self.acked = Some(number);
            self.sent.pop_front();
        }
        self.acked
    }

    /// The smoothed round-trip time in seconds, as in quinn's pacer.
    fn seconds(&self) -> f64 {
        let srtt = if self.srtt.is_zero() { FIRST_RTT } else { self.srtt };
        std::time::Duration::from(srtt).as_secs_f64()
    }

    /// Reports losses that the stream attributes to the last congestion.
    fn report_lost(&mut self, now: Time) {
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            let (now, sent) = (self.clock.instant(now), self.clock.instant(self.congested));
            self.inner.on_congestion_event(now, sent, false, lost);
        }
    }
}

impl Controller for Theirs {
    /// The controller is notified by [`Controller::on_delivery`], which has more information.
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_congestion(&mut self, what: Congestion, _: &PathView, now: Time) {
        let lost = match what {
            Congestion::Ecn => 0,
            // Losses found by the timer are reported later. Zero would be a mark.
            _ => std::mem::take(&mut self.lost).max(self.packet),
        };
        let persistent = what == Congestion::RepeatedTimeout;
        self.congested = now;
        let now = self.clock.instant(now);
        // The stream reports only new congestion, so the packet is newer than the previous
        // event.
        self.inner.on_congestion_event(now, now, persistent, lost);
    }

    fn on_delivery(&mut self, delivery: &Delivery, path: &PathView, now: Time) -> bool {
        self.report_lost(now);
        self.srtt = path.srtt;
        let sent = Time::from_ps(now.as_ps().saturating_sub(delivery.rtt.as_ps()));
        let shown = self.estimator.sample(delivery.rtt);
        let number = self.newest(sent, delivery.acked / self.packet);
        let limited = delivery.app_limited;
        let in_flight = path.in_flight.get();
        let (now, sent) = (self.clock.instant(now), self.clock.instant(sent));
        self.inner.on_ack(now, sent, delivery.acked, limited, &shown);
        self.inner.on_end_acks(now, in_flight, limited, number);
        false
    }

    fn on_sent(&mut self, bytes: Bytes, now: Time) {
        self.number += 1;
        self.sent.push_back((now, self.number));
        let now = self.clock.instant(now);
        self.inner.on_sent(now, bytes.get(), self.number);
    }

    fn on_lost(&mut self, packet: &Lost, _: Time) {
        self.lost += packet.size;
    }

    fn allowance(&self) -> Allowance {
        let window = self.inner.window();
        let rate = Rate::from_bps_f64(PACE * 8.0 * window as f64 / self.seconds());
        Allowance { window: Bytes::new(window), pacing: Some(rate) }
    }

    fn burst(&self) -> Burst {
        let held = self.inner.window() as f64 * BURST / self.seconds();
        let (least, most) = PACKETS;
        let size = (held as u64).clamp(least * self.packet, most * self.packet);
        Burst::Full(Bytes::new(size))
    }

    fn ssthresh(&self) -> Option<Bytes> {
        let threshold = self.inner.metrics().ssthresh;
        threshold.filter(|bytes| *bytes < u64::MAX).map(Bytes::new)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            recovery: Recovery::Sack,
            marks: self.marks,
            deliveries: true,
            ..Capabilities::default()
        }
    }
}

impl Clone for Theirs {
    fn clone(&self) -> Theirs {
        Theirs {
            inner: self.inner.clone_box(),
            estimator: self.estimator.clone(),
            sent: self.sent.clone(),
            ..*self
        }
    }
}

impl fmt::Debug for Theirs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Theirs")
            .field("window", &self.inner.window())
            .field("number", &self.number)
            .field("estimator", &self.estimator)
            .finish_non_exhaustive()
    }
}
