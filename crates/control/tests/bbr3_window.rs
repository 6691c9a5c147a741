//! BBRv3's pace and window to the byte, and what sets them back, by the pseudocode of
//! draft-ietf-ccwg-bbr-06 §5.3.1.2, §5.4.1 and §5.6.

use crate::common::{PACKET, path};
use crate::flow::{BDP, Flow, MS};
use accord_control::bbr3::{Config, State};
use accord_control::{Congestion, Controller, Delivery, Lost, Marks, Recovery};
use accord_units::{Bytes, Duration, Rate};

fn mbps(n: f64) -> Rate {
    Rate::from_bps_f64(n * 1e6)
}

/// The pace in Mbps.
fn pace(flow: &Flow) -> f64 {
    flow.bbr.allowance().pacing.expect("it paces").as_bps_f64() / 1e6
}

fn near(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() < 1e-6, "{got} for {expected}");
}

/// InitPacingRate(): ten packets per millisecond before the first round-trip time, per round trip after it,
/// times 2.77.
#[test]
fn the_first_pace_is_of_the_initial_window() {
    let mut flow = Flow::on(MS(10), BDP);
    near(pace(&flow), 2.77 * 80.0);
    let without = |flow: &Flow, rtt| Delivery { rtt, rate: Rate::ZERO, ..flow.amid(PACKET) };
    let none = without(&flow, Duration::ZERO);
    flow.ack(none, MS(1), BDP);
    near(pace(&flow), 2.77 * 80.0);
    let first = without(&flow, MS(10));
    flow.ack(first, MS(1), BDP);
    near(pace(&flow), 2.77 * 8.0);
    // Once.
    let second = without(&flow, MS(1));
    flow.ack(second, MS(1), BDP);
    near(pace(&flow), 2.77 * 8.0);
}

/// SetPacingRateWithGain(): until the pipe was full the pace only grows. Then it follows the bandwidth. A sample
/// without a rate changes nothing.
#[test]
fn the_pace_does_not_fall_before_the_pipe_was_full() {
    let mut flow = Flow::on(MS(10), BDP);
    let sample = |flow: &Flow, rate: Rate| Delivery { rate, ..flow.sample() };
    for (rate, expected) in [
        (0.0, 2.77 * 8.0),
        (6.0, 2.77 * 8.0),
        (50.0, 2.77 * 0.99 * 50.0),
        (40.0, 2.77 * 0.99 * 50.0),
    ] {
        let sample = sample(&flow, mbps(rate));
        flow.ack(sample, MS(10), 3 * BDP);
        near(pace(&flow), expected);
    }
    assert_eq!(flow.bbr.view().state, State::Startup);
    for _ in 0..2 {
        let sample = sample(&flow, mbps(50.0));
        flow.ack(sample, MS(10), 3 * BDP);
    }
    assert_eq!(flow.bbr.view().state, State::Drain);
    near(pace(&flow), 0.5 * 0.99 * 50.0);
}

/// CheckFullBWReached(): rounds count, not acknowledgements, and none once it is known.
#[test]
fn a_plateau_is_counted_by_rounds() {
    let mut flow = Flow::on(MS(10), BDP);
    flow.round(3 * BDP);
    assert_eq!(flow.round(3 * BDP).full_bw_count, 1);
    for _ in 0..10 {
        let v = flow.ack(flow.amid(PACKET), MS(1), 3 * BDP);
        assert_eq!((v.full_bw_count, v.full_bw_now), (1, false));
    }
    assert_eq!(flow.round(3 * BDP).full_bw_count, 2);
    let v = flow.round(3 * BDP);
    assert_eq!((v.full_bw_count, v.full_bw_now, v.full_bw_reached), (3, true, true));
    for _ in 0..3 {
        let v = flow.round(3 * BDP);
        assert_eq!((v.full_bw_count, v.full_bw_now), (3, true));
    }
    // A quarter more begins no new count, either: that is for UP.
    let more = Delivery { rate: mbps(200.0), ..flow.sample() };
    assert!(flow.ack(more, MS(10), 3 * BDP).full_bw_now);
}

