//! The sending half of a stream.

mod by_time;
mod deliveries;
mod notify;
mod pace;
mod prr;
mod rack;
mod repair;

use self::deliveries::Deliveries;
use self::prr::Prr;
use self::rack::Rack;
use super::scoreboard::Scoreboard;
use crate::{Pacer, RoundTrip, Segment};
use accord_control::{Acked, AnyController, Capabilities, Controller, Marks, PathView, Recovery};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// Sends packets by a controller's window, finds losses and repairs them.
///
/// Loss is found by three duplicate acknowledgements or by time-out; how it is repaired is
/// the controller's choice of [`Recovery`](accord_control::Recovery): a hole for three duplicates each (Reno), a hole a
/// round trip (NewReno), or all that the acknowledgements tell (SACK).
///
/// | event | what is done | source |
/// |---|---|---|
/// | first and second duplicate | a new packet each, beyond the window | RFC 3042 |
/// | third, or three arrived beyond a hole | the window is cut, the first lost packet goes at once, the others as the window has room | RFC 5681 §3.2, RFC 6675 §5 |
/// | acknowledgement that was overtaken | what it tells beyond the window is taken down | RFC 6675 §5 |
/// | first or second, Vegas | the same once the packet is older than the time-out without its floor | Low02 §1.1 |
/// | partial acknowledgement, NewReno | the next hole goes at once; only the first one sets the timer again | RFC 6582 §3.2 |
/// | acknowledgement that ends a recovery | the window stays at the threshold: option 2 of RFC 6582 | RFC 6582 §3.2, RFC 5681 §3.2 |
/// | a loss of what was sent after the cut | SACK: another recovery and cut when the first ends | RFC 5681 §4.3, RFC 6675 §5 |
/// | nothing new to send, SACK | holes not yet known to be lost, then once the last packet | RFC 6675 §4, NextSeg (3), (4) |
/// | time-out | slow start from the first hole; losses answered before cost no second cut, a lost repair does | RFC 5681 §3.1, §4.3 |
/// | the first packet arrives after all, by the echo, as it was sent first | the answer to its loss is undone, and what was taken for lost is in flight | RFC 3522, RFC 4015 §3 |
/// | idle for longer than the time-out | the window starts again | RFC 5681 §4.1 |
///
/// With [`Recovery::Rack`] losses are found by time (`rack.rs`, `by_time.rs`), and a recovery may be
/// regulated (`prr.rs`).
///
/// Congestion marks come back as the receiver's count of them. The controller is told of
/// each mark, and of congestion once per round trip [RFC 3168 §6.1.2]: marks and losses of
/// packets sent before it was last told are the same congestion.
///
/// Departures. The least time-out is a setting, by default below the 1 s of RFC 6298 §2.4. Every
/// acknowledgement of new data gives a sample of the round-trip time. The timer starts anew when the first packet
/// is sent again, which RFC 6675 §6 allows and RFC 6298 does not ask for. After a recovery (not
/// after a time-out) three duplicates begin another one as soon as all that was sent before it is
/// acknowledged; RFC 6582 §3.2 waits for one packet more. An acknowledgement tells one SACK
/// block, not three: where acknowledgements are lost, some packets that arrived are sent again.
/// There is no latch (ECE) to be reset by CWR, since the count of marks does not need one;
/// retransmissions may be marked, too.
#[derive(Clone, Debug)]
pub struct StreamSender<C = AnyController> {
    controller: C,
    capabilities: Capabilities,
    packet: Bytes,
    rtt: RoundTrip,
    pacer: Pacer,
    /// First packet not acknowledged, and next new one.
    una: u64,
    next: u64,
    /// Packets that the application has to send, in all.
    available: u64,
    board: Scoreboard,
    /// Duplicate acknowledgements since the window last moved; each says that a packet
    /// arrived (Reno and NewReno, which are not told which).
    duplicates: u64,
    /// Repairing losses, until all packets before `recover` are acknowledged.
    recovering: bool,
    /// No new recovery before all packets before this one are acknowledged [RFC 6582 §3.2].
    recover: u64,
    /// The next packet taken for lost goes even if the window has no room.
    repair_now: bool,
    /// After a mark was answered, growth waits until this packet is acknowledged, as for
    /// acknowledgements with ECE [RFC 3168 §6.1.2].
    held_to: u64,
    /// The receiver's count of marked packets.
    marked: u32,
    /// The round trip ends when this packet is acknowledged.
    round_end: u64,
    /// When the retransmission timer runs out; `Time::MAX` while nothing is in flight.
    deadline: Time,
    /// The window was last full when this packet was the next new one.
    full_to: u64,
    /// Packets of a window are spaced in time.
    pacing: bool,
    /// More decides on a packet than the window: `pacing`, or a recovery that is regulated.
    gated: bool,
    /// While nothing is in flight: when the last packet was sent.
    idle_since: Time,
    /// When each packet in flight was sent last, for a controller that looks at the age of the
    /// first one.
    #[expect(
        clippy::box_collection,
        reason = "small where it is not used: most flows"
    )]
    sent: Option<Box<VecDeque<Time>>>,
    /// What is kept of each packet in flight for those that ask for it.
    log: Option<Box<Log>>,
    /// When this connection was opened.
    opened: Time,
    /// Boxed, since it is idle while nothing is lost or marked.
    loss_state: Box<LossState>,
}

