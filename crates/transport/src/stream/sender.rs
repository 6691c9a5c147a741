//! The sending half of a stream.

use super::scoreboard::Scoreboard;
use crate::{Pacer, RoundTrip, Segment};
use accord_control::{Acked, AnyController, Congestion, Controller, Marks, PathView, Recovery};
use accord_units::{Bytes, Duration, Rate, Time};

/// Sends packets by a controller's window, finds losses and repairs them.
///
/// Loss is found by three duplicate acknowledgements or by time-out; how it is repaired is
/// the controller's choice of [`Recovery`]: one hole in all (Reno), a hole a round trip
/// (NewReno), or all that the acknowledgements tell (SACK).
///
/// Congestion marks come back as the receiver's count of them. The controller is told of
/// each mark, and of congestion once per round trip [RFC 3168 §6.1.2]: marks and losses of
/// packets sent before it was last told are the same congestion. Departures: there is no
/// latch (ECE) to be reset by CWR, since the count does not need one; retransmissions may be
/// marked, too.
#[derive(Clone, Debug)]
pub struct Sender {
    controller: AnyController,
    recovery: Recovery,
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
    /// Repairing; over when this packet and all before it are acknowledged.
    recovering_to: Option<u64>,
    /// No new repair before this packet is acknowledged [RFC 6582 §3.2].
    recovered: u64,
    /// Congestion of packets before this one has been answered.
    answered: u64,
    /// After a mark was answered, growth waits until this packet is acknowledged, as for
    /// acknowledgements with ECE [RFC 3168 §6.1.2].
    held_to: u64,
    /// The receiver's count of marked packets.
    marked: u32,
    /// The round trip ends when this packet is acknowledged.
    round_end: u64,
    /// When the retransmission timer runs out; `Time::MAX` while nothing is in flight.
    deadline: Time,
    retransmissions: u64,
    timeouts: u64,
    /// The window stopped the sender when it last could send.
    window_limited: bool,
    /// When this connection was opened.
    opened: Time,
}

/// Least retransmission time-out: that of common systems, below RFC 6298's 1 s.
const MIN_RTO: Duration = Duration::from_ms(200);

impl Sender {
    /// A sender of packets of `packet` bytes, with nothing to send yet.
    pub fn new(controller: AnyController, packet: Bytes) -> Sender {
        Sender {
            recovery: controller.recovery(),
            controller,
            packet,
            rtt: RoundTrip::new(MIN_RTO, 16),
            pacer: Pacer::default(),
            una: 0,
            next: 0,
            available: 0,
            board: Scoreboard::default(),
            duplicates: 0,
            recovering_to: None,
            recovered: 0,
            answered: 0,
            held_to: 0,
            marked: 0,
            round_end: 0,
            deadline: Time::MAX,
            retransmissions: 0,
            timeouts: 0,
            window_limited: false,
            opened: Time::ZERO,
        }
    }

