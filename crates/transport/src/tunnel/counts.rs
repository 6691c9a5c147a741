//! The schedule of a receiver's counts: acknowledgements of a tunnel's data.
//!
//! Counts are cumulative, so that a lost one costs nothing but time. A pair is sent once per round
//! trip, so that the time between pairs tells the receiver the round trip.

use accord_units::{Duration, Time};

/// Decides which data packets are answered by a count.
#[derive(Clone, Debug)]
pub struct CountSchedule {
    /// The counts per round trip; 0 for none.
    per_round_trip: f64,
    /// The time when the latest complete pair arrived.
    pair: Option<Time>,
    /// The least time from one count to the next. It is zero until two pairs have arrived, so that
    /// each packet is answered.
    spacing: Duration,
    /// The time from which on the next data packet is answered.
    next: Time,
}

impl CountSchedule {
    /// Creates a schedule of `per_round_trip` counts, at most one per packet, or of none if that is 0.
    pub fn new(per_round_trip: f64) -> CountSchedule {
        CountSchedule {
            per_round_trip,
            pair: None,
            spacing: Duration::ZERO,
            next: match per_round_trip > 0.0 {
                true => Time::ZERO,
                false => Time::MAX,
            },
        }
    }

    /// Takes the arrival of a data packet. Returns whether it is answered by a count.
    #[inline]
    pub fn is_due(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + self.spacing;
        true
    }

    /// Takes the arrival of a complete pair. Its report counts, too.
    pub fn on_pair(&mut self, now: Time) {
        if self.per_round_trip == 0.0 {
            return;
        }
        if let Some(before) = self.pair.replace(now) {
            let spacing = now.since(before).mul_f64(1.0 / self.per_round_trip);
            // The distance of two pairs is more than a round trip after a pause or a lost pair.
            self.spacing = match self.spacing.is_zero() {
                true => spacing,
                false => spacing.min(self.spacing * 2),
            };
            self.next = now + self.spacing;
        }
    }
}
