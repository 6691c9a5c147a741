//! Copa on a path, against the derivations of its paper [Arun18 §2, §3].

use crate::bottleneck::{Link, PACKET, Path};
use accord_control::copa::Config;
use accord_control::{Controller, Copa};
use accord_units::{Rate, Time};

fn copa(delta: f64) -> Copa {
    let config = Config { delta, ..Config::default() };
    config.build(PACKET).expect("in range")
}

struct Steady {
    mean: f64,
    least: u64,
    most: u64,
    /// The period of the window, in base round-trip times.
    period: f64,
    utilisation: f64,
    competed: bool,
}

fn steady(mbps: f64, rtt_ms: f64, delta: f64) -> Steady {
    let mut path = Path::new(copa(delta), Link::new(mbps, rtt_ms, 100_000));
    path.run(20.0, |_| ());
    let (mut area, mut last) = (0.0, path.now);
    let (mut least, mut most, mut competed) = (u64::MAX, 0, false);
    let (mut window, mut up, mut turns) = (path.controller().cwnd(), true, 0.0);
    let (arrived, from) = (path.arrived, path.now);
    path.run(20.0, |p| {
        let queued = p.link.queued(p.now);
        area += queued as f64 * p.now.since(last).as_secs_f64();
        last = p.now;
        (least, most) = (least.min(queued), most.max(queued));
        competed |= p.controller().is_competing();
        let now = p.controller().cwnd();
        if now != window {
            turns += f64::from(up && now < window);
            (up, window) = (now > window, now);
        }
    });
    let seconds = path.now.since(from).as_secs_f64();
    let bits = (path.arrived - arrived) as f64 * PACKET.bits_f64();
    Steady {
        mean: area / seconds,
        least,
        most,
        period: seconds / turns / (rtt_ms / 1e3),
        utilisation: bits / seconds / (mbps * 1e6),
        competed,
    }
}

/// Figures of the authors' program on the same link (genericCC, `markoviancc.cc`, `do_ss:auto:0.5`):
/// mean and longest queue in packets, and the period of the window in round trips. The packet in
/// service counts as queued. The paper has 1.25/δ and 2.5/δ packets, and 5 round trips [Arun18 §3].
#[test]
fn in_equilibrium_queue_and_period_are_those_of_the_authors_program() {
    for (mbps, rtt, mean, most, period) in [
        (20.0, 40.0, 3.5, 6, 4.24),
        (50.0, 10.0, 3.4, 6, 4.39),
        (100.0, 20.0, 3.6, 6, 4.10),
        (10.0, 100.0, 3.1, 6, 4.11),
        (10.0, 40.0, 3.4, 6, 4.49),
    ] {
        let s = steady(mbps, rtt, 0.5);
        let case = format!("{mbps} Mbps, {rtt} ms");
        assert!(!s.competed && s.least == 0, "{case}: {}", s.least);
        assert!((s.mean - mean).abs() < 0.5, "{case}: {}", s.mean);
        assert!(s.most.abs_diff(most) <= 1, "{case}: {}", s.most);
        assert!((s.period / period - 1.0).abs() < 0.02, "{case}: {}", s.period);
        assert!(s.utilisation > 0.99, "{case}: {}", s.utilisation);
    }
}

/// Slow start doubles per round trip until the rate is above its target.
#[test]
fn slow_start_ends_when_the_queue_is_there() {
    let mut path = Path::new(copa(0.5), Link::new(20.0, 40.0, 100_000));
    let bdp = path.link.bdp();
    path.until(2.0, "the product", |p| p.controller().cwnd().as_f64() > bdp * PACKET.as_f64());
    // The first round trip acknowledges ten packets, which double to 66.7 in 2.7 more; the pace
    // spreads a window over half a round trip.
    let rounds = path.now.since(Time::ZERO).as_secs_f64() / 0.0406;
    assert!(rounds <= 4.5, "{rounds}");
    path.run(1.0, |_| ());
    assert!(path.controller().cwnd().as_f64() < 1.5 * bdp * PACKET.as_f64());
}

/// v doubles per round trip, so ten times the rate is found in a few round trips, not in one
/// per 1/δ packets: 600 packets more would take 300 [Arun18 §2.1].
#[test]
fn ten_times_the_rate_is_found_by_velocity() {
    let mut path = Path::new(copa(0.5), Link::new(20.0, 40.0, 100_000));
    path.run(10.0, |_| ());
    path.link.rate = Rate::from_bps(200_000_000);
    let from = path.now;
    let bdp = path.link.bdp();
    path.until(5.0, "the product", |p| p.controller().cwnd().as_f64() > bdp * PACKET.as_f64());
    let rounds = path.now.since(from).as_secs_f64() / 0.04;
    assert!(rounds < 25.0, "{rounds}");
}

/// Losses alone change nothing in the default mode [Arun18 §2.2]. At a hundredth of random loss Reno
/// would have 12.2 packets of 66.7 [Mathis97]; Copa has four times that. Lost repairs wait for the
/// timer, which costs the rest.
#[test]
fn random_loss_costs_little() {
    let mut link = Link::new(20.0, 40.0, 100_000);
    link.loss = 0.01;
    let mut path = Path::new(copa(0.5), link);
    path.run(10.0, |_| ());
    let used = path.utilisation(20.0);
    assert!(used > 4.0 * 12.2 / 66.7, "{used}");
}

/// Six packets of queue fit into buffers of 0.3, 0.5 and 1 products. The end of slow start loses data, and the window
/// goes on by the packets that arrive behind the holes. In smaller buffers lost repairs wait for the timer, one
/// after the other.
#[test]
fn a_buffer_of_three_times_its_queue_is_enough() {
    for buffer in [20, 33, 67] {
        let mut path = Path::new(copa(0.5), Link::new(20.0, 40.0, buffer));
        path.run(20.0, |_| ());
        let dropped = path.dropped;
        let used = path.utilisation(20.0);
        assert!(used > 0.95, "{buffer}: {used}");
        assert_eq!(path.dropped, dropped, "{buffer}");
    }
}
