//! SEARCH: its rules by hand, and its ends of slow start on ten paths against the authors' program.

use crate::common::{ACK, PACKET, build, path, text, window};
use crate::script::{PATH, Path, export, record};
use accord_control::{Acked, AnyController, Congestion, Controller};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Time};

const MS: u64 = 1_000_000_000;

/// A sender with SEARCH whose first round-trip time of 100 ms makes bins of 35 ms.
struct Sender {
    cubic: AnyController,
    now: u64,
}

impl Sender {
    fn new(changes: &[(&str, Raw)]) -> Sender {
        let search = [("slow_start", text("search")), ("initial_window", text("10 pkt"))];
        let cubic = build("cubic", &[&search[..], changes].concat());
        let mut sender = Sender { cubic, now: 0 };
        sender.ack(0, 1, 100);
        sender
    }

    /// An acknowledgement of `packets` packets `after` ms, with this round-trip time in ms.
    fn ack(&mut self, after: u64, packets: u64, rtt: u64) {
        self.give(
            after,
            &Acked {
                bytes: Bytes::new(packets * PACKET),
                rtt: Some(Duration::from_ms(rtt)),
                ..ACK
            },
        );
    }

    fn give(&mut self, after: u64, ack: &Acked) {
        self.now += after * MS;
        self.cubic.on_ack(ack, &path(10), Time::from_ps(self.now));
    }

    fn in_slow_start(&self) -> bool {
        self.cubic.ssthresh().is_none()
    }

    /// Bins with this number of packets each, until slow start ends. Returns the number of bins.
    fn bins(&mut self, packets: impl Fn(u64) -> u64, rtt: u64, most: u64) -> u64 {
        for bin in 0..most {
            if !self.in_slow_start() {
                return bin;
            }
            self.ack(35, packets(bin), rtt);
        }
        most
    }
}

/// Deliveries that double per round trip of 100 ms, about 2.86 bins, never end slow start.
#[test]
fn deliveries_that_double_do_not_end_slow_start() {
    let doubles = |bin: u64| (10.0 * 2f64.powf(bin as f64 * 0.35)).round() as u64;
    assert_eq!(Sender::new(&[]).bins(doubles, 100, 60), 60);
}

/// Constant deliveries miss half of the expected ones: 2·prev − curr = prev. They are judged when there is a window
/// of ten bins and a round trip of two whole bins before it: twelve bins after the first acknowledgement.
#[test]
fn constant_deliveries_end_slow_start_with_the_first_verdict() {
    for (rtt, bins) in [(70, 12), (100, 12), (105, 13), (140, 14)] {
        assert_eq!(Sender::new(&[]).bins(|_| 10, rtt, 60), bins, "{rtt} ms");
    }
}

/// The end leaves the window, and is its threshold.
#[test]
fn the_end_keeps_the_window() {
    let mut sender = Sender::new(&[]);
    sender.bins(|_| 10, 70, 11);
    let before = window(&sender.cubic);
    sender.ack(35, 10, 70);
    assert_eq!(window(&sender.cubic), before);
    assert_eq!(sender.cubic.ssthresh(), Some(Bytes::new(before as u64 * PACKET)));
}

/// With `search_rollback`, the data of two first round trips, five whole bins, comes off the window, down to the
/// initial one.
#[test]
fn a_rollback_takes_two_round_trips_off() {
    let rollback = ("search_rollback", Raw::Flag(true));
    let mut sender = Sender::new(std::slice::from_ref(&rollback));
    sender.bins(|_| 10, 70, 11);
    let before = window(&sender.cubic);
    sender.ack(35, 10, 70);
    assert_eq!(window(&sender.cubic), before - 50.0);
    let mut slow = Sender::new(&[rollback, ("initial_window", text("100 pkt"))]);
    slow.bins(|_| 1, 70, 12);
    assert_eq!(window(&slow.cubic), 107.0);
}

/// The threshold is a part of the expected deliveries: growth by g per round trip misses 1 − g/2. Steps of bins
/// match exactly for a round trip of two bins.
#[test]
fn the_threshold_is_the_part_that_is_missing() {
    for (growth, threshold, ends) in [(1.4, 0.29, true), (1.4, 0.31, false), (1.2, 0.39, true)] {
        let mut sender = Sender::new(&[("search_threshold", Raw::Number(threshold))]);
        let packets = |bin: u64| (1e4 * f64::powf(growth, bin as f64 / 2.0)).round() as u64;
        let bins = sender.bins(packets, 70, 60);
        assert_eq!(bins < 60, ends, "{growth}, {threshold}: {bins}");
    }
}