/// SetCwnd() in Startup: acknowledged data is added while the window is below max_inflight, or less than ten
/// packets were delivered. It is not cut.
#[test]
fn the_window_of_startup_grows_up_to_twice_the_product() {
    let mut flow = Flow::on(MS(10), BDP);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(10 * PACKET));
    // Nine packets, at a rate of which twice the product is four packets.
    for n in 1..10 {
        let early = Delivery { rate: mbps(0.1), ..flow.amid(PACKET) };
        flow.ack(early, MS(1), BDP);
        assert_eq!(flow.bbr.cwnd(), Bytes::new((10 + n) * PACKET));
    }
    let tenth = Delivery { rate: mbps(0.1), ..flow.amid(PACKET) };
    flow.ack(tenth, MS(1), BDP);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(19 * PACKET), "not cut, and no more");
    // Twice the product of 10 ms and 16 Mbps are 40 packets, and one is extra_acked.
    let round = |flow: &Flow| Delivery { rate: mbps(16.0), ..flow.sample() };
    // The ten early ones are extra in the first of these round trips.
    for _ in 0..2 {
        let sample = round(&flow);
        flow.ack(sample, MS(20), BDP);
    }
    for expected in [22, 23] {
        let more = Delivery { rate: mbps(16.0), ..flow.amid(PACKET) };
        flow.ack(more, MS(20), BDP);
        assert_eq!(flow.bbr.cwnd(), Bytes::new(expected * PACKET));
    }
    for _ in 0..60 {
        let more = Delivery { rate: mbps(16.0), ..flow.amid(PACKET) };
        flow.ack(more, MS(20), BDP);
    }
    assert_eq!(flow.bbr.view().state, State::Startup);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(41 * PACKET));
}

/// UpdateMaxInflight(), QuantizationBudget(): in UP 2.25 products and two packets, beyond extra_acked.
#[test]
fn the_window_of_up_is_two_and_a_quarter_products_and_two_packets() {
    let mut flow = Flow::cruising();
    flow.until(State::ProbeBwUp, BDP);
    for _ in 0..2 {
        let whole = flow.amid(BDP);
        flow.ack(whole, MS(30), BDP);
    }
    let v = flow.bbr.view();
    assert_eq!((v.state, v.gains), (State::ProbeBwUp, (1.25, 2.25)));
    assert_eq!(v.extra_acked, Bytes::new(BDP));
    assert_eq!(flow.bbr.cwnd(), Bytes::new(281_250 + 2 * PACKET + BDP));
}

/// MinPipeCwnd: four packets are the least product that Drain waits for, and the least window.
#[test]
fn four_packets_are_the_least() {
    let mut flow = Flow::on(MS(10), 2 * PACKET);
    for _ in 0..4 {
        flow.round(10 * PACKET);
    }
    assert_eq!(flow.bbr.view().state, State::Drain);
    assert_eq!(flow.round(4 * PACKET + 1).state, State::Drain);
    assert_ne!(flow.round(4 * PACKET).state, State::Drain);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(5 * PACKET), "four and extra_acked");
    // Losses bound the data in flight by less, and the window by four.
    flow.lose(5 * PACKET, PACKET);
    let little = Delivery { delivered: PACKET, ..flow.sample() };
    for _ in 0..6 {
        flow.ack(little, MS(10), PACKET);
        flow.lose(5 * PACKET, PACKET);
    }
    let v = flow.bbr.view();
    assert!(v.inflight_shortterm < Some(Bytes::new(4 * PACKET)), "{v:?}");
    assert_eq!(flow.bbr.cwnd(), Bytes::new(4 * PACKET));
}

/// BoundCwndForModel(): inflight_longterm bounds the window in the states of ProbeBW, and not in Drain.
#[test]
fn drain_keeps_its_window_whatever_the_long_term_bound() {
    let mut flow = Flow::on(MS(10), BDP);
    let whole = Delivery { acked: 2 * BDP, ..flow.sample() };
    flow.ack(whole, MS(10), 3 * BDP);
    // Startup ends by losses.
    for number in (100..112).step_by(2) {
        let packet = Lost {
            number,
            total: flow.total,
            size: PACKET,
            tx_in_flight: BDP,
            lost: 6 * PACKET,
            app_limited: false,
        };
        flow.bbr.on_lost(&packet, flow.now);
    }
    let lossy =
        Delivery { in_recovery: true, lost: 6 * PACKET, tx_in_flight: BDP, ..flow.sample() };
    let v = flow.ack(lossy, MS(10), 3 * BDP);
    assert_eq!((v.state, v.inflight_longterm), (State::Drain, Some(Bytes::new(BDP))));
    assert!(flow.bbr.cwnd().get() > 2 * BDP - PACKET, "{}", flow.bbr.cwnd());
    // DOWN, and no headroom yet.
    let v = flow.round(BDP);
    assert_eq!(v.state, State::ProbeBwDown);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(BDP));
}

