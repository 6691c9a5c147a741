//! A controller of Accord, driven by reports of the kernel.
//!
//! A report has totals, so a lost report costs only detail. From the totals the controller
//! receives events in the order of the engines' streams: a pause, losses, congestion, deliveries,
//! acknowledgements. Departures from those streams: `docs/src/kernel.md`.

use crate::report::{ACKNOWLEDGED, APP_LIMITED, Decision, Report, SAMPLE, State, WINDOW_LIMITED};
use accord_control::{
    Acked, AnyController, Capabilities, Congestion, Controller, Delivery, Lost, Marks, PathView,
};
use accord_family::{Service, Values};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;
use tracing::debug;

/// The bytes of an IPv4 header. That of IPv6 is 20 bytes longer, which is negligible for a window
/// of packets.
const IP: u32 = 20;
/// The maximum number of lost packets per report. The kernel's windows are smaller.
const MOST_LOST: u32 = 1 << 20;
/// The kernel's value for no threshold (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The state of the connection when packets were sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The number of packets delivered by then.
    delivered: u32,
    lost: u32,
    /// The number of packets in flight, including those that were sent.
    in_flight: u32,
}

/// A connection with its controller.
#[derive(Clone, Debug)]
pub struct Connection {
    inner: AnyController,
    capabilities: Capabilities,
    packet: Bytes,
    zero: u64,
    last: Report,
    /// The bytes delivered so far.
    delivered: u64,
    history: VecDeque<Sent>,
    rtt: Duration,
    srtt: Duration,
    min_rtt: Duration,
    /// The bytes in flight before the loss under repair.
    answered: Option<Bytes>,
    limited: u32,
}

impl Connection {
    /// Creates the controller that `values` describes, for the connection of a first report.
    pub fn new(values: &Values, first: &Report) -> Connection {
        let packet = Bytes::new(u64::from((first.mss + first.header + IP).max(1)));
        let mut inner = AnyController::build(values, packet);
        inner.set_service(&Service::default());
        Connection {
            capabilities: inner.capabilities(),
            inner,
            packet,
            zero: first.now,
            last: Report {
                number: first.number.wrapping_sub(1),
                // Packets of the handshake do not count.
                delivered: first.delivered,
                delivered_ce: first.delivered_ce,
                lost: first.lost,
                sent: first.sent,
                rounds: first.rounds,
                ..Report::default()
            },
            delivered: 0,
            history: VecDeque::new(),
            rtt: Duration::ZERO,
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            answered: None,
            limited: 0,
        }
    }

    /// The controller.
    pub fn controller(&self) -> &AnyController {
        &self.inner
    }

    /// The bytes delivered since the first report.
    pub fn delivered(&self) -> Bytes {
        Bytes::new(self.delivered)
    }

    /// The smallest round-trip time, if there was one.
    pub fn min_rtt(&self) -> Option<Duration> {
        Some(self.min_rtt).filter(|rtt| *rtt != Duration::MAX)
    }

    fn bytes(&self, packets: u32) -> Bytes {
        Bytes::new(u64::from(packets) * self.packet.get())
    }

    fn path(&self, in_flight: Bytes) -> PathView {
        PathView {
            packet: self.packet,
            srtt: self.srtt,
            rtt: self.rtt,
            min_rtt: self.min_rtt,
            in_flight,
            ..PathView::default()
        }
    }

