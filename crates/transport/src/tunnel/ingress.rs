//! The sending half of a tunnel.

use crate::{Pacer, RoundTrip, Segment};
use accord_control::{
    Allowance, AnyController, Controller, Pairs, PathView, Report, Sending, Window,
};
use accord_family::Service;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// Sends datagrams at the controller's rate, and a pair of control packets per round trip. The next
/// pair is sent when the answer to the last one arrives, or when that answer is overdue.
///
/// The controller's window bounds the data that is outstanding: sent, and neither counted as
/// received nor known to be lost ([`Window::Outstanding`]). The receiver's reports and the counts
/// between them give the received data. A report reveals losses: data sent before the pair that has
/// not arrived with it. The other uses of the window are interpretations of the papers, for
/// studies.
///
/// With [`Pairs::Patient`] an overdue answer counts if no later pair was answered. After the round
/// trip has grown, all answers are overdue. An answer ends the wait for all other pairs in flight,
/// so the controller acts once per round trip. An unanswered pair is followed by another, by
/// `QUICK` more at short intervals, and then by one per time-out.
///
/// A pair is sent alternately right ahead of a data packet and right behind one
/// ([`Sending::by_turns`]). The out-of-band half waits at each hop for the packet in service, half
/// a packet on average, which shortens the spacing of the halves. An in-band half behind its own
/// flow's data meets that data in the queue, which lengthens the spacing by a packet. Alternation
/// makes the two effects cancel. A pair that is sent when the last one is answered always follows a
/// data packet, so the error is fixed.
#[derive(Clone, Debug)]
pub struct Ingress<C = AnyController> {
    controller: C,
    /// The allowance of the controller until the next report.
    allowance: Allowance,
    packet: Bytes,
    sending: Sending,
    rtt: RoundTrip,
    pacer: Pacer,
    /// The number of the current pair.
    pair: u64,
    /// The pairs sent since the last answer, the current one last.
    out: VecDeque<Pair>,
    /// The number of halves of the current pair that have not yet been sent.
    to_send: u8,
    /// The time until which the current pair waits for its position among data packets.
    place_by: Time,
    /// The number of data packets sent when the pair became due.
    placed_from: u64,
    /// The number of consecutive pairs that were not answered in time.
    unanswered: u32,
    deadline: Time,
    started: bool,
    /// The bytes sent.
    sent: u64,
    /// The bytes known to have arrived.
    received: u64,
    /// The virtual delay in seconds of the data that arrived last, if the window holds virtually queued
    /// data.
    virtual_s: f64,
    /// The bytes that may be in flight: the window, less the virtually queued bytes.
    room: u64,
    /// The bytes known to have arrived by the latest report, the time of that report, and the rate of
    /// arrival between the last two.
    reported: u64,
    reported_at: Time,
    delivery_rate: Rate,
    /// The bytes known to be lost. They are neither in flight nor received.
    lost: u64,
    numbers: u64,
    available: u64,
    /// The size of the next data packet.
    next: Bytes,
    /// True if there was nothing to send at some time since the last report.
    ran_dry: bool,
    timeouts: u64,
}

/// The number of pairs, at intervals of [`REPEAT`], after the pair that follows an unanswered one.
/// Together they span a few round trips, so the loss of a control packet costs little time. On a
/// broken path these pairs amount to the bytes of two data packets.
const QUICK: u32 = 16;

/// The interval between repeated pairs as a fraction of a round trip.
const REPEAT: f64 = 0.25;

/// The least excess of the wait for an answer over the round trip, as a fraction of the round trip.
/// On a steady path the variation of the round trip converges to zero, and the time-out to the
/// round trip itself.
const SLACK: f64 = 0.25;

/// The wait for the answer to each of the first pairs, until a round trip is known.
const FIRST: Duration = Duration::from_ms(100);

/// The least time from one pair to the next.
const LEAST: Duration = Duration::from_ms(1);

/// The time beyond the time-out of RFC 6298 that the sender waits for a pair after the `QUICK`
/// ones.
const PATIENCE: Duration = Duration::from_ms(20);

/// The longest wait of a pair for its position among data packets, as a fraction of a round trip. A
/// flow with fewer packets per round trip than the inverse of this fraction sends the pair at once.
/// For such a flow the wait and the two positions are a large part of the loop. With a fraction of
/// a half, a flow of four packets that was slowed two hundredfold never settles.
const PLACING: f64 = 0.125;