/// ResetCongestionSignals(): a loss that ends the probe, and those before it, do not lower the short-term bounds
/// a round trip later. One after it does.
#[test]
fn the_losses_of_a_probe_lower_no_short_term_bound() {
    let mut flow = Flow::cruising();
    flow.until(State::ProbeBwUp, BDP);
    assert_eq!(flow.lose(101_000, 10_000).state, State::ProbeBwDown);
    for _ in 0..2 {
        let v = flow.round(BDP);
        assert_eq!((v.bw_shortterm, v.inflight_shortterm), (None, None));
    }
    flow.lose(101_000, 1000);
    flow.round(BDP);
    let v = flow.round(BDP);
    assert!(v.bw_shortterm.is_some() && v.inflight_shortterm.is_some());
}

/// ResetCongestionSignals(), LossLowerBounds(): the samples of a probe do not hold up the short-term bounds after it.
#[test]
fn the_samples_of_a_probe_hold_no_short_term_bound_up() {
    let mut flow = Flow::cruising();
    flow.until(State::ProbeBwUp, BDP);
    let peak = Delivery { rate: mbps(150.0), delivered: 9 * BDP, ..flow.amid(PACKET) };
    flow.ack(peak, MS(1), BDP);
    assert_eq!(flow.lose(101_000, 10_000).state, State::ProbeBwDown);
    flow.lose(101_000, 1000);
    let window = flow.bbr.cwnd().get();
    let slow = Delivery { rate: mbps(50.0), ..flow.sample() };
    let v = flow.ack(slow, MS(10), BDP);
    // Beta of 150 Mbps and of the window.
    assert_eq!(v.bw_shortterm, Some(mbps(105.0)));
    let kept = v.inflight_shortterm.expect("a bound").get();
    assert_eq!(kept, window * 7 / 10);
    assert!(kept > BDP);
}

/// UpdateLatestDeliverySignals(): the bounds do not fall below the best samples of the round trip.
#[test]
fn the_best_samples_of_a_round_trip_hold_the_short_term_bounds_up() {
    let mut flow = Flow::cruising();
    let at = |flow: &Flow, rate: f64, delivered: u64, prior: u64| Delivery {
        rate: mbps(rate),
        delivered,
        prior,
        ..flow.amid(PACKET)
    };
    let first = at(&flow, 60.0, PACKET, flow.total);
    flow.ack(first, MS(10), BDP);
    let began = flow.total;
    for (rate, delivered) in [(90.0, 4 * BDP), (50.0, PACKET)] {
        let sample = at(&flow, rate, delivered, began - 1);
        flow.ack(sample, MS(1), BDP);
    }
    flow.lose(BDP, PACKET);
    let last = at(&flow, 40.0, PACKET, flow.total);
    let v = flow.ack(last, MS(10), BDP);
    assert_eq!(v.max_bw, mbps(100.0));
    assert_eq!(v.bw_shortterm, Some(mbps(90.0)));
    assert_eq!(v.inflight_shortterm, Some(Bytes::new(4 * BDP)));
}

/// IsProbingBW(): in Startup, REFILL and UP losses lower no short-term bound.
#[test]
fn losses_while_probing_lower_no_short_term_bound() {
    let mut flow = Flow::on(MS(10), BDP);
    for round in 0..3 {
        flow.lose(BDP, PACKET);
        let v = flow.round(3 * BDP);
        assert_eq!((v.bw_shortterm, v.inflight_shortterm), (None, None), "{round}");
    }
    let mut flow = Flow::cruising();
    flow.until(State::ProbeBwRefill, BDP);
    flow.lose(BDP, PACKET);
    for expected in [State::ProbeBwUp, State::ProbeBwUp] {
        let v = flow.round(BDP);
        assert_eq!(v.state, expected);
        assert_eq!((v.bw_shortterm, v.inflight_shortterm), (None, None));
        flow.lose(BDP, PACKET);
    }
}

