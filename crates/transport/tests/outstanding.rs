//! The sending end of a tunnel: the window bounds the data that is outstanding.

use crate::ingress::ingress_with;
use accord_control::{Controller, Report};
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Rate, Time};

const LAWS: [&str; 3] = ["xia05", "har02", "accord"];

/// An ingress to which the test gives the answers.
struct Flow {
    i: tunnel::Ingress,
    now: Time,
    /// The latest pair, and the bytes sent before it.
    pair: (u64, u64),
}

impl Flow {
    fn new(law: &str, switches: &[(&str, &str)]) -> Flow {
        Flow { i: ingress_with(law, switches), now: Time::ZERO, pair: (0, 0) }
    }

    /// Returns a flow with its whole window outstanding, at least 8 packets.
    fn full(law: &str, switches: &[(&str, &str)]) -> Flow {
        let mut f = Flow::new(law, switches);
        assert_eq!(f.run(), 1, "the first window");
        loop {
            let received = f.i.sent();
            f.answer(0.0, received, 0);
            let sent = f.run();
            assert_eq!(sent, f.window() / 1000, "{law}");
            if sent >= 8 {
                return f;
            }
        }
    }

    /// Sends until nothing may go before something arrives. No timer runs out. Returns the number of
    /// data packets.
    fn run(&mut self) -> u64 {
        let mut data = 0;
        loop {
            match self.i.poll(self.now) {
                Ok(Segment::Data { .. }) => data += 1,
                Ok(Segment::InBand { pair, sent_bytes }) => self.pair = (pair, sent_bytes),
                Ok(_) => {}
                Err(Time::MAX) => return data,
                Err(again) => self.now = again,
            }
        }
    }

    fn window(&self) -> u64 {
        self.i.controller().allowance().window.get()
    }

    /// The latest pair is answered: `a` bytes were queued and 1 MB/s leaves, `virtual_ms` later than
    /// the pair did.
    fn answer(&mut self, a: f64, received: u64, virtual_ms: u64) {
        let report = Report {
            number: self.pair.0,
            accumulation: a,
            egress_rate: Rate::from_bps(8_000_000),
            virtual_delay: Duration::from_ms(virtual_ms),
            lost: false,
            lost_bytes: Bytes::ZERO,
            received,
        };
        self.now += Duration::from_ms(100);
        self.i.on_report(&report, self.now);
    }
}

#[test]
fn nothing_is_sent_while_a_window_is_outstanding() {
    for law in LAWS {
        let mut f = Flow::full(law, &[]);
        assert_eq!(f.i.in_flight(), f.window() / 1000 * 1000, "{law}");
        assert_eq!(f.run(), 0, "{law}");
    }
}

/// Counts are cumulative. So a count makes up for those that were lost.
#[test]
fn a_count_lets_go_as_much_as_has_arrived() {
    for law in LAWS {
        let mut f = Flow::full(law, &[]);
        let before = f.i.arrived();
        f.i.on_count(before + 1000, 0.0);
        assert_eq!(f.run(), 1, "{law}");
        f.i.on_count(before + 4000, 0.0);
        assert_eq!(f.run(), 3, "{law}");
        assert_eq!(f.i.arrived(), before + 4000);
    }
}

/// A count that was overtaken, and a copy of the latest one.
#[test]
fn counts_that_go_back_or_say_the_same_change_nothing() {
    for law in LAWS {
        let mut f = Flow::full(law, &[]);
        let before = f.i.arrived();
        f.i.on_count(before + 2000, 0.0);
        assert_eq!(f.run(), 2, "{law}");
        let outstanding = f.i.in_flight();
        for received in [before + 2000, before + 1000, before, 1, 0] {
            f.i.on_count(received, 0.0);
            assert_eq!(f.i.in_flight(), outstanding, "{law}: {received}");
            assert_eq!(f.i.arrived(), before + 2000, "{law}: {received}");
        }
        assert_eq!(f.run(), 0, "{law}");
        f.i.on_count(before + 3000, 0.0);
        assert_eq!(f.run(), 1, "{law}");
    }
}

