//! What a sender tells a controller that asks for deliveries, and what it logs for that. Other
//! senders come here for losses only.

use super::Sender;
use accord_control::{Controller, Delivery};
use accord_units::{Duration, Time};

impl<C: Controller> Sender<C> {
    /// The window moves, and samples are taken.
    #[inline(never)]
    pub(super) fn advance_sampled(
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

    /// A new packet is sent and counted in `next`.
    #[cold]
    pub(super) fn log_delivery(&mut self, now: Time) {
        let in_flight = self.in_flight() * self.packet.get();
        if let Some(d) = self.deliveries.as_mut() {
            d.send(in_flight, now);
            self.controller.on_sent(self.packet, now);
        }
    }

    /// Notes a block of packets beyond the first gap. Gives how many of them are news.
    pub(super) fn sack(&mut self, block: u32, block_len: u32, now: Time) -> u64 {
        let (from, to) = (u64::from(block), u64::from(block + block_len));
        match self.deliveries.as_mut() {
            None => self.board.sack(from, to, |_, _| ()),
            Some(d) => self.board.sack(from, to, |from, to| d.sack(from, to, now)),
        }
    }

    /// Looks for losses. Gives whether there are any.
    pub(super) fn find_losses(&mut self, now: Time) -> bool {
        match self.deliveries.as_mut() {
            None => self.board.find_losses(|_| ()),
            Some(d) => {
                let controller = &mut self.controller;
                self.board
                    .find_losses(|i| controller.on_lost(&d.lose(i), now))
            }
        }
    }

    /// The timer ran out: all that is not known to have arrived is lost.
    #[cold]
    pub(super) fn tell_all_lost(&mut self, now: Time) {
        if let Some(d) = self.deliveries.as_mut() {
            for i in d.missing() {
                self.controller.on_lost(&d.lose(i), now);
            }
        }
    }

    /// An acknowledgement has been taken in full.
    #[cold]
    pub(super) fn tell_delivery(&mut self, rtt: Duration, now: Time) {
        let Some(d) = self.deliveries.as_mut() else {
            return;
        };
        let Some(sample) = d.sample(rtt, self.rtt.min(), self.window_limited) else {
            return;
        };
        let delivery = Delivery {
            in_recovery: self.una < self.recover,
            ..sample
        };
        let path = self.path();
        if self.controller.on_delivery(&delivery, &path, now) {
            self.note_app_limited();
        }
    }

    /// A packet is sent, and nothing was in flight.
    #[cold]
    pub(super) fn tell_restart(&mut self, now: Time) {
        let deliveries = self.deliveries.as_ref();
        if deliveries.is_some_and(|d| d.is_app_limited()) {
            self.controller.on_restart(now);
        }
    }

    /// The samples of the packets in flight, and of those sent until one of them is acknowledged,
    /// are limited by the application.
    #[cold]
    pub(super) fn note_app_limited(&mut self) {
        let in_flight = self.in_flight() * self.packet.get();
        if let Some(d) = self.deliveries.as_mut() {
            d.mark_app_limited(in_flight);
        }
    }
}
