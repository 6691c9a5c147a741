//! A sender's reaction to losses and marks.

use super::{Doubt, StreamSender};
use accord_control::{Acked, Congestion, Controller, PathView, Recovery};
use accord_units::{Bytes, Duration, Time};
use tracing::debug;

/// The cause of a cut in the log.
fn word(what: Congestion) -> &'static str {
    match what {
        Congestion::Loss => "loss",
        Congestion::EarlyLoss => "early-loss",
        Congestion::Ecn => "mark",
        Congestion::Timeout => "time-out",
        Congestion::RepeatedTimeout => "repeated-time-out",
    }
}

impl<C: Controller> StreamSender<C> {
    /// Names the flow in the log. Without a log this does nothing.
    pub fn set_name(&mut self, name: &str) {
        if tracing::enabled!(tracing::Level::DEBUG) {
            self.loss_state.name = Some(name.into());
        }
    }

    fn name(&self) -> &str {
        self.loss_state.name.as_deref().unwrap_or_default()
    }

    /// The path before a loss was found. All data that is sent and not acknowledged counts as in
    /// flight, as in FlightSize of RFC 5681. Data sent beyond the window because packets arrived
    /// out of order does not count. This applies to limited transmit, which eq. 4 must not count
    /// [RFC 5681 §3.2 step 2], and to recovery. Half of a flight with that data would widen the
    /// window if a repair is also lost, and packets would be sent beyond the hole until the timer
    /// runs out.
    pub(super) fn flight(&self) -> PathView {
        let window = self.controller.allowance().window.max(self.packet);
        PathView { in_flight: self.outstanding().min(window), ..self.path() }
    }

    /// The packets that are sent and not acknowledged.
    fn outstanding(&self) -> Bytes {
        Bytes::new((self.next - self.una) * self.packet.get())
    }

    /// Notifies the controller of new congestion.
    pub(super) fn answer(&mut self, what: Congestion, flight: &PathView, now: Time) {
        // A mark of a scalable flow does not stand for a loss, so losses in the same round trip are
        // answered as usual [RFC 9331 §4.3].
        if what != Congestion::Ecn || !self.loss_state.capabilities.scalable {
            self.loss_state.answered = self.next;
            self.loss_state.answered_flight = flight.in_flight;
            self.loss_state.cut = now;
        }
        if what != Congestion::RepeatedTimeout {
            self.loss_state.doubt = None;
        }
        self.loss_state.answer_from = now + Duration::from_ps(1);
        self.loss_state.most = 0;
        let window = self.controller.cwnd();
        self.controller.on_congestion(what, flight, now);
        debug!(
            event = "cut",
            t = now.as_secs_f64(),
            flow = self.name(),
            because = word(what),
            window = window.get(),
            to = self.controller.cwnd().get(),
            in_flight = flight.in_flight.get(),
            srtt = self.rtt.smoothed().as_secs_f64(),
        );
    }

    /// Notifies the controller of the loss of the first packet, which may prove spurious.
    pub(super) fn answer_loss(&mut self, what: Congestion, flight: &PathView, now: Time) {
        let doubt = Doubt {
            repaired: Time::MAX,
            answered: self.loss_state.answered,
            answer_from: self.loss_state.answer_from,
        };
        self.answer(what, flight, now);
        self.loss_state.doubt = Some(doubt);
    }

    /// Handles a move of the window after such an answer. If a packet sent before the repair of the
    /// first one caused it, the first one was not lost [RFC 3522 §3.2 step 5]. Others may have been
    /// lost, as the acknowledgements of their repairs show.
    pub(super) fn resolve(&mut self, echo: Time, now: Time) {
        let Some(doubt) = self.loss_state.doubt else {
            return;
        };
        if echo < doubt.repaired && self.board.has_repairs() {
            return;
        }
        self.loss_state.doubt = None;
        if echo < doubt.repaired {
            self.undo(&doubt, now);
        }
    }