/// Bins without an acknowledgement count as bins without deliveries.
#[test]
fn missed_bins_have_no_deliveries() {
    let mut sender = Sender::new(&[]);
    let doubles = |bin: u64| (10.0 * 2f64.powf(bin as f64 / 2.0)).round() as u64;
    sender.bins(doubles, 70, 20);
    assert!(sender.in_slow_start());
    // As many packets as in the bin before, after ten empty ones.
    sender.ack(350, doubles(19), 70);
    assert!(!sender.in_slow_start());
}

/// While the application is the limit, bins begin again.
#[test]
fn a_pause_begins_again() {
    let mut sender = Sender::new(&[]);
    sender.bins(|_| 10, 70, 11);
    sender.give(35, &Acked { window_limited: false, ..ACK });
    assert_eq!(sender.bins(|_| 10, 70, 60), 12);
}

/// A round-trip time of more than thirteen bins is beyond the fifteen extra ones, of which interpolation takes one.
#[test]
fn round_trips_beyond_the_extra_bins_are_not_judged() {
    for (rtt, ends) in [(13 * 35, true), (14 * 35, false)] {
        let mut sender = Sender::new(&[]);
        assert_eq!(sender.bins(|_| 10, rtt, 60) < 60, ends, "{rtt} ms");
    }
}

/// As in the authors' program, a slow start after a time-out is judged, too.
#[test]
fn it_begins_again_after_a_time_out() {
    let mut sender = Sender::new(&[]);
    sender.bins(|_| 10, 70, 60);
    (sender.cubic).on_congestion(Congestion::Timeout, &path(2000), Time::from_ps(sender.now));
    let threshold = sender.cubic.ssthresh();
    sender.ack(35, 10, 100);
    for _ in 0..12 {
        assert_eq!(sender.cubic.ssthresh(), threshold);
        sender.ack(35, 10, 70);
    }
    assert_ne!(sender.cubic.ssthresh(), threshold);
}

/// Ten paths: packets of 1000 bytes per second.
const PATHS: [Path; 10] = [
    Path { name: "wired-10", ..PATH },
    Path { name: "wired-100", rate: |_| 12_500, base: |_| 20_000, ..PATH },
    Path { name: "slow", rate: |_| 250, base: |_| 100_000, end: 6_000_000, ..PATH },
    Path { name: "satellite", rate: |_| 2500, base: |_| 600_000, end: 20_000_000, ..PATH },
    Path { name: "low-orbit", rate: |_| 6250, base: |_| 60_000, jitter: 8000, ..PATH },
    Path {
        name: "cellular",
        rate: |at| 3750 + 1500 * ((at / 100_000) % 3) - 1500,
        base: |_| 50_000,
        jitter: 3000,
        ..PATH
    },
    Path { name: "wireless", rate: |_| 5000, base: |_| 15_000, bunch: 4000, ..PATH },
    Path {
        name: "longer",
        rate: |_| 2500,
        base: |at| if at < 300_000 { 50_000 } else { 65_000 },
        ..PATH
    },
    Path { name: "pause", base: |_| 100_000, pause: (350_000, 900_000), end: 6_000_000, ..PATH },
    Path {
        name: "rival",
        rate: |at| if at < 400_000 { 6250 } else { 3125 },
        base: |_| 80_000,
        ..PATH
    },
];

/// Returns the end of slow start on a path: the time in microseconds, and the window in packets.
fn end(path_: &Path) -> (f64, f64) {
    let mut cubic = build("cubic", &[("slow_start", text("search"))]);
    for heard in path_.script() {
        let ack = Acked {
            bytes: Bytes::new(heard.packets * PACKET),
            rtt: Some(Duration::from_us(heard.rtt)),
            window_limited: !heard.paused,
            ..ACK
        };
        cubic.on_ack(&ack, &path(10), Time::ZERO + Duration::from_us(heard.at));
        if cubic.ssthresh().is_some() {
            return (heard.at as f64, window(&cubic));
        }
    }
    panic!("{}: slow start does not end", path_.name);
}

/// The ends of slow start in `search.csv` are those of the authors' program for the same scripts.
#[test]
fn slow_start_ends_as_in_the_authors_program() {
    export(&PATHS);
    let recorded = record(include_str!("search.csv"));
    assert_eq!(recorded.len(), PATHS.len());
    for (path, (name, expected)) in PATHS.iter().zip(recorded) {
        assert_eq!(path.name, name);
        let (at, packets) = end(path);
        for (got, wanted) in [(at, expected[0]), (packets, expected[1])] {
            let off = got / wanted - 1.0;
            assert!(off.abs() < 0.03, "{name}: {got}, {wanted} in the program");
        }
    }
}
