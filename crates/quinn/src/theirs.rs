//! Controllers of quinn in the engines of Accord.
//!
//! | quinn is told | when |
//! |---|---|
//! | `on_sent` | a packet goes, for the first time or again; each counts as a packet of its own |
//! | `on_ack`, `on_end_acks` | an acknowledgement reports packets: their bytes, and when the newest of them was sent |
//! | `on_congestion_event`, with the bytes lost | the stream finds a loss that is news |
//! | the same with no bytes | packets were marked |
//! | the same as persistent congestion | the retransmission timer runs out twice for one packet |
//!
//! The stream repairs losses by selective acknowledgements, which is closest to what QUIC does. It
//! spaces packets as quinn's pacer does: by a token bucket that fills at 1.25 windows per smoothed
//! round-trip time [RFC 9002 §7.7] and holds 2 ms of a window per round-trip time, ten packets at least
//! and 256 at most. Where the bucket is empty, the next packets go when it is full, or with an
//! acknowledgement. After an idle time the window stays.
//!
//! Departures from a connection of quinn. A loss is found by duplicate acknowledgements and a
//! retransmission timer, not by thresholds of time and by probes. Losses are told before the
//! acknowledgements that came with them. One acknowledgement counts as one packet, whatever number
//! of packets it reports. Acknowledgements are not delayed.

use crate::clock::{Clock, theirs};
use crate::estimator::Estimator;
use accord_control::{
    Acked, Allowance, Capabilities, Congestion, Controller, Delivery, Lost, Marks, PathView,
    Recovery,
};
use accord_units::{Bytes, Duration, Rate, Time};
use quinn_proto::congestion;
use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

/// The windows per smoothed round-trip time at which packets are spaced [RFC 9002 §7.7].
const PACE: f64 = 1.25;
/// The time at a window per smoothed round-trip time that the bucket of quinn's pacer holds, and the
/// fewest and the most packets of it.
const BURST: f64 = 2e-3;
const PACKETS: (u64, u64) = (10, 256);
/// The round-trip time that quinn assumes before the first sample.
const FIRST_RTT: Duration = Duration::from_ms(333);

/// A controller of quinn, as a stream of Accord has it.
pub struct Theirs {
    inner: Box<dyn congestion::Controller>,
    clock: Clock,
    /// The estimator of round-trip times that the controller is shown.
    estimator: Estimator,
    packet: u64,
    marks: Marks,
    /// The transmissions that no acknowledgement has passed: their times and numbers.
    sent: VecDeque<(Time, u64)>,
    /// The number of the last transmission.
    number: u64,
    /// The number of the newest transmission that was acknowledged.
    acked: Option<u64>,
    /// The bytes lost that the controller was not told of.
    lost: u64,
    /// The time at which the controller was last told of congestion.
    told: Time,
    srtt: Duration,
}

impl Theirs {
    /// Creates a controller for packets of `packet` bytes: the one that `make` returns, given the
    /// present instant. `marks` says what marks mean to it: nothing, or what a loss means.
    pub fn new(
        make: impl FnOnce(Instant) -> Box<dyn congestion::Controller>,
        packet: Bytes,
        marks: Marks,
    ) -> Theirs {
        let clock = Clock::new();
        Theirs {
            inner: make(clock.instant(Time::ZERO)),
            clock,
            estimator: Estimator::new(),
            packet: packet.get(),
            marks,
            sent: VecDeque::new(),
            number: 0,
            acked: None,
            lost: 0,
            told: Time::ZERO,
            srtt: Duration::ZERO,
        }
    }

    /// Returns the number of the newest transmission that an acknowledgement of `packets` packets
    /// tells of, if its packet was sent at `sent`. Packets that were sent at the same time are
    /// acknowledged in their order.
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

    /// The smoothed round-trip time in seconds, as quinn's pacer has it.
    fn seconds(&self) -> f64 {
        let srtt = if self.srtt.is_zero() {
            FIRST_RTT
        } else {
            self.srtt
        };
        theirs(srtt).as_secs_f64()
    }

    /// Tells of losses that the stream takes for part of the last congestion.
    fn tell_lost(&mut self, now: Time) {
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            let (now, sent) = (self.clock.instant(now), self.clock.instant(self.told));
            self.inner.on_congestion_event(now, sent, false, lost);
        }
    }
}

impl Controller for Theirs {
    /// The controller is told by [`Controller::on_delivery`], which says more.
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_congestion(&mut self, what: Congestion, _: &PathView, now: Time) {
        let lost = match what {
            Congestion::Ecn => 0,
            // What the timer takes for lost is told later. Zero would be a mark.
            _ => std::mem::take(&mut self.lost).max(self.packet),
        };
        let persistent = what == Congestion::RepeatedTimeout;
        self.told = now;
        let now = self.clock.instant(now);
        // The stream says when congestion is news. So the packet is newer than the last news.
        self.inner.on_congestion_event(now, now, persistent, lost);
    }

    fn on_delivery(&mut self, delivery: &Delivery, path: &PathView, now: Time) -> bool {
        self.tell_lost(now);
        self.srtt = path.srtt;
        let sent = Time::from_ps(now.as_ps().saturating_sub(delivery.rtt.as_ps()));
        let shown = self.estimator.sample(delivery.rtt);
        let number = self.newest(sent, delivery.acked / self.packet);
        let limited = delivery.app_limited;
        let in_flight = path.in_flight.get();
        let (now, sent) = (self.clock.instant(now), self.clock.instant(sent));
        self.inner
            .on_ack(now, sent, delivery.acked, limited, &shown);
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
        Allowance {
            window: Bytes::new(window),
            pacing: Some(rate),
        }
    }

    fn burst(&self) -> Bytes {
        let held = self.inner.window() as f64 * BURST / self.seconds();
        let (least, most) = PACKETS;
        Bytes::new((held as u64).clamp(least * self.packet, most * self.packet))
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
