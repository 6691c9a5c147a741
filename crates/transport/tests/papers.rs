//! The ingress of the papers' laws: the window of a control period, and its pairs.

use crate::ingress::{at, ingress, ingress_with};
use accord_control::{AnyController, Report};
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Rate, Time};

/// Returns the numbers of pairs, and the number of data packets, that the ingress sends from `now`
/// until it asks for a time after `until`.
fn sends(ingress: &mut tunnel::Ingress, now: Time, until: Time) -> (Vec<u64>, u64) {
    let (mut pairs, mut data, mut now) = (Vec::new(), 0, now);
    loop {
        match ingress.poll(now) {
            Ok(Segment::OutOfBand { pair, .. }) => pairs.push(pair),
            Ok(Segment::Data { .. }) => data += 1,
            Ok(_) => {}
            Err(again) if again > until => return (pairs, data),
            Err(again) => now = again,
        }
    }
}

fn report(ingress: &mut tunnel::Ingress, number: u64, accumulation: f64, now: Time) {
    let report = Report {
        number,
        accumulation,
        egress_rate: Rate::from_bps(1_000_000),
        virtual_delay: Duration::ZERO,
        lost: false,
        lost_bytes: Bytes::ZERO,
        received: 0,
    };
    ingress.on_report(&report, now);
}

/// "Our algorithm stops sending when the packet at the head of the queue would cause [pwnd] to
/// exceed [cwnd]" [Har02 §IV-A, of step 4].
#[test]
fn step_4_stops_when_the_next_packet_would_exceed_the_window_of_the_period() {
    let mut i = ingress("har02-printed");
    assert_eq!(sends(&mut i, at(0), at(99)), (vec![1], 1), "a packet");
    // Windows of 2, 4 and 8 packets, at round trips of 100 ms. However long it takes.
    for (pair, window) in [(2, 2), (3, 4), (4, 8)] {
        let now = at(100 * (pair - 1));
        report(&mut i, pair - 1, 0.0, now);
        assert_eq!(sends(&mut i, now, now + Duration::from_ms(900)), (vec![pair], window));
    }
    // 8000 + 0.5·(3000 − 6600) = 6200 bytes: a seventh packet would be above it.
    report(&mut i, 4, 6600.0, at(400));
    assert_eq!(sends(&mut i, at(400), at(1200)), (vec![5], 6));
    // An open window holds nothing back, until reports have been out for eight windows.
    let mut i = ingress_with("accord", &[("window", "open")]);
    sends(&mut i, at(0), at(99));
    report(&mut i, 1, 0.0, at(100));
    let (_, data) = sends(&mut i, at(100), at(899));
    assert!(data > 10, "{data} packets of a window of 2");
}

/// A timer "similar to that of TCP" [Xia05 §IV-B.1]: 1 s at least, doubled each time
/// [RFC 6298 §2.4, §5.5], and each new pair begins a new period.
#[test]
fn a_pair_that_is_not_answered_is_followed_by_another_after_1_2_and_4_s() {
    let mut i = ingress_with("har02-printed", &[("place", "at-once")]);
    sends(&mut i, at(0), at(99));
    report(&mut i, 1, 0.0, at(10));
    let (mut pair, mut now) = (2, at(10));
    assert_eq!(sends(&mut i, now, now + Duration::from_ms(900)), (vec![2], 2));
    for seconds in [1, 2, 4] {
        assert_eq!(i.next_wake(), now + Duration::from_secs(seconds));
        now = i.next_wake();
        i.on_wake(now);
        pair += 1;
        let later = now + Duration::from_ms(900);
        assert_eq!(sends(&mut i, now, later), (vec![pair], 2));
    }
}

/// The least time-out of a pair is a parameter, under each law.
#[test]
fn pairs_wait_for_the_least_time_out_that_is_given() {
    for (law, given, wait) in
        [("xia05", "300 ms", 300), ("har02", "2 s", 2000), ("accord", "300 ms", 300)]
    {
        let mut i = ingress_with(law, &[("min_rto", given)]);
        sends(&mut i, at(0), at(9));
        report(&mut i, 1, 0.0, at(10));
        // The pair goes at once, or at its place among data within an eighth of a round trip.
        sends(&mut i, at(10), at(12));
        let due = i.next_wake().since(at(10));
        let (least, most) = (Duration::from_ms(wait), Duration::from_ms(wait + 2));
        assert!((least..=most).contains(&due), "{law}, {given}: {due}");
    }
}

/// Late answers are identified by their number.
#[test]
fn only_the_answer_to_the_latest_pair_counts() {
    for (law, counts) in [("xia05", false), ("har02", false), ("accord", true)] {
        let mut i = ingress(law);
        sends(&mut i, at(0), at(99));
        let late = i.next_wake();
        i.on_wake(late);
        sends(&mut i, late, late);
        let before = i.controller().clone();
        report(&mut i, 1, 0.0, late);
        let window = |c: &AnyController| accord_control::Controller::cwnd(c).get();
        let grown = window(i.controller()) > window(&before);
        assert_eq!(grown, counts, "{law}");
        let (pairs, _) = sends(&mut i, late, late);
        assert_eq!(pairs.is_empty(), !counts, "{law}");
    }
}
