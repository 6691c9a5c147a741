//! The reaction to RACK-TLP [RFC 8985]: recoveries, probes, and one timer for three purposes.
//!
//! The loss of a packet sent after the last cut is a new congestion event, whether the packet was
//! new or a retransmission. The window is cut once per round trip [RFC 5681 §4.3, RFC 8985 §9.3,
//! RFC 9937 §6.1].

use super::StreamSender;
use super::prr::Prr;
use super::rack::{Alarm, PROBE_AFTER, Probe, Rack};
use accord_control::{Congestion, Controller};
use accord_units::Time;

impl<C: Controller> StreamSender<C> {
    fn rack(&mut self) -> Option<&mut Rack> {
        self.log.as_deref_mut()?.rack.as_mut()
    }

    /// Returns true in fast recovery or in recovery from a time-out.
    fn in_recovery(&self) -> bool {
        self.una < self.loss_state.recover
    }

    /// Handles a move of the window by `delivered` newly acknowledged packets. Returns the number
    /// of newly acknowledged packets beyond the window.
    pub(super) fn repair_by_time(
        &mut self,
        delivered: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        now: Time,
    ) -> u64 {
        self.set_rto(self.deadline);
        let sacked = self.sack(block, block_len, echo, now);
        self.repair_now = false;
        self.resolve(echo, now);
        self.drop_probe_to_come();
        self.end_probe(block > 0 && block_len == 0, now);
        let lost = self.detect(now);
        if !self.in_recovery() {
            self.end_recovery();
        }
        self.recover_by_time(&lost, delivered + sacked, now);
        self.regulate(delivered + sacked, lost.is_empty());
        self.schedule_probe(now);
        sacked
    }

    /// Handles `sacked` newly acknowledged packets beyond the first gap.
    pub(super) fn sacked_by_time(&mut self, sacked: u64, now: Time) {
        self.drop_probe_to_come();
        let lost = self.detect(now);
        self.recover_by_time(&lost, sacked, now);
        self.regulate(sacked, false);
        self.rearm();
    }

    /// Handles the repeated arrival of a packet, which a DSACK reports.
    #[cold]
    pub(super) fn repeated(&mut self, now: Time) {
        let next = self.next;
        if let Some(rack) = self.rack() {
            rack.grow_window(next);
            self.end_probe(true, now);
        }
    }

    /// Handles an acknowledgement caused by a packet sent at `echo`.
    pub(super) fn on_echo(&mut self, echo: Time, now: Time) {
        if let Some(rack) = self.rack() {
            rack.on_echo(echo, now);
        }
    }

    /// Cancels the probe, because an acknowledgement arrived first.
    fn drop_probe_to_come(&mut self) {
        if let Some(rack) = self.rack() {
            rack.probe_now = false;
        }
    }

    /// RACK_detect_loss_and_arm_timer [§6.2 step 5]. Returns the lost packets, counted from the
    /// first unacknowledged one.
    fn detect(&mut self, now: Time) -> Vec<u64> {
        let (sacked, in_recovery) = (self.board.sacked(), self.in_recovery());
        let srtt = self.rtt.smoothed();
        let mut lost = Vec::new();
        if let Some(rack) = self.rack() {
            rack.end_of_ack(now);
            let window = rack.window(sacked, in_recovery, srtt);

            let until = rack.detect(window, now, |i| lost.push(i));
            match until {
                Some(at) => rack.alarm = Some((at, Alarm::Reordering)),
                None if sacked > 0 || in_recovery => rack.alarm = None,
                None if matches!(rack.alarm, Some((_, Alarm::Reordering))) => rack.alarm = None,
                None => {}
            }
        }
        self.lose(&lost, now);
        lost
    }

    fn lose(&mut self, lost: &[u64], now: Time) {
        let out = self.next - self.una;
        for &i in lost {
            self.board.lose(i, out);
        }
        self.notify_lost(lost, now);
    }

