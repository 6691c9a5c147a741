//! CoDel's state machine, driven by the sojourn time of a fluid queue.
//!
//! CoDel drops packets one at a time, interval/√count apart [RFC 8289 §3.3]. With n the drops of an
//! episode that begins at count C, the staircase n(t) passes n − 1/2 in the middle of each of its
//! steps. The fluid follows the curve through these points:
//!
//! ```text
//! n = 1/2 at the start, dn/dt = √(C + n − 1)/interval
//! ```
//!
//! Dropping begins after an interval above the target, at C = 1, or at the n of the previous
//! episode if that ended less than 16 intervals ago [RFC 8289 §5.5]. Departure: the sojourn time is
//! that of an arriving byte, not of a departing one.

/// The number of intervals for which a new episode resumes the previous drop rate.
const MEMORY: f64 = 16.0;

/// The distance from the middle of a step of the staircase to its ends, in packets.
const HALF: f64 = 0.5;

/// The state of CoDel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codel {
    /// The time for which the sojourn time has been above the target.
    above: f64,
    dropping: bool,
    /// C − 1/2 at the start of the episode, and the n drops since.
    begun_at: f64,
    count: f64,
    /// The time since dropping ended.
    since: f64,
}

impl Codel {
    /// Returns the number of packets dropped in a step of `h`. `late` says whether the sojourn time is above
    /// the target.
    pub fn drops(&mut self, late: bool, interval: f64, h: f64) -> f64 {
        self.above = if late { self.above + h } else { 0.0 };
        if self.above < interval {
            self.dropping = false;
            self.since += h;
            return 0.0;
        }
        let mut dropped = 0.0;
        if !self.dropping {
            self.dropping = true;
            let reached = self.count - self.begun_at;
            let recent = self.since < MEMORY * interval;
            self.count = if recent && reached > 1.0 { reached } else { 1.0 } - HALF;
            self.begun_at = self.count;
            self.since = 0.0;
            dropped = HALF;
        }
        let root = self.count.sqrt() + 0.5 * h / interval;
        dropped += root * root - self.count;
        self.count = root * root;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: f64 = 0.1;

    fn drops(codel: &mut Codel, late: bool, seconds: f64) -> f64 {
        let step = 1e-4;
        let steps = (seconds / step).round() as usize;
        (0..steps).map(|_| codel.drops(late, INTERVAL, step)).sum()
    }

    /// In a lasting overload CoDel drops packets at 100, 200, 270.7, 328.4, 378.4, 423.2, ... ms
    /// (tests of CoDel in `accord-aqm`): the n-th at the sum of 100/√k ms over k < n.
    #[test]
    fn as_many_are_dropped_as_one_at_a_time() {
        let (mut wait, mut codel, mut found) = (INTERVAL, Codel::default(), 0.0);
        for n in 1..=50 {
            found += drops(&mut codel, true, wait);
            let middle = f64::from(n) - HALF;
            assert!((found - middle).abs() < 0.4, "{found} at drop {n}");
            wait = INTERVAL / f64::from(n).sqrt();
        }
    }

    #[test]
    fn a_queue_that_is_late_for_less_than_an_interval_loses_nothing() {
        let mut codel = Codel::default();
        for _ in 0..10 {
            assert_eq!(drops(&mut codel, true, 0.09), 0.0);
            assert_eq!(drops(&mut codel, false, 0.001), 0.0);
        }
    }

    /// The drop rate resumes one second after an episode, and restarts from 1 after two seconds.
    #[test]
    fn the_pace_is_remembered_for_sixteen_intervals() {
        let again = |pause: f64| {
            let mut codel = Codel::default();
            drops(&mut codel, true, 1.0);
            drops(&mut codel, false, pause);
            drops(&mut codel, true, 0.6)
        };
        let mut fresh = Codel::default();
        let first = drops(&mut fresh, true, 0.6);
        assert!((again(2.0) - first).abs() < 1e-9);
        assert!(again(1.0) > 2.0 * first, "{} {first}", again(1.0));
    }

    /// The interval of lateness before an episode counts among the sixteen.
    #[test]
    fn an_episode_resumes_up_to_sixteen_intervals_later() {
        let again = |pause: f64| {
            let mut codel = Codel::default();
            drops(&mut codel, true, 2.0);
            drops(&mut codel, false, pause);
            drops(&mut codel, true, 0.3)
        };
        let first = drops(&mut Codel::default(), true, 0.3);
        assert!(again(1.45) > 2.0 * first && (again(1.55) - first).abs() < 1e-9);
    }

    /// A third episode resumes the drops of the second one alone: with n of them, n + 1/2 in the next interval
    /// at √n per interval to first order.
    #[test]
    fn an_episode_resumes_the_drops_of_the_last_one() {
        let mut codel = Codel::default();
        drops(&mut codel, true, 2.0);
        drops(&mut codel, false, 0.2);
        let second = drops(&mut codel, true, 0.4);
        drops(&mut codel, false, 0.2);
        let third = drops(&mut codel, true, 2.0 * INTERVAL);
        assert!((third - 0.5 - second.sqrt()).abs() < 0.6, "{third} after {second}");
    }
}
