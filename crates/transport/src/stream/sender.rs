//! The sending half of a stream.

mod by_time;
mod deliveries;
mod fast_path;
mod log;
mod notify;
mod pace;
mod prr;
mod rack;
mod repair;

use self::log::Log;
use self::prr::Prr;
use super::scoreboard::Board;
use crate::{Pacer, RoundTrip, Segment};
use accord_control::{
    Acked, Allowance, AnyController, Burst, Capabilities, Controller, Marks, PathView, Recovery,
};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;
use std::mem::offset_of;
use std::ops::Range;

/// Sends packets within a controller's window, detects losses and repairs them.
///
/// Three duplicate acknowledgements or a time-out reveal a loss. The repair follows the
/// controller's choice of [`Recovery`](accord_control::Recovery): one hole per three duplicates
/// (Reno), one hole per round trip (NewReno), or all holes that the acknowledgements report (SACK).
///
/// | event | action | source |
/// |---|---|---|
/// | first and second duplicate | a new packet each, beyond the window | RFC 3042 |
/// | third, or three arrived beyond a hole | the window is cut, the first lost packet goes at once, the others as the window has room | RFC 5681 §3.2, RFC 6675 §5 |
/// | acknowledgement that was overtaken | its block beyond the window is recorded | RFC 6675 §5 |
/// | first or second, Vegas | the same once the packet is older than the time-out without its floor | Low02 §1.1 |
/// | partial acknowledgement, NewReno | the next hole goes at once; only the first one sets the timer again | RFC 6582 §3.2 |
/// | acknowledgement that ends a recovery | the window stays at the threshold: option 2 of RFC 6582 | RFC 6582 §3.2, RFC 5681 §3.2 |
/// | a loss of data sent after the cut | SACK: another recovery and cut when the first ends | RFC 5681 §4.3, RFC 6675 §5 |
/// | nothing new to send, SACK | holes not yet known to be lost, then once the last packet | RFC 6675 §4, NextSeg (3), (4) |
/// | time-out | slow start from the first hole; losses answered before cost no second cut, a lost repair does | RFC 5681 §3.1, §4.3 |
/// | the first packet arrives after all, by the echo, as it was sent first | the answer to its loss is undone, and the packets taken for lost are in flight | RFC 3522, RFC 4015 §3 |
/// | idle for longer than the time-out | the window starts again | RFC 5681 §4.1 |
///
/// With [`Recovery::Rack`] losses are found by time (`rack.rs`, `by_time.rs`), and a recovery may be
/// regulated (`prr.rs`).
///
/// The receiver returns the count of congestion marks. The controller is notified of each mark, and
/// of congestion once per round trip [RFC 3168 §6.1.2]. Marks and losses of packets sent before the
/// last notification are part of the same congestion.
///
/// Departures. The least time-out is a setting, by default below the 1 s of RFC 6298 §2.4. Every
/// acknowledgement of new data gives a sample of the round-trip time, also if it reports the data in a block,
/// as in Linux. (RTTM of RFC 7323 §4.1 takes only those that move the window, because others echo an earlier
/// packet there.) The echo is that of the transmission that arrived, so repairs also give samples, unlike in
/// Linux. The timer restarts when the first packet is sent again, which RFC 6675 §6 allows and RFC 6298 does
/// not require. After a recovery (not after a time-out) three duplicates begin another one as soon as all
/// data sent before it is acknowledged; RFC 6582 §3.2 waits for one packet more. An acknowledgement carries
/// one SACK block, not three. So if acknowledgements are lost, some packets that arrived are sent again.
/// There is no latch (ECE) for CWR to reset, since the count of marks does not need one. Retransmissions may
/// also be marked.
///
/// The fields are in the order of their use: an acknowledgement in order reads those up to the
/// controller's window.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct StreamSender<C = AnyController> {
    /// The first packet that is not acknowledged, and the next new one.
    una: u64,
    next: u64,
    /// The total number of packets supplied by the application.
    available: u64,
    /// The next new packet when the window was last full.
    full_to: u64,
    /// The packet whose acknowledgement ends the pause of growth after a mark, as for
    /// acknowledgements with ECE [RFC 3168 §6.1.2].
    held_to: u64,
    /// The packet whose acknowledgement ends the round trip.
    round_end: u64,
    /// The time at which this connection was opened.
    opened: Time,
    /// The latest acknowledgement on the fast path, which restarted the retransmission timer.
    restarted: Time,
    rtt: RoundTrip,
    packet: Bytes,
    /// The receiver's latest count of marked packets.
    marked: u32,
    /// The fast path: packets are in flight, all in order, and only the window limits them. The sender then
    /// takes most acknowledgements with [`StreamSender::acknowledge`].
    fast: Fast,
    /// True while losses are repaired, until all packets before
    /// [`LossState::recover`] are acknowledged.
    recovering: bool,
    /// True if the next lost packet is sent even though the window has no room.
    repair_now: bool,
    /// True if more than the window limits a packet: pacing, or a regulated recovery.
    gated: bool,
    /// The last time at which each packet in flight was sent, for a controller that checks the age
    /// of the first one.
    #[expect(clippy::box_collection, reason = "small where it is not used: most flows")]
    sent: Option<Box<VecDeque<Time>>>,
    controller: C,
    /// The per-packet state of packets in flight, for controllers that ask for it.
    log: Option<Box<Log>>,
    /// The deadline of the retransmission timer, or `Time::MAX` while nothing is in flight. On the
    /// fast path the deadline follows from `restarted`.
    deadline: Time,
    /// The number of duplicate acknowledgements since the window last moved. Each is the arrival of
    /// a packet, whose number Reno and NewReno do not know.
    duplicates: u64,
    pacer: Pacer,
    board: Board,
    /// The state of losses, boxed because it is unused while nothing is lost or marked.
    loss_state: Box<LossState>,
}