    /// Begins a recovery, or another episode of the current one, if packets were lost.
    fn recover_by_time(&mut self, lost: &[u64], delivered: u64, now: Time) {
        let is_news = self.is_news(lost);
        let begins = !self.recovering && !self.in_recovery() && self.board.lost() > 0;
        if begins || is_news {
            self.recovering = true;
            self.loss_state.partials = 0;
            self.loss_state.recover = self.next;
            if is_news {
                let flight = self.flight();
                if self.board.first_is_lost() {
                    self.answer_loss(Congestion::Loss, &flight, now)
                } else {
                    self.answer(Congestion::Loss, &flight, now)
                }
            }
            self.repair_now = true;
            if let Some(rack) = self.rack() {
                (rack.probe, rack.probe_now) = (None, false);
                rack.recovering = true;
            }
            self.begin_to_regulate(delivered);
        }
    }

    /// Returns true if one of these packets was last sent after the last cut.
    fn is_news(&mut self, lost: &[u64]) -> bool {
        let (una, answered) = (self.una, self.loss_state.answered);
        let cut = self.loss_state.cut;
        let Some(rack) = self.rack() else {
            return false;
        };
        // Repairs are sent at the instant of the cut.
        lost.iter().any(|&i| {
            let (sent, again) = rack.last_sent(i);
            una + i >= answered || (again && sent >= cut)
        })
    }

    /// The part of [`StreamSender::undo`] for loss detection by time.
    pub(super) fn forgive_by_time(&mut self) {
        self.stop_regulating();
        if let Some(rack) = self.rack() {
            rack.forgive();
        }
    }

    fn begin_to_regulate(&mut self, delivered: u64) {
        if !self.loss_state.capabilities.proportional {
            return;
        }
        let recover_fs = self.next - self.una - self.board.sacked() + delivered;
        let target = self.controller.allowance().window.max(self.packet).get();
        let prr = Prr::new(recover_fs, target, self.packet.get());
        self.loss_state.prr = Some(Box::new(prr));
        self.gated = true;
    }

    fn stop_regulating(&mut self) {
        self.loss_state.prr = None;
        self.gated = self.loss_state.pacing;
    }

    /// Takes the steps of PRR for an acknowledgement.
    fn regulate(&mut self, delivered: u64, safe: bool) {
        let in_flight = self.in_flight();
        if let Some(prr) = &mut self.loss_state.prr {
            prr.acknowledge(delivered, in_flight, safe);
            self.repair_now = prr.may_send();
        }
    }

    fn end_recovery(&mut self) {
        self.recovering = false;
        self.stop_regulating();
        if let Some(rack) = self.rack() {
            rack.recovered();
        }
    }

    /// Returns whether the window, or PRR in its place, lets a packet go. Returns `Err(Time::MAX)`
    /// if PRR holds it back.
    #[cold]
    pub(super) fn pass_gate(&mut self, fits: bool) -> Result<bool, Time> {
        match &self.loss_state.prr {
            None => Ok(fits),
            Some(prr) if prr.may_send() => {
                self.full_to = self.next;
                Ok(true)
            }
            Some(_) => {
                self.full_to = self.next;
                self.repair_now = false;
                Err(Time::MAX)
            }
        }
    }

    /// Records a packet sent through the gate. `spaced` is true if the settings ask for pacing and
    /// the controller does not.
    #[cold]
    pub(super) fn passed_gate(&mut self, spaced: bool, window: u64, now: Time) {
        if self.loss_state.pacing && spaced {
            self.pace(window, now);
        }
        if let Some(prr) = &mut self.loss_state.prr {
            prr.sent();
            self.repair_now = prr.may_send();
        }
    }

    /// Starts the PTO timer after new data was sent or acknowledged [§7.2].
    pub(super) fn schedule_probe(&mut self, now: Time) {
        let out = self.next - self.una;
        let excluded = self.in_recovery() || self.board.sacked() > 0;
        let after = self.rtt.smoothed() * PROBE_AFTER;
        if let Some(rack) = self.rack() {
            let may = rack.probe.is_none() && rack.sampled && !rack.probe_now;
            let is_reordering = matches!(rack.alarm, Some((_, Alarm::Reordering)));
            if is_reordering {
                // The PTO timer is running.
            } else if !excluded && out > 0 && may {
                rack.alarm = Some(((now + after).min(rack.rto), Alarm::Probe));
            } else {
                rack.alarm = None;
            }
        }
        self.rearm();
    }

