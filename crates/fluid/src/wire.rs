//! The bytes on a wire when its delay changes.
//!
//! A byte arrives by the delay that the wire had when it left, and nothing is overtaken: after a
//! fall from d to d′ at t, what leaves from t on waits until what left before has arrived, at t + d.
//! From then on more is due than was sent meanwhile; that the wire brings it no faster than its line
//! is for the caller to see to.

use std::collections::VecDeque;

/// The delays of a wire.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Until when it had which delay, as long as it matters.
    past: VecDeque<(f64, f64)>,
    delay: f64,
    /// The time of departure before which everything has arrived.
    since: f64,
    /// The time that a packet takes to be sent now: no packet is held by a rate that has passed.
    sending: f64,
    /// The latest time that was asked of, less that.
    latest: f64,
}

impl Wire {
    /// Creates a wire that has always had this delay, beside `sending`.
    pub fn new(delay: f64, sending: f64) -> Wire {
        Wire {
            past: VecDeque::new(),
            delay,
            since: f64::NEG_INFINITY,
            sending,
            latest: f64::NEG_INFINITY,
        }
    }

    /// The delay is another from `time` on.
    pub fn change(&mut self, time: f64, delay: f64, sending: f64) {
        self.sending = sending;
        if delay != self.delay {
            self.past.push_back((time, self.delay));
            self.delay = delay;
        }
    }

    /// Returns the time at which the byte left that arrives at `time`, which is never earlier than the
    /// time before.
    pub fn left(&mut self, time: f64) -> f64 {
        self.latest = self.latest.max(time - self.sending);
        let time = self.latest;
        while let Some(&(until, delay)) = self.past.front() {
            if time - delay < until {
                return (time - delay).max(self.since);
            }
            // All that left before has arrived.
            self.since = until;
            self.past.pop_front();
        }
        (time - self.delay).max(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 2 s to 0.2 s at t = 10 s: until 12 s what left before arrives, then all that left
    /// since is due.
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

    /// From 0.2 s to 2 s: what is on the wire arrives, then nothing for 1.8 s.
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

    /// Whatever the delays, time on the wire never runs backwards.
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
}
