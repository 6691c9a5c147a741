//! Rapid Start: its rules by hand, and its windows on ten paths against quicly.

use crate::common::{ACK, PACKET, build, path, text, window};
use crate::script::{PATH, Path, export, record};
use accord_control::{Acked, AnyController, Congestion, Controller, Lost, PathView};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Time};

const LOST: Lost =
    Lost { number: 0, total: 0, size: PACKET, tx_in_flight: 0, lost: 0, app_limited: false };

fn rapid(changes: &[(&str, Raw)]) -> AnyController {
    let base = [("slow_start", text("rapid")), ("initial_window", text("10 pkt"))];
    build("cubic", &[&base[..], changes].concat())
}

fn view(min_rtt: Duration) -> PathView {
    PathView { min_rtt, ..path(1_000_000) }
}

/// The growth of the window in packets by an acknowledgement of a packet at `at` ms with a round-trip time.
fn growth(c: &mut AnyController, at: u64, rtt: f64, min_rtt: u64) -> f64 {
    let ack = Acked { rtt: Some(Duration::from_secs_f64(rtt / 1e3)), ..ACK };
    let before = window(c);
    c.on_ack(&ack, &view(Duration::from_ms(min_rtt)), Time::ZERO + Duration::from_ms(at));
    window(c) - before
}

/// §3.2: the window grows by two bytes per byte acknowledged up to min(min_rtt + 4 ms, 1.1·min_rtt), else by one.
#[test]
fn the_window_triples_while_there_is_no_queue() {
    for (min_rtt, rise) in [(10, 1.0), (30, 3.0), (40, 4.0), (200, 4.0)] {
        for (rtt, grown) in [(rise - 0.01, 2.0), (rise + 0.01, 1.0)] {
            let got = growth(&mut rapid(&[]), 0, min_rtt as f64 + rtt, min_rtt);
            assert_eq!(got, grown, "{min_rtt} ms, {rtt} ms");
        }
    }
}

/// §3.2: the floor is the smallest sample of about a round trip: four quarters of 25 ms, of which one is under way.
#[test]
fn the_floor_is_that_of_a_round_trip() {
    let mut c = rapid(&[]);
    assert_eq!(growth(&mut c, 0, 100.0, 100), 2.0);
    assert_eq!(growth(&mut c, 50, 150.0, 100), 2.0);
    assert_eq!(growth(&mut c, 99, 150.0, 100), 2.0);
    assert_eq!(growth(&mut c, 100, 150.0, 100), 1.0);
    assert_eq!(growth(&mut c, 101, 103.9, 100), 2.0);
}

/// A sender at the first loss of a window of 300 packets.
fn at_first_loss(changes: &[(&str, Raw)]) -> AnyController {
    let mut c = rapid(changes);
    let ack = Acked { bytes: Bytes::new(145 * PACKET), ..ACK };
    c.on_ack(&ack, &path(10), Time::ZERO);
    assert_eq!(window(&c), 300.0);
    c.on_lost(&LOST, Time::ZERO);
    c.on_congestion(Congestion::Loss, &path(300), Time::ZERO);
    c
}

fn recover(c: &mut AnyController, packets: u64) {
    let ack = Acked { bytes: Bytes::new(packets * PACKET), in_recovery: true, ..ACK };
    c.on_ack(&ack, &path(10), Time::ZERO);
}

fn near(c: &AnyController, packets: f64) {
    let got = window(c);
    assert!((got - packets).abs() < 0.02, "{got}, not {packets}");
}

/// §3.3, 3.3.1: with β = 0.7 the window falls to 0.9 of it, then by 0.2 of the data acknowledged and 0.9 of the data
/// lost. The end is β times the data that arrived, whatever part was lost.
#[test]
fn the_recovery_ends_at_beta_times_the_data_that_arrived() {
    for lost in [1, 100, 199] {
        let mut c = at_first_loss(&[]);
        near(&c, 270.0);
        recover(&mut c, 50);
        near(&c, 260.0);
        for _ in 1..lost {
            c.on_lost(&LOST, Time::ZERO);
        }
        near(&c, 260.0 - 0.9 * (lost - 1) as f64);
        recover(&mut c, 250 - lost);
        // The loss that begins the recovery is not counted again.
        near(&c, 0.7 * (300 - lost) as f64 + 0.9);
        // Data sent after the loss does not count.
        recover(&mut c, 100);
        near(&c, 0.7 * (300 - lost) as f64 + 0.9);
    }
}

/// §3.3: the window stays above β/3 of that at the loss, and above β of the initial window.
#[test]
fn the_recovery_has_a_floor() {
    let mut c = at_first_loss(&[]);
    for _ in 0..290 {
        c.on_lost(&LOST, Time::ZERO);
    }
    near(&c, 70.0);
    let mut small = rapid(&[]);
    small.on_congestion(Congestion::Loss, &path(10), Time::ZERO);
    for _ in 0..9 {
        small.on_lost(&LOST, Time::ZERO);
    }
    near(&small, 7.0);
}

/// Losses that are found together with the first one are counted.
#[test]
fn losses_found_at_once_are_counted() {
    let mut c = rapid(&[("initial_window", text("300 pkt"))]);
    for _ in 0..11 {
        c.on_lost(&LOST, Time::ZERO);
    }
    c.on_congestion(Congestion::Loss, &path(300), Time::ZERO);
    near(&c, 270.0 - 9.0);
}

