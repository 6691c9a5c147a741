//! CUBIC against the numbers of RFC 9438 and 9406.

use crate::common::{ACK, Fifo, PACKET, Paced, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller, Marks, PathView, Recovery};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Time};

fn cubic(initial: &str, hystart: bool) -> AnyController {
    let slow_start = if hystart { "hystart-plus" } else { "plain" };
    build("cubic", &[("initial_window", text(initial)), ("slow_start", text(slow_start))])
}

/// In congestion avoidance after a loss at a window of `packets` packets.
fn after_loss_at(packets: u64) -> AnyController {
    let mut c = cubic(&format!("{packets} pkt"), true);
    c.on_congestion(Congestion::Loss, &path(packets), Time::ZERO);
    c
}

/// A loss at 1000 packets leaves 700, so the plateau of 1000 is reached after the cubic
/// root of 300/0.4 = 750 s³: 9.086 s. Halfway an eighth of the 300 is missing; at twice that
/// time as much is on top as the loss took.
#[test]
fn the_window_is_a_cubic_function_of_time() {
    let rtt = Duration::from_ms(100);
    let mut run = Paced::new(after_loss_at(1000), rtt);
    assert_eq!(window(&run.controller), 700.0);
    for (seconds, packets) in [(4.543, 962.5), (9.086, 1000.0), (18.172, 1300.0)] {
        run.until(Time::from_secs_f64(seconds));
        let got = window(&run.controller);
        assert!((got - packets).abs() < 2.0, "{seconds} s: {got}");
    }
}

/// RFC 9438 §4.7: of 1400 packets, the second loss in a row below the last W_max, 0.85 are
/// remembered; with 980 left the way to the plateau of 1190 takes the cubic root of 525 s³.
#[test]
fn fast_convergence_remembers_less_of_a_window_that_falls() {
    for (fast, plateau, seconds) in [(true, 1190.0, 8.067), (false, 1400.0, 10.164)] {
        let mut c = build(
            "cubic",
            &[("initial_window", text("2000 pkt")), ("fast_convergence", Raw::Flag(fast))],
        );
        c.on_congestion(Congestion::Loss, &path(2000), Time::ZERO);
        assert_eq!(window(&c), 1400.0);
        c.on_congestion(Congestion::Loss, &path(1400), Time::ZERO);
        assert_eq!(window(&c), 980.0);
        let mut run = Paced::new(c, Duration::from_ms(100));
        run.until(Time::from_secs_f64(seconds));
        let got = window(&run.controller);
        assert!((got - plateau).abs() < 1.0, "{got}");
        // A plateau: the window hardly moves half a second before and after.
        run.until(Time::from_secs_f64(seconds + 0.5));
        assert!(window(&run.controller) - got < 1.0);
    }
}

/// RFC 9438 §4.7: a loss at W_max leaves W_max unreduced, so the plateau of 1000 packets is 9.086 s away.
#[test]
fn fast_convergence_is_for_windows_below_the_last() {
    let mut c = cubic("1000 pkt", true);
    // As many in flight as leave 1000 packets.
    let flight = PathView { in_flight: Bytes::new(1_428_572), ..path(0) };
    c.on_congestion(Congestion::Loss, &flight, Time::ZERO);
    assert_eq!(window(&c), 1000.0);
    c.on_congestion(Congestion::Loss, &path(1000), Time::ZERO);
    let mut run = Paced::new(c, Duration::from_ms(100));
    run.until(Time::from_secs_f64(9.086));
    let got = window(&run.controller);
    assert!((got - 1000.0).abs() < 1.0, "{got}");
}

/// RFC 9438 §4.2: the target is from cwnd to 1.5 cwnd, so an acknowledgement adds half a packet
/// at most, and nothing where the cubic function is below the window.
#[test]
fn the_target_is_from_the_window_to_half_more() {
    let mut c = after_loss_at(1000);
    let mut ack = |rtt: Duration, at: f64| {
        let view = PathView { srtt: rtt, ..path(700) };
        let before = window(&c);
        c.on_ack(&ACK, &view, Time::from_secs_f64(at));
        window(&c) - before
    };
    let far = Duration::from_secs(100);
    ack(far, 0.0);
    // W_cubic(101) is far above 1050 packets; W_cubic(1) is 788, above Reno's window.
    for _ in 0..400 {
        let grown = ack(far, 1.0);
        assert!((grown - 0.5).abs() < 1e-3, "{grown}");
    }
    // At 900 packets; W_cubic(1.1) is 797.
    assert_eq!(ack(Duration::from_ms(100), 1.0), 0.0);
}