    /// Counts the packets presumed lost as in flight again, as before the last answer [RFC 4015
    /// §3.3]. They may again prove lost.
    #[cold]
    fn undo(&mut self, doubt: &Doubt, now: Time) {
        (self.loss_state.answered, self.loss_state.answer_from) =
            (doubt.answered, doubt.answer_from);
        self.loss_state.timed_out = None;
        self.recovering = false;
        self.duplicates = 0;
        self.board.forgive();
        self.forgive_by_time();
        // Unnecessary repairs cause duplicate acknowledgements, which only blocks distinguish from
        // others.
        if self.is_selective() {
            self.loss_state.recover = self.una;
        }
        let window = self.controller.cwnd();
        self.controller.on_spurious(now);
        debug!(
            event = "undo",
            t = now.as_secs_f64(),
            flow = self.name(),
            because = "the packet was late, not lost",
            window = window.get(),
            to = self.controller.cwnd().get(),
        );
    }

    fn is_selective(&self) -> bool {
        matches!(self.loss_state.capabilities.recovery, Recovery::Sack | Recovery::Rack)
    }

    /// Handles marks in the acknowledgement of a packet sent at `echo`. They are new congestion if
    /// the packet was sent after the last answer, even while losses are repaired.
    #[cold]
    pub(super) fn answer_marks(&mut self, echo: Time, now: Time) {
        if echo >= self.loss_state.answer_from {
            if !self.loss_state.capabilities.scalable {
                self.held_to = self.next;
            }
            self.answer(Congestion::Ecn, &self.flight(), now);
        }
    }

    /// Handles a move of the window while packets are out of order. `timer` is the previous
    /// deadline. Returns the number of newly acknowledged packets beyond the window.
    #[cold]
    pub(super) fn repair(
        &mut self,
        n: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        timer: Time,
        now: Time,
    ) -> u64 {
        let mut new = 0;
        self.repair_now = false;
        self.resolve(echo, now);
        if self.loss_state.capabilities.recovery == Recovery::Sack {
            new = self.sack(block, block_len, Time::ZERO, now);
            if self.recovering {
                self.find_losses(now);
            }
        }
        if !self.recovering {
            self.duplicates = 0;
        } else if self.una >= self.loss_state.recover {
            self.recovering = false;
            self.duplicates = 0;
        } else {
            self.partial(n, timer);
        }
        // Losses of packets sent after the last recovery began, or after the time-out, are a second
        // congestion event [RFC 5681 §4.3].
        let over = !self.recovering && self.una >= self.loss_state.recover;
        if over
            && self.loss_state.capabilities.recovery == Recovery::Sack
            && self.board.has_losses()
        {
            self.recover_from(Congestion::Loss, now);
        }
        new
    }

    /// Handles a partial acknowledgement of `n` packets.
    fn partial(&mut self, n: u64, timer: Time) {
        match self.loss_state.capabilities.recovery {
            Recovery::Reno => {
                self.recovering = false;
                self.duplicates = 0;
                // The next hole needs three duplicates of its own.
                self.loss_state.recover = self.una;
            }
            // The next hole is also lost, and is sent again now. The count of duplicates replaces
            // the inflated window of RFC 6582 §3.2, which deflates by the acknowledged packets less
            // one.
            Recovery::NewReno | Recovery::SteadyNewReno => {
                self.duplicates = self.duplicates.saturating_sub(n - 1);
                self.board.lose_first();
                self.repair_now = true;
                self.loss_state.partials += 1;
                if self.timer_runs_on() {
                    self.deadline = timer;
                }
            }
            Recovery::Sack | Recovery::Rack => {}
        }
    }

    /// Keeps the timer of the impatient NewReno after its first partial acknowledgement, since
    /// repairs do not restart it.
    fn timer_runs_on(&self) -> bool {
        self.recovering
            && self.loss_state.capabilities.recovery == Recovery::NewReno
            && self.loss_state.partials > 1
    }