/// NoteLoss(): the round trip of a loss begins with it. The bounds are lowered when data sent after the loss was
/// noticed is acknowledged.
#[test]
fn a_loss_is_answered_a_round_trip_after_it() {
    let mut flow = Flow::cruising();
    let before = flow.total;
    flow.ack(flow.amid(50_000), MS(4), BDP);
    flow.lose(BDP, PACKET);
    let from = |flow: &Flow, prior: u64| Delivery { prior, ..flow.amid(PACKET) };
    for (prior, lowered) in [(before, false), (before + 49_999, false), (before + 50_000, true)] {
        let sample = from(&flow, prior);
        let v = flow.ack(sample, MS(1), BDP);
        assert_eq!(v.bw_shortterm.is_some(), lowered, "{prior}");
    }
}

/// ResetShortTermModel(): REFILL and the end of ProbeRTT drop the short-term bounds.
#[test]
fn refill_and_probe_rtt_drop_the_short_term_bounds() {
    let lowered = |rtt| {
        let mut flow = Flow::on(MS(rtt), BDP);
        flow.fill();
        flow.round(BDP);
        for _ in 0..2 {
            flow.lose(BDP, PACKET);
            let slow = Delivery { rate: mbps(1.0), delivered: PACKET, ..flow.sample() };
            flow.ack(slow, MS(rtt), BDP);
        }
        let v = flow.bbr.view();
        assert_eq!(v.state, State::ProbeBwCruise);
        assert!(v.bw < v.max_bw && v.bw_shortterm.is_some() && v.inflight_shortterm.is_some());
        flow
    };
    let mut flow = lowered(10);
    flow.until(State::ProbeBwRefill, BDP);
    let v = flow.bbr.view();
    assert_eq!((v.bw_shortterm, v.inflight_shortterm), (None, None));
    let mut flow = lowered(10);
    while flow.bbr.view().state != State::ProbeRtt {
        flow.lose(BDP, PACKET);
        flow.round(BDP);
    }
    flow.lose(BDP, PACKET);
    flow.round(BDP / 2);
    assert!(flow.bbr.view().bw_shortterm.is_some());
    while flow.round(BDP / 2).state == State::ProbeRtt {}
    let v = flow.bbr.view();
    assert_eq!((v.bw_shortterm, v.inflight_shortterm), (None, None));
}

/// HandleLostPacket(): the round that begins with DOWN begins with the data delivered at the loss.
#[test]
fn the_round_after_a_lossy_probe_begins_at_the_loss() {
    let mut flow = Flow::cruising();
    flow.until(State::ProbeBwUp, BDP);
    let before = flow.total;
    flow.total += 50_000;
    flow.lose(101_000, 10_000);
    let rounds = flow.bbr.view().round_count;
    for (prior, ended) in [(before + 49_999, 0), (before + 50_000, 1)] {
        let sample = Delivery { prior, ..flow.amid(PACKET) };
        let v = flow.ack(sample, MS(1), BDP);
        assert_eq!(v.round_count, rounds + ended);
    }
}

/// HandleRestartFromIdle(): the pace is the bandwidth in all states of ProbeBW. No ProbeRTT is due at the first
/// sample after the idle time.
#[test]
fn a_restart_from_idle_paces_at_the_bandwidth() {
    let mut flow = Flow::bounded(100_000);
    flow.round(BDP);
    assert_eq!(flow.bbr.view().state, State::ProbeBwDown);
    near(pace(&flow), 0.9 * 0.99 * 100.0);
    flow.now += MS(6000);
    flow.bbr.on_restart(flow.now);
    near(pace(&flow), 0.99 * 100.0);
    assert!(flow.bbr.view().idle_restart);
    let v = flow.ack(flow.amid(PACKET), MS(10), PACKET);
    assert_ne!(v.state, State::ProbeRtt);
    assert!(!v.idle_restart);
    // In Startup and Drain the pace stays.
    let mut flow = Flow::on(MS(10), BDP);
    flow.fill();
    let before = pace(&flow);
    flow.bbr.on_restart(flow.now);
    assert_eq!(pace(&flow), before);
}

