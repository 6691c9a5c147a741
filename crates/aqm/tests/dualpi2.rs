//! DualPI2 against the pseudocode of RFC 9332, appendix A.

use crate::common;

use accord_aqm::dualpi2::Config;
use accord_aqm::{Aqm, DualPi2, Verdict};
use accord_units::{Bytes, Duration, Time};

const MUCH: Bytes = Bytes::new(100_000);
const MS: fn(u64) -> Duration = Duration::from_ms;

fn aqm() -> DualPi2 {
    Config::default().build().expect("the defaults")
}

/// With this base probability.
fn at(probability: f64) -> DualPi2 {
    let mut aqm = aqm();
    // The delay reaches the target in one step: β · 15 ms = 0.045. Then the probability rises at the rate α.
    while aqm.probability() < probability {
        aqm.update(MS(16));
    }
    aqm
}

fn share(mut verdict: impl FnMut() -> Verdict, of: Verdict) -> f64 {
    (0..100_000).filter(|_| verdict() == of).count() as f64 / 1e5
}

/// Figures 2 and 8: Tupdate is 15 ms, so α is 0.15 and β 3 per second.
#[test]
fn the_base_probability_is_that_of_the_figures() {
    let mut aqm = aqm();
    aqm.update(MS(25));
    let first = 0.15 * 0.010 + 3.0 * 0.025;
    assert!((aqm.probability() - first).abs() < 1e-12, "{}", aqm.probability());
    aqm.update(MS(25));
    let second = first + 0.15 * 0.010;
    assert!((aqm.probability() - second).abs() < 1e-12);
    aqm.update(MS(0));
    assert!((aqm.probability() - (second - 0.15 * 0.015 - 3.0 * 0.025).max(0.0)).abs() < 1e-12);
    (0..1000).for_each(|_| aqm.update(MS(500)));
    assert_eq!(aqm.probability(), 1.0);
    (0..1000).for_each(|_| aqm.update(MS(0)));
    assert_eq!(aqm.probability(), 0.0);
}

/// Figure 2: Tupdate is a third of RTT_max where that is less than the target. With 30 ms it is 10 ms, so α
/// is 1.11 and β 10 per second.
#[test]
fn the_period_is_a_third_of_a_short_round_trip() {
    let config = Config { rtt_max: MS(30), ..Config::default() };
    let mut aqm = config.build().expect("in range");
    assert_eq!(aqm.next_timer(), Some(Time::ZERO + MS(10)));
    aqm.update(MS(25));
    let first = 0.010 * 0.1 * 0.010 / 0.0009 + 0.025 * 10.0;
    assert!((aqm.probability() - first).abs() < 1e-12);
    let mut usual = self::aqm();
    for k in 1..4 {
        let now = Time::ZERO + MS(15 * k);
        assert_eq!(usual.next_timer(), Some(now));
        usual.on_timer(&common::queue(0), now);
    }
    // 30 us and 10 us are the least.
    for (rtt_max, target, works) in [(30, 10, true), (29, 10, false), (30, 9, false)] {
        let config = Config {
            rtt_max: Duration::from_us(rtt_max),
            target: Duration::from_us(target),
            ..Config::default()
        };
        assert_eq!(config.build().is_ok(), works, "{rtt_max} {target}");
    }
}

/// Figure 7, lines 6 and 11, equation 1: classic packets are dropped by p'², scalable ones marked by
/// k·p'.
#[test]
fn the_queues_are_coupled() {
    for probability in [0.05, 0.1, 0.3] {
        let mut aqm = at(probability);
        let base = aqm.probability();
        let dropped = share(|| aqm.on_classic(false, MUCH), Verdict::Drop);
        assert!((dropped - base * base).abs() < 1e-4, "{dropped} at {base}");
        let marked = share(|| aqm.on_classic(true, MUCH), Verdict::Mark);
        assert!((marked - base * base).abs() < 1e-4, "{marked} at {base}");
        let coupled = share(|| aqm.on_low_latency(MS(0), 5, MUCH), Verdict::Mark);
        assert!((coupled - 2.0 * base).abs() < 1e-4, "{coupled} at {base}");
    }
}

/// Figure 5, and Th_len in figure 7, line 5a.
#[test]
fn the_ramp_is_of_the_packets_own_delay() {
    for (us, expected) in
        [(700, 0.0), (800, 0.0), (900, 0.25), (1000, 0.5), (1200, 1.0), (5000, 1.0)]
    {
        let mut aqm = aqm();
        let sojourn = Duration::from_us(us);
        let marked = share(|| aqm.on_low_latency(sojourn, 2, MUCH), Verdict::Mark);
        assert!((marked - expected).abs() < 1e-4, "{us} us: {marked}");
        assert_eq!(aqm.on_low_latency(sojourn, 1, MUCH), Verdict::Pass, "one packet is no queue");
    }
}