    /// Handles an acknowledgement that does not move the window. `in_order` is false for one that was
    /// overtaken.
    #[cold]
    pub(super) fn duplicate(
        &mut self,
        block: u32,
        block_len: u32,
        echo: Time,
        marks: u64,
        in_order: bool,
        now: Time,
    ) {
        self.count_duplicate(block, block_len, echo, marks, in_order, now);
        if self.log.is_some() {
            self.notify_delivery(now.since(echo), self.was_full(), now);
        }
    }

    /// Handles an overtaken acknowledgement. The window has since moved by `below` packets. The
    /// block beyond the window still counts [RFC 6675 §5].
    #[cold]
    pub(super) fn overtaken(
        &mut self,
        below: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        now: Time,
    ) {
        let end = u64::from(block) + u64::from(block_len);
        let (from, to) = (u64::from(block).saturating_sub(below), end.saturating_sub(below));
        if self.is_selective() && from < to {
            self.duplicate(from as u32, (to - from) as u32, echo, 0, false, now);
        }
    }

    fn count_duplicate(
        &mut self,
        block: u32,
        block_len: u32,
        echo: Time,
        marks: u64,
        in_order: bool,
        now: Time,
    ) {
        let by_time = self.loss_state.capabilities.recovery == Recovery::Rack;
        let sack = self.loss_state.capabilities.recovery == Recovery::Sack || by_time;
        if by_time {
            self.on_echo(echo, now);
        }
        let new = match sack {
            true => self.sack(block, block_len, echo, now),
            // No more packets can have arrived than are outstanding, and the hole has not arrived.
            // If duplicates may come from unnecessary packets after a time-out, they release two
            // packets [RFC 3042 §2].
            false => {
                let out = self.next - self.una - self.board.lost().max(1);
                let may_recover = self.recovering || self.una >= self.loss_state.recover;
                let most = if may_recover { out } else { out.min(2) };
                u64::from(self.duplicates < most)
            }
        };
        if !sack {
            self.duplicates += new;
        }
        // The first packet is overdue by the timer before this sample. The echo belongs to the packet that
        // arrived. The exceptions are a block that reports nothing new and the absence of blocks, where the
        // packet may have arrived before. An overtaken acknowledgement took longer than the path does [RFC
        // 9002 §5.1].
        let overdue = self.is_overdue(now);
        let rtt = (sack && new > 0 && in_order).then(|| now.since(echo));
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }
        if new > 0 || marks > 0 {
            let ack = Acked {
                bytes: if sack { Bytes::new(new * self.packet.get()) } else { Bytes::ZERO },
                rtt,
                round_ended: false,
                window_limited: self.was_full() || self.may_grow_on(),
                // Only packets acknowledged in order let the window grow [RFC 5681 §3.1].
                in_recovery: true,
                marked: marks,
            };
            self.controller.on_ack(&ack, &self.path(), now);
        }
        if by_time {
            return self.sacked_by_time(new, now);
        }
        if self.recovering {
            if sack {
                self.find_losses(now);
            }
            return;
        }
        let lost = if sack { self.find_losses(now) } else { self.duplicates >= 3 };
        if self.una < self.loss_state.recover {
            return;
        }
        if lost {
            self.recover_from(Congestion::Loss, now);
        } else if new > 0 && overdue {
            self.board.lose_first();
            self.recover_from(Congestion::EarlyLoss, now);
        }
    }

    /// Returns true if the age of the first packet exceeds the time-out without its floor, for a
    /// controller that checks this [Low02 §1.1].
    fn is_overdue(&self, now: Time) -> bool {
        let first = self.sent.as_ref().and_then(|sent| sent.front());
        first.is_some_and(|sent| now.since(*sent) > self.rtt.fine_timeout())
    }

    /// Begins a recovery: the first lost packet is sent at once, before the data in flight is
    /// compared with the window [RFC 5681 §3.2 step 3, RFC 6675 §5 step 4.3].
    fn recover_from(&mut self, what: Congestion, now: Time) {
        if self.loss_state.capabilities.recovery != Recovery::Sack {
            self.board.lose_first();
        }
        self.repair_now = self.board.first_is_lost();
        self.recovering = true;
        self.loss_state.partials = 0;
        self.loss_state.recover = self.next;
        self.loss_state.rescue = self.una;
        // A loss is not new in a round trip that was already answered for marks or for another of
        // Reno's holes.
        if self.una >= self.loss_state.answered {
            self.answer_loss(what, &self.flight(), now);
        }
    }

    /// Returns another packet to send again if there are no losses to repair and no new data: holes
    /// that are not yet known to be lost, then the last packet, once in a recovery [RFC 6675 §4,
    /// NextSeg (3), (4)].
    #[cold]
    pub(super) fn last_resort(&mut self) -> Option<u64> {
        if self.loss_state.capabilities.recovery == Recovery::Rack {
            return self.probe_again();
        }
        if self.loss_state.capabilities.recovery != Recovery::Sack || !self.recovering {
            return None;
        }
        self.board.take_doubtful().or_else(|| {
            if self.una <= self.loss_state.rescue {
                return None;
            }
            self.loss_state.rescue = self.loss_state.recover;
            self.board.last_missing(self.next - self.una)
        })
    }

    /// Sends a packet again, counted from the first unacknowledged one. Returns its number.
    #[cold]
    pub(super) fn resend(&mut self, i: u64, now: Time) -> u64 {
        self.loss_state.retransmissions += 1;
        self.repair_now = false;
        if let Some(doubt) = &mut self.loss_state.doubt {
            doubt.repaired = doubt.repaired.min(now);
        }
        // The timer is for the first packet, and restarts when that is sent again. Otherwise it
        // would expire a round trip and a half after a loss, while the repair is still on its way.
        if i == 0 && !self.timer_runs_on() {
            self.set_rto(now + self.rtt.timeout());
        }
        let in_flight = self.in_flight() * self.packet.get();
        if let Some(sent) = &mut self.sent {
            sent[i as usize] = now;
        }
        if self.log.is_some() {
            self.log_sent_again(i, in_flight, now);
        }
        self.una + i
    }

    /// Notifies the sender that the time of [`StreamSender::next_wake`] may have come.
    pub fn on_wake(&mut self, now: Time) {
        if now < self.next_wake() {
            return;
        }
        self.leave_fast_path();
        if now < self.deadline || self.alarmed(now) {
            return;
        }
        self.loss_state.timeouts += 1;
        self.rtt.back_off();
        let what = if self.loss_state.timed_out == Some(self.una) {
            Congestion::RepeatedTimeout
        } else {
            Congestion::Timeout
        };
        let mut flight = self.flight();
        // The loss of a repair is a second congestion event [RFC 5681 §4.3]. A loss in a window
        // that was already answered before the repair was sent is not.
        let repair_lost = self.board.first_was_repaired() && !self.timer_runs_on();
        if self.una < self.loss_state.answered && !repair_lost {
            flight.in_flight = self.outstanding().min(self.loss_state.answered_flight);
        }
        // In a recovery the timer expires on a repair, and an earlier repair may still arrive. The
        // losses were real nevertheless.
        match what {
            Congestion::Timeout if !self.recovering => self.answer_loss(what, &flight, now),
            _ => self.answer(what, &flight, now),
        }
        self.loss_state.timed_out = Some(self.una);
        // Packets presumed lost are sent again, in order.
        if self.loss_state.capabilities.recovery == Recovery::Rack {
            self.lose_by_time(now);
        } else {
            if self.log.is_some() {
                self.notify_all_lost(now);
            }
            // All packets that are not known to have arrived.
            self.board.lose_all(self.next - self.una);
        }
        self.duplicates = 0;
        self.recovering = false;
        // The first packet goes again at once [RFC 6298 §5.4], although the packets that RACK spares may fill
        // the window of one packet.
        self.repair_now = self.loss_state.capabilities.recovery == Recovery::Rack;
        // Packets that are sent unnecessarily now cause duplicate acknowledgements up to here. Only
        // an acknowledgement of a later packet rules that out [RFC 6582 §3.2 step 2].
        self.loss_state.recover = self.next + u64::from(!self.is_selective());
        self.begin_round();
        self.set_rto(now + self.rtt.timeout());
    }
}
