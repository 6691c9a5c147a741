//! BAT against equation 1 of Ple03, evaluated by hand, and its consequences.

use crate::common;

use crate::common::{DATA, Random, text};
use accord_aqm::{Aqm, Bat, Class, PacketMeta, QueueView, Verdict};
use accord_family::{Raw, Values};
use accord_units::{Bytes, Duration, Rate, Time};

/// 100 Mbit/s with a buffer of 100 packets of 1000 bytes, `packets` of them queued.
fn queue(packets: u64) -> QueueView {
    QueueView {
        packets,
        bytes: Bytes::new(1000 * packets),
        rate: Rate::from_bps(100_000_000),
        capacity: Some(Bytes::new(100_000)),
    }
}

/// Parameters with an aggregate for each list of own ones.
fn values(own: &[&[(&str, Raw)]]) -> Values {
    let mut values = common::values("bat", &[]);
    for (i, changes) in own.iter().enumerate() {
        let of = values.aggregate_mut(&format!("a{i}"));
        for (param, raw) in *changes {
            of.set(param, raw).expect("in range");
        }
    }
    (values.family().check)(&values).expect("consistent");
    values
}

fn of(aggregate: u8) -> PacketMeta {
    PacketMeta { aggregate, ..DATA }
}

/// A BAT with a clock: the given number of packets of each aggregate arrives in a period of 4 ms,
/// at the end of which `queued` packets wait.
struct Driven {
    bat: Bat,
    now: Time,
    random: Random,
}

impl Driven {
    fn new(own: &[&[(&str, Raw)]]) -> Driven {
        Driven { bat: Bat::new(&values(own)), now: Time::ZERO, random: Random(7) }
    }

    fn period(&mut self, offered: &[u64], queued: u64) {
        for (i, n) in offered.iter().enumerate() {
            for _ in 0..*n {
                let view = queue(queued);
                self.bat.on_arrival(&of(i as u8), &view, self.now, &mut self.random);
            }
        }
        self.now += Duration::from_ms(4);
        assert_eq!(self.bat.next_timer(), Some(self.now));
        self.bat.on_timer(&queue(queued), self.now);
    }

    fn transmit(&self, i: usize) -> f64 {
        self.bat.aggregate(i).expect("there").transmit_probability
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} is not {b}");
}

/// A queue that grows to more than a quarter of the buffer: B = 0.
const FULL: u64 = 90;

#[test]
fn without_bandwidth_left_it_falls_by_the_offered_rate() {
    let mut d = Driven::new(&[&[], &[("decrease", Raw::Number(0.12))]]);
    // 50 packets of 1000 B in 4 ms are 100 Mbit/s, 25 are 50. The queue of 90 packets cannot come
    // from these arrivals: with 75 admitted and 90 queued the link has served less than it could,
    // so the first period still has excess bandwidth.
    d.period(&[50, 25], FULL);
    near(d.transmit(0), 1.0);
    // Now all arrivals are served, and the queue is long.
    d.period(&[50, 25], FULL);
    near(d.transmit(0), 1.0 * (1.0 - 0.06 * 1.0));
    near(d.transmit(1), 1.0 * (1.0 - 0.12 * 0.5));
    d.period(&[50, 25], FULL);
    near(d.transmit(0), 0.94 * 0.94);
    near(d.transmit(1), 0.94 * 0.94);
}

#[test]
fn with_bandwidth_left_it_rises_by_the_average_of_the_signal() {
    let mut d = Driven::new(&[&[], &[("weight", Raw::Number(3.0))]]);
    for _ in 0..5 {
        d.period(&[100, 100], FULL);
    }
    let (t, u) = (d.transmit(0), d.transmit(1));
    let excess = d.bat.excess_bandwidth().expect("it has one");
    // It began at 1.
    near(excess, 0.875f64.powi(5));
    // A short queue that does not grow: B = 1, so B̄ rises by an eighth of the way.
    d.period(&[100, 100], 10);
    let excess = excess + (1.0 - excess) / 8.0;
    near(d.transmit(0), t + 0.02 * excess);
    near(d.transmit(1), u + 0.06 * excess);
    // It grows: B = 0.
    let t = d.transmit(0);
    d.period(&[100, 100], 11);
    near(d.transmit(0), t * (1.0 - 0.06 * 2.0));
}

