//! The fast path of acknowledgements: packets are in flight, all in order, and only the window
//! limits them. It gives the same results as the general path, and tests a single flag.
//!
//! A sender with a log also takes it under three conditions: the packets in flight were sent once, no probe
//! or recovery is under way, and no packet known to have arrived was sent after one in flight. RACK then
//! finds no losses, and its timers follow from the times of the latest acknowledgement and packet.

use super::{Fast, StreamSender};
use accord_control::{Acked, Allowance, Controller, PathView};
use accord_units::{Bytes, Rate, Time};
use std::ops::Range;

impl<C: Controller> StreamSender<C> {
    /// Takes an acknowledgement as [`StreamSender::on_ack`] does, if the sender is on the fast path and this
    /// is the next one. Returns the allowance of the controller. Otherwise returns `None` and does not take
    /// the acknowledgement.
    #[inline(always)]
    pub fn acknowledge(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marked: u32,
        now: Time,
    ) -> Option<Allowance> {
        let (n, out) = (next.wrapping_sub(self.una), self.next - self.una);
        let is_next = self.fast != Fast::No && block | block_len == 0 && (1..out).contains(&n);
        if !is_next || echo < self.opened || marked != self.marked {
            return None;
        }
        let full = self.was_full();
        let window_limited = full || self.may_grow_on();
        let in_recovery = self.una < self.held_to;
        let rtt = now.since(echo);
        self.una = next;
        self.restarted = now;
        self.rtt.sample_next(rtt);
        match (self.fast, &mut self.sent) {
            (Fast::Plain, _) => {}
            (Fast::Timed, Some(sent)) => {
                for _ in 0..n {
                    sent.pop_front();
                }
            }
            _ => self.log_next(n, rtt, full, now),
        }
        let round_ended = next > self.round_end;
        if round_ended {
            self.round_end = self.next;
        }
        let packet = self.packet;
        let ack = Acked {
            bytes: Bytes::new(n * packet.get()),
            rtt: Some(rtt),
            round_ended,
            window_limited,
            in_recovery,
            marked: 0,
        };
        let path = || PathView {
            packet,
            srtt: self.rtt.smoothed(),
            rtt,
            min_rtt: self.rtt.min(),
            in_flight: Bytes::new((self.next - next) * packet.get()),
            sent_in_round: Bytes::ZERO,
            had_too_little: false,
            delivery_rate: Rate::ZERO,
        };
        Some(self.controller.acknowledge(ack, path, now))
    }

    /// Enters the fast path if its conditions hold and an acknowledgement restarts the
    /// retransmission timer at `now`.
    pub(super) fn enter_fast_path(&mut self, now: Time) {
        let unusual = self.recovering || self.repair_now || self.gated;
        let in_order = self.board.is_empty() && self.duplicates == 0;
        if unusual || !in_order || self.next == self.una || !self.rtt.is_fresh() {
            return;
        }
        self.restarted = now;
        let is_settled = self.una >= self.loss_state.recover && self.loss_state.doubt.is_none();
        let is_fast = match &mut self.log {
            None => true,
            Some(log) => self.sent.is_none() && is_settled && log.is_plain(&self.rtt, now),
        };
        if is_fast && self.deadline == self.fast_deadline() {
            self.fast = match &self.log {
                Some(log) if log.deliveries.is_some() => Fast::Sampled,
                Some(_) => Fast::Logged,
                None if self.sent.is_some() => Fast::Timed,
                None => Fast::Plain,
            };
        }
    }

    /// Leaves the fast path for an event other than [`StreamSender::acknowledge`].
    pub(super) fn leave_fast_path(&mut self) {
        if self.fast != Fast::No {
            self.fast = Fast::No;
            self.deadline = self.fast_deadline();
            if let Some(log) = &mut self.log {
                log.set_timers();
            }
        }
    }

    /// Returns true if, despite a log, only the window limits the packets that go now: the sender has just
    /// entered the fast path, and its controller is not notified of packets.
    #[inline]
    pub(super) fn goes_on_fast(&self, now: Time) -> bool {
        self.fast == Fast::Logged && self.restarted == now
    }

    /// The deadline on the fast path: that of the RTO timer, or of RACK's PTO timer if it is
    /// earlier.
    #[inline]
    pub(super) fn fast_deadline(&self) -> Time {
        match &self.log {
            Some(log) => log.deadline,
            None => self.restarted + self.rtt.timeout(),
        }
    }

    /// A time at or before [`StreamSender::next_wake`] after [`StreamSender::acknowledge`].
    #[inline]
    pub fn earliest_wake(&self) -> Time {
        match self.fast {
            Fast::Logged | Fast::Sampled => self.fast_deadline(),
            _ => self.restarted + self.rtt.min_rto(),
        }
    }

    /// Returns the packets of [`StreamSender::burst`] after [`StreamSender::acknowledge`], which has
    /// returned this allowance.
    #[inline(always)]
    pub fn next_burst(&mut self, allowance: Allowance, now: Time) -> Option<Range<u64>> {
        self.fill_window(allowance, self.next - self.una, now)
    }
}
