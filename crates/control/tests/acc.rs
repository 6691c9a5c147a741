//! The law that keeps accumulation at a target, report by report.

use crate::common;

use crate::common::{PACKET, build, text};
use accord_control::{AnyController, Congestion, Controller, PathView, Report};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Rate, Time};

const RTT: Duration = Duration::from_ms(100);

fn monaco(law: &str) -> AnyController {
    build("monaco", &[("law", text(law))])
}

/// Sends all that the window lets it, and hears of `accumulation` bytes.
fn report(c: &mut AnyController, accumulation: f64, egress_kbps: u64) {
    let rate = Rate::from_bps(egress_kbps * 1000);
    let path = PathView {
        packet: Bytes::new(PACKET),
        srtt: RTT,
        rtt: RTT,
        min_rtt: RTT,
        in_flight: c.cwnd(),
        sent_in_round: c.cwnd(),
        had_too_little: false,
        delivery_rate: rate,
    };
    let report = Report {
        number: 1,
        accumulation,
        egress_rate: rate,
        virtual_delay: Duration::ZERO,
        lost: false,
        lost_bytes: Bytes::ZERO,
        received: 0,
    };
    c.on_report(&report, &path, Time::ZERO);
}

fn packets(c: &AnyController) -> f64 {
    c.cwnd().as_f64() / PACKET as f64
}

fn kbps(c: &AnyController) -> f64 {
    c.allowance().pacing.expect("a tunnel is paced").as_bps_f64() / 1e3
}

/// In slow start with an empty queue until the window is `n` packets.
fn grown(law: &str, n: f64) -> AnyController {
    let mut c = monaco(law);
    while packets(&c) < n {
        let out = (packets(&c) * 80.0) as u64;
        report(&mut c, 0.0, out);
    }
    c
}

#[test]
fn slow_start_doubles_while_nothing_is_queued() {
    let mut c = monaco("accord");
    let mut windows = Vec::new();
    for _ in 0..5 {
        report(&mut c, 0.0, 1_000_000);
        windows.push(packets(&c));
    }
    assert_eq!(windows, [2.0, 4.0, 8.0, 16.0, 32.0]);
    assert_eq!(c.ssthresh(), None);
}

#[test]
fn slow_start_ends_at_the_window_that_the_queuing_delay_allows() {
    // 64 packets in 100 ms are 5.12 Mbps. A delay of 2 ms holds 1280 of the 3000 bytes at
    // that rate, so the target is reached at 12 Mbps: 150 packets per round trip.
    let mut c = grown("accord", 64.0);
    let queued = |c: &AnyController| packets(c) * 1e4 * 2e-3;
    for _ in 0..4 {
        let (a, out) = (queued(&c), (packets(&c) * 80.0) as u64);
        report(&mut c, a, out);
    }
    assert!((149.9..153.0).contains(&packets(&c)), "{}", packets(&c));
    assert!(c.ssthresh().is_some(), "slow start is over");
    // As Har02 prints it, it doubles until more than the target is queued.
    let mut c = grown("har02", 64.0);
    for _ in 0..2 {
        let (a, out) = (queued(&c), (packets(&c) * 80.0) as u64);
        report(&mut c, a, out);
    }
    assert_eq!(packets(&c), 256.0);
    assert_eq!(c.ssthresh(), None);
}

#[test]
fn slow_start_sends_at_most_1_9_times_as_fast_as_data_came_out() {
    // Of the last two round trips, as two chains of rates take turns.
    let mut c = grown("accord", 64.0);
    report(&mut c, 0.0, 2000);
    assert!(kbps(&c) > 3900.0, "{}", kbps(&c));
    report(&mut c, 0.0, 2000);
    assert!((kbps(&c) - 3800.0).abs() < 1.0, "{}", kbps(&c));
    // The window holds no more than that rate, and grows by a packet then, as by the policy.
    let mut c = grown("accord", 8.0);
    for n in 0..8 {
        report(&mut c, 0.0, 1000);
        let most = 1.9 * 12.5 + f64::from(n);
        assert!(packets(&c) <= most, "{} of {most}", packets(&c));
    }
}

#[test]
fn the_window_grows_by_a_packet_at_most_and_falls_without_bound() {
    for law in ["accord", "har02"] {
        let mut c = grown(law, 64.0);
        report(&mut c, 3200.0, 5120);
        let before = packets(&c);
        // κ(a* − a) = 1.4 packets, bounded.
        report(&mut c, 200.0, 5120);
        assert!(packets(&c) <= before + 1.0, "{before} -> {}", packets(&c));
        let before = packets(&c);
        // κ(a* − a) = −20 packets.
        report(&mut c, 43_000.0, 5120);
        assert!((packets(&c) - (before - 20.0)).abs() < 1e-6);
    }
}

/// The rate is the window over the round-trip time of the report in hand, whatever came out.
#[test]
fn after_slow_start_the_window_gives_the_rate() {
    let mut c = grown("accord", 64.0);
    report(&mut c, 3200.0, 5120);
    report(&mut c, 3000.0, 5000);
    // Packets of 8000 bits in 100 ms.
    assert!((kbps(&c) - packets(&c) * 80.0).abs() < 0.1, "{}", kbps(&c));
    report(&mut c, 3000.0, 1000);
    assert!((kbps(&c) - packets(&c) * 80.0).abs() < 0.1, "{}", kbps(&c));
}

#[test]
fn a_loss_halves_window_and_rate() {
    for law in ["accord", "har02"] {
        let mut c = grown(law, 64.0);
        let (window, rate) = (packets(&c), kbps(&c));
        c.on_congestion(Congestion::Timeout, &common::path(64), Time::ZERO);
        assert!((packets(&c) / window - 0.5).abs() < 1e-3, "{window}");
        assert!((kbps(&c) / rate - 0.5).abs() < 1e-6);
    }
}

fn low_rate(what: &str) -> AnyController {
    let mut c = build("monaco", &[("low_rate", Raw::Text(what.into()))]);
    report(&mut c, 9000.0, 80);
    c
}

#[test]
fn below_a_packet_per_round_trip_the_rate_halves_and_comes_back_at_once() {
    let mut c = low_rate("halve");
    let one = kbps(&c);
    report(&mut c, 9000.0, 80);
    report(&mut c, 9000.0, 80);
    assert_eq!(packets(&c), 1.0);
    assert!((kbps(&c) / one - 0.25).abs() < 1e-6, "{one} {}", kbps(&c));
    report(&mut c, 0.0, 80);
    assert!(kbps(&c) >= 80.0);
}

#[test]
fn below_a_packet_per_round_trip_the_smooth_window_falls_and_rises_step_by_step() {
    let mut c = low_rate("smooth");
    // A packet in 100 ms is 80 Kbps. Three targets are queued: κ·(9000 − 3000) of the 9000
    // bytes that a window of that rate may have is a third.
    let mut rates = vec![kbps(&c)];
    for _ in 0..4 {
        report(&mut c, 9000.0, 20);
        rates.push(kbps(&c));
    }
    for pair in rates.windows(2) {
        let ratio = pair[1] / pair[0];
        assert!((ratio - 2.0 / 3.0).abs() < 1e-4, "{rates:?}");
    }
    assert_eq!(packets(&c), 1.0, "what a window allows in flight is a packet at least");
    let low = kbps(&c);
    report(&mut c, 3000.0, 20);
    assert!((kbps(&c) / low - 1.0).abs() < 1e-3, "at its target it rests");
    report(&mut c, 0.0, 20);
    assert!((kbps(&c) / low - 2.0).abs() < 1e-3, "doubled at most");
}