/// The tag of the enumeration of senders is in the last flag, on a cache line that an
/// acknowledgement reads.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<StreamSender>() <= 264);

/// The fast path of a sender (`fast_path.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fast {
    /// The sender is not on the fast path.
    No,
    /// The sender is on the fast path, and keeps no state per packet.
    Plain,
    /// The sender is on the fast path, and keeps only [`StreamSender::sent`].
    Timed,
    /// The sender is on the fast path, and keeps a log without samples of the delivery rate.
    Logged,
    /// The sender is on the fast path, and keeps a log with samples of the delivery rate. Its
    /// controller is notified of each packet.
    Sampled,
}

/// The state of losses and marks, and the settings that only their handling reads.
#[derive(Clone, Debug, Default)]
struct LossState {
    capabilities: Capabilities,
    /// True if the packets of a window are spaced in time.
    pacing: bool,
    /// The packet before which all must be acknowledged before another recovery [RFC 6582 §3.2].
    recover: u64,
    /// The time at which the last packet was sent, while nothing is in flight.
    idle_since: Time,
    /// The numbers of packets sent again and of time-outs.
    retransmissions: u64,
    timeouts: u64,
    /// The number of partial acknowledgements in this recovery.
    partials: u32,
    /// RescueRxt of RFC 6675: the packet whose acknowledgement allows the last packet to be sent
    /// again if there is nothing else to send.
    rescue: u64,
    /// The packet before which all congestion has been answered.
    answered: u64,
    /// The data in flight at that answer.
    answered_flight: Bytes,
    /// The time of the last cut for a loss.
    cut: Time,
    /// Marks of packets sent at or after this time are unanswered congestion.
    answer_from: Time,
    /// The next new packet when a packet last waited for the pacer.
    paced_to: u64,
    /// maxFS of draft-ietf-ccwg-ratelimited-increase §3: the most packets in flight since the
    /// window was last cut, while it was not full.
    most: u64,
    /// The last answer to a loss that may prove spurious.
    doubt: Option<Doubt>,
    /// The first unacknowledged packet at the last time-out.
    timed_out: Option<u64>,
    /// The state of PRR in this recovery, for a controller that asks for it. It is boxed, because
    /// few do.
    prr: Option<Box<Prr>>,
    /// The flow's name in the log, if there is a log.
    name: Option<Box<str>>,
}