    /// Passes a report to the controller, and returns its decision.
    pub fn hear(&mut self, report: &Report) -> Decision {
        let now = Time::ZERO + Duration::from_ns(report.now.saturating_sub(self.zero));
        let new = |of: fn(&Report) -> u32| of(report).wrapping_sub(of(&self.last));
        let (idles, restarts) = (new(|r| r.idles), new(|r| r.restarts));
        let (sent, lost) = (new(|r| r.sent), new(|r| r.lost));
        let congested = [
            (new(|r| r.losses), Congestion::Loss),
            (new(|r| r.marks), Congestion::Ecn),
            (new(|r| r.timeouts), Congestion::Timeout),
            (new(|r| r.repeated_timeouts), Congestion::RepeatedTimeout),
        ];
        let undone = new(|r| r.undone);
        self.measure(report);
        if idles > 0 {
            self.inner.on_idle();
        }
        if self.capabilities.deliveries {
            if restarts > 0 {
                self.inner.on_restart(now);
            }
            if sent > 0 {
                self.inner.on_sent(self.bytes(sent), now);
            }
            self.lose(report, lost.min(MOST_LOST), now);
        }
        for (times, what) in congested {
            if times > 0 {
                self.congest(report, what, now);
            }
        }
        if undone > 0 {
            self.inner.on_spurious(now);
        }
        if matches!(report.state(), State::Open | State::Disorder) {
            self.answered = None;
        }
        if report.is(ACKNOWLEDGED) {
            self.acknowledge(report, now);
            self.last = *report;
        } else {
            // The acknowledgement that revealed this follows.
            let last = self.last;
            self.last = Report {
                delivered: last.delivered,
                delivered_ce: last.delivered_ce,
                rounds: last.rounds,
                ..*report
            };
        }
        self.decision(report)
    }

    fn measure(&mut self, report: &Report) {
        if report.srtt_us > 0 {
            self.srtt = Duration::from_us(u64::from(report.srtt_us));
        }
        let span = |us: i32| u64::try_from(us).ok().filter(|us| *us > 0);
        if let Some(us) = span(report.rtt_us) {
            self.rtt = Duration::from_us(us);
        }
        for us in [span(report.rtt_us), span(report.least_rtt_us)] {
            self.min_rtt = us.map_or(self.min_rtt, |us| self.min_rtt.min(Duration::from_us(us)));
        }
    }

    /// Returns the state of the connection when the newest arrived packet was sent.
    fn newest(&mut self, prior: u32) -> Sent {
        let is_before = |sent: &Sent| sent.delivered.wrapping_sub(prior) as i32 <= 0;
        while self.history.get(1).is_some_and(is_before) {
            self.history.pop_front();
        }
        self.history.front().copied().unwrap_or(Sent {
            delivered: prior,
            lost: self.last.lost,
            in_flight: self.last.in_flight,
        })
    }

    fn lose(&mut self, report: &Report, lost: u32, now: Time) {
        if lost == 0 {
            return;
        }
        let newest = if report.is(SAMPLE) {
            self.newest(report.sample_prior)
        } else {
            (self.history.front().copied()).unwrap_or(Sent {
                delivered: report.delivered,
                lost: self.last.lost,
                in_flight: report.prior_in_flight,
            })
        };
        let before = report.lost.wrapping_sub(lost);
        for i in 1..=lost {
            let packet = Lost {
                number: u64::from(before.wrapping_add(i)),
                total: self.delivered,
                size: self.packet.get(),
                tx_in_flight: self.bytes(newest.in_flight).get(),
                lost: self.bytes(before.wrapping_add(i).wrapping_sub(newest.lost)).get(),
                app_limited: report.is(APP_LIMITED),
            };
            self.inner.on_lost(&packet, now);
        }
    }

    fn congest(&mut self, report: &Report, what: Congestion, now: Time) {
        // If the other end negotiated ECN, a mark is a loss to a controller that reads no marks
        // [RFC 3168 §6.1.2].
        if what == Congestion::Ecn && self.capabilities.marks == Marks::Price {
            return;
        }
        // At most the window counts [RFC 5681 §4.3].
        let window = self.inner.cwnd().max(self.packet);
        let flight = self.bytes(report.unacknowledged).min(window);
        let flight = match what {
            Congestion::Timeout => self.answered.unwrap_or(flight).max(flight),
            _ => flight,
        };
        self.answered = Some(flight);
        let path = self.path(flight);
        let window = self.inner.cwnd();
        self.inner.on_congestion(what, &path, now);
        debug!(
            event = "cut",
            t = now.as_secs_f64(),
            slot = report.slot,
            because = ?what,
            window = window.get(),
            to = self.inner.cwnd().get(),
            in_flight = flight.get(),
        );
    }

