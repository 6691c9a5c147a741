//! The sending end of a tunnel: the window bounds the data that is outstanding.

mod ingress;

use accord_control::{Controller, Report};
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Rate};
use ingress::{at, ingress, ingress_with};

const LAWS: [&str; 3] = ["xia05", "har02", "accord"];

/// Returns the number of data packets that are sent from `from` to `until`, in milliseconds. None of
/// them makes more outstanding than the window.
fn packets(i: &mut tunnel::Ingress, from: u64, until: u64) -> u64 {
    let (mut data, mut now) = (0, at(from));
    loop {
        match i.poll(now) {
            Ok(Segment::Data { .. }) => {
                data += 1;
                assert!(i.in_flight() <= window(i), "{}", i.in_flight());
            }
            Ok(_) => {}
            Err(again) if again > at(until) => return data,
            Err(again) => now = again,
        }
    }
}

fn window(i: &tunnel::Ingress) -> u64 {
    i.controller().allowance().window.get()
}

/// The answer to a pair: `a` bytes are queued, and 1 MB/s leaves.
fn report(i: &mut tunnel::Ingress, pair: u64, a: f64, received: u64, behind: Duration, ms: u64) {
    let report = Report {
        number: pair,
        accumulation: a,
        egress_rate: Rate::from_bps(8_000_000),
        virtual_delay: behind,
        lost: false,
        lost_bytes: Bytes::ZERO,
        received,
    };
    i.on_report(&report, at(ms));
}

/// An ingress whose window is full.
struct Full {
    i: tunnel::Ingress,
    /// The time in milliseconds, and the pair that is out.
    now: u64,
    pair: u64,
    /// The bytes sent before that pair.
    before: u64,
}

/// Returns an ingress whose window of 8 packets or more is outstanding. Nothing of it is counted.
fn full(law: &str) -> Full {
    let mut i = ingress(law);
    assert_eq!(packets(&mut i, 0, 99), 1, "the first window");
    let (mut now, mut pair) = (100, 1);
    loop {
        let before = i.sent();
        report(&mut i, pair, 0.0, before, Duration::ZERO, now);
        // Slow start of law accord is slower than its window: two round trips.
        let sent = packets(&mut i, now, now + 199);
        assert_eq!(sent, window(&i) / 1000, "{law}");
        (now, pair) = (now + 200, pair + 1);
        if sent >= 8 {
            return Full {
                i,
                now,
                pair,
                before,
            };
        }
    }
}

#[test]
fn nothing_is_sent_while_a_window_is_outstanding() {
    for law in LAWS {
        let Full { mut i, now, .. } = full(law);
        assert_eq!(packets(&mut i, now, now + 300), 0, "{law}");
    }
}

/// Counts are cumulative: each lets go what arrived since the one before, also if those between were
/// lost.
#[test]
fn a_count_lets_go_as_much_as_has_arrived() {
    for law in LAWS {
        let Full { mut i, now, before, .. } = full(law);
        i.on_count(before + 1000, 0.0);
        assert_eq!(packets(&mut i, now, now + 200), 1, "{law}");
        i.on_count(before + 4000, 0.0);
        assert_eq!(packets(&mut i, now + 200, now + 400), 3, "{law}");
        assert_eq!(i.arrived(), before + 4000);
    }
}

/// A count that was overtaken, and a copy of the latest one.
#[test]
fn counts_that_go_back_or_say_the_same_change_nothing() {
    for law in LAWS {
        let Full { mut i, now, before, .. } = full(law);
        i.on_count(before + 2000, 0.0);
        assert_eq!(packets(&mut i, now, now + 200), 2, "{law}");
        let outstanding = i.in_flight();
        for received in [before + 2000, before + 1000, before, 1, 0] {
            i.on_count(received, 0.0);
            assert_eq!(i.in_flight(), outstanding, "{law}: {received}");
            assert_eq!(i.arrived(), before + 2000);
        }
        assert_eq!(packets(&mut i, now + 200, now + 400), 0, "{law}");
        i.on_count(before + 3000, 0.0);
        assert_eq!(packets(&mut i, now + 400, now + 600), 1, "{law}");
    }
}