/// An answer to the loss of the first packet, until the acknowledgement that moves the window
/// confirms or refutes it: the Eifel algorithm [RFC 3522].
#[derive(Clone, Copy, Debug)]
struct Doubt {
    /// RetransmitTS: the time at which that packet was first sent again, or `Time::MAX` before
    /// that.
    repaired: Time,
    /// [`LossState::answered`] and [`LossState::answer_from`] before the answer.
    answered: u64,
    answer_from: Time,
}

/// The settings of a stream that are not its controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The least retransmission time-out [RFC 6298 §2.4].
    pub min_rto: Duration,
    /// True to space the packets of a window in time (`pace.rs`). Otherwise they are sent as the
    /// window has room.
    pub pacing: bool,
}

impl Settings {
    /// The settings of Linux without the queue discipline `fq`.
    pub const LINUX: Settings = Settings { min_rto: Duration::from_ms(200), pacing: false };
}

impl StreamSender {
    /// The number of bytes at the start of a sender that an in-order acknowledgement reads, including
    /// the window of the most common controllers.
    pub const HOT: usize = offset_of!(StreamSender, controller) + 24;
}

impl<C: Controller> StreamSender<C> {
    /// Creates a sender of packets of `packet` bytes, with nothing to send yet.
    pub fn new(controller: C, packet: Bytes, settings: Settings) -> StreamSender<C> {
        let capabilities = controller.capabilities();
        let log = Log::new(&capabilities, packet, 0);
        StreamSender {
            packet,
            rtt: RoundTrip::new(settings.min_rto, 16),
            pacer: Pacer::default(),
            una: 0,
            next: 0,
            available: 0,
            board: Board::default(),
            duplicates: 0,
            recovering: false,
            repair_now: false,
            held_to: 0,
            marked: 0,
            round_end: 0,
            fast: Fast::No,
            restarted: Time::ZERO,
            deadline: Time::MAX,
            full_to: 0,
            gated: settings.pacing,
            sent: (capabilities.early_retransmission).then(Box::default),
            log,
            opened: Time::ZERO,
            loss_state: Box::new(LossState {
                capabilities,
                pacing: settings.pacing,
                ..LossState::default()
            }),
            controller,
        }
    }

    /// Opens a new connection between the same ends, under `controller`: window, round-trip times
    /// and timers start again. Unsent data is dropped.
    ///
    /// Packet numbers continue, so the receiver needs no notice. It takes all earlier packets as
    /// received. Packets and acknowledgements of the previous connection are ignored, as packets to
    /// a closed port would be. There is no handshake.
    pub fn reconnect(&mut self, controller: C, now: Time) {
        let loss_state = LossState {
            capabilities: controller.capabilities(),
            pacing: self.loss_state.pacing,
            idle_since: now,
            retransmissions: self.loss_state.retransmissions,
            timeouts: self.loss_state.timeouts,
            name: self.loss_state.name.take(),
            ..LossState::default()
        };
        *self = StreamSender {
            loss_state: Box::new(loss_state),
            log: Log::new(&controller.capabilities(), self.packet, self.next),
            una: self.next,
            next: self.next,
            available: self.next,
            marked: self.marked,
            opened: now,
            ..StreamSender::new(controller, self.packet, self.settings())
        };
    }

    fn settings(&self) -> Settings {
        Settings { min_rto: self.rtt.min_rto(), pacing: self.loss_state.pacing }
    }

    /// Adds `packets` packets of the application to send, or unlimited packets with `u64::MAX`.
    pub fn supply(&mut self, packets: u64) {
        self.available = self.available.saturating_add(packets);
    }

    /// Ends the supply. Packets that are not yet sent never will be.
    pub fn stop(&mut self) {
        self.available = self.next;
    }