/// The network duplicates data, or the other end is mistaken.
#[test]
fn no_more_arrives_than_was_sent() {
    for law in LAWS {
        for more in [1, 1000, u64::MAX / 2] {
            let mut f = Flow::full(law, &[]);
            let sent = f.i.sent();
            f.i.on_count(sent + more, 0.0);
            assert_eq!((f.i.in_flight(), f.i.arrived()), (0, sent));
            // A window goes, and no more.
            let window = f.window() / 1000;
            assert_eq!(f.run(), window, "{law}");
            // The next count that is larger is the next that moves anything.
            f.i.on_count(sent, 0.0);
            assert_eq!(f.run(), 0, "{law}");
            f.i.on_count(sent + 1000, 0.0);
            assert_eq!(f.run(), 1, "{law}");
        }
    }
}

/// Counts cannot show a loss. The report of a pair behind the lost data does. Lost data is no
/// longer outstanding, and halves the window.
#[test]
fn lost_data_is_found_by_a_report() {
    for law in LAWS {
        let mut f = Flow::full(law, &[]);
        let sent = f.i.sent();
        f.i.on_count(sent - 2000, 0.0);
        assert_eq!((f.i.lost(), f.i.in_flight()), (0, 2000), "{law}");
        // The pair that is out was sent before some of that data, and nothing ahead of it is missing.
        let (_, ahead) = f.pair;
        f.answer(3000.0, ahead, 0);
        assert_eq!(f.i.lost(), 0, "{law}");
        f.run();
        // The next one was sent behind it.
        let (_, ahead) = f.pair;
        assert!(ahead >= sent, "{law}: {ahead} {sent}");
        let window = f.window() as f64;
        f.answer(3000.0, ahead - 2000, 0);
        assert_eq!(f.i.lost(), 2000, "{law}");
        assert_eq!(f.i.in_flight(), f.i.sent() - ahead, "{law}");
        if law == "accord" {
            // Under the papers' laws a loss is one that the receiver reports.
            assert!(f.window() as f64 <= 0.5 * window + 1.0, "{law}");
        }
        // The data that was late and not lost arrives.
        f.run();
        let (_, ahead) = f.pair;
        f.answer(3000.0, ahead, 0);
        assert_eq!(f.i.lost(), 0, "{law}");
        assert_eq!(f.i.in_flight(), f.i.sent() - ahead, "{law}");
    }
}

/// A window of one packet, and packets that are larger.
#[test]
fn a_packet_larger_than_the_window_goes_alone() {
    for law in LAWS {
        let mut f = Flow::new(law, &[]);
        f.i.set_head(Some(Bytes::new(9000)), 5);
        assert_eq!((f.run(), f.i.in_flight()), (1, 9000), "{law}");
        f.i.on_count(8999, 0.0);
        assert_eq!(f.run(), 0, "{law}: a byte is outstanding");
        f.i.on_count(9000, 0.0);
        assert_eq!(f.run(), 1, "{law}");
    }
}

/// The latest data was as late by virtual queues as by the path, so half of the window is in them.
#[test]
fn virtually_queued_data_is_outstanding_where_the_window_holds_it() {
    let inside = ("virtual", "inside");
    let beside = ("virtual", "beside");
    for (law, switches, held) in [
        ("accord", &[][..], true),
        ("xia05", &[], false),
        ("har02", &[], false),
        ("accord", &[beside], false),
        ("xia05", &[inside], true),
    ] {
        let mut f = Flow::full(law, switches);
        let (case, sent) = (format!("{law} {switches:?}"), f.i.sent());
        // All has arrived, so a window less the virtually queued bytes goes.
        let rtt = f.i.round_trip().latest().as_secs_f64();
        f.i.on_count(sent, rtt);
        let window = f.window() / 1000;
        let free = if held { window / 2 } else { window };
        assert_eq!(f.run(), free, "{case}");
        assert_eq!(f.i.in_flight(), 1000 * free, "{case}");
        // The virtual queue empties, and a packet more has arrived.
        f.i.on_count(sent + 1000, 0.0);
        assert_eq!(f.run(), window - free + 1, "{case}");
    }
}
