//! MulTCP against the sum of N Reno flows and the closed form of its response to loss.

use crate::common::{ACK, Fifo, PACKET, Paced, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller, Marks, Recovery};
use accord_family::{Raw, Service};
use accord_units::{Bytes, Duration, Time};

fn multcp(weight: f64, changes: &[(&str, Raw)]) -> AnyController {
    let mut c = build("multcp", changes);
    c.set_service(&Service { weight, ..Service::default() });
    c
}

/// The average window of increase a and decrease b with one loss in 1/p packets is
/// √(a(2 − b)/(2bp)) [Floyd, Handley and Padhye 2000]; with a = N and b = 1/(2N) that is
/// N·√((2 − 1/(2N))/p): √1.5 for one flow, up to √2 for each of many.
#[test]
fn the_response_to_loss_is_that_of_its_steps() {
    for (n, every, expected) in [
        (1.0, 10_000, 122.47),
        (2.0, 10_000, 264.58),
        (10.0, 10_000, 1396.42),
        (100.0, 1000, 4466.54),
    ] {
        let initial = text(&format!("{expected} pkt"));
        let mut run = Paced::new(multcp(n, &[("initial_window", initial)]), Duration::from_ms(100));
        run.lose();
        let mean = run.mean_window(every, 30 + 10 * n as u64);
        assert!((mean / expected - 1.0).abs() < 1e-3, "{n}: {mean}");
    }
}

#[test]
fn with_a_weight_of_one_it_gets_what_reno_gets() {
    let mean = |c| {
        let mut run = Paced::new(c, Duration::from_ms(100));
        run.lose();
        run.mean_window(1000, 30)
    };
    let (one, reno) = (mean(multcp(1.0, &[])), mean(build("newreno", &[])));
    // Reno's windows are whole packets.
    assert!((one / reno - 1.0).abs() < 0.03, "{one} {reno}");
}

/// N packets in each round trip, and one of N flows halves: 100 flows of 5 packets lose 2.5.
#[test]
fn it_steps_as_the_sum_of_its_flows() {
    let mut c = multcp(100.0, &[("initial_window", text("1000 pkt"))]);
    c.on_congestion(Congestion::Loss, &path(1000), Time::ZERO);
    assert_eq!(window(&c), 500.0, "all halve when slow start ends");
    c.on_congestion(Congestion::Ecn, &path(500), Time::ZERO);
    assert_eq!(window(&c), 497.5);
    let mut run = Paced::new(c, Duration::from_ms(100));
    run.until(Time::from_secs_f64(1.0));
    let grown = window(&run.controller) - 497.5;
    assert!((grown - 1000.0).abs() < 20.0, "{grown}");
    let mut c = run.controller;
    c.on_congestion(Congestion::Timeout, &path(400), Time::ZERO);
    assert_eq!((window(&c), c.ssthresh()), (1.0, Some(Bytes::new(200 * PACKET))));
}

/// Four flows that double have 4·2^k after k rounds, which threefold growth reaches after
/// ln 4/ln 1.5 = 3.4 rounds at 43 packets.
#[test]
fn slow_start_is_threefold_until_it_has_caught_up() {
    let initial = [("initial_window", text("1 pkt"))];
    let mut run = Fifo::new(multcp(4.0, &initial), Duration::from_secs(100));
    // After the first acknowledgement of each round; rounds of 1, 3, 9, 27 packets, and then
    // of twice as many.
    assert_eq!(run.rounds(6), [3.0, 5.0, 11.0, 29.0, 63.0, 125.0]);
    let mut run = Fifo::new(multcp(1.0, &initial), Duration::from_secs(100));
    assert_eq!(run.rounds(6), [2.0, 3.0, 5.0, 9.0, 17.0, 33.0]);
}

/// RFC 5681 §3.1, RFC 7661: the window waits in recovery and while it is not used. §3.1 again: the threshold stays
/// while the timer backs off. §4.1: an idle time leaves the initial window at most.
#[test]
fn it_waits_backs_off_and_starts_again_as_a_flow_of_its_kind_does() {
    let avoiding = || {
        let mut c = multcp(10.0, &[]);
        c.on_congestion(Congestion::Loss, &path(100), Time::ZERO);
        c
    };
    for (in_recovery, window_limited, grows) in
        [(false, true, true), (true, true, false), (false, false, false)]
    {
        let mut c = avoiding();
        let ack = Acked { in_recovery, window_limited, ..ACK };
        c.on_ack(&ack, &path(50), Time::ZERO);
        assert_eq!(window(&c) > 50.0, grows, "{in_recovery} {window_limited}");
    }
    let mut c = avoiding();
    for what in [Congestion::Timeout, Congestion::RepeatedTimeout] {
        c.on_congestion(what, &path(50), Time::ZERO);
        assert_eq!((window(&c), c.ssthresh()), (1.0, Some(Bytes::new(25 * PACKET))));
    }
    let mut c = avoiding();
    c.on_idle();
    assert_eq!((window(&c), c.ssthresh()), (2.0, Some(Bytes::new(50 * PACKET))));
}

/// Below N packets the sum of the steps would outrun slow start.
#[test]
fn a_small_window_doubles_at_most() {
    let mut c = multcp(100.0, &[]);
    c.on_congestion(Congestion::Loss, &path(4), Time::ZERO);
    let mut run = Fifo::new(c, Duration::from_secs(1));
    assert_eq!(run.rounds(6), [3.0, 5.0, 9.0, 17.0, 33.0, 65.0]);
}

#[test]
fn it_says_how_losses_are_repaired_and_what_marks_are() {
    let c = multcp(2.0, &[]);
    assert_eq!(
        (c.capabilities().recovery, c.capabilities().marks),
        (Recovery::Sack, Marks::Nothing)
    );
    let changes = [("sack", Raw::Flag(false)), ("ecn", Raw::Flag(true))];
    let c = multcp(2.0, &changes);
    assert_eq!(
        (c.capabilities().recovery, c.capabilities().marks),
        (Recovery::NewReno, Marks::Loss)
    );
}
