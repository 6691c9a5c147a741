//! Spaces packets in time: a leaky bucket with a burst of one packet [Xia05 §IV-B.2].

use accord_units::{Bytes, Rate, Time};

/// The pacer of a sender, which decides when the next packet may be sent.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    next: Time,
    /// The time of the last packet sent at `next` or later.
    began: Time,
}

impl Pacer {
    /// The time at which the next packet may be sent.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Records that a packet of `size` is sent at `now`. The next packet follows at `rate`.
    #[inline]
    pub fn sent(&mut self, now: Time, size: Bytes, rate: Rate) {
        if self.next <= now {
            self.began = now;
        }
        self.next = self.next.max(now) + rate.transmission(size);
    }

    /// The time of the last packet that was sent no earlier than the pace allowed.
    #[inline]
    pub fn began(&self) -> Time {
        self.began
    }

    /// Applies a new rate at once, so a time planned at a lower rate does not hold packets back.
    pub fn speed_up(&mut self, now: Time, size: Bytes, rate: Rate) {
        self.next = self.next.min(now + rate.transmission(size));
    }
}
