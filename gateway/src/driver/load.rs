//! The load of the packet thread, and its lateness.

use crate::sender::BURST;
use accord_units::{Duration, Time};

/// The packets per second that count as a high load: 0.7 Gbps of full packets.
const MUCH: f64 = 6e4;
/// The time over which the load is averaged.
const AVERAGED: Duration = Duration::from_ms(1);
/// The time over which the longest lateness is taken.
const SPAN: Duration = Duration::from_secs(5);

/// The lateness of this thread, which paces all tunnels.
#[derive(Default)]
pub struct Lateness {
    /// The largest lateness since a time, and that of the previous span.
    latest: (Time, Duration),
    before: Duration,
    /// The time that was not made up.
    pub lost: Duration,
}

impl Lateness {
    /// Notes work that was due at `wake` and is handled now.
    pub fn note(&mut self, wake: Time, now: Time) {
        let late = now.since(wake);
        if now.since(self.latest.0) >= SPAN {
            self.before = self.latest.1;
            self.latest = (now, Duration::ZERO);
        }
        self.latest.1 = self.latest.1.max(late);
        self.lost += late.saturating_sub(BURST);
    }

    /// Returns the longest lateness of the latest 5 to 10 s.
    pub fn most(&self) -> Duration {
        self.latest.1.max(self.before)
    }
}

/// The average number of packets per second.
#[derive(Default)]
pub struct Load {
    rate: f64,
    /// The time at which packets were last counted.
    pub at: Time,
}

impl Load {
    pub fn add(&mut self, packets: usize, now: Time) {
        let span = now.since(self.at).as_secs_f64().max(1e-9);
        let weight = (span / AVERAGED.as_secs_f64()).min(1.0);
        self.rate += weight * (packets as f64 / span - self.rate);
        self.at = now;
    }

    pub fn is_much(&self) -> bool {
        self.rate > MUCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether `packets` packets per `every` microseconds, for 10 ms, are a high load.
    fn is_much(packets: usize, every: u64) -> bool {
        let mut load = Load::default();
        for step in 1..=10_000 / every {
            load.add(packets, Time::ZERO + Duration::from_us(step * every));
        }
        load.is_much()
    }

    #[test]
    fn much_is_a_rate_however_often_one_looks() {
        assert!(is_much(1, 10) && is_much(10, 100) && is_much(100, 1000));
        assert!(!is_much(1, 20) && !is_much(10, 200) && !is_much(100, 2000));
    }

    /// A millisecond is made up. The longest lateness expires after ten seconds.
    #[test]
    fn late_work_is_told() {
        let (mut lateness, at) = (Lateness::default(), |ms| Time::ZERO + Duration::from_ms(ms));
        lateness.note(at(1000), at(1000));
        lateness.note(at(1010), at(1011));
        assert_eq!((lateness.most(), lateness.lost), (Duration::from_ms(1), Duration::ZERO));
        lateness.note(at(2000), at(2005));
        assert_eq!((lateness.most(), lateness.lost), (Duration::from_ms(5), Duration::from_ms(4)));
        // Work that another event has advanced is not late.
        lateness.note(Time::MAX, at(7000));
        assert_eq!(lateness.most(), Duration::from_ms(5));
        lateness.note(at(13_000), at(12_999));
        assert_eq!((lateness.most(), lateness.lost), (Duration::ZERO, Duration::from_ms(4)));
    }

    #[test]
    fn a_burst_is_soon_forgotten() {
        let mut load = Load::default();
        load.add(500, Time::ZERO + Duration::from_us(100));
        assert!(load.is_much());
        load.add(0, Time::ZERO + Duration::from_us(1200));
        assert!(!load.is_much());
    }
}
