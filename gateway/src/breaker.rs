//! The circuit breaker of a tunnel [RFC 8084]: the last resort if the controller does not keep losses
//! low.
//!
//! The breaker trips if [`INTERVALS`] consecutive intervals, which last `over` together, each lost `loss` or
//! more. It also trips if no report comes for the time `blind` although data is sent. The time until it
//! re-arms doubles, up to [`LONGEST`] times. An interval has at least [`LEAST`] packets, so a burst of losses
//! falls into one interval. The rules and their reasons are in `docs/src/gateway/design.md`.

use crate::config::BreakerConfig;
use accord_units::{Bytes, Duration, Time};

/// The number of consecutive intervals that must lose too much.
const INTERVALS: u32 = 5;
/// The least number of packets in an interval.
const LEAST: u64 = 50;
/// The largest number of times that the time until re-arming doubles.
const LONGEST: u32 = 8;

/// Why a breaker tripped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// This fraction of the bytes was lost in the latest interval, and too much in the previous
    /// ones.
    Loss(f64),
    /// No report arrived for this time.
    Silence(Duration),
}

/// The circuit breaker of a tunnel.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// The thresholds.
    pub config: BreakerConfig,
    /// The least number of bytes in an interval.
    least: u64,
    /// The start of the current interval, and the bytes lost and arrived until then.
    began: Option<(Time, u64, u64)>,
    /// The fraction of bytes lost in the latest interval, if there was one since the breaker
    /// tripped or re-armed.
    pub ratio: Option<f64>,
    /// The number of consecutive intervals that lost too much.
    bad: u32,
    /// The time at which the breaker tripped, and the cause, while it is tripped.
    tripped: Option<(Time, Cause)>,
    /// The time at which the breaker last re-armed.
    armed: Option<Time>,
    /// The time until re-arming, as a multiple of `rearm`.
    times: u32,
    /// The number of times that the breaker tripped.
    pub trips: u64,
}

impl Breaker {
    /// Creates a breaker of a tunnel with packets of at most this size.
    pub fn new(config: BreakerConfig, packet: Bytes) -> Breaker {
        Breaker {
            config,
            least: LEAST * packet.get(),
            began: None,
            ratio: None,
            bad: 0,
            tripped: None,
            armed: None,
            times: 1,
            trips: 0,
        }
    }

    /// Takes the bytes lost and arrived since the start, as of a report.
    pub fn on_report(&mut self, lost: u64, arrived: u64, now: Time) {
        let &mut (began, lost_before, arrived_before) =
            self.began.get_or_insert((now, lost, arrived));
        let gone = lost.saturating_sub(lost_before);
        let sent = gone + arrived.saturating_sub(arrived_before);
        if now.since(began) >= self.interval() && sent >= self.least {
            self.began = Some((now, lost, arrived));
            let ratio = gone as f64 / sent as f64;
            self.ratio = Some(ratio);
            self.bad = if ratio >= self.config.loss { self.bad + 1 } else { 0 };
            if self.bad >= INTERVALS && self.tripped.is_none() {
                self.trip(Cause::Loss(ratio), now);
            }
        }
        let Some((since, _)) = self.tripped else { return };
        let quiet = self.ratio.is_none_or(|r| r < self.config.loss / 2.0);
        if quiet && now.since(since) >= self.wait() {
            self.arm();
            self.armed = Some(now);
        }
    }

    /// Notes a time without reports although data is sent.
    pub fn on_silence(&mut self, silence: Duration, now: Time) {
        let long = self.config.blind.is_some_and(|most| silence >= most);
        if long && self.tripped.is_none() {
            self.trip(Cause::Silence(silence), now);
        }
    }

    fn trip(&mut self, cause: Cause, now: Time) {
        let soon = self.armed.is_some_and(|at| now.since(at) < self.wait());
        self.times = if soon { (2 * self.times).min(LONGEST) } else { 1 };
        self.tripped = Some((now, cause));
        self.trips += 1;
        // The previous intervals do not describe the lower rate.
        self.ratio = None;
    }

    /// The least length of an interval.
    fn interval(&self) -> Duration {
        self.config.over.mul_f64(1.0 / f64::from(INTERVALS))
    }

    /// The least time for which the breaker stays tripped.
    fn wait(&self) -> Duration {
        self.config.rearm * u64::from(self.times)
    }

    /// Closes the breaker, and restarts its counts.
    pub fn arm(&mut self) {
        (self.tripped, self.bad, self.began, self.ratio) = (None, 0, None, None);
    }

    /// Returns the cause while the breaker is tripped.
    pub fn cause(&self) -> Option<Cause> {
        self.tripped.map(|(_, cause)| cause)
    }

