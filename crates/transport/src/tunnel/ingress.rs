//! The sending half of a tunnel.

use crate::{Pacer, RoundTrip, Segment};
use accord_control::{AnyController, Controller, PathView, Report};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// Sends datagrams at the controller's rate, and a pair of control packets each round trip:
/// the next when the answer to the last arrives, or when it is overdue.
///
/// The controller's window does not open and shut here: acknowledgements come once per round
/// trip, and the sender would burst, always at the same place of the round trip. The control
/// pair, which goes out at that place too, would never see the queue that the bursts make. So
/// the controller makes a rate of its window and of what is in flight. Only when reports stay
/// out does it stop, [`UNACCOUNTED`] windows later.
///
/// An answer counts while no later pair was answered, however overdue: after the round trip
/// grew, all are. It ends the wait for all other pairs that are out, so that the controller
/// acts once per round trip.
#[derive(Clone, Debug)]
pub struct Ingress {
    controller: AnyController,
    packet: Bytes,
    rtt: RoundTrip,
    pacer: Pacer,
    /// Number of the current pair.
    pair: u64,
    /// Pairs sent since the last answer, the current one last.
    out: VecDeque<Pair>,
    /// Halves of the current pair that are still to be handed out.
    to_send: u8,
    deadline: Time,
    started: bool,
    /// Bytes sent.
    sent: u64,
    /// Bytes known to have arrived, when that became known, and how fast they came.
    received: u64,
    received_at: Time,
    delivery_rate: Rate,
    /// Bytes known to be lost: neither in flight nor received.
    lost: u64,
    numbers: u64,
    available: u64,
    /// There was nothing to send at some time since the last report.
    ran_dry: bool,
    timeouts: u64,
}

/// How much longer than the time-out of RFC 6298 a pair is waited for. On a steady path the
/// variation of the round trip goes to zero and the time-out to the round trip itself, so that
/// any queue that grows would make every answer overdue.
const PATIENCE: Duration = Duration::from_ms(20);

/// The time-out doubles this often at most: pairs are tiny, data stops by itself when none is
/// answered, and a tunnel that loses most of them depends on the next.
const MAX_BACKOFF: u32 = 1;

/// The sender stops when so many windows are neither reported nor lost. Two are what is in
/// flight and what goes out until the next report, the others are for pairs that get lost: with
/// fewer, a tunnel that loses a third of them stands still most of the time.
const UNACCOUNTED: u64 = 8;

/// As many pairs are remembered; more are out only on a path that answers none.
const MOST_OUT: usize = 64;

/// A control pair that is not answered.
#[derive(Clone, Copy, Debug)]
struct Pair {
    number: u64,
    at: Time,
    /// Bytes sent before it.
    sent: u64,
}

impl Ingress {
    /// An ingress of packets of `packet` bytes, with nothing to send yet.
    pub fn new(controller: AnyController, packet: Bytes) -> Ingress {
        Ingress {
            controller,
            packet,
            rtt: RoundTrip::new(Duration::ZERO, MAX_BACKOFF),
            pacer: Pacer::default(),
            pair: 0,
            out: VecDeque::new(),
            to_send: 0,
            deadline: Time::MAX,
            started: false,
            sent: 0,
            received: 0,
            received_at: Time::ZERO,
            delivery_rate: Rate::ZERO,
            lost: 0,
            numbers: 0,
            available: 0,
            ran_dry: false,
            timeouts: 0,
        }
    }

    /// The application has `packets` more to send; `u64::MAX` for as much as ever fits.
    pub fn supply(&mut self, packets: u64) {
        self.available = self.available.saturating_add(packets);
    }

    /// The application sends no more.
    pub fn stop(&mut self) {
        self.available = self.numbers;
    }

    /// The first pair goes out with the first data.
    fn start(&mut self, now: Time) {
        self.started = true;
        self.new_pair(now);
    }

    fn new_pair(&mut self, now: Time) {
        self.pair += 1;
        self.to_send = 2;
        if self.out.len() == MOST_OUT {
            self.out.pop_front();
        }
        self.out.push_back(Pair {
            number: self.pair,
            at: now,
            sent: self.sent,
        });
        self.deadline = now + self.rtt.timeout() + PATIENCE;
    }