/// The largest number of times that the time-out doubles. Pairs are tiny, and data stops by itself
/// if no pair is answered. A tunnel that loses most pairs needs the next pair soon.
const MAX_BACKOFF: u32 = 1;

/// The number of windows that may be neither reported nor lost before the sender stops. Two of them
/// are in flight or sent until the next report. The others allow for lost pairs. With fewer
/// windows, a tunnel that loses a third of its pairs is stopped most of the time.
const UNACCOUNTED: u64 = 8;

/// The largest number of pairs that are kept. More are in flight only on a path on which no pair is
/// answered.
const MOST_OUT: usize = 64;

/// An unanswered control pair.
#[derive(Clone, Copy, Debug)]
struct Pair {
    number: u64,
    at: Time,
    /// The bytes sent before the pair.
    sent: u64,
}

impl<C: Controller> Ingress<C> {
    /// Creates an ingress for packets of `packet` bytes, with nothing to send yet.
    pub fn new(controller: C, packet: Bytes, sending: Sending) -> Ingress<C> {
        let allowance = controller.allowance();
        Ingress {
            room: allowance.window.get(),
            allowance,
            controller,
            packet,
            sending,
            rtt: match sending.pairs {
                Pairs::Printed => RoundTrip::new(sending.min_rto, u32::MAX),
                Pairs::Patient => RoundTrip::new(sending.min_rto, MAX_BACKOFF),
            },
            pacer: Pacer::default(),
            pair: 0,
            out: VecDeque::new(),
            to_send: 0,
            place_by: Time::ZERO,
            placed_from: 0,
            unanswered: 0,
            deadline: Time::MAX,
            started: false,
            sent: 0,
            received: 0,
            virtual_s: 0.0,
            reported: 0,
            reported_at: Time::ZERO,
            delivery_rate: Rate::ZERO,
            lost: 0,
            numbers: 0,
            available: 0,
            next: packet,
            ran_dry: false,
            timeouts: 0,
        }
    }

    /// Adds `packets` packets of the application to send, or unlimited packets with `u64::MAX`.
    pub fn supply(&mut self, packets: u64) {
        self.available = self.available.saturating_add(packets);
    }

    /// Ends the supply: the application sends no more.
    pub fn stop(&mut self) {
        self.available = self.numbers;
    }

    /// Sets the number of waiting packets, for a caller that has its own queue, whose packets differ in size
    /// and may be dropped. Such a caller uses [`Ingress::poll_sized`].
    pub fn set_waiting(&mut self, packets: u64) {
        self.available = self.numbers.saturating_add(packets);
    }

    /// Sets the size of the next data packet and the number of waiting packets, including this one,
    /// for a caller that has its own queue and uses [`Ingress::poll`].
    pub fn set_head(&mut self, size: Option<Bytes>, packets: u64) {
        self.next = size.unwrap_or(self.packet);
        self.set_waiting(packets);
    }

    /// Records that a packet of `size` was sent without being held back by the controller. The controller's
    /// pace counts it until the next report.
    pub fn pass(&mut self, size: Bytes, now: Time) {
        if !self.started {
            self.start(now);
        }
        if let Some(rate) = self.allowance.pacing {
            self.pacer.sent(now, size, rate);
        }
        self.sent += size.get();
        self.numbers += 1;
        self.available = self.available.max(self.numbers);
    }

    /// Starts the pairs. The first one is sent with the first data.
    fn start(&mut self, now: Time) {
        self.started = true;
        self.new_pair(now);
    }

    /// Makes a new pair due, at its position among data.
    fn new_pair(&mut self, now: Time) {
        if self.to_send < 2 {
            self.pair += 1;
        }
        self.to_send = 2;
        self.place_by =
            if self.sending.by_turns { now + self.rtt.smoothed().mul_f64(PLACING) } else { now };
        self.placed_from = self.numbers;
        self.deadline = now + self.patience();
    }

    /// Returns the time-out of the current pair.
    fn patience(&self) -> Duration {
        if self.sending.pairs == Pairs::Printed {
            return self.rtt.timeout();
        }
        let round_trip = self.rtt.smoothed().max(self.rtt.latest());
        let wait = match self.unanswered {
            0..=QUICK if round_trip.is_zero() => FIRST,
            0 => (self.rtt.timeout()).max(round_trip.mul_f64(1.0 + SLACK)),
            1..=QUICK => round_trip.mul_f64(REPEAT),
            _ => self.rtt.timeout() + PATIENCE,
        };
        wait.max(LEAST)
    }