/// What few senders keep of each packet in flight: one pointer, so that the others ask once.
#[derive(Clone, Debug)]
struct Log {
    /// What had been delivered when it was sent, for a controller that asks for samples.
    deliveries: Option<Deliveries>,
    /// When it was sent last, for loss detection by time.
    rack: Option<Rack>,
}

impl Log {
    /// The log of a connection that begins with packet `first`, if its controller asks for one.
    fn new(asked: &Capabilities, packet: Bytes, first: u64) -> Option<Box<Log>> {
        let log = Log {
            deliveries: (asked.deliveries).then(|| Deliveries::new(packet.get())),
            rack: (asked.recovery == Recovery::Rack).then(|| Rack::new(first)),
        };
        (log.deliveries.is_some() || log.rack.is_some()).then(|| Box::new(log))
    }
}

/// The state that matters where something is lost or marked.
#[derive(Clone, Debug, Default)]
struct LossState {
    /// Packets sent again, and times that the retransmission timer ran out.
    retransmissions: u64,
    timeouts: u64,
    /// Partial acknowledgements of this recovery.
    partials: u32,
    /// The last packet may be sent again, for nothing else to send, once this one is
    /// acknowledged: RescueRxt of RFC 6675.
    rescue: u64,
    /// Congestion of packets before this one has been answered.
    answered: u64,
    /// The flight that was cut then.
    answered_flight: Bytes,
    /// When the last cut for a loss was.
    cut: Time,
    /// Marks of packets sent from now on are congestion that was not answered.
    answer_from: Time,
    /// The next new packet when one last waited for the pacer.
    paced_to: u64,
    /// The most packets in flight since the window was last cut, as far as it was not full: maxFS
    /// of draft-ietf-ccwg-ratelimited-increase §3.
    most: u64,
    /// The last answer to a loss, while it may turn out that there was none.
    doubt: Option<Doubt>,
    /// The first packet when the timer last ran out.
    timed_out: Option<u64>,
    /// What regulates this recovery, for a controller that asks for it.
    prr: Option<Prr>,
}

/// An answer to the loss of the first packet, which waits for the acknowledgement that moves the window:
/// the Eifel algorithm [RFC 3522].
#[derive(Clone, Copy, Debug)]
struct Doubt {
    /// RetransmitTS: when that packet was first sent again; `Time::MAX` before.
    repaired: Time,
    /// [`LossState::answered`] and [`LossState::answer_from`] before.
    answered: u64,
    answer_from: Time,
}

/// The settings of a stream that are not its controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Least retransmission time-out [RFC 6298 §2.4].
    pub min_rto: Duration,
    /// Spaces the packets of a window in time: see `pace`. Without it they go as the window has
    /// room.
    pub pacing: bool,
}

impl Settings {
    /// Those of Linux without the queue discipline `fq`.
    pub const LINUX: Settings = Settings {
        min_rto: Duration::from_ms(200),
        pacing: false,
    };
}

impl<C: Controller> StreamSender<C> {
    /// A sender of packets of `packet` bytes, with nothing to send yet.
    pub fn new(controller: C, packet: Bytes, settings: Settings) -> StreamSender<C> {
        let capabilities = controller.capabilities();
        StreamSender {
            capabilities,
            packet,
            rtt: RoundTrip::new(settings.min_rto, 16),
            pacer: Pacer::default(),
            una: 0,
            next: 0,
            available: 0,
            board: Scoreboard::default(),
            duplicates: 0,
            recovering: false,
            recover: 0,
            repair_now: false,
            held_to: 0,
            marked: 0,
            round_end: 0,
            deadline: Time::MAX,
            full_to: 0,
            pacing: settings.pacing,
            gated: settings.pacing,
            idle_since: Time::ZERO,
            sent: (capabilities.early_retransmission).then(Box::default),
            log: Log::new(&capabilities, packet, 0),
            opened: Time::ZERO,
            loss_state: Box::default(),
            controller,
        }
    }