    /// Returns true if a probe is due.
    #[cold]
    pub(super) fn wants_probe(&self) -> bool {
        let rack = self.log.as_deref().and_then(|log| log.rack.as_ref());
        rack.is_some_and(|rack| rack.probe_now)
    }

    /// TLP_send_probe [§7.3] without new data: sends the last packet again.
    pub(super) fn probe_again(&mut self) -> Option<u64> {
        let (next, out) = (self.next, self.next - self.una);
        let rack = self.rack()?;
        if !rack.probe_now || out == 0 {
            return None;
        }
        (rack.probe_now, rack.sampled) = (false, false);
        rack.probe = Some(Probe { end: next, again: true });
        self.board.repeat_last(out);
        Some(out - 1)
    }

    /// TLP_send_probe [§7.3] with new data: a new packet has been sent.
    pub(super) fn note_new_probe(&mut self) {
        let next = self.next;
        if let Some(rack) = self.rack()
            && rack.probe_now
        {
            (rack.probe_now, rack.sampled) = (false, false);
            rack.probe = Some(Probe { end: next, again: false });
            self.repair_now = false;
        }
    }

    /// TLP_process_ack [§7.4.2]. `duplicate` is true if a packet arrived twice.
    fn end_probe(&mut self, duplicate: bool, now: Time) {
        let (una, answered) = (self.una, self.loss_state.answered);
        let Some(rack) = self.rack() else { return };
        let Some(probe) = rack.probe.filter(|probe| una >= probe.end) else {
            return;
        };
        let repaired = probe.again && !duplicate && una > probe.end;
        if !probe.again || duplicate || repaired {
            rack.probe = None;
        }
        if repaired && probe.end > answered {
            self.answer(Congestion::Loss, &self.flight(), now);
        }
    }

    /// Handles the expiry of the reordering timer or the PTO timer.
    #[cold]
    pub(super) fn alarmed(&mut self, now: Time) -> bool {
        let timeout = self.rtt.timeout();
        let Some(rack) = self.rack() else {
            return false;
        };
        let Some((_, alarm)) = rack.alarm.filter(|&(at, _)| at <= now) else {
            return false;
        };
        rack.alarm = None;
        match alarm {
            Alarm::Reordering => {
                let lost = self.detect(now);
                self.recover_by_time(&lost, 0, now);
                if let Some(prr) = &mut self.loss_state.prr {
                    prr.force();
                    self.repair_now = prr.may_send();
                }
            }
            Alarm::Probe => {
                rack.probe_now = true;
                rack.rto = now + timeout;
                self.repair_now = true;
            }
        }
        self.rearm();
        true
    }

    /// RACK_mark_losses_on_RTO [§6.3], TLP_init [§7.1].
    pub(super) fn lose_by_time(&mut self, now: Time) {
        let srtt = self.rtt.smoothed();
        let sacked = self.board.sacked();
        let mut lost = Vec::new();
        if let Some(rack) = self.rack() {
            let window = rack.window(sacked, true, srtt);
            rack.time_out(window, now, |i| lost.push(i));
            (rack.probe, rack.probe_now, rack.alarm) = (None, false, None);
            rack.recovering = true;
        }
        self.lose(&lost, now);
        self.stop_regulating();
    }

    /// Sets the RTO timer.
    pub(super) fn set_rto(&mut self, at: Time) {
        self.deadline = at;
        if let Some(rack) = self.rack() {
            rack.rto = at;
            self.rearm();
        }
    }

    /// Sets the single timer that stands for the three of §8: the RTO timer, or any that expires
    /// before it.
    fn rearm(&mut self) {
        let idle = self.next == self.una;
        if let Some(rack) = self.rack() {
            if idle {
                (rack.rto, rack.alarm) = (Time::MAX, None);
            }
            let alarm = rack.alarm.map_or(Time::MAX, |(at, _)| at);
            self.deadline = rack.rto.min(alarm);
        }
    }
}