    /// The packets in flight: sent, not known to have arrived, and not presumed lost.
    #[inline]
    fn in_flight(&self) -> u64 {
        let out = self.next - self.una + self.board.twice();
        out.saturating_sub(self.board.sacked() + self.duplicates + self.board.lost())
    }

    /// The bytes known to have arrived.
    pub(crate) fn bytes_acknowledged(&self) -> u64 {
        (self.una + self.board.sacked() + self.duplicates) * self.packet.get()
    }

    #[inline]
    fn path(&self) -> PathView {
        PathView {
            packet: self.packet,
            srtt: self.rtt.smoothed(),
            rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
            in_flight: Bytes::new(self.in_flight() * self.packet.get()),
            sent_in_round: Bytes::ZERO,
            had_too_little: false,
            delivery_rate: Rate::ZERO,
        }
    }

    /// Takes an acknowledgement. Ignores it if it covers packets that were never sent or were sent
    /// over the previous connection.
    #[inline]
    pub fn on_ack(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marked: u32,
        now: Time,
    ) {
        self.leave_fast_path();
        self.take_ack(next, block, block_len, echo, marked, now);
        self.enter_fast_path(now);
    }

    fn take_ack(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marked: u32,
        now: Time,
    ) {
        let last = match block_len {
            0 => next,
            _ => next.saturating_add(u64::from(block) + u64::from(block_len)),
        };
        if last > self.next || echo < self.opened {
            return;
        }
        if block > 0 && block_len == 0 {
            self.repeated(now);
        }
        // An overtaken acknowledgement has a lower count than the latest.
        let news = marked.wrapping_sub(self.marked);
        let marks = if news <= u32::MAX / 2 { u64::from(news) } else { 0 };
        if marks > 0 {
            self.marked = marked;
            if self.loss_state.capabilities.marks == Marks::Loss {
                self.answer_marks(echo, now);
            }
        }
        if next > self.una {
            if self.log.is_some() {
                self.advance_logged(next, block, block_len, echo, marks, now)
            } else {
                self.advance::<false>(next, block, block_len, echo, marks, now)
            }
        } else if next < self.una {
            self.overtaken(self.una - next, block, block_len, echo, now);
        } else if self.next > self.una {
            self.duplicate(block, block_len, echo, marks, true, now);
        }
    }

    /// Returns true if the window may not grow after a loss or a mark.
    #[inline]
    fn is_held(&self) -> bool {
        self.recovering || self.una < self.held_to
    }

    /// Returns true if the window was full at some time in the last round trip.
    #[inline]
    fn was_full(&self) -> bool {
        self.una < self.full_to
    }

    /// The time from which the next packet may go, for a controller with bursts before that of the pacer. The
    /// pacer's time is that at which a bucket is full or the next unit starts.
    #[inline(never)]
    fn opens(&self, pace: Option<Rate>, now: Time) -> Time {
        let next = self.pacer.next();
        let (size, waits) = match self.controller.burst() {
            Burst::Packet => return next,
            Burst::Bucket(size) => (size, false),
            Burst::Full(size) => (size, true),
            Burst::Unit(size) if self.pacer.began() == now => (size, true),
            Burst::Unit(_) => return next,
        };
        let Some(rate) = pace else {
            return next;
        };
        let more = Bytes::new(size.get().saturating_sub(self.packet.get()));
        let opens = Time::from_ps(next.as_ps().saturating_sub(rate.transmission(more).as_ps()));
        if waits && opens > now { next } else { opens }
    }

    /// Records that packets wait for the pacer. If the settings ask for pacing, the window
    /// determines the rate and counts as full.
    #[inline(never)]
    fn note_pacing(&mut self) {
        self.note_flight();
        if self.loss_state.pacing && self.next < self.available {
            self.loss_state.paced_to = self.next;
        }
    }

    /// Records the data in flight while the window is not full.
    #[inline(never)]
    fn note_flight(&mut self) {
        self.loss_state.most = self.loss_state.most.max(self.in_flight());
    }