/// HandleRestartFromIdle(), ExitProbeRTT(): a pause may end ProbeRTT, once its time is over. Startup goes on where
/// ProbeRTT came in it.
#[test]
fn a_restart_from_idle_may_end_probe_rtt() {
    for filled in [true, false] {
        let mut flow = Flow::on(MS(100), BDP);
        if filled {
            flow.fill();
        }
        let app_limited = |flow: &Flow| Delivery { app_limited: true, ..flow.sample() };
        while flow.bbr.view().state != State::ProbeRtt {
            let sample = app_limited(&flow);
            flow.ack(sample, MS(100), 2 * BDP);
        }
        // Nothing is in flight: 200 ms begin.
        flow.round(0);
        flow.bbr.on_restart(flow.now + MS(200));
        assert_eq!(flow.bbr.view().state, State::ProbeRtt);
        flow.now += MS(200) + Duration::from_ps(1);
        flow.bbr.on_restart(flow.now);
        let state = if filled { State::ProbeBwCruise } else { State::Startup };
        assert_eq!(flow.bbr.view().state, state);
        // The next one is five seconds later.
        let ended = flow.now;
        while flow.bbr.view().state != State::ProbeRtt {
            let sample = app_limited(&flow);
            flow.ack(sample, MS(100), 2 * BDP);
        }
        let after = flow.now.since(ended);
        assert!(after > MS(5000) && after <= MS(5100), "{after}");
    }
}

/// SaveCwnd(), RestoreCwnd(): after ProbeRTT the window is the one before it, also where a time-out came in ProbeRTT.
#[test]
fn the_last_known_good_window_is_not_that_of_probe_rtt() {
    for timeout in [false, true] {
        let mut flow = Flow::on(MS(10), BDP);
        flow.fill();
        while flow.round(2 * BDP).state != State::ProbeRtt {}
        let before = 2 * BDP + flow.bbr.view().extra_acked.get();
        flow.round(BDP / 2);
        assert_eq!(flow.bbr.cwnd(), Bytes::new(BDP / 2));
        if timeout {
            flow.bbr.on_congestion(Congestion::Timeout, &path(50), flow.now);
            assert_eq!(flow.bbr.cwnd(), Bytes::new(PACKET));
        }
        while flow.round(BDP / 2).state == State::ProbeRtt {}
        assert_eq!(flow.bbr.cwnd(), Bytes::new(before));
    }
}

/// OnExitRecovery, RestoreCwnd(): once, when the recovery is over. A window that is lower later grows by the
/// acknowledged data.
#[test]
fn a_recovery_restores_the_window_once() {
    let mut flow = Flow::cruising();
    let before = flow.bbr.cwnd();
    flow.bbr.on_congestion(Congestion::Timeout, &path(50), flow.now);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(PACKET));
    for (in_recovery, window) in [(true, 4 * PACKET), (true, 5 * PACKET), (false, before.get())] {
        let sample = Delivery { in_recovery, ..flow.amid(PACKET) };
        flow.ack(sample, MS(1), BDP);
        assert_eq!(flow.bbr.cwnd(), Bytes::new(window));
    }
    flow.until(State::ProbeBwUp, BDP);
    flow.lose(101_000, 50_000);
    flow.until(State::ProbeBwCruise, 80_000);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(85_000));
    flow.until(State::ProbeBwRefill, 80_000);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(86_000));
}

/// CheckDrainDone(): by the data in flight, or after three round trips.
#[test]
fn drain_ends_at_the_product() {
    for (in_flight, drains) in [(BDP, true), (BDP + 1, false)] {
        let mut flow = Flow::on(MS(10), BDP);
        flow.fill();
        let v = flow.ack(flow.amid(PACKET), MS(1), in_flight);
        assert_eq!(v.state != State::Drain, drains);
    }
    let mut flow = Flow::on(MS(10), BDP);
    flow.fill();
    for _ in 0..3 {
        assert_eq!(flow.round(2 * BDP).state, State::Drain);
    }
    assert_eq!(flow.round(2 * BDP).state, State::ProbeBwDown);
}

/// The model before any sample, and the demands on the transport.
#[test]
fn nothing_is_bounded_at_first() {
    let mut flow = Flow::on(MS(10), BDP);
    let v = flow.bbr.view();
    assert_eq!((v.bw_shortterm, v.inflight_shortterm, v.inflight_longterm), (None, None, None));
    assert_eq!(flow.bbr.base_rtt_estimate(), None);
    assert_eq!(flow.bbr.ssthresh(), None);
    flow.round(BDP);
    assert_eq!(flow.bbr.base_rtt_estimate(), Some(MS(10)));
    for (rack, recovery) in [(true, Recovery::Rack), (false, Recovery::Sack)] {
        let config = Config { rack, ..Config::default() };
        let demands = config.build(Bytes::new(PACKET)).expect("valid").capabilities();
        assert_eq!((demands.recovery, demands.marks), (recovery, Marks::Nothing));
        assert!(demands.deliveries && !demands.proportional);
    }
}