    /// Bytes in flight as far as known: what was sent less what is known to have arrived or
    /// to be lost.
    fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.lost + self.received)
    }

    fn path(&self, sent_in_round: u64) -> PathView {
        PathView {
            packet: self.packet,
            srtt: self.rtt.smoothed(),
            rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
            in_flight: Bytes::new(self.in_flight()),
            sent_in_round: Bytes::new(sent_in_round),
            had_too_little: self.ran_dry,
            delivery_rate: self.delivery_rate,
        }
    }

    /// A report arrived. One whose pair, or a later one, was answered is ignored.
    pub fn on_report(&mut self, report: &Report, now: Time) {
        let Some(&answered) = self.out.iter().find(|p| p.number == report.number) else {
            return;
        };
        self.out.clear();
        self.rtt.sample(now.since(answered.at));
        // Data that the network doubled counts as received twice.
        let received = report.received.min(self.sent);
        // What was sent before the pair and has not arrived with it is lost.
        self.lost = answered.sent.saturating_sub(received);
        if self.received_at > Time::ZERO {
            let arrived = Bytes::new(received.saturating_sub(self.received));
            let period = now.since(self.received_at).as_secs_f64();
            self.delivery_rate = Rate::from_bps_f64(arrived.bits_f64() / period.max(1e-9));
        }
        self.received = received;
        self.received_at = now;
        let report = Report {
            received,
            ..*report
        };
        // What was sent during the round trip that this report ends.
        let path = self.path(self.sent - answered.sent);
        self.controller.on_report(&report, &path, now);
        self.ran_dry = !self.has_data();
        if let Some(rate) = self.controller.allowance().pacing {
            self.pacer.speed_up(now, self.packet, rate);
        }
        if self.has_data() || self.in_flight() > 0 {
            self.new_pair(now);
        } else {
            self.started = false;
            self.deadline = Time::MAX;
        }
    }

    fn has_data(&self) -> bool {
        self.numbers < self.available
    }

    /// When to call [`Ingress::on_wake`]; `Time::MAX` for never.
    pub fn next_wake(&self) -> Time {
        self.deadline
    }

    /// The time of [`Ingress::next_wake`] may have come: no answer to the current pair.
    pub fn on_wake(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        self.timeouts += 1;
        self.rtt.back_off();
        self.new_pair(now);
    }

    /// A packet to send now, or when to ask again; `Err(Time::MAX)` means after the next
    /// report or time-out.
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        if !self.started && self.has_data() {
            self.start(now);
        }
        match self.to_send {
            2 => {
                self.to_send = 1;
                return Ok(Segment::OutOfBand {
                    pair: self.pair,
                    sent: now,
                });
            }
            1 => {
                self.to_send = 0;
                return Ok(Segment::InBand {
                    pair: self.pair,
                    sent_bytes: self.sent,
                    virtual_delay: Duration::ZERO,
                });
            }
            _ => {}
        }
        if !self.has_data() {
            self.ran_dry = true;
            return Err(Time::MAX);
        }
        if self.pacer.next() > now {
            return Err(self.pacer.next());
        }
        let size = self.packet.get();
        let allowance = self.controller.allowance();
        if self.in_flight() >= allowance.window.get().saturating_mul(UNACCOUNTED) {
            return Err(Time::MAX);
        }
        let rate = allowance.pacing.unwrap_or(Rate::from_bps(u64::MAX));
        self.pacer.sent(now, self.packet, rate);
        self.sent += size;
        self.numbers += 1;
        Ok(Segment::Data {
            number: self.numbers - 1,
            sent: now,
        })
    }

    /// All that the application had to send has arrived or is lost.
    pub fn is_done(&self) -> bool {
        !self.has_data() && self.received + self.lost >= self.sent
    }

    /// Its controller.
    pub fn controller(&self) -> &AnyController {
        &self.controller
    }

    /// Its round-trip times.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.rtt
    }

    /// Control pairs that were not answered in time.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Data bytes sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}