#[test]
fn an_idle_link_has_bandwidth_left_however_long_its_queue() {
    let mut d = Driven::new(&[&[]]);
    d.period(&[60], FULL);
    d.period(&[60], FULL);
    assert!(d.transmit(0) < 1.0);
    // 47 packets served of 50: less than 95 %, so B = 1. (48 are not.)
    let excess = d.bat.excess_bandwidth().expect("it has one");
    let admitted = |d: &Driven| d.bat.aggregate(0).expect("there").admitted / 1000;
    let before = admitted(&d);
    for _ in 0..60 {
        d.bat.on_arrival(&of(0), &queue(FULL), d.now, &mut d.random);
    }
    let came = admitted(&d) - before;
    d.now += Duration::from_ms(4);
    d.bat.on_timer(&queue(FULL + came - 47), d.now);
    assert!(d.bat.excess_bandwidth() > Some(excess));
    let excess = d.bat.excess_bandwidth().expect("it has one");
    d.now += Duration::from_ms(4);
    d.bat.on_timer(&queue(FULL + came - 47 - 48), d.now);
    assert!(d.bat.excess_bandwidth() < Some(excess));
}

#[test]
fn bounds_come_before_the_signal() {
    let floor = [("min", text("40 Mbps"))];
    let ceiling = [("max", text("60 Mbps"))];
    let mut d = Driven::new(&[&floor, &ceiling, &[]]);
    // 20 packets in 4 ms are 40 Mbit/s: at the floor, T stays 1 though nothing is left; 50 packets
    // are 100 Mbit/s, above the ceiling.
    d.period(&[20, 50, 0], FULL);
    d.period(&[20, 50, 0], FULL);
    near(d.transmit(0), 1.0);
    near(d.transmit(1), 0.875 * 0.875);
    // Above the floor it falls, by a factor of 0.06 less the floor's 40 %: 25 packets are 50 Mbit/s.
    d.period(&[25, 50, 0], FULL);
    near(d.transmit(0), 1.0 - 0.036 * 0.5);
    // If the rate is below the floor, T rises at once, by w.
    d.period(&[20, 0, 0], FULL);
    near(d.transmit(0), 1.0);
    // Nothing is offered, so T is 1 regardless of its previous value.
    near(d.transmit(2), 1.0);
    let before = d.transmit(1);
    d.period(&[0, 0, 0], FULL);
    near(d.transmit(1), f64::min(1.0, before + 0.125));
}

#[test]
fn floors_change_the_constants() {
    // Floors of 40 and 30 of 100 Mbit/s: C of 0.02·(1 + 0.4 − 0.7), 0.02·(1 + 0.3 − 0.7) and
    // 0.02·(1 − 0.7), D of 0.06·0.6, 0.06·0.7 and 0.06.
    let floors = [("min", text("40 Mbps"))];
    let mut d = Driven::new(&[&floors, &[("min", text("30 Mbps"))], &[]]);
    // 150 packets less the 90 queued are more than the link's 50: nothing is left.
    d.period(&[50, 50, 50], FULL);
    let fallen = [0.964, 0.958, 0.94];
    (0..3).for_each(|i| near(d.transmit(i), fallen[i]));
    d.period(&[50, 50, 50], 10);
    let excess = d.bat.excess_bandwidth().expect("it has one");
    (0..3).for_each(|i| near(d.transmit(i), fallen[i] + [0.014, 0.012, 0.006][i] * excess));
    // Floors above the rate of the link leave nothing to share, so only w raises rates.
    let floors = [("min", text("80 Mbps"))];
    let mut d = Driven::new(&[&floors, &[("min", text("120 Mbps"))], &[]]);
    d.period(&[50, 50, 50], FULL);
    near(d.transmit(2), 0.94);
    d.period(&[50, 50, 50], 10);
    near(d.transmit(2), 0.94);
}

#[test]
fn it_draws_once_a_packet() {
    let mut d = Driven::new(&[&[("max", text("1 Mbps"))]]);
    for _ in 0..5 {
        d.period(&[100], 0);
    }
    let t = d.transmit(0);
    assert!((0.4..0.6).contains(&t), "{t}");
    let n = 100_000;
    let passed = (0..n)
        .filter(|_| {
            let verdict = d.bat.on_arrival(&of(0), &queue(0), d.now, &mut d.random);
            verdict == Verdict::Pass
        })
        .count();
    // Within five standard deviations.
    let deviation = (f64::from(n) * t * (1.0 - t)).sqrt();
    let expected = f64::from(n) * t;
    assert!((passed as f64 - expected).abs() < 5.0 * deviation, "{passed}");
    let control = PacketMeta { class: Class::OutOfBand, ..of(0) };
    for _ in 0..100 {
        let verdict = d.bat.on_arrival(&control, &queue(0), d.now, &mut d.random);
        assert_eq!(verdict, Verdict::Pass);
    }
}

