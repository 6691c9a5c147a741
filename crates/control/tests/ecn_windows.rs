//! The windows of DCTCP [RFC 8257 §3] and Prague [draft-briscoe-iccrg-prague-congestion-control §2] beyond their
//! answer to marks: growth, losses, time-outs and idle times are those of RFC 5681.

use crate::common::{ACK, PACKET, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller, PathView};
use accord_units::{Bytes, Duration, Time};

const BOTH: [&str; 2] = ["dctcp", "prague"];

/// In congestion avoidance with a window of `packets`.
fn avoiding(name: &str, packets: u64) -> AnyController {
    let mut c = build(name, &[]);
    c.on_congestion(Congestion::Loss, &path(2 * packets), Time::ZERO);
    assert_eq!(c.cwnd(), Bytes::new(packets * PACKET));
    c
}

/// The window waits in recovery and while it is not used.
#[test]
fn the_window_waits_in_recovery_and_while_it_is_not_used() {
    for name in BOTH {
        for (in_recovery, window_limited, grows) in
            [(false, true, true), (true, true, false), (false, false, false)]
        {
            let mut c = avoiding(name, 10);
            let ack = Acked { in_recovery, window_limited, ..ACK };
            for _ in 0..5 {
                c.on_ack(&ack, &path(10), Time::ZERO);
            }
            let grown = c.cwnd() > Bytes::new(10 * PACKET);
            assert_eq!(grown, grows, "{name} {in_recovery} {window_limited}");
        }
    }
}

/// RFC 5681 eq. 3: a packet per window, however many marks an acknowledgement reports.
#[test]
fn dctcp_grows_by_a_packets_part_per_acknowledgement() {
    let mut c = avoiding("dctcp", 10);
    let many = Acked { bytes: Bytes::new(10 * PACKET), ..ACK };
    c.on_ack(&many, &path(10), Time::ZERO);
    assert_eq!(c.cwnd(), Bytes::new(10_100));
}

/// RFC 5681 §3.1: a time-out halves the threshold once, however often the timer runs out for a packet. §4.1: an idle
/// time leaves the initial window at most.
#[test]
fn time_outs_and_idle_times_are_as_in_reno() {
    for name in BOTH {
        let mut c = avoiding(name, 20);
        for (what, in_flight) in [(Congestion::Timeout, 20), (Congestion::RepeatedTimeout, 6)] {
            c.on_congestion(what, &path(in_flight), Time::ZERO);
            let threshold = Some(Bytes::new(10 * PACKET));
            assert_eq!((c.cwnd(), c.ssthresh()), (Bytes::new(PACKET), threshold), "{name}");
        }
        let mut c = build(name, &[("initial_window", text("5 pkt"))]);
        c.on_congestion(Congestion::Loss, &path(40), Time::ZERO);
        c.on_idle();
        let threshold = Some(Bytes::new(20 * PACKET));
        assert_eq!((c.cwnd(), c.ssthresh()), (Bytes::new(5 * PACKET), threshold), "{name}");
    }
}

/// A mark leaves two packets at least, and more marks than packets are all of them: α is 1 at most.
#[test]
fn a_mark_leaves_two_packets() {
    for name in BOTH {
        let mut c = avoiding(name, 3);
        let mut now = Time::ZERO;
        for _ in 0..200 {
            now += Duration::from_ms(100);
            let ack = Acked { round_ended: true, window_limited: false, marked: 1000, ..ACK };
            c.on_ack(&ack, &path(3), now);
        }
        c.on_congestion(Congestion::Ecn, &path(3), now);
        assert_eq!(c.cwnd(), Bytes::new(2 * PACKET), "{name}");
    }
    // Half of a window, not more.
    let mut c = avoiding("dctcp", 100);
    for _ in 0..200 {
        let ack = Acked { round_ended: true, window_limited: false, marked: 1000, ..ACK };
        c.on_ack(&ack, &path(3), Time::ZERO);
    }
    c.on_congestion(Congestion::Ecn, &path(100), Time::ZERO);
    assert!((50.0..50.5).contains(&window(&c)), "{}", window(&c));
}

/// Prague paces at its window per round trip, and at twice that below half of the threshold. The window it allows is
/// whole packets, rounded up.
#[test]
fn prague_paces_at_its_window() {
    let mut c = avoiding("prague", 10);
    let pace = |c: &mut AnyController| {
        let view = PathView { srtt: Duration::from_ms(50), ..path(10) };
        let idle = Acked { window_limited: false, ..ACK };
        c.on_ack(&idle, &view, Time::ZERO);
        c.allowance().pacing.expect("it paces").as_bps_f64()
    };
    // 80 000 bits in 50 ms.
    assert!((pace(&mut c) / 1.6e6 - 1.0).abs() < 1e-6);
    // One packet, below half of five.
    c.on_congestion(Congestion::Timeout, &path(10), Time::ZERO);
    assert!((pace(&mut c) / 0.32e6 - 1.0).abs() < 1e-6);
    let mut c = avoiding("prague", 10);
    c.on_ack(&ACK, &path(10), Time::ZERO);
    let (allowed, own) = (c.allowance().window, c.cwnd());
    assert!(own > Bytes::new(10_000) && own < Bytes::new(11_000), "{own}");
    assert_eq!(allowed, Bytes::new(11_000));
}