    /// Returns true if the current pair waits for the next data packet, to be sent ahead of it or
    /// behind it.
    fn awaits_data(&self, now: Time) -> bool {
        let next = self.pacer.next();
        let in_place = match self.pair % 2 {
            0 => self.numbers > self.placed_from || self.is_full(),
            _ => next <= now && !self.is_full(),
        };
        !in_place && next.max(now) < self.place_by && self.has_data()
    }

    /// Returns the first half of the current pair.
    fn out_of_band(&mut self, now: Time) -> Segment {
        self.to_send = 1;
        if self.out.len() == MOST_OUT {
            self.out.pop_front();
        }
        self.out.push_back(Pair { number: self.pair, at: now, sent: self.sent });
        self.deadline = now + self.patience();
        Segment::OutOfBand { pair: self.pair, sent: now }
    }

    /// The bytes sent since the last pair.
    fn sent_in_period(&self) -> u64 {
        self.sent - self.out.back().map_or(0, |pair| pair.sent)
    }

    /// The estimated bytes in flight: those sent less those known to have arrived or to be lost.
    pub fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.lost + self.received)
    }

    /// The bytes known to be lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The bytes known to have arrived.
    pub fn arrived(&self) -> u64 {
        self.received
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

    /// Takes a count of the bytes received since the start. A count below an earlier one was
    /// overtaken and is ignored. Data that the network duplicated counts as received twice, up to
    /// the bytes sent.
    ///
    /// `virtual_delay` is the virtual delay in seconds of the data that arrived last.
    #[inline]
    pub fn on_count(&mut self, received: u64, virtual_delay: f64) {
        if received < self.received {
            return;
        }
        self.received = received.min(self.sent);
        if self.sending.holds_virtual && virtual_delay != self.virtual_s {
            self.virtual_s = virtual_delay;
            self.make_room();
        }
    }

    /// Sets the bytes that may be in flight. By Little's law the ratio of outstanding to in-flight
    /// bytes equals the ratio of the round-trip times with and without virtual delay. Outstanding
    /// bytes include virtually queued ones.
    fn make_room(&mut self) {
        let (window, rtt) = (self.allowance.window, self.rtt.latest().as_secs_f64());
        self.room = if self.virtual_s > 0.0 && rtt > 0.0 {
            (window.as_f64() / (1.0 + self.virtual_s / rtt)) as u64
        } else {
            window.get()
        };
    }

    /// Takes the allowance of the controller.
    fn take_allowance(&mut self) {
        self.allowance = self.controller.allowance();
        self.make_room();
    }

    /// Takes a report that arrived. Ignores it if its pair or a later one was already answered. With
    /// [`Pairs::Printed`] it also ignores a report on any pair but the latest.
    pub fn on_report(&mut self, report: &Report, now: Time) {
        if self.sending.pairs == Pairs::Printed && report.number != self.pair {
            return;
        }
        let Some(&answered) = self.out.iter().find(|p| p.number == report.number) else {
            return;
        };
        self.out.clear();
        self.unanswered = 0;
        self.rtt.sample(now.since(answered.at));
        let received = report.received.min(self.sent);
        // Bytes sent before the pair that have not arrived with it are lost.
        let lost = answered.sent.saturating_sub(received);
        let more_lost = lost.saturating_sub(self.lost);
        self.lost = lost;
        if self.reported_at > Time::ZERO {
            let arrived = Bytes::new(received.saturating_sub(self.reported));
            let period = now.since(self.reported_at).as_secs_f64();
            self.delivery_rate = Rate::from_bps_f64(arrived.bits_f64() / period.max(1e-9));
        }
        self.reported = received;
        self.reported_at = now;
        self.on_count(received, report.virtual_delay.as_secs_f64());
        let report = Report {
            received,
            // The report of a loss may itself be lost, or arrive after a later one.
            lost: match self.sending.pairs {
                Pairs::Printed => report.lost,
                Pairs::Patient => more_lost > 0,
            },
            lost_bytes: Bytes::new(more_lost),
            ..*report
        };
        // The bytes sent during the round trip that this report ends.
        let path = self.path(self.sent - answered.sent);
        self.controller.on_report(&report, &path, now);
        self.take_allowance();
        self.ran_dry = !self.has_data();
        if let Some(rate) = self.allowance.pacing {
            self.pacer.speed_up(now, self.packet, rate);
        }
        if self.has_data() || self.in_flight() > 0 {
            self.new_pair(now);
        } else {
            self.started = false;
            self.to_send = 0;
            self.deadline = Time::MAX;
        }
    }

    /// Returns true if the window allows no data before the next answer.
    #[inline]
    fn is_full(&self) -> bool {
        let window = self.allowance.window.get();
        match self.sending.window {
            Window::Outstanding => {
                let outstanding = self.in_flight();
                outstanding > 0 && outstanding + self.next.get() > self.room
            }
            Window::Period => self.sent_in_period() + self.packet.get() > window,
            Window::Open => self.in_flight() >= window.saturating_mul(UNACCOUNTED),
        }
    }

    fn has_data(&self) -> bool {
        self.numbers < self.available
    }

    /// The time at which the controller's pace allows the next data packet.
    pub fn next_data(&self) -> Time {
        self.pacer.next()
    }

    /// The time at which to call [`Ingress::on_wake`], or `Time::MAX` for never.
    pub fn next_wake(&self) -> Time {
        self.deadline
    }

    /// Notifies the ingress that the time of [`Ingress::next_wake`] may have come without an answer
    /// to the current pair.
    #[inline]
    pub fn on_wake(&mut self, now: Time) {
        if now >= self.deadline {
            self.time_out(now);
        }
    }

    /// Ends the wait for the answer to the current pair, or for its position.
    fn time_out(&mut self, now: Time) {
        if self.to_send == 2 {
            // The pair has waited for its position long enough.
            self.place_by = now;
            self.deadline = now + self.patience();
            return;
        }
        self.timeouts += 1;
        self.unanswered = self.unanswered.saturating_add(1);
        if self.sending.pairs == Pairs::Printed || self.unanswered > QUICK {
            self.rtt.back_off();
        }
        self.new_pair(now);
    }

    /// Returns a packet to send now, or the time at which to ask again. `Err(Time::MAX)` means
    /// after the next report or time-out.
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        self.poll_sized(self.next, now)
    }

    /// Returns a packet to send now as [`Ingress::poll`] does, if the next one has `size` bytes.
    pub fn poll_sized(&mut self, size: Bytes, now: Time) -> Result<Segment, Time> {
        if !self.started && self.has_data() {
            self.start(now);
        }
        match self.to_send {
            2 if !self.awaits_data(now) => return Ok(self.out_of_band(now)),
            1 => {
                self.to_send = 0;
                return Ok(Segment::InBand { pair: self.pair, sent_bytes: self.sent });
            }
            _ => {}
        }
        match self.poll_data(size, now) {
            Ok(number) => Ok(Segment::Data { number, sent: now }),
            // A pair does not wait for its position beyond that time, even if data is held back.
            Err(again) if self.to_send == 2 => Err(again.min(self.place_by)),
            Err(again) => Err(again),
        }
    }

    /// Returns the time from which [`Ingress::poll`] returns a data packet, or `Time::MAX` if the window
    /// is full at `now`. Returns `None` if a control packet is due or there is nothing to send.
    #[inline]
    pub fn next_paced(&self, now: Time) -> Option<Time> {
        if self.to_send > 0 || !self.started || !self.has_data() {
            return None;
        }
        let next = self.pacer.next();
        Some(if next <= now && self.is_full() { Time::MAX } else { next })
    }

    /// Returns the number of the data packet that [`Ingress::poll`] returns at `now`, from the time of
    /// [`Ingress::next_paced`] on.
    #[inline]
    pub fn send_paced(&mut self, now: Time) -> u64 {
        self.send_data(self.next, now)
    }

    fn poll_data(&mut self, size: Bytes, now: Time) -> Result<u64, Time> {
        if !self.has_data() {
            self.ran_dry = true;
            return Err(Time::MAX);
        }
        if self.pacer.next() > now {
            return Err(self.pacer.next());
        }
        if self.is_full() {
            return Err(Time::MAX);
        }
        Ok(self.send_data(size, now))
    }

    /// Counts a data packet that is sent now. Returns its number.
    #[inline]
    fn send_data(&mut self, size: Bytes, now: Time) -> u64 {
        let rate = self.allowance.pacing.unwrap_or(Rate::from_bps(u64::MAX));
        self.pacer.sent(now, size, rate);
        self.sent += size.get();
        self.numbers += 1;
        self.numbers - 1
    }

    /// Returns true if all supplied data has arrived or is lost.
    pub fn is_done(&self) -> bool {
        !self.has_data() && self.received + self.lost >= self.sent
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// Sets the service of the controller.
    pub fn set_service(&mut self, service: &Service) {
        self.controller.set_service(service);
        self.take_allowance();
    }

    /// The round-trip times.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.rtt
    }

    /// The number of control pairs that were not answered in time.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// The data bytes sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}