    /// The application opens a new connection between the same ends, under `controller`:
    /// window, round-trip times and timers begin afresh. What was not sent yet is dropped.
    ///
    /// Packets go on being numbered, so that the receiver needs no telling; it has all that
    /// came before in order. What is still on its way of the connection before is ignored, as
    /// packets to a port that is closed would be. There is no handshake.
    pub fn reconnect(&mut self, controller: C, now: Time) {
        let loss_state = LossState {
            retransmissions: self.loss_state.retransmissions,
            timeouts: self.loss_state.timeouts,
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
            idle_since: now,
            ..StreamSender::new(controller, self.packet, self.settings())
        };
    }

    fn settings(&self) -> Settings {
        Settings {
            min_rto: self.rtt.min_rto(),
            pacing: self.pacing,
        }
    }

    /// The application has `packets` more to send; `u64::MAX` for as much as ever fits.
    pub fn supply(&mut self, packets: u64) {
        self.available = self.available.saturating_add(packets);
    }

    /// The application sends no more than what is already sent.
    pub fn stop(&mut self) {
        self.available = self.next;
    }

    /// Packets in flight: sent, not known to have arrived, not taken for lost.
    #[inline]
    fn in_flight(&self) -> u64 {
        let out = self.next - self.una + self.board.twice();
        out.saturating_sub(self.board.sacked() + self.duplicates + self.board.lost())
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

    /// An acknowledgement arrived. One of packets that were never sent, or sent over the
    /// connection before, is ignored.
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
        // An acknowledgement that was overtaken tells fewer than are known.
        let news = marked.wrapping_sub(self.marked);
        let marks = if news <= u32::MAX / 2 {
            u64::from(news)
        } else {
            0
        };
        if marks > 0 {
            self.marked = marked;
            if self.capabilities.marks == Marks::Loss {
                self.answer_marks(echo, now);
            }
        }
        if next > self.una {
            match self.log.is_some() {
                false => self.advance::<false>(next, block, block_len, echo, marks, now),
                true => self.advance_logged(next, block, block_len, echo, marks, now),
            }
        } else if next < self.una {
            self.overtaken(self.una - next, block, block_len, echo, now);
        } else if self.next > self.una {
            self.duplicate(block, block_len, echo, marks, now);
        }
    }

    /// The window stays where a loss or a mark put it.
    #[inline]
    fn is_held(&self) -> bool {
        self.recovering || self.una < self.held_to
    }

    /// The window was full after the first packet in flight was sent: at some time of the last round
    /// trip.
    #[inline]
    fn was_full(&self) -> bool {
        self.una < self.full_to
    }

    /// The bucket of the pacer still holds a packet, for a controller that lets more than one go at once.
    /// The pacer's time is when the bucket is full.
    #[inline(never)]
    fn may_burst(&self, pace: Option<Rate>, now: Time) -> bool {
        let burst = self.controller.burst();
        let more = Bytes::new(burst.get().saturating_sub(self.packet.get()));
        let empties = |rate: Rate| now + rate.transmission(more);
        more > Bytes::ZERO && pace.is_some_and(|rate| self.pacer.next() <= empties(rate))
    }

    /// Packets wait for the pacer. Where the settings ask for it, the window says the rate, so that it
    /// counts as full.
    #[inline(never)]
    fn note_pacing(&mut self) {
        self.note_flight();
        if self.pacing && self.next < self.available {
            self.loss_state.paced_to = self.next;
        }
    }

    /// The window is not full.
    #[inline(never)]
    fn note_flight(&mut self) {
        self.loss_state.most = self.loss_state.most.max(self.in_flight());
    }

    /// The window may grow though it was not full: packets waited for the pacer [RFC 9002 §7.8], or slow
    /// start has not come to twice what was in flight
    /// [draft-ietf-ccwg-ratelimited-increase §3 rule 2].
    #[cold]
    fn may_grow_on(&self) -> bool {
        let window = self.controller.cwnd();
        let slow_start = (self.controller.ssthresh()).is_none_or(|ssthresh| window < ssthresh);
        let doubled = 2 * self.loss_state.most * self.packet.get();
        self.una < self.loss_state.paced_to || slow_start && window.get() < doubled
    }