/// RFC 9438 §4.3: Reno's window begins at cwnd_epoch and grows by α = 3·0.3/1.7 = 0.529 per round
/// trip. It has come back from 14 packets to the 20 before the loss after 11.33 round trips, and
/// grows by 1 from then on. At 2 ms the cubic function has not grown noticeably.
#[test]
fn renos_window_grows_by_alpha_up_to_the_window_before_the_loss() {
    let rtt = Duration::from_ms(2);
    let mut run = Paced::new(after_loss_at(20), rtt);
    for (round_trips, packets) in [(5.0, 14.0 + 2.647), (11.33, 20.0), (21.33, 30.0)] {
        run.until(Time::ZERO + rtt.mul_f64(round_trips));
        let got = window(&run.controller);
        assert!((got - packets).abs() < 0.15, "{round_trips}: {got}");
    }
}

/// RFC 9438 §4.3, eq. 4: an acknowledgement of two packets counts for both in Reno's window: 0.529
/// · 2 / 14 packets. In the concave region it is one of the acknowledgements of §4.4, which all add
/// (target − cwnd) / cwnd.
#[test]
fn renos_window_counts_the_packets_of_an_acknowledgement() {
    let two = Acked { bytes: Bytes::new(2 * PACKET), ..ACK };
    let mut reno = after_loss_at(20);
    reno.on_ack(&two, &path(14), Time::ZERO);
    let grown = window(&reno) - 14.0;
    assert!((grown - 0.0756).abs() < 1e-3, "{grown}");
    let concave = |ack: &Acked| {
        let mut c = after_loss_at(1000);
        c.on_ack(&ACK, &path(700), Time::ZERO);
        let before = window(&c);
        c.on_ack(ack, &path(700), Time::from_secs_f64(0.1));
        window(&c) - before
    };
    // W_cubic(0.2) = 0.4·(0.2 − 9.086)³ + 1000 = 719.34. Windows are whole bytes.
    let grown = concave(&ACK);
    assert!((grown - 19.34 / 700.0).abs() < 1e-3, "{grown}");
    assert_eq!(concave(&two), concave(&ACK));
}

/// RFC 9438 §4.6: a loss leaves two packets at least, a mark one; the threshold is two at least.
#[test]
fn a_mark_leaves_one_packet_at_least() {
    for (in_flight, left, threshold) in [(1, 1.0, 2.0), (2, 1.4, 2.0), (4, 2.8, 2.8)] {
        let mut c = build("cubic", &[("ecn", Raw::Flag(true))]);
        c.on_congestion(Congestion::Ecn, &path(in_flight), Time::ZERO);
        let threshold = Bytes::new((threshold * PACKET as f64) as u64);
        assert_eq!((window(&c), c.ssthresh()), (left, Some(threshold)));
    }
}

/// RFC 9438 §4.6: ssthresh is β of the packets in flight, which may be fewer than the window; W_max
/// and cwnd_prior are the window. So the plateau of 1000 packets is 860 above the 140 that are left:
/// the cubic root of 860/0.4 = 2150 s³ away.
#[test]
fn a_loss_keeps_a_part_of_what_is_in_flight() {
    let mut c = cubic("1000 pkt", true);
    c.on_congestion(Congestion::Loss, &path(200), Time::ZERO);
    assert_eq!(window(&c), 140.0);
    let mut run = Paced::new(c, Duration::from_ms(100));
    run.until(Time::from_secs_f64(12.907));
    let got = window(&run.controller);
    assert!((got - 1000.0).abs() < 1.0, "{got}");
}