    /// Returns true if the window may grow although it was not full: packets waited for the pacer
    /// [RFC 9002 §7.8], or slow start has not reached twice the data in flight
    /// [draft-ietf-ccwg-ratelimited-increase §3 rule 2].
    #[cold]
    fn may_grow_on(&self) -> bool {
        let window = self.controller.cwnd();
        let slow_start = (self.controller.ssthresh()).is_none_or(|ssthresh| window < ssthresh);
        let doubled = 2 * self.loss_state.most * self.packet.get();
        self.una < self.loss_state.paced_to || slow_start && window.get() < doubled
    }

    /// Moves the window. `LOGGED` is true if there is a log. So a sender without a log does not
    /// test this again.
    #[inline]
    fn advance<const LOGGED: bool>(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marks: u64,
        now: Time,
    ) {
        let n = next - self.una;
        let full = self.was_full();
        let window_limited = full || self.may_grow_on();
        // The acknowledgement that ends a recovery has no other effect [RFC 6582 §3.2].
        let mut held = self.is_held();
        self.una = next;
        let rtt = now.since(echo);
        self.rtt.sample(rtt);
        let disordered = !self.board.is_empty();
        let mut new = self.board.acknowledge(n);
        if let Some(sent) = &mut self.sent {
            sent.drain(..n as usize);
        }
        if LOGGED {
            self.log_acknowledged(n, echo, now);
        }
        let timer = self.deadline;
        self.deadline = if self.next > self.una {
            now + self.rtt.timeout()
        } else {
            self.loss_state.idle_since = echo;
            Time::MAX
        };
        if LOGGED && self.loss_state.capabilities.recovery == Recovery::Rack {
            new += self.repair_by_time(new, block, block_len, echo, now);
            held |= self.recovering;
        } else if self.recovering || self.duplicates > 0 || block_len > 0 || disordered {
            new += self.repair(n, block, block_len, echo, timer, now);
            held |= self.recovering;
        }
        let round_ended = next > self.round_end;
        if round_ended {
            self.begin_round();
        }
        let ack = Acked {
            bytes: Bytes::new(new * self.packet.get()),
            rtt: Some(rtt),
            round_ended,
            window_limited,
            in_recovery: held,
            marked: marks,
        };
        if LOGGED {
            self.notify_delivery(rtt, full, now);
        }
        self.controller.on_ack(&ack, &self.path(), now);
    }

    /// Begins a round trip. It ends with the acknowledgement of the packet that goes next: a lost one, or a
    /// new one. After a time-out thousands of lost packets may go before a new one does.
    #[inline]
    fn begin_round(&mut self) {
        self.round_end = match self.board.lost() {
            0 => self.next,
            _ => self.una + self.board.first_lost().expect("a packet is lost"),
        };
    }

    /// The time at which to call [`StreamSender::on_wake`], or `Time::MAX` for never.
    #[inline]
    pub fn next_wake(&self) -> Time {
        if self.fast == Fast::No { self.deadline } else { self.fast_deadline() }
    }