#[test]
fn what_does_not_fit_is_offered_all_the_same() {
    let mut d = Driven::new(&[&[]]);
    d.period(&[50], FULL);
    for _ in 0..50 {
        d.bat.on_overflow(&of(0));
    }
    // With the 50 that fit these are 200 Mbit/s.
    d.period(&[50], FULL);
    near(d.transmit(0), 1.0 - 0.06 * 2.0);
    let a = d.bat.aggregate(0).expect("there");
    assert_eq!((a.offered, a.admitted), (150_000, 100_000));
}

/// Simulates a fluid queue behind the discipline: admitted traffic less the link's service. Returns
/// the mean rates of the second half, relative to the link's.
fn fluid(own: &[&[(&str, Raw)]], offered: &[u64]) -> Vec<f64> {
    let mut d = Driven::new(own);
    let mut backlog = 0i64;
    let (mut half, periods) = (Vec::new(), 20_000);
    let counts = |d: &Driven| -> Vec<u64> {
        let n = offered.len();
        (0..n).map(|i| d.bat.aggregate(i).expect("there").admitted).collect()
    };
    for period in 0..periods {
        let before: u64 = counts(&d).iter().sum();
        if period == periods / 2 {
            half = counts(&d);
        }
        for (i, n) in offered.iter().enumerate() {
            for _ in 0..*n {
                let view = queue(backlog as u64);
                d.bat.on_arrival(&of(i as u8), &view, d.now, &mut d.random);
            }
        }
        let came = (counts(&d).iter().sum::<u64>() - before) / 1000;
        backlog = (backlog + came as i64 - 50).max(0);
        d.now += Duration::from_ms(4);
        d.bat.on_timer(&queue(backlog as u64), d.now);
    }
    let sent = f64::from(periods / 2) * 50_000.0;
    let rates = counts(&d).into_iter().zip(half);
    rates.map(|(now, then)| (now - then) as f64 / sent).collect()
}

/// Weighted max-min fairness, for traffic that does not respond: two that offer different rates
/// get the same, one that offers less than that keeps it, weights scale. That is to first order in
/// the steps; with these of 10 and 20 % a period, rates are up to 6 % off.
#[test]
fn unresponsive_aggregates_share_by_weight() {
    let rates = fluid(&[&[], &[]], &[50, 100]);
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
    // The buffer is that of two periods, so it is empty at times.
    assert!(rates[0] + rates[1] > 0.8, "{rates:?}");
    let rates = fluid(&[&[], &[], &[]], &[50, 50, 10]);
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.05, "{rates:?}");
    assert!((rates[2] - 0.2).abs() < 0.02, "{rates:?}");
    let rates = fluid(&[&[], &[("weight", Raw::Number(2.0))]], &[50, 50]);
    assert!((rates[1] / rates[0] - 2.0).abs() < 0.2, "{rates:?}");
    let rates = fluid(&[&[], &[("decrease", Raw::Number(0.12))]], &[50, 50]);
    assert!((rates[0] / rates[1] - 2.0).abs() < 0.2, "{rates:?}");
}

/// A floor of 50 of 100 Mbit/s and an equal share of the rest are 75 Mbit/s; the weights 2 and 1/2
/// give 80.
#[test]
fn a_floor_comes_on_top_of_a_share() {
    let rates = fluid(&[&[("min", text("50 Mbps"))], &[]], &[50, 50]);
    assert!((rates[0] / rates[1] - 4.0).abs() < 0.6, "{rates:?}");
    // Equal floors change nothing.
    let floor = [("min", text("30 Mbps"))];
    let rates = fluid(&[&floor, &floor], &[50, 50]);
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
}

/// Ple03's signal B: a queue that does not grow is short below the threshold, in packets, in bytes, or a quarter of
/// the buffer.
#[test]
fn a_queue_is_short_below_its_threshold() {
    for (threshold, short) in [(Some("20 pkt"), 19), (Some("20 KB"), 19), (None, 24)] {
        for (queued, expected) in [(short, 1.0), (short + 1, 0.875)] {
            let changes: Vec<_> = threshold.iter().map(|t| ("threshold", text(t))).collect();
            let mut d = Driven::new(&[]);
            d.bat = Bat::new(&common::values("bat", &changes));
            // The link serves 50 packets in the second of these, which is all that it can.
            d.period(&[50], queued);
            d.period(&[50], queued);
            near(d.bat.excess_bandwidth().expect("it has one"), expected);
        }
    }
}

#[test]
fn an_aggregate_that_is_not_configured_counts_as_the_last_one() {
    let mut d = Driven::new(&[&[], &[]]);
    d.bat.on_arrival(&of(7), &queue(0), d.now, &mut d.random);
    let offered = |i: usize| d.bat.aggregate(i).expect("there").offered;
    assert_eq!((offered(0), offered(1)), (0, 1000));
}