/// §3.3.2: a mark without losses ends in β times the window.
#[test]
fn a_mark_costs_beta() {
    let mut c = rapid(&[("ecn", Raw::Flag(true))]);
    c.on_ack(&Acked { bytes: Bytes::new(145 * PACKET), ..ACK }, &path(10), Time::ZERO);
    c.on_congestion(Congestion::Ecn, &path(300), Time::ZERO);
    recover(&mut c, 300);
    near(&c, 210.2);
}

/// After the recovery CUBIC goes on from W_max, which is twice the estimate of path and queue, cwnd/β, or once with
/// `rapid_w_max = 1`.
#[test]
fn cubic_goes_on_from_the_estimate() {
    for (plateau, w_max) in [(2.0, 200.0), (1.0, 100.0)] {
        let mut c = at_first_loss(&[("rapid_w_max", Raw::Number(plateau))]);
        for _ in 0..199 {
            c.on_lost(&LOST, Time::ZERO);
        }
        recover(&mut c, 100);
        let end = window(&c);
        assert!((end - 70.0).abs() < 1.0, "{end}");
        c.on_ack(&ACK, &path(70), Time::ZERO);
        let mut inner = Vec::new();
        c.inner(&mut inner);
        let got = inner[0] / PACKET as f64 / (end / 70.0);
        assert!((got / w_max - 1.0).abs() < 0.02, "{got}");
        // The next loss is an ordinary one.
        c.on_congestion(Congestion::Loss, &path(70), Time::ZERO);
        near(&c, 49.0);
        recover(&mut c, 10);
        near(&c, 49.0);
    }
}

/// A time-out, or a second loss in the recovery, is answered as CUBIC does.
#[test]
fn other_congestion_is_answered_as_usual() {
    let mut c = at_first_loss(&[]);
    c.on_congestion(Congestion::Loss, &path(200), Time::ZERO);
    near(&c, 140.0);
    recover(&mut c, 50);
    near(&c, 140.0);
    let mut c = rapid(&[]);
    c.on_congestion(Congestion::Timeout, &path(10), Time::ZERO);
    near(&c, 1.0);
    assert_eq!(growth(&mut c, 0, 100.0, 100), 1.0);
}

/// A spurious loss brings the growth back.
#[test]
fn a_spurious_loss_is_undone() {
    let mut c = at_first_loss(&[]);
    recover(&mut c, 10);
    c.on_spurious(Time::ZERO);
    near(&c, 300.0);
    assert_eq!(c.ssthresh(), None);
    assert_eq!(growth(&mut c, 0, 100.0, 100), 2.0);
}

/// Ten paths, in whole milliseconds and with round-trip times of 48 ms and more, where quicly's threshold is 35/32 of
/// the smallest one.
const PATHS: [Path; 10] = [
    Path { name: "small-buffer", buffer: 10, growth: 2, ..LONG },
    Path { name: "one-bdp", buffer: 100, growth: 2, ..LONG },
    Path { name: "deep-buffer", buffer: 500, growth: 2, ..LONG },
    Path { name: "fast", rate: |_| 10_000, buffer: 500, ..LONG },
    Path { name: "faster", rate: |_| 25_000, buffer: 1000, ..LONG },
    Path { name: "long", base: |_| 200_000, buffer: 250, ..LONG },
    Path { name: "geostationary", base: |_| 600_000, buffer: 750, end: 20_000_000, ..LONG },
    Path { name: "jitter", jitter: 3000, buffer: 100, ..LONG },
    Path { name: "bunches", bunch: 4000, buffer: 100, ..LONG },
    Path {
        name: "falling",
        rate: |at| if at < 200_000 { 5000 } else { 2500 },
        buffer: 200,
        ..LONG
    },
];

const LONG: Path = Path { rate: |_| 1250, base: |_| 80_000, growth: 2, ..PATH };

/// Returns the windows in packets before and after the first loss, and at the end of the recovery.
fn windows(path_: &Path) -> [f64; 3] {
    // quicly has an older K, and the larger of the two bounds of the rise.
    let mut c = rapid(&[
        ("rapid_k", Raw::Number(11.0 / 18.0)),
        ("rapid_rise", Raw::Number(3.0 / 32.0)),
        ("rapid_rise_time", text("1 s")),
    ]);
    let mut found = [0.0; 3];
    for heard in path_.script() {
        // quicly counts whole milliseconds.
        let whole = |us: u64| Duration::from_ms(us / 1000);
        let (now, view) = (Time::ZERO + whole(heard.at), view(whole(heard.min_rtt)));
        let is_first = heard.lost > 0 && found[0] == 0.0;
        if is_first {
            found[0] = window(&c);
        }
        (0..heard.lost).for_each(|_| c.on_lost(&LOST, now));
        if is_first {
            c.on_congestion(Congestion::Loss, &view, now);
            found[1] = window(&c);
        }
        let ack = Acked {
            bytes: Bytes::new(heard.packets * PACKET),
            rtt: Some(whole(heard.rtt)),
            in_recovery: found[0] > 0.0,
            ..ACK
        };
        c.on_ack(&ack, &view, now);
        found[2] = window(&c);
    }
    assert!(found[0] > 0.0, "{}: no loss", path_.name);
    found
}

/// The windows in `rapid.csv` are those of quicly for the same scripts.
#[test]
fn windows_are_those_of_quicly() {
    export(&PATHS);
    let recorded = record(include_str!("rapid.csv"));
    assert_eq!(recorded.len(), PATHS.len());
    for (path, (name, expected)) in PATHS.iter().zip(recorded) {
        assert_eq!(path.name, name);
        for (got, wanted) in windows(path).into_iter().zip(expected) {
            assert!((got / wanted - 1.0).abs() < 0.03, "{name}: {got}, {wanted} in quicly");
        }
    }
}