    /// Returns a packet to send now, or the time at which to ask again. `Err(Time::MAX)` means
    /// after the next acknowledgement or time-out.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        let allowance = self.controller.allowance();
        // A window below one packet still allows one packet in flight.
        let window = allowance.window.max(self.packet).get();
        let mut fits = (self.in_flight() + 1) * self.packet.get() <= window;
        if !fits {
            self.full_to = self.next;
            if !self.repair_now {
                return Err(Time::MAX);
            }
        }
        if allowance.pacing.is_some() || self.gated {
            if self.pacer.next() > now {
                let opens = self.opens(allowance.pacing, now);
                if opens > now {
                    self.note_pacing();
                    return Err(opens);
                }
            }
            if self.gated {
                fits = self.pass_gate(fits)?;
            }
        }
        let number = match self.board.take_lost() {
            Some(i) => self.resend(i, now),
            None if !fits && !self.wants_probe() => {
                self.repair_now = false;
                return Err(Time::MAX);
            }
            None if self.next < self.available => {
                self.next += 1;
                if let Some(sent) = &mut self.sent {
                    sent.push_back(now);
                }
                if self.log.is_some() {
                    self.log_sent(now);
                }
                self.next - 1
            }
            None if self.recovering || self.log.is_some() => match self.last_resort() {
                Some(i) => self.resend(i, now),
                None => return self.run_dry(),
            },
            None => return self.run_dry(),
        };
        if self.deadline == Time::MAX {
            self.begin_to_send(now);
        }
        if let Some(rate) = allowance.pacing {
            self.pacer.sent(now, self.packet, rate);
        }
        if self.gated {
            self.passed_gate(allowance.pacing.is_none(), window, now);
        }
        Ok(Segment::Data { number, sent: now })
    }

    /// Returns the numbers of all packets that [`StreamSender::poll`] would return one by one now,
    /// before it returns `Err(Time::MAX)`. Returns `None` if more than the window limits them.
    #[inline(always)]
    pub fn burst(&mut self, now: Time) -> Option<Range<u64>> {
        let allowance = self.controller.allowance();
        let is_logged = self.log.is_some() && !self.goes_on_fast(now);
        let unusual = self.recovering || self.repair_now || self.gated || is_logged;
        if unusual || self.deadline == Time::MAX || self.board.lost() > 0 {
            return None;
        }
        self.fill_window(allowance, self.in_flight(), now)
    }

    /// Sends packets up to the window. Returns `None` if the controller paces them.
    #[inline(always)]
    fn fill_window(
        &mut self,
        allowance: Allowance,
        in_flight: u64,
        now: Time,
    ) -> Option<Range<u64>> {
        if allowance.pacing.is_some() || self.fast == Fast::Sampled {
            return None;
        }
        let (window, packet) = (allowance.window.max(self.packet).get(), self.packet.get());
        // Most acknowledgements release one packet, which takes no division.
        let room = if (in_flight + 2) * packet > window {
            u64::from((in_flight + 1) * packet <= window)
        } else {
            (window / packet).saturating_sub(in_flight)
        };
        let waiting = self.available - self.next;
        let first = self.next;
        self.next += room.min(waiting);
        if room <= waiting {
            self.full_to = self.next
        } else {
            self.note_flight()
        }
        if self.fast != Fast::Plain {
            let packets = self.next - first;
            match &mut self.sent {
                Some(sent) => {
                    for _ in 0..packets {
                        sent.push_back(now);
                    }
                }
                None => self.log_sent_next(packets, now),
            }
        }
        Some(first..self.next)
    }

    /// Starts the timers for the first packet in flight.
    fn begin_to_send(&mut self, now: Time) {
        let timeout = self.rtt.timeout();
        self.deadline = now + timeout;
        if now.since(self.loss_state.idle_since) > timeout {
            self.controller.on_idle();
            self.loss_state.most = 0;
        }
        if self.log.is_some() {
            self.set_rto(self.deadline);
            self.schedule_probe(now);
            self.notify_restart(now);
        }
    }

    /// Records that the window has room and there is nothing to send.
    #[inline]
    fn run_dry(&mut self) -> Result<Segment, Time> {
        self.note_flight();
        if self.log.is_some() {
            self.note_app_limited();
        }
        Err(Time::MAX)
    }

    /// Returns true if all supplied data has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.una >= self.available
    }

    /// Passes the true base round-trip time to the controller.
    pub fn set_base_rtt(&mut self, base_rtt: Duration) {
        self.controller.set_base_rtt(base_rtt);
    }

    /// The bytes in flight: sent, not known to have arrived, and not presumed lost.
    pub fn bytes_in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight() * self.packet.get())
    }

    /// Returns true while losses are repaired.
    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// The memory of the controller.
    pub fn memory(&self) -> Duration {
        self.controller.memory()
    }

    /// The size of a packet.
    pub fn packet(&self) -> Bytes {
        self.packet
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The round-trip times.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.rtt
    }

    /// The number of packets sent again.
    pub fn retransmissions(&self) -> u64 {
        self.loss_state.retransmissions
    }

    /// The number of time-outs.
    pub fn timeouts(&self) -> u64 {
        self.loss_state.timeouts
    }
}
