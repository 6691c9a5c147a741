//! The schedule of a receiver's counts: acknowledgements of a tunnel's data.
//!
//! Counts are cumulative, so the loss of one costs only time. A pair is sent once per round trip,
//! so the receiver takes the time between pairs as the round-trip time.

use accord_units::{Duration, Time};

/// The schedule by which counts answer data packets.
#[derive(Clone, Debug)]
pub struct CountSchedule {
    /// The counts per round trip, or 0 for none.
    per_round_trip: f64,
    /// The arrival time of the latest complete pair.
    pair: Option<Time>,
    /// The least time from one count to the next. It is zero until two pairs have arrived, so each
    /// packet is answered until then.
    spacing: Duration,
    /// The time from which the next data packet is answered.
    next: Time,
}

impl CountSchedule {
    /// Creates a schedule of `per_round_trip` counts, at most one per packet. Zero means no counts.
    pub fn new(per_round_trip: f64) -> CountSchedule {
        CountSchedule {
            per_round_trip,
            pair: None,
            spacing: Duration::ZERO,
            next: if per_round_trip > 0.0 { Time::ZERO } else { Time::MAX },
        }
    }

    /// Takes the arrival of a data packet. Returns true if a count must answer it.
    #[inline]
    pub fn is_due(&mut self, now: Time) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + self.spacing;
        true
    }

    /// Takes the arrival of a complete pair, whose report also counts.
    pub fn on_pair(&mut self, now: Time) {
        if self.per_round_trip == 0.0 {
            return;
        }
        if let Some(before) = self.pair.replace(now) {
            let spacing = now.since(before).mul_f64(1.0 / self.per_round_trip);
            // The time between two pairs exceeds a round trip after a pause or a lost pair.
            self.spacing =
                if self.spacing.is_zero() { spacing } else { spacing.min(self.spacing * 2) };
            self.next = now + self.spacing;
        }
    }
}