    /// The window moves. `LOGGED` says that there is a log, so that a sender without one does not ask
    /// for it again.
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
        // The acknowledgement that ends a recovery only ends it [RFC 6582 §3.2].
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
            self.idle_since = echo;
            Time::MAX
        };
        if LOGGED && self.capabilities.recovery == Recovery::Rack {
            new += self.repair_by_time(new, block, block_len, echo, now);
            held |= self.recovering;
        } else if self.recovering || self.duplicates > 0 || block_len > 0 || disordered {
            new += self.repair(n, block, block_len, echo, timer, now);
            held |= self.recovering;
        }
        let round_ended = next > self.round_end;
        if round_ended {
            self.round_end = self.next;
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

    /// When to call [`StreamSender::on_wake`]; `Time::MAX` for never.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.deadline
    }

    /// A packet to send now, or when to ask again: `Err(Time::MAX)` means after the next
    /// acknowledgement or time-out.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        let allowance = self.controller.allowance();
        // Of a window below one packet, one packet may still be in flight.
        let window = allowance.window.max(self.packet).get();
        let mut fits = (self.in_flight() + 1) * self.packet.get() <= window;
        if !fits {
            self.full_to = self.next;
            if !self.repair_now {
                return Err(Time::MAX);
            }
        }
        if allowance.pacing.is_some() || self.gated {
            if self.pacer.next() > now && !self.may_burst(allowance.pacing, now) {
                self.note_pacing();
                return Err(self.pacer.next());
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

    /// The numbers of all packets that [`StreamSender::poll`] would give one by one now, before it says to ask
    /// again after the next acknowledgement or time-out. `None` if more decides on them than the window.
    #[inline(always)]
    pub fn burst(&mut self, now: Time) -> Option<Range<u64>> {
        let allowance = self.controller.allowance();
        let unusual = self.recovering || self.repair_now || self.gated || self.log.is_some();
        if unusual
            || allowance.pacing.is_some()
            || self.deadline == Time::MAX
            || self.board.lost() > 0
        {
            return None;
        }
        let window = allowance.window.max(self.packet).get() / self.packet.get();
        let room = window.saturating_sub(self.in_flight());
        let waiting = self.available - self.next;
        let first = self.next;
        self.next += room.min(waiting);
        match room <= waiting {
            true => self.full_to = self.next,
            false => self.note_flight(),
        }
        if let Some(sent) = &mut self.sent {
            for _ in first..self.next {
                sent.push_back(now);
            }
        }
        Some(first..self.next)
    }

    /// The first packet in flight is sent.
    fn begin_to_send(&mut self, now: Time) {
        let timeout = self.rtt.timeout();
        self.deadline = now + timeout;
        if now.since(self.idle_since) > timeout {
            self.controller.on_idle();
            self.loss_state.most = 0;
        }
        if self.log.is_some() {
            self.set_rto(self.deadline);
            self.schedule_probe(now);
            self.notify_restart(now);
        }
    }

    /// There is room and nothing to send.
    #[inline]
    fn run_dry(&mut self) -> Result<Segment, Time> {
        self.note_flight();
        if self.log.is_some() {
            self.note_app_limited();
        }
        Err(Time::MAX)
    }

    /// All that the application had to send has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.una >= self.available
    }

    /// Tells the controller the true base round-trip time.
    pub fn set_base_rtt(&mut self, base_rtt: Duration) {
        self.controller.set_base_rtt(base_rtt);
    }

    /// The bytes in flight: sent, not known to have arrived, not taken for lost.
    pub fn bytes_in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight() * self.packet.get())
    }

    /// Whether losses are being repaired.
    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// The longest time for which the controller remembers.
    pub fn memory(&self) -> Duration {
        self.controller.memory()
    }

    /// Size of its packets.
    pub fn packet(&self) -> Bytes {
        self.packet
    }

    /// Its controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// Its round-trip times.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.rtt
    }

    /// Packets sent again.
    pub fn retransmissions(&self) -> u64 {
        self.loss_state.retransmissions
    }

    /// Times that the retransmission timer ran out.
    pub fn timeouts(&self) -> u64 {
        self.loss_state.timeouts
    }
}
