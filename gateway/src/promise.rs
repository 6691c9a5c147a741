//! The kept part of the contract of a tunnel, second by second.
//!
//! A contract is a promise for the time in which there is data for it. So a second counts only if data waited
//! for nearly all of it, and if its arrivals are known. Data waits at the edge, or it was sent and no report
//! comes: an outage counts with what arrived in it, usually nothing. The kept part is the ratio of the bytes
//! that arrived in such seconds to the contract. Connections slowed down by losses leave no packets waiting,
//! so such seconds reveal nothing.

use accord_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// The length of a window.
const WINDOW: Duration = Duration::from_secs(1);
/// The fraction of a window in which packets must wait for it to count.
const BUSY: f64 = 0.9;
/// The number of windows over which the latest kept part is taken.
const LATEST: usize = 10;
/// The age above which a window no longer counts.
const OLD: Duration = Duration::from_secs(60);

/// The state of a tunnel at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// True if packets wait at the edge, or those that were sent have been unreported for long.
    pub waiting: bool,
    /// True if the limit of the service holds the tunnel below its contract.
    pub limited: bool,
    /// True if the arrivals are known: by reports, or because an outage allows none.
    pub known: bool,
    /// The bytes that have arrived since the start.
    pub arrived: u64,
}

/// The seconds of a tunnel.
#[derive(Clone, Debug, Default)]
pub struct Promise {
    /// The start of the current window, and the bytes that had arrived by then.
    began: Option<(Time, u64)>,
    /// The latest look, and its time.
    latest: (Time, Moment),
    /// The time with waiting packets in the current window, and the time at the limit.
    waiting: Duration,
    limited: Duration,
    /// True if the arrivals were known at each look in the current window.
    known: bool,
    /// The ends, the lengths and the arrivals of the latest windows that count.
    counted: VecDeque<(Time, Duration, u64)>,
    /// True if the limit held the tunnel for most of the latest window.
    pub is_limited: bool,
    /// The total time that counts since the start, and the bytes that arrived in it.
    pub busy: (Duration, u64),
    /// The time at the limit since the start.
    pub at_limit: Duration,
}

impl Promise {
    /// Notes the state of the tunnel from now on.
    pub fn look(&mut self, moment: Moment, now: Time) {
        let (began, arrived) = *self.began.get_or_insert((now, moment.arrived));
        let (at, before) = self.latest;
        let passed = now.since(at.max(began));
        if before.waiting {
            self.waiting += passed;
        }
        if before.limited {
            self.limited += passed;
            self.at_limit += passed;
        }
        self.known &= moment.known;
        self.latest = (now, moment);
        while self.counted.front().is_some_and(|(end, ..)| now.since(*end) > OLD) {
            self.counted.pop_front();
        }
        let length = now.since(began);
        if length < WINDOW {
            return;
        }
        let part = |time: Duration| time.as_secs_f64() / length.as_secs_f64();
        self.is_limited = part(self.limited) > 0.5;
        if self.known && part(self.waiting) >= BUSY {
            let got = moment.arrived.saturating_sub(arrived);
            self.busy = (self.busy.0 + length, self.busy.1 + got);
            self.counted.push_back((now, length, got));
            if self.counted.len() > LATEST {
                self.counted.pop_front();
            }
        }
        self.began = Some((now, moment.arrived));
        (self.waiting, self.limited) = (Duration::ZERO, Duration::ZERO);
        self.known = moment.known;
    }

    /// Returns the part of a contract that was kept in the latest windows that count, up to ten of the latest
    /// minute. It is more than 1 if more arrived, and `None` without a contract or such a window.
    pub fn kept(&self, contract: Rate) -> Option<f64> {
        let time: f64 = self.counted.iter().map(|(_, length, _)| length.as_secs_f64()).sum();
        let bytes: u64 = self.counted.iter().map(|(.., bytes)| bytes).sum();
        let promised = contract.as_bps_f64() / 8.0 * time;
        (promised > 0.0).then(|| bytes as f64 / promised)
    }

    /// Drops the latest windows, because the contract has changed.
    pub fn forget(&mut self) {
        self.counted.clear();
        self.began = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: Rate = Rate::from_bps(8_000_000);

    /// A tunnel that is examined every 10 ms.
    struct Tunnel(Promise, Time, Moment);

    impl Tunnel {
        fn new() -> Tunnel {
            let known = Moment { known: true, ..Moment::default() };
            Tunnel(Promise::default(), Time::ZERO + Duration::from_secs(7), known)
        }

        /// Lets `ms` pass in which `per_ms` bytes per ms arrive.
        fn pass(&mut self, ms: u64, per_ms: u64, waiting: bool, limited: bool) {
            for _ in 0..ms / 10 {
                self.2 = Moment { waiting, limited, ..self.2 };
                self.0.look(self.2, self.1);
                self.1 += Duration::from_ms(10);
                self.2.arrived += 10 * per_ms;
            }
        }

        fn kept(&self) -> Option<f64> {
            self.0.kept(CONTRACT).map(|kept| (1000.0 * kept).round() / 1000.0)
        }
    }

    #[test]
    fn only_seconds_with_data_count() {
        let mut tunnel = Tunnel::new();
        tunnel.pass(5000, 200, false, false);
        assert_eq!(tunnel.kept(), None, "a fifth of the contract was asked for");
        tunnel.pass(5000, 500, true, false);
        assert_eq!(tunnel.kept(), Some(0.5));
        tunnel.pass(20, 10, false, false);
        let busy = tunnel.0.busy;
        tunnel.pass(5000, 10, false, false);
        assert_eq!((tunnel.kept(), tunnel.0.busy), (Some(0.5), busy));
        // The latest ten windows.
        tunnel.pass(20_000, 1200, true, false);
        assert_eq!(tunnel.kept(), Some(1.2));
        assert_eq!(tunnel.0.kept(Rate::ZERO), None);
        tunnel.0.forget();
        assert_eq!(tunnel.kept(), None);
    }

    /// A tunnel that is idle says nothing after a minute.
    #[test]
    fn old_seconds_leave_the_latest_part_and_stay_in_the_total() {
        let mut tunnel = Tunnel::new();
        tunnel.pass(5000, 500, true, false);
        tunnel.pass(59_000, 0, false, false);
        assert_eq!(tunnel.kept(), Some(0.5));
        let busy = tunnel.0.busy;
        tunnel.pass(3000, 0, false, false);
        assert_eq!((tunnel.kept(), tunnel.0.busy), (None, busy));
    }

    /// The arrivals at plain WireGuard are unknown.
    #[test]
    fn seconds_with_unknown_arrivals_do_not_count() {
        let mut tunnel = Tunnel::new();
        tunnel.2.known = false;
        tunnel.pass(5000, 0, true, false);
        assert_eq!(tunnel.kept(), None);
        tunnel.2.known = true;
        tunnel.pass(5000, 1000, true, false);
        assert_eq!(tunnel.kept(), Some(1.0));
    }

    #[test]
    fn most_of_a_second_at_the_limit_is_limited() {
        let mut tunnel = Tunnel::new();
        tunnel.pass(2100, 1000, true, false);
        assert!(!tunnel.0.is_limited);
        for _ in 0..10 {
            tunnel.pass(70, 1000, true, true);
            tunnel.pass(30, 1000, true, false);
        }
        tunnel.pass(500, 1000, true, false);
        assert!(tunnel.0.is_limited);
        assert_eq!(tunnel.0.at_limit, Duration::from_ms(700));
        tunnel.pass(2000, 1000, true, false);
        assert!(!tunnel.0.is_limited);
    }
}
