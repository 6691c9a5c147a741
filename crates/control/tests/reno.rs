//! Reno and NewReno against traces worked out by hand from RFC 5681.

use crate::common::{ACK, Fifo, PACKET, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller, Marks, Recovery};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Time};

fn acks(c: &mut AnyController, n: usize) {
    for _ in 0..n {
        c.on_ack(&ACK, &path(0), Time::ZERO);
    }
}

/// Ten packets in congestion avoidance: a loss with twenty in flight.
fn in_avoidance() -> AnyController {
    let mut c = build("newreno", &[("initial_window", text("20 pkt"))]);
    c.on_congestion(Congestion::Loss, &path(20), Time::ZERO);
    assert_eq!(window(&c), 10.0);
    c
}

#[test]
fn slow_start_doubles_each_round_trip() {
    let mut path = Fifo::new(build("reno", &[]), Duration::from_ms(1000));
    // After the first acknowledgement of each round, one packet more than it began with.
    assert_eq!(path.rounds(6), [3.0, 5.0, 9.0, 17.0, 33.0, 65.0]);
    assert_eq!(path.controller.ssthresh(), None);
}

#[test]
fn slow_start_grows_a_packet_at_most_for_each_acknowledgement() {
    let mut c = build("newreno", &[]);
    let ack = |bytes| Acked { bytes: Bytes::new(bytes), ..ACK };
    c.on_ack(&ack(4000), &path(0), Time::ZERO);
    assert_eq!(window(&c), 11.0);
    c.on_ack(&ack(400), &path(0), Time::ZERO);
    assert_eq!(window(&c), 11.4);
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let mut c = in_avoidance();
    c.on_congestion(Congestion::Timeout, &path(16), Time::ZERO);
    assert_eq!(c.ssthresh(), Some(Bytes::new(8 * PACKET)));
    assert_eq!(window(&c), 1.0);
    acks(&mut c, 7);
    assert_eq!(window(&c), 8.0);
    // From here a packet for each window acknowledged.
    acks(&mut c, 7);
    assert_eq!(window(&c), 8.0);
    acks(&mut c, 1);
    assert_eq!(window(&c), 9.0);
}

/// With acknowledgements of two packets (delayed), and of half a packet: bytes count, not
/// acknowledgements.
#[test]
fn congestion_avoidance_counts_bytes() {
    for (bytes, each_round) in [(2000, 5), (500, 20)] {
        let mut c = in_avoidance();
        let ack = Acked { bytes: Bytes::new(bytes), ..ACK };
        for _ in 1..each_round {
            c.on_ack(&ack, &path(0), Time::ZERO);
        }
        assert_eq!(window(&c), 10.0);
        c.on_ack(&ack, &path(0), Time::ZERO);
        assert_eq!(window(&c), 11.0);
    }
}

#[test]
fn congestion_avoidance_carries_the_remainder_over() {
    let mut c = in_avoidance();
    let ack = Acked { bytes: Bytes::new(7000), ..ACK };
    c.on_ack(&ack, &path(0), Time::ZERO);
    c.on_ack(&ack, &path(0), Time::ZERO);
    assert_eq!(window(&c), 11.0);
    // 4000 bytes were left: 7000 more make the window of 11 000.
    c.on_ack(&ack, &path(0), Time::ZERO);
    assert_eq!(window(&c), 12.0);
}

#[test]
fn a_loss_leaves_half_of_what_was_in_flight_and_two_packets_at_least() {
    for (in_flight, left) in [(20, 10.0), (9, 4.0), (3, 2.0), (0, 2.0)] {
        let mut c = build("newreno", &[("initial_window", text("20 pkt"))]);
        c.on_congestion(Congestion::Loss, &path(in_flight), Time::ZERO);
        assert_eq!(window(&c), left);
        assert_eq!(c.ssthresh(), Some(c.allowance().window));
    }
}

/// RFC 3168 §6.1.2: a mark is a loss without a loss.
#[test]
fn a_mark_halves_the_window_as_a_loss_does() {
    for name in ["reno", "newreno", "vegas"] {
        let mut c = build(name, &[("ecn", Raw::Flag(true))]);
        assert_eq!(c.capabilities().marks, Marks::Loss);
        assert_eq!(build(name, &[]).capabilities().marks, Marks::Nothing);
        let now = Time::ZERO + Duration::from_ms(1);
        c.on_congestion(Congestion::Ecn, &path(20), now);
        assert_eq!(window(&c), 10.0, "{name}");
    }
}

/// RFC 5681 §3.1: a segment sent again by the timer does not lower the threshold again.
#[test]
fn the_threshold_stays_while_the_timer_backs_off() {
    let mut c = in_avoidance();
    c.on_congestion(Congestion::Timeout, &path(12), Time::ZERO);
    c.on_congestion(Congestion::RepeatedTimeout, &path(1), Time::ZERO);
    assert_eq!(c.ssthresh(), Some(Bytes::new(6 * PACKET)));
    assert_eq!(window(&c), 1.0);
    acks(&mut c, 1);
    c.on_congestion(Congestion::Timeout, &path(2), Time::ZERO);
    assert_eq!(c.ssthresh(), Some(Bytes::new(2 * PACKET)));
    assert_eq!(window(&c), 1.0);
}

/// RFC 5681 §4.1: after an idle time the window is the initial one at most, the threshold stays.
/// Slow start leads back to it.
#[test]
fn after_an_idle_time_the_window_starts_again() {
    for name in ["reno", "newreno", "vegas", "vegas-rem", "cubic", "multcp"] {
        let mut c = build(name, &[("initial_window", text("10 pkt"))]);
        c.on_congestion(Congestion::Loss, &path(100), Time::ZERO);
        let threshold = c.ssthresh();
        assert!(window(&c) > 40.0);
        c.on_idle();
        assert_eq!((window(&c), c.ssthresh()), (10.0, threshold), "{name}");
        // It does not widen a small one.
        c.on_congestion(Congestion::Timeout, &path(4), Time::ZERO);
        c.on_idle();
        assert_eq!(window(&c), 1.0, "{name}");
    }
}

#[test]
fn the_window_waits_in_recovery_and_while_it_is_not_used() {
    for in_recovery in [true, false] {
        for mut c in [in_avoidance(), build("newreno", &[])] {
            let before = window(&c);
            let ack = Acked { in_recovery, window_limited: in_recovery, ..ACK };
            for _ in 0..100 {
                c.on_ack(&ack, &path(0), Time::ZERO);
            }
            assert_eq!(window(&c), before);
        }
    }
}

#[test]
fn each_says_how_losses_are_repaired() {
    assert_eq!(build("reno", &[]).capabilities().recovery, Recovery::Reno);
    assert_eq!(build("newreno", &[]).capabilities().recovery, Recovery::NewReno);
    let steady = build("newreno", &[("impatient", Raw::Flag(false))]);
    assert_eq!(steady.capabilities().recovery, Recovery::SteadyNewReno);
    let sack = build("newreno", &[("sack", Raw::Flag(true))]);
    assert_eq!(sack.capabilities().recovery, Recovery::Sack);
    assert!(!sack.capabilities().early_retransmission);
}
