//! LEDBAT and LEDBAT++ against their equations, step by step. The transport's and the simulator's
//! tests run them on paths.

use crate::common::{ACK, PACKET, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller, PathView};
use accord_units::{Bytes, Duration, Time};

const BASE: Duration = Duration::from_ms(40);

/// A window is acknowledged packet by packet, at this round-trip time. Gives the change in packets.
fn round(c: &mut AnyController, rtt_ms: u64, now: &mut Time) -> f64 {
    let before = window(c);
    let packets = before as u64;
    for _ in 0..packets {
        *now += Duration::from_us(1);
        let rtt = Duration::from_ms(rtt_ms);
        let ack = Acked { rtt: Some(rtt), ..ACK };
        let view = PathView { srtt: rtt, ..path(packets) };
        c.on_ack(&ack, &view, *now);
    }
    window(c) - before
}

#[test]
fn ledbat_grows_by_the_gain_without_a_queue_and_rests_at_the_target() {
    let mut c = build("ledbat", &[("initial_window", text("50 pkt"))]);
    let mut now = Time::ZERO;
    let near = |x: f64, y: f64| assert!((x - y).abs() < 0.03, "{x} for {y}");
    near(round(&mut c, 40, &mut now), 1.0);
    // 50, 100 and 200 ms above the base: the filter is of four samples, so one round settles it.
    round(&mut c, 90, &mut now);
    near(round(&mut c, 90, &mut now), 0.5);
    round(&mut c, 140, &mut now);
    near(round(&mut c, 140, &mut now), 0.0);
    round(&mut c, 240, &mut now);
    near(round(&mut c, 240, &mut now), -1.0);
    assert_eq!(c.base_rtt_estimate(), Some(BASE));
}

#[test]
fn ledbat_keeps_to_what_is_in_flight() {
    let mut c = build("ledbat", &[("initial_window", text("50 pkt"))]);
    let ack = Acked { rtt: Some(BASE), ..ACK };
    // 9 in flight after this packet arrived: ten before, and one that is allowed.
    c.on_ack(&ack, &path(9), Time::ZERO);
    assert_eq!(window(&c), 11.0);
}

/// RFC 6817 §2.4.2: below the target the window waits in recovery, and above it it shrinks all the same. An
/// acknowledgement of more than a window counts as one window, and takes no more than all of it.
#[test]
fn ledbat_shrinks_in_recovery_and_does_not_grow() {
    let settled = |packets: u64, rtt: u64| {
        let initial = text(&format!("{packets} pkt"));
        let mut c = build(
            "ledbat",
            &[("initial_window", initial), ("current_filter", accord_family::Raw::Integer(1))],
        );
        let base = Acked { rtt: Some(BASE), in_recovery: true, ..ACK };
        c.on_ack(&base, &path(packets), Time::ZERO);
        assert_eq!(window(&c), packets as f64);
        let late = Acked {
            rtt: Some(Duration::from_ms(rtt)),
            bytes: Bytes::new(100 * PACKET),
            in_recovery: true,
            ..ACK
        };
        c.on_ack(&late, &path(packets), Time::ZERO);
        window(&c)
    };
    // 100 ms are the target. 200 ms of queue take a packet per window, 400 ms three.
    assert_eq!(settled(20, 140), 20.0);
    assert_eq!(settled(20, 240), 19.0);
    assert_eq!(settled(20, 440), 17.0);
    // More than all leaves the least.
    assert_eq!(settled(4, 10_000), 2.0);
}

/// A loss does not widen a window of a packet that a time-out left.
#[test]
fn a_loss_after_a_timeout_keeps_a_packet() {
    for name in ["ledbat", "ledbat-pp"] {
        let mut c = build(name, &[("initial_window", text("50 pkt"))]);
        c.on_congestion(Congestion::Timeout, &path(50), Time::ZERO);
        let later = Time::ZERO + Duration::from_secs(1);
        c.on_congestion(Congestion::Loss, &path(1), later);
        assert_eq!(c.cwnd(), Bytes::new(PACKET), "{name}");
    }
}

#[test]
fn both_halve_once_per_round_trip_and_keep_two_packets() {
    for name in ["ledbat", "ledbat-pp"] {
        let mut c = build(name, &[("initial_window", text("50 pkt"))]);
        c.on_congestion(Congestion::Loss, &path(50), Time::ZERO);
        assert_eq!(window(&c), 25.0);
        let soon = Time::ZERO + Duration::from_ms(50);
        c.on_congestion(Congestion::Loss, &path(50), soon);
        assert_eq!(window(&c), 25.0);
        for i in 1..9 {
            let later = Time::ZERO + Duration::from_ms(200 * i);
            c.on_congestion(Congestion::Loss, &path(50), later);
        }
        assert_eq!(window(&c), 2.0);
        c.on_congestion(Congestion::Timeout, &path(2), soon);
        assert_eq!(c.cwnd(), Bytes::new(PACKET));
    }
}

/// In congestion avoidance for a long time, at a base of 40 ms.
fn avoiding(now: &mut Time) -> AnyController {
    let changes =
        [("initial_window", text("50 pkt")), ("slowdowns", accord_family::Raw::Flag(false))];
    let mut c = build("ledbat-pp", &changes);
    round(&mut c, 40, now);
    // 50 ms are above three quarters of 60 ms.
    for _ in 0..2 {
        round(&mut c, 90, now);
    }
    assert!(c.ssthresh().is_some(), "slow start is over");
    c
}

#[test]
fn ledbat_pp_grows_by_its_gain_and_shrinks_by_its_window() {
    let mut now = Time::ZERO;
    let mut c = avoiding(&mut now);
    // GAIN = 1/⌈2·60/40⌉ = 1/3, at any delay up to the target.
    for rtt in [90, 100] {
        round(&mut c, rtt, &mut now);
        let change = round(&mut c, rtt, &mut now);
        assert!((change - 1.0 / 3.0).abs() < 0.02, "{change}");
    }
    // A tenth above it: 1/3 − W/10 per round trip.
    round(&mut c, 106, &mut now);
    let before = window(&c);
    let change = round(&mut c, 106, &mut now);
    let expected = 1.0 / 3.0 - before / 10.0;
    assert!((change / expected - 1.0).abs() < 0.1, "{change} for {expected}");
    // Far above it no more than half of the window goes per round trip.
    round(&mut c, 500, &mut now);
    let before = window(&c);
    let change = round(&mut c, 500, &mut now);
    // Half of the window per window's worth of acknowledgements, while it shrinks: e^(-1/2) and more.
    assert!(change >= -0.5 * before && change <= -0.35 * before, "{change} of {before}");
}

#[test]
fn ledbat_pp_grows_by_a_sixteenth_on_short_paths() {
    let changes =
        [("initial_window", text("160 pkt")), ("slowdowns", accord_family::Raw::Flag(false))];
    let mut c = build("ledbat-pp", &changes);
    let mut now = Time::ZERO;
    // Slow start: 160 packets acknowledged at a base of 5 ms.
    let change = round(&mut c, 5, &mut now);
    assert!((change - 10.0).abs() < 0.1, "{change}");
}