/// The columns of RFC 9438 §5.1, tables 1 and 2, and §5.2, table 3: average windows for a loss every
/// 1/p packets. A window that grows to its plateau is 0.925 of it on average, Reno's with
/// β = 0.7 is 0.85 of its last. Cycles come back to these slowly, the plateau being flat, but
/// on either side of them they come back: 5 % above a window falls, 5 % below it rises.
#[test]
fn average_windows_are_those_of_the_rfc() {
    let (reno, plateau) = (0.85, 0.925);
    let table = [
        // Table 1.
        (0.4, 100, 100, 12.0, reno),
        (0.4, 100, 10_000, 187.0, plateau),
        (0.4, 100, 100_000, 1054.0, plateau),
        (0.04, 100, 10_000, 120.0, reno),
        (0.04, 100, 100_000, 593.0, plateau),
        (4.0, 100, 1000, 59.0, plateau),
        (4.0, 100, 10_000, 333.0, plateau),
        // Table 2.
        (0.4, 10, 100, 12.0, reno),
        (0.4, 10, 1000, 38.0, reno),
        (0.4, 10, 10_000, 120.0, reno),
        (0.4, 10, 100_000, 379.0, reno),
        (4.0, 10, 1_000_000, 1874.0, plateau),
        // Table 3: 100 Mbps and 1 Gbps with packets of 1500 bytes, p = 1.4·10⁻⁵ and 6.3·10⁻⁷.
        (0.4, 100, 71_429, 833.3, plateau),
        (0.4, 100, 1_587_302, 8333.3, plateau),
    ];
    for (c, rtt_ms, every, mean, of_last) in table {
        let change = |scale: f64| {
            let last = scale * mean / of_last;
            let changes = [("c", Raw::Number(c)), ("initial_window", text(&format!("{last} pkt")))];
            let mut run = Paced::new(build("cubic", &changes), Duration::from_ms(rtt_ms));
            run.lose();
            (0..every).for_each(|_| run.step());
            window(&run.controller) - last
        };
        let (above, below) = (change(1.05), change(0.95));
        assert!(above < 0.0 && below > 0.0, "C = {c}, {rtt_ms} ms, {every}: {above} {below}");
    }
}

/// RFC 9438 §4.3: where round trips are short CUBIC gets what Reno gets, loss for loss.
#[test]
fn short_round_trips_give_what_reno_gets() {
    let mean = |name| {
        let initial = [("initial_window", text("200 pkt"))];
        let mut run = Paced::new(build(name, &initial), Duration::from_ms(5));
        run.lose();
        run.mean_window(10_000, 30)
    };
    let (cubic, reno) = (mean("cubic"), mean("newreno"));
    assert!((cubic / reno - 1.0).abs() < 0.02, "{cubic} {reno}");
}

/// 100 packets fill the path. HyStart++ sees the round trip grow, and goes on at a quarter of
/// the growth for five rounds [RFC 9406 §4.3]; without it slow start ends by a loss.
#[test]
fn slow_start_ends_when_the_round_trip_grows() {
    let rounds = |hystart| {
        let mut run = Fifo::new(cubic("2 pkt", hystart), Duration::from_ms(99));
        let windows = run.rounds(14);
        (windows, run.controller.ssthresh())
    };
    let (windows, threshold) = rounds(true);
    let doubling = [3.0, 5.0, 9.0, 17.0, 33.0, 65.0, 129.0, 257.0];
    assert_eq!(windows[..8], doubling);
    for pair in windows[7..13].windows(2) {
        let growth = pair[1] / pair[0];
        assert!((1.24..1.27).contains(&growth), "{windows:?}");
    }
    assert_eq!(threshold, Some(Bytes::new(793_750)));
    assert!(windows[13] < windows[12] + 2.0, "{windows:?}");
    let (windows, threshold) = rounds(false);
    assert_eq!(windows[..8], doubling);
    assert_eq!((windows[13], threshold), (16385.0, None));
}

/// A rise that does not last was none: slow start goes on.
#[test]
fn slow_start_resumes_when_the_round_trip_falls_again() {
    let mut run = Fifo::new(cubic("2 pkt", true), Duration::from_ms(999));
    run.rounds(5);
    run.standing = Duration::from_ms(50);
    let slow = run.rounds(3);
    run.standing = Duration::ZERO;
    let fast = run.rounds(3);
    assert!(slow[2] < 129.0 * 1.3, "{slow:?}");
    // Packets that were in flight show the rise for one round more.
    assert!(fast[2] > 1.95 * fast[1], "{fast:?}");
}