/// Figure 4: marks are evenly spread.
#[test]
fn marks_come_at_equal_distances() {
    let mut aqm = at(0.05);
    let marks: Vec<usize> = (0..1000)
        .filter(|_| true)
        .filter(|_| aqm.on_low_latency(MS(0), 5, MUCH) == Verdict::Mark)
        .collect();
    let gaps: Vec<usize> = marks.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.iter().max().unwrap() - gaps.iter().min().unwrap() <= 1, "{gaps:?}");
}

/// Figure 7, lines 8c and 12b: in overload both queues drop by p'², and nothing goes unmarked in L.
#[test]
fn overload_drops_in_both_queues() {
    let mut aqm = at(0.5);
    let base = aqm.probability();
    let dropped = share(|| aqm.on_low_latency(MS(5), 50, MUCH), Verdict::Drop);
    assert!((dropped - base * base).abs() < 1e-4);
    let passed = share(|| aqm.on_low_latency(MS(5), 50, MUCH), Verdict::Pass);
    assert_eq!(passed, 0.0);
    let dropped = share(|| aqm.on_classic(true, MUCH), Verdict::Drop);
    assert!((dropped - base * base).abs() < 1e-4, "a mark does not save it");
}

/// §A.1: less than two packets in both queues are not a queue.
#[test]
fn nothing_is_signalled_without_a_queue() {
    let mut aqm = at(0.4);
    let few = Bytes::new(2999);
    assert!((0..1000).all(|_| aqm.on_classic(false, few) == Verdict::Pass));
    assert!((0..1000).all(|_| aqm.on_low_latency(MS(0), 5, few) == Verdict::Pass));
}

/// Two packets of 1500 bytes are a queue.
#[test]
fn two_packets_are_a_queue() {
    let two = Bytes::new(3000);
    let mut aqm = at(0.4);
    let base = aqm.probability();
    let dropped = share(|| aqm.on_classic(false, two), Verdict::Drop);
    assert!((dropped - base * base).abs() < 1e-4, "{dropped}");
    let marked = share(|| aqm.on_low_latency(MS(0), 5, two), Verdict::Mark);
    assert!((marked - 2.0 * base).abs() < 1e-4, "{marked}");
}

/// Figure 7, lines 6, 8c and 12b, with other couplings: k·p' ≥ 1 is overload, and from p'² = 1/k²
/// on ECN-capable packets in C are dropped.
#[test]
fn overload_begins_where_the_coupled_probability_is_one() {
    let with = |coupling: f64, probability: f64| {
        let config = Config { coupling, ..Config::default() };
        let mut aqm = config.build().expect("in range");
        while aqm.probability() < probability {
            aqm.update(MS(16));
        }
        aqm
    };
    // p' is at most 1, so k·p' is exactly 1. All packets but the first are dropped (figure 4).
    let mut aqm = with(1.0, 1.0);
    assert_eq!(aqm.probability(), 1.0);
    assert_eq!(aqm.on_low_latency(MS(0), 5, MUCH), Verdict::Mark);
    assert_eq!(aqm.on_low_latency(MS(0), 5, MUCH), Verdict::Drop);
    assert_eq!(aqm.on_classic(true, MUCH), Verdict::Pass);
    assert_eq!(aqm.on_classic(true, MUCH), Verdict::Drop);
    // 0.2 and 0.3 with k = 4: 0.8 and 1.2.
    for (probability, marks) in [(0.2, true), (0.3, false)] {
        let mut aqm = with(4.0, probability);
        let marked = share(|| aqm.on_classic(true, MUCH), Verdict::Mark);
        assert_eq!(marked > 0.0, marks, "{probability}");
        let dropped = share(|| aqm.on_classic(true, MUCH), Verdict::Drop);
        assert_eq!(dropped > 0.0, !marks, "{probability}");
        let lost = share(|| aqm.on_low_latency(MS(0), 5, MUCH), Verdict::Drop);
        assert_eq!(lost > 0.0, !marks, "{probability}");
    }
}

/// Figure 4: the count must exceed one, so a likelihood of one signals from the second packet on.
#[test]
fn the_count_has_to_be_above_one() {
    let mut aqm = aqm();
    let verdicts = [(); 3].map(|()| aqm.on_low_latency(MS(5), 5, MUCH));
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Mark, Verdict::Mark]);
}