    fn acknowledge(&mut self, report: &Report, now: Time) {
        // This report has the bytes in flight for the packets sent after the previous report.
        if let Some(sent) = self.history.back_mut() {
            sent.in_flight = sent.in_flight.max(report.prior_in_flight);
        }
        let packets = report.delivered.wrapping_sub(self.last.delivered);
        let marked = report.delivered_ce.wrapping_sub(self.last.delivered_ce);
        let path = self.path(self.bytes(report.in_flight));
        let acked = self.bytes(packets);
        self.delivered += acked.get();
        if self.capabilities.deliveries {
            if report.is(SAMPLE) {
                let sample = self.sample(report, acked);
                if self.inner.on_delivery(&sample, &path, now) {
                    self.limited = self.limited.wrapping_add(1);
                }
            }
            self.history.push_back(Sent {
                delivered: report.delivered,
                lost: report.lost,
                in_flight: report.in_flight,
            });
        }
        let sample = match report.least_rtt_us {
            us @ 1.. => Some(Duration::from_us(us.unsigned_abs().into())),
            _ => None,
        };
        // Laws based on acknowledgements count each packet.
        let events = if self.capabilities.deliveries { packets.min(1) } else { packets };
        for i in 1..=events {
            let last = i == events;
            // The state is that after an acknowledgement of this packet alone.
            let path = self.path(self.bytes(report.in_flight.saturating_add(events - i)));
            let ack = Acked {
                bytes: if last {
                    Bytes::new(acked.get() - self.packet.get() * u64::from(events - 1))
                } else {
                    self.packet
                },
                rtt: sample,
                round_ended: i == 1 && report.rounds != self.last.rounds,
                window_limited: report.is(WINDOW_LIMITED),
                in_recovery: matches!(report.state(), State::Recovery | State::Reduced),
                marked: if last {
                    u64::from(marked.saturating_sub(events - 1))
                } else {
                    u64::from(i <= marked)
                },
            };
            self.inner.on_ack(&ack, &path, now);
        }
    }

    fn sample(&mut self, report: &Report, acked: Bytes) -> Delivery {
        let newest = self.newest(report.sample_prior);
        let interval = Duration::from_us(u64::from(report.sample_interval_us));
        let delivered = self.bytes(report.sample_delivered).get();
        let rate = if interval < self.min_rtt || interval.is_zero() {
            Rate::ZERO
        } else {
            Rate::from_bps_f64(delivered as f64 * 8.0 / interval.as_secs_f64())
        };
        let since = self.bytes(report.delivered.wrapping_sub(report.sample_prior));
        Delivery {
            total: self.delivered,
            acked: acked.get(),
            rtt: self.rtt,
            prior: self.delivered.saturating_sub(since.get()),
            delivered,
            interval,
            rate,
            app_limited: report.is(APP_LIMITED),
            tx_in_flight: self.bytes(newest.in_flight).get(),
            lost: self.bytes(report.lost.wrapping_sub(newest.lost)).get(),
            in_recovery: matches!(report.state(), State::Recovery | State::Loss),
            window_limited: report.is(WINDOW_LIMITED),
        }
    }

    fn decision(&self, report: &Report) -> Decision {
        let allowance = self.inner.allowance();
        let packets = |bytes: Bytes| bytes.get() / self.packet.get();
        let payload = f64::from(report.mss) / self.packet.as_f64();
        let pace = (allowance.pacing).map_or(u64::MAX, |r| (r.as_bps_f64() / 8.0 * payload) as u64);
        let ssthresh = self.inner.ssthresh().map_or(NO_THRESHOLD, |bytes| {
            u32::try_from(packets(bytes)).map_or(NO_THRESHOLD, |n| n.min(NO_THRESHOLD))
        });
        Decision {
            generation: report.generation,
            answered: report.number,
            cwnd: u32::try_from(packets(allowance.window)).unwrap_or(u32::MAX),
            ssthresh,
            limited: self.limited,
            pace,
            stamp: report.now,
        }
    }
}
