//! The per-packet log of a sender, and the notifications of controllers that ask for deliveries.
//! Other senders use it for losses only.

use super::deliveries::Deliveries;
use super::{Fast, StreamSender};
use accord_control::{Controller, Delivery};
use accord_units::{Duration, Time};

impl<C: Controller> StreamSender<C> {
    /// Moves the window of a sender with a log.
    #[inline(never)]
    pub(super) fn advance_logged(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marks: u64,
        now: Time,
    ) {
        self.advance::<true>(next, block, block_len, echo, marks, now);
    }

    /// Logs a new packet, which `next` already counts.
    #[cold]
    pub(super) fn log_sent(&mut self, now: Time) {
        let is_fast = self.fast != Fast::No;
        let in_flight = self.in_flight() * self.packet.get();
        let Some(log) = self.log.as_deref_mut() else {
            return;
        };
        if let Some(d) = &mut log.deliveries {
            d.send(in_flight, now);
            self.controller.on_sent(self.packet, now);
        }
        if let Some(rack) = &mut log.rack {
            rack.send(now);
            if is_fast {
                return log.put_off(now);
            }
            // The first packet in flight starts the timers: see `begin_to_send`.
            if rack.rto < Time::MAX {
                self.note_new_probe();
                self.schedule_probe(now);
            }
        }
    }

    /// Logs the acknowledgement of the next `n` packets on the fast path, with a sample of the round-trip
    /// time, and notifies the controller as [`StreamSender::notify_delivery`] does.
    #[inline(never)]
    pub(super) fn log_next(&mut self, n: u64, rtt: Duration, full: bool, now: Time) {
        let Some(log) = self.log.as_deref_mut() else {
            return;
        };
        log.restart(&self.rtt, now);
        if let Some(rack) = &mut log.rack {
            rack.acknowledge_next(n, rtt, now);
        }
        if let Some(d) = &mut log.deliveries {
            d.acknowledge(n, now);
            self.notify_delivery(rtt, full, now);
        }
    }

    /// Logs new packets that are sent on the fast path at the time of an acknowledgement.
    #[inline(never)]
    pub(super) fn log_sent_next(&mut self, packets: u64, now: Time) {
        if let Some(rack) = self.log.as_deref_mut().and_then(|log| log.rack.as_mut()) {
            (0..packets).for_each(|_| rack.send(now));
        }
    }

    /// Logs the retransmission of packet `i`, counted from the first unacknowledged one.
    #[cold]
    pub(super) fn log_sent_again(&mut self, i: u64, in_flight: u64, now: Time) {
        let Some(log) = self.log.as_deref_mut() else {
            return;
        };
        if let Some(d) = &mut log.deliveries {
            d.send_again(i as usize, in_flight, now);
            self.controller.on_sent(self.packet, now);
        }
        if let Some(rack) = &mut log.rack {
            rack.send_again(i as usize, now);
        }
    }

    /// Logs the acknowledgement of the first `n` packets.
    pub(super) fn log_acknowledged(&mut self, n: u64, echo: Time, now: Time) {
        let Some(log) = self.log.as_deref_mut() else {
            return;
        };
        if let Some(d) = &mut log.deliveries {
            d.acknowledge(n, now);
        }
        if let Some(rack) = &mut log.rack {
            rack.on_echo(echo, now);
            rack.acknowledge(n, echo, now);
        }
    }

    /// Takes a block of packets beyond the first gap. Returns the number of newly arrived packets.
    pub(super) fn sack(&mut self, block: u32, block_len: u32, echo: Time, now: Time) -> u64 {
        let (from, to) = (u64::from(block), u64::from(block + block_len));
        match self.log.as_deref_mut() {
            None => self.board.sack(from, to, |_, _| ()),
            Some(log) => self.board.sack(from, to, |from, to| {
                if let Some(d) = &mut log.deliveries {
                    d.sack(from, to, now);
                }
                if let Some(rack) = &mut log.rack {
                    rack.sack(from, to, echo, now);
                }
            }),
        }
    }

    /// Searches for losses. Returns true if there are any.
    pub(super) fn find_losses(&mut self, now: Time) -> bool {
        match self.deliveries() {
            None => self.board.find_losses(|_| ()),
            Some(_) => {
                let mut found = Vec::new();
                self.board.find_losses(|i| found.push(i));
                self.notify_lost(&found, now);
                !found.is_empty()
            }
        }
    }

    /// Notifies the controller that these packets, counted from the first unacknowledged one, are
    /// presumed lost.
    pub(super) fn notify_lost(&mut self, packets: &[u64], now: Time) {
        if let Some(d) = self.log.as_deref_mut().and_then(|l| l.deliveries.as_mut()) {
            for &i in packets {
                self.controller.on_lost(&d.lose(i), now);
            }
        }
    }

    fn deliveries(&mut self) -> Option<&mut Deliveries> {
        self.log.as_deref_mut()?.deliveries.as_mut()
    }

    /// Notifies the controller of a time-out: all packets that are not known to have arrived are
    /// lost.
    #[cold]
    pub(super) fn notify_all_lost(&mut self, now: Time) {
        if let Some(d) = self.deliveries() {
            let missing = d.missing();
            self.notify_lost(&missing, now);
        }
    }

    /// Passes the sample of a processed acknowledgement to the controller. `full` is true if the
    /// window was full in the round trip.
    #[cold]
    pub(super) fn notify_delivery(&mut self, rtt: Duration, full: bool, now: Time) {
        let min_rtt = self.rtt.min();
        let Some(d) = self.deliveries() else {
            return;
        };
        let Some(sample) = d.sample(rtt, min_rtt) else {
            return;
        };
        let delivery = Delivery {
            in_recovery: self.una < self.loss_state.recover,
            window_limited: full,
            ..sample
        };
        let path = self.path();
        if self.controller.on_delivery(&delivery, &path, now) {
            self.note_app_limited();
        }
    }

    /// Notifies the controller that sending restarts with nothing in flight.
    #[cold]
    pub(super) fn notify_restart(&mut self, now: Time) {
        if self.deliveries().is_some_and(|d| d.is_app_limited()) {
            self.controller.on_restart(now);
        }
    }

    /// Marks the samples of the packets in flight, and of those sent until one of them is
    /// acknowledged, as limited by the application.
    #[cold]
    pub(super) fn note_app_limited(&mut self) {
        let in_flight = self.in_flight() * self.packet.get();
        if let Some(d) = self.deliveries() {
            d.mark_app_limited(in_flight);
        }
    }
}
