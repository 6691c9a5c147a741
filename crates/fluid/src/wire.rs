//! The bytes on a wire whose delay changes.
//!
//! A byte arrives after the delay that the wire had when it left, and bytes do not overtake each other: after
//! a fall from d to d′ at t, bytes that leave from t on wait until earlier ones have arrived, at t + d. Then
//! more is due than was sent in that time, and the caller must limit it to the line rate.

use std::collections::VecDeque;

/// The delays of a wire.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// The past delays that still matter, with the times until which they applied.
    past: VecDeque<(f64, f64)>,
    delay: f64,
    /// The sending time before which everything has arrived.
    since: f64,
    /// The current transmission time of a packet. A past rate delays no packet.
    sending: f64,
    /// The latest time passed to [`Wire::left`], less the transmission time.
    latest: f64,
}

impl Wire {
    /// Creates a wire with this constant propagation delay, and the transmission time `sending`.
    pub fn new(delay: f64, sending: f64) -> Wire {
        Wire {
            past: VecDeque::new(),
            delay,
            since: f64::NEG_INFINITY,
            sending,
            latest: f64::NEG_INFINITY,
        }
    }

    /// Changes the delay from `time` on.
    pub fn change(&mut self, time: f64, delay: f64, sending: f64) {
        self.sending = sending;
        if delay != self.delay {
            self.past.push_back((time, self.delay));
            self.delay = delay;
        }
    }

    /// Returns the sending time of the byte that arrives at `time`, monotonically over calls.
    pub fn left(&mut self, time: f64) -> f64 {
        self.latest = self.latest.max(time - self.sending);
        let time = self.latest;
        while let Some(&(until, delay)) = self.past.front() {
            if time - delay < until {
                return (time - delay).max(self.since);
            }
            // All bytes sent before have arrived.
            self.since = until;
            self.past.pop_front();
        }
        (time - self.delay).max(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 2 s to 0.2 s at t = 10 s: until 12 s earlier bytes arrive, then all bytes sent since
    /// are due.
    #[test]
    fn nothing_is_overtaken_when_a_delay_falls() {
        let mut wire = Wire::new(2.0, 0.0);
        wire.change(10.0, 0.2, 0.0);
        let at = [10.0, 11.0, 11.9, 12.0, 13.0].map(|t| wire.left(t));
        let expected = [8.0, 9.0, 9.9, 11.8, 12.8];
        for (is, should) in at.iter().zip(expected) {
            assert!((is - should).abs() < 1e-12, "{at:?}");
        }
    }

    /// From 0.2 s to 2 s: bytes on the wire arrive, then none for 1.8 s.
    #[test]
    fn a_delay_that_rises_leaves_a_gap() {
        let mut wire = Wire::new(0.2, 0.0);
        wire.change(10.0, 2.0, 0.0);
        let at = [10.1, 10.2, 11.0, 11.9, 12.5].map(|t| wire.left(t));
        let expected = [9.9, 10.0, 10.0, 10.0, 10.5];
        for (is, should) in at.iter().zip(expected) {
            assert!((is - should).abs() < 1e-12, "{at:?}");
        }
    }

    /// Time on the wire never runs backwards, for any sequence of delays.
    #[test]
    fn a_wire_that_flaps_keeps_its_order() {
        let mut wire = Wire::new(0.05, 0.0);
        let mut last = f64::NEG_INFINITY;
        for i in 0..2000 {
            let time = 1e-3 * f64::from(i);
            if i % 3 == 0 {
                wire.change(time, if i % 2 == 0 { 0.05 } else { 0.0 }, 0.0);
            }
            let left = wire.left(time);
            assert!(left >= last && left <= time, "{time}: {left} after {last}");
            last = left;
        }
        assert!(last > 1.9, "{last}");
    }

    /// From 0.2 s to 2 s at 10 s, and to 0.5 s at 11 s: at 10.3 s all that left before 10 s has arrived, and nothing
    /// that left later.
    #[test]
    fn a_byte_that_has_arrived_stays_arrived() {
        let mut wire = Wire::new(0.2, 0.0);
        wire.change(10.0, 2.0, 0.0);
        wire.change(11.0, 0.5, 0.0);
        assert_eq!([10.3, 11.2].map(|t| wire.left(t)), [10.0, 10.0]);
        assert!((wire.left(12.5) - 10.5).abs() < 1e-12);
    }
}