/// The network duplicates data, or the other end is mistaken.
#[test]
fn no_more_arrives_than_was_sent() {
    for law in LAWS {
        for received in [1, 1000, u64::MAX / 2] {
            let Full { mut i, now, .. } = full(law);
            let sent = i.sent();
            i.on_count(sent.saturating_add(received), 0.0);
            assert_eq!((i.in_flight(), i.arrived()), (0, sent));
            // One window, and no more.
            let all = window(&i) / 1000;
            assert_eq!(packets(&mut i, now, now + 400), all, "{law}");
            // The true count of it is the next that moves anything.
            i.on_count(sent, 0.0);
            assert_eq!(packets(&mut i, now + 400, now + 600), 0, "{law}");
            i.on_count(sent + 1000, 0.0);
            assert_eq!(packets(&mut i, now + 600, now + 800), 1, "{law}");
        }
    }
}

/// Two packets of a window are lost. Counts cannot show it. The report of the pair behind them does,
/// and what is lost is no longer outstanding.
#[test]
fn lost_data_is_found_by_a_report_and_ends_to_be_outstanding() {
    for law in LAWS {
        let Full { mut i, now, pair, before } = full(law);
        let sent = i.sent();
        // The next pair goes behind all of the window.
        report(&mut i, pair, 3000.0, before, Duration::ZERO, now);
        assert_eq!(i.lost(), 0, "{law}: sent behind the pair");
        i.on_count(sent - 2000, 0.0);
        assert_eq!((i.lost(), i.in_flight()), (0, 2000));
        let more = packets(&mut i, now, now + 200);
        assert!(more >= 5, "{law}: {more}");
        // Its pair went out at its place among that data.
        let (sent_before, larger) = (i.sent(), window(&i));
        report(&mut i, pair + 1, 3000.0, sent_before - 2000, Duration::ZERO, now + 200);
        assert!(i.lost() <= 2000, "{law}: {}", i.lost());
        assert!(window(&i) <= larger, "{law}");
        report_all_but(&mut i, pair + 2, 2000, now + 400);
        assert_eq!((i.lost(), i.in_flight()), (2000, 0), "{law}");
    }
}

/// All has arrived but `missing` bytes, and a pair behind it is answered.
fn report_all_but(i: &mut tunnel::Ingress, pair: u64, missing: u64, ms: u64) {
    // No more data: the pair goes at once.
    i.stop();
    packets(i, ms - 150, ms - 50);
    let sent = i.sent();
    report(i, pair, 3000.0, sent - missing, Duration::ZERO, ms);
}

/// Halves of a packet's window: a packet goes while nothing is outstanding, however large it is.
#[test]
fn a_packet_larger_than_the_window_goes_alone() {
    for law in LAWS {
        let mut i = ingress(law);
        i.set_head(Some(Bytes::new(9000)), 5);
        let polled = |i: &mut tunnel::Ingress, mut now| {
            let mut data = 0;
            loop {
                match i.poll(now) {
                    Ok(Segment::Data { .. }) => data += 1,
                    Ok(_) => {}
                    Err(again) if again > at(10_000) => return data,
                    Err(again) => now = again,
                }
            }
        };
        assert_eq!(polled(&mut i, at(0)), 1, "{law}");
        assert_eq!(i.in_flight(), 9000);
        i.on_count(8999, 0.0);
        assert_eq!(polled(&mut i, at(10_000)), 0, "{law}: a byte is outstanding");
        i.on_count(9000, 0.0);
        assert_eq!(polled(&mut i, at(20_000)), 1, "{law}");
    }
}

/// 1 MB/s leaves, and the latest data came 5 ms late by virtual queues: 5 packets are in them. They
/// are outstanding under law accord. Xia05 has them outside of the window.
#[test]
fn virtually_queued_data_is_outstanding_where_the_window_holds_it() {
    for (law, switch, inside) in [
        ("accord", &[][..], true),
        ("xia05", &[], false),
        ("har02", &[], false),
        ("accord", &[("virtual", "beside")], false),
        ("xia05", &[("virtual", "inside")], true),
    ] {
        let mut f = full(law);
        if !switch.is_empty() {
            f = Full { i: ingress_with(law, switch), ..f };
            continue;
        }
        let _ = (&mut f, inside);
    }
}