    /// Returns whether the breaker is tripped.
    pub fn is_tripped(&self) -> bool {
        self.tripped.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::Rate;

    const PACKET: u64 = 1000;

    /// A breaker, and a tunnel that sends a packet per ms and receives a report every 100 ms.
    struct Tunnel {
        breaker: Breaker,
        now: Time,
        lost: u64,
        arrived: u64,
    }

    impl Tunnel {
        fn new() -> Tunnel {
            let config = BreakerConfig {
                loss: 0.1,
                over: Duration::from_secs(10),
                rate: Rate::from_bps(1_000_000),
                rearm: Duration::from_secs(60),
                blind: Some(Duration::from_secs(30)),
            };
            Tunnel {
                breaker: Breaker::new(config, Bytes::new(PACKET)),
                now: Time::ZERO + Duration::from_secs(1),
                lost: 0,
                arrived: 0,
            }
        }

        /// Sends for `seconds` with `lost` of 100 packets lost.
        fn lose(&mut self, of_hundred: u64, seconds: u64) {
            for _ in 0..10 * seconds {
                self.now += Duration::from_ms(100);
                self.lost += of_hundred * PACKET;
                self.arrived += (100 - of_hundred) * PACKET;
                (self.breaker).on_report(self.lost, self.arrived, self.now);
            }
        }
    }

    #[test]
    fn losses_that_last_trip_it_and_bursts_do_not() {
        let mut t = Tunnel::new();
        t.lose(9, 600);
        assert_eq!(t.breaker.trips, 0);
        for _ in 0..20 {
            // Nothing arrives for 3 s: the loss of 10 s is 30 %.
            t.lose(100, 3);
            t.lose(0, 7);
        }
        assert_eq!(t.breaker.trips, 0);
        t.lose(10, 9);
        assert!(!t.breaker.is_tripped());
        t.lose(10, 4);
        assert!(t.breaker.is_tripped());
        assert_eq!(t.breaker.trips, 1);
    }

    #[test]
    fn it_rearms_after_its_time_if_losses_are_well_below_the_threshold() {
        let mut t = Tunnel::new();
        t.lose(20, 13);
        assert!(t.breaker.is_tripped());
        // Below the threshold, but not below half of it.
        t.lose(6, 300);
        assert!(t.breaker.is_tripped());
        t.lose(4, 3);
        assert!(!t.breaker.is_tripped());
    }

    #[test]
    fn it_waits_twice_as_long_each_time_that_it_trips_again_soon() {
        let mut t = Tunnel::new();
        let mut waits = Vec::new();
        for _ in 0..6 {
            while !t.breaker.is_tripped() {
                t.lose(20, 1);
            }
            let since = t.now;
            while t.breaker.is_tripped() {
                t.lose(0, 1);
            }
            waits.push(t.now.since(since).as_secs_f64().round() as u64);
        }
        assert_eq!(waits, [60, 120, 240, 480, 480, 480]);
        t.lose(0, 1000);
        t.lose(20, 13);
        let since = t.now;
        while t.breaker.is_tripped() {
            t.lose(0, 1);
        }
        assert!(t.now.since(since) < Duration::from_secs(62), "it is long ago");
    }

    #[test]
    fn a_tunnel_with_little_to_send_is_judged_by_many_packets() {
        let mut t = Tunnel::new();
        // One packet per second, of which a tenth is lost: 50 packets take 50 s.
        for second in 0..200 {
            t.now += Duration::from_secs(1);
            match second % 10 {
                0 => t.lost += PACKET,
                _ => t.arrived += PACKET,
            }
            t.breaker.on_report(t.lost, t.arrived, t.now);
        }
        assert_eq!(t.breaker.trips, 0, "four intervals at most");
        let ratio = t.breaker.ratio.expect("an interval");
        assert!((0.08..0.12).contains(&ratio), "{ratio}");
    }

    #[test]
    fn silence_trips_it_and_reports_rearm_it() {
        let mut t = Tunnel::new();
        t.lose(0, 10);
        (t.breaker).on_silence(Duration::from_secs(29), t.now);
        assert!(!t.breaker.is_tripped());
        (t.breaker).on_silence(Duration::from_secs(30), t.now);
        assert!(t.breaker.is_tripped());
        t.lose(0, 59);
        assert!(t.breaker.is_tripped());
        t.lose(0, 3);
        assert!(!t.breaker.is_tripped());
        t.breaker.config.blind = None;
        (t.breaker).on_silence(Duration::from_secs(1000), t.now);
        assert!(!t.breaker.is_tripped());
    }

    #[test]
    fn an_operator_rearms_it() {
        let mut t = Tunnel::new();
        t.lose(20, 13);
        assert!(t.breaker.is_tripped());
        t.breaker.arm();
        t.lose(20, 9);
        assert!(!t.breaker.is_tripped());
        t.lose(20, 4);
        assert!(t.breaker.is_tripped());
    }
}
