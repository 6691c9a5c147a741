//! Spacing packets in time: a leaky bucket with a burst of one packet [Xia05 §IV-B.2].

use accord_units::{Bytes, Rate, Time};

/// Says when the next packet may go.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    next: Time,
}

impl Pacer {
    /// When the next packet may go.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// A packet of `size` goes at `now`, to be followed at `rate`.
    #[inline]
    pub fn sent(&mut self, now: Time, size: Bytes, rate: Rate) {
        self.next = self.next.max(now) + rate.transmission(size);
    }

    /// A new rate applies at once: what was planned at a lower rate does not hold back.
    pub fn speed_up(&mut self, now: Time, size: Bytes, rate: Rate) {
        self.next = self.next.min(now + rate.transmission(size));
    }
}