/// RFC 9438 §4.8: after a timeout the window is the plateau that slow start ends at, so the
/// growth is convex: 0.4·t³ packets.
#[test]
fn after_a_timeout_the_cubic_begins_at_its_plateau() {
    let mut c = cubic("1000 pkt", true);
    c.on_congestion(Congestion::Timeout, &path(1000), Time::ZERO);
    assert_eq!(window(&c), 1.0);
    assert_eq!(c.ssthresh(), Some(Bytes::new(700 * PACKET)));
    let mut run = Paced::new(c, Duration::from_ms(100));
    while window(&run.controller) < 700.0 {
        run.step();
    }
    let begin = run.now;
    run.until(begin + Duration::from_secs(10));
    let got = window(&run.controller) - 700.0;
    assert!((got - 400.0).abs() < 12.0, "{got}");
}

/// RFC 9438 §4.1.2: cwnd_prior is the window when the threshold was last set, which a second
/// time-out of one packet does not. So W_est grows by α = 0.53 a round trip below it.
#[test]
fn a_repeated_timeout_does_not_forget_the_window_before() {
    let grown = |timeouts: usize| {
        let mut c = cubic("20 pkt", true);
        c.on_congestion(Congestion::Timeout, &path(20), Time::ZERO);
        for _ in 1..timeouts {
            c.on_congestion(Congestion::RepeatedTimeout, &path(1), Time::ZERO);
        }
        // At 2 ms the cubic has not grown noticeably: Reno's window rules.
        let mut run = Paced::new(c, Duration::from_ms(2));
        while window(&run.controller) < 14.0 {
            run.step();
        }
        let begin = run.now;
        run.until(begin + Duration::from_ms(20));
        window(&run.controller)
    };
    let once = grown(1);
    assert!((once - 14.0 - 10.0 * 0.9 / 1.7).abs() < 0.5, "{once}");
    assert_eq!(grown(2), once);
}

/// RFC 9438 §5.8: a pause of the application is no time to grow in.
#[test]
fn time_does_not_pass_while_the_window_is_not_used() {
    let mut run = Paced::new(after_loss_at(1000), Duration::from_ms(100));
    run.until(Time::from_secs_f64(2.0));
    let before = window(&run.controller);
    run.now += Duration::from_secs(60);
    run.step();
    assert!(window(&run.controller) < before + 1.0);
    for _ in 0..1000 {
        run.now += Duration::from_ms(10);
        let ack = Acked { window_limited: false, ..ACK };
        run.controller.on_ack(&ack, &path(10), run.now);
    }
    run.step();
    assert!(window(&run.controller) < before + 2.0);
}

#[test]
fn it_says_how_losses_are_repaired_and_what_marks_are() {
    let c = build("cubic", &[]);
    assert_eq!(
        (c.capabilities().recovery, c.capabilities().marks),
        (Recovery::Sack, Marks::Nothing)
    );
    let changes =
        [("sack", Raw::Flag(false)), ("ecn", Raw::Flag(true)), ("initial_window", text("100 pkt"))];
    let mut c = build("cubic", &changes);
    assert_eq!(
        (c.capabilities().recovery, c.capabilities().marks),
        (Recovery::NewReno, Marks::Loss)
    );
    c.on_congestion(Congestion::Ecn, &path(100), Time::ZERO);
    assert_eq!(window(&c), 70.0);
}

#[test]
fn a_loss_leaves_two_packets_at_least() {
    for in_flight in 0..3 {
        let mut c = cubic("20 pkt", true);
        c.on_congestion(Congestion::Loss, &path(in_flight), Time::ZERO);
        assert_eq!(window(&c), 2.0);
    }
}

/// Linux never raises α of Reno's window (`tcp_cubic.c`, `beta_scale`): 14 packets and 0.529 for each of
/// 21.33 round trips, where RFC 9438 §4.3 has 30 by then.
#[test]
fn with_linux_alpha_stays_what_it_was() {
    let rtt = Duration::from_ms(2);
    let linux = [("initial_window", text("20 pkt")), ("alpha_one", Raw::Flag(false))];
    let mut controller = build("cubic", &linux);
    controller.on_congestion(Congestion::Loss, &path(20), Time::ZERO);
    let mut run = Paced::new(controller, rtt);
    run.until(Time::ZERO + rtt.mul_f64(21.33));
    let got = window(&run.controller);
    assert!((got - 25.29).abs() < 0.15, "{got}");
}