    /// The application opens a new connection between the same ends, under `controller`:
    /// window, round-trip times and timers begin afresh. What was not sent yet is dropped.
    ///
    /// Packets go on being numbered, so that the receiver needs no telling; it has all that
    /// came before in order. What is still on its way of the connection before is ignored, as
    /// packets to a port that is closed would be. There is no handshake.
    pub fn reconnect(&mut self, controller: AnyController, now: Time) {
        *self = Sender {
            una: self.next,
            next: self.next,
            available: self.next,
            marked: self.marked,
            retransmissions: self.retransmissions,
            timeouts: self.timeouts,
            opened: now,
            ..Sender::new(controller, self.packet)
        };
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
        let out = self.next - self.una;
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

    /// The path as it was before a loss was found: all that is sent and not acknowledged
    /// counts as in flight, which is FlightSize of RFC 5681, but for what was sent beyond the
    /// window because packets arrived out of order (limited transmit, which eq. 4 must not
    /// count [RFC 5681 §3.2 step 2], and recovery). Halving that would widen the window where
    /// a repair is lost, too, and packets go on beyond the hole until the timer runs out.
    fn flight(&self) -> PathView {
        let out = Bytes::new((self.next - self.una) * self.packet.get());
        let window = self.controller.allowance().window.max(self.packet);
        PathView {
            in_flight: out.min(window),
            ..self.path()
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
        let last = next.saturating_add(u64::from(block) + u64::from(block_len));
        if last > self.next || next < self.una || echo < self.opened {
            return;
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
            if self.controller.marks() == Marks::Loss {
                self.answer_marks(next, now);
            }
        }
        if next > self.una {
            self.advance(next, block, block_len, echo, marks, now);
        } else if self.next > self.una {
            self.duplicate(block, block_len, marks, now);
        }
    }

    /// Marks are news if a packet sent after the last answer came back with them.
    #[cold]
    fn answer_marks(&mut self, next: u64, now: Time) {
        if next > self.answered && self.recovering_to.is_none() {
            self.answered = self.next;
            self.held_to = self.next;
            let flight = self.flight();
            self.controller.on_congestion(Congestion::Ecn, &flight, now);
        }
    }

    /// The window stays where a loss or a mark put it.
    #[inline]
    fn is_held(&self) -> bool {
        self.recovering_to.is_some() || self.una < self.held_to
    }

    #[inline]
    fn advance(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marks: u64,
        now: Time,
    ) {
        let n = next - self.una;
        self.una = next;
        let rtt = now.since(echo);
        self.rtt.sample(rtt);
        let mut new = self.board.acknowledge(n);
        self.deadline = if self.next > self.una {
            now + self.rtt.timeout()
        } else {
            Time::MAX
        };
        if self.recovering_to.is_some() || self.duplicates > 0 || block_len > 0 {
            new += self.repair(n, block, block_len);
        }
        let round_ended = next > self.round_end;
        if round_ended {
            self.round_end = self.next;
        }
        let ack = Acked {
            bytes: Bytes::new(new * self.packet.get()),
            rtt: Some(rtt),
            round_ended,
            window_limited: self.window_limited,
            in_recovery: self.is_held(),
            marked: marks,
        };
        self.controller.on_ack(&ack, &self.path(), now);
    }

    /// The window moved while something was out of order.
    #[cold]
    fn repair(&mut self, n: u64, block: u32, block_len: u32) -> u64 {
        let mut new = 0;
        if self.recovery == Recovery::Sack {
            if block_len > 0 {
                new = self
                    .board
                    .sack(u64::from(block), u64::from(block + block_len));
            }
            if self.recovering_to.is_some() {
                self.board.find_losses();
            }
        }
        match self.recovering_to {
            Some(to) if self.una >= to => {
                self.recovering_to = None;
                self.duplicates = 0;
            }
            Some(_) => match self.recovery {
                Recovery::Reno => {
                    self.recovering_to = None;
                    self.duplicates = 0;
                }
                // A partial acknowledgement: the next hole is lost, too [RFC 6582 §3.2].
                Recovery::NewReno => {
                    self.duplicates = self.duplicates.saturating_sub(n - 1);
                    self.board.lose_first();
                }
                Recovery::Sack => {}
            },
            None => self.duplicates = 0,
        }
        new
    }

    #[cold]
    fn duplicate(&mut self, block: u32, block_len: u32, marks: u64, now: Time) {
        let new = match self.recovery {
            Recovery::Sack => {
                if block_len == 0 {
                    return;
                }
                self.board
                    .sack(u64::from(block), u64::from(block + block_len))
            }
            // No more can have arrived than is out, and the hole has not.
            _ => {
                let out = self.next - self.una - self.board.lost().max(1);
                u64::from(self.duplicates < out)
            }
        };
        if self.recovery != Recovery::Sack {
            self.duplicates += new;
        }
        if new > 0 {
            let ack = Acked {
                bytes: match self.recovery {
                    Recovery::Sack => Bytes::new(new * self.packet.get()),
                    _ => Bytes::ZERO,
                },
                rtt: None,
                round_ended: false,
                window_limited: self.window_limited,
                in_recovery: self.is_held(),
                marked: marks,
            };
            self.controller.on_ack(&ack, &self.path(), now);
        }
        if self.recovering_to.is_some() {
            if self.recovery == Recovery::Sack {
                self.board.find_losses();
            }
            return;
        }
        let lost = match self.recovery {
            Recovery::Sack => self.board.find_losses(),
            _ => self.duplicates >= 3,
        };
        // The first unacknowledged packet was sent `timeout` before the deadline, or later.
        let early = !lost
            && self.controller.early_retransmission()
            && self.deadline != Time::MAX
            && self.last_progress() + self.rtt.fine_timeout() < now;
        if (lost || early) && self.una >= self.recovered {
            if self.recovery != Recovery::Sack || early {
                self.board.lose_first();
            }
            self.recovering_to = Some(self.next);
            self.recovered = self.next;
            let what = if lost {
                Congestion::Loss
            } else {
                Congestion::EarlyLoss
            };
            // A loss of a round trip that was answered for its marks is no news.
            if self.una >= self.answered {
                self.controller.on_congestion(what, &self.flight(), now);
            }
            self.answered = self.next;
        }
    }

    /// When the retransmission timer was last set: at the last progress.
    fn last_progress(&self) -> Time {
        Time::from_ps(
            self.deadline
                .as_ps()
                .saturating_sub(self.rtt.timeout().as_ps()),
        )
    }

    /// When to call [`Sender::on_wake`]; `Time::MAX` for never.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.deadline
    }

    /// The time of [`Sender::next_wake`] may have come.
    pub fn on_wake(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        self.timeouts += 1;
        self.rtt.back_off();
        self.controller
            .on_congestion(Congestion::Timeout, &self.flight(), now);
        // All that is not known to have arrived is sent again, in order.
        self.board.lose_all(self.next - self.una);
        self.duplicates = 0;
        self.recovering_to = None;
        // Packets that are sent in vain now cause duplicate acknowledgements up to here. Only
        // one of a later packet rules that out [RFC 6582 §3.2 step 2].
        self.recovered = self.next + u64::from(self.recovery != Recovery::Sack);
        self.answered = self.next;
        self.round_end = self.una;
        self.deadline = now + self.rtt.timeout();
    }

    /// A packet to send now, or when to ask again: `Err(Time::MAX)` means after the next
    /// acknowledgement or time-out.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        let allowance = self.controller.allowance();
        let window = allowance.window.get();
        // Of a window below one packet, one packet may still be in flight.
        let in_flight = self.in_flight() * self.packet.get();
        let fits = in_flight + self.packet.get() <= window || in_flight == 0;
        self.window_limited = !fits;
        if !fits {
            return Err(Time::MAX);
        }
        if allowance.pacing.is_some() && self.pacer.next() > now {
            return Err(self.pacer.next());
        }
        let number = match self.board.take_lost() {
            Some(i) => {
                self.retransmissions += 1;
                // The timer is of the first packet: it starts anew when that is sent again.
                // Otherwise it runs out a round trip and a half after a loss, while the
                // repair is still on its way.
                if i == 0 {
                    self.deadline = now + self.rtt.timeout();
                }
                self.una + i
            }
            None if self.next < self.available => {
                self.next += 1;
                self.next - 1
            }
            None => return Err(Time::MAX),
        };
        if self.deadline == Time::MAX {
            self.deadline = now + self.rtt.timeout();
        }
        if let Some(rate) = allowance.pacing {
            self.pacer.sent(now, self.packet, rate);
        }
        Ok(Segment::Data { number, sent: now })
    }

    /// All that the application had to send has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.una >= self.available
    }

    /// Tells the controller the true base round-trip time.
    pub fn set_base_rtt(&mut self, base_rtt: Duration) {
        self.controller.set_base_rtt(base_rtt);
    }

    /// Size of its packets.
    pub fn packet(&self) -> Bytes {
        self.packet
    }

    /// Its controller.
    pub fn controller(&self) -> &AnyController {
        &self.controller
    }

    /// Its round-trip times.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.rtt
    }

    /// Packets sent again.
    pub fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// Times that the retransmission timer ran out.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }
}
