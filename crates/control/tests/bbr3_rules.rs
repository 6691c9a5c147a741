//! BBRv3's rules to the byte and the round trip, by the pseudocode of draft-ietf-ccwg-bbr-06. Numbers
//! such as A.5 are those of the cases in its appendix A.

use crate::common::PACKET;
use crate::flow::{BDP, Flow, MS};
use accord_control::bbr3::State;
use accord_control::{Controller, Delivery, Lost};
use accord_units::{Bytes, Duration, Rate};

/// A.5, A.7 and IsTimeToGoDown(): where the window stops the flow at inflight_longterm, a plateau
/// says nothing of the path. Where it does not stop the flow, or is below that bound, it ends UP.
#[test]
fn a5_a_plateau_ends_the_probe_unless_the_long_term_bound_makes_it() {
    for (longterm, window_limited, ends) in [
        (100_000, true, false),
        (100_000, false, true),
        (600_000, true, true),
        (600_000, false, true),
    ] {
        let mut flow = Flow::probing_again(longterm);
        let states: Vec<State> = (0..4)
            .map(|_| {
                let sample = Delivery { window_limited, ..flow.sample() };
                flow.ack(sample, flow.rtt, 80_000).state
            })
            .collect();
        // Three round trips without a quarter more.
        assert_eq!(states[..2], [State::ProbeBwUp; 2]);
        assert_eq!(states[2] != State::ProbeBwUp, ends, "{longterm} {window_limited}");
        if !ends {
            assert_eq!(states[3], State::ProbeBwUp);
            assert_eq!(flow.bbr.view().full_bw_count, 0);
        }
    }
}

/// A.15, ProbeInflightLongtermUpward(): in the rounds of UP the bound grows by 1, 2, 4, 8 packets
/// per window, as long as the flow uses it.
#[test]
fn a15_the_long_term_bound_grows_by_a_step_that_doubles_per_round() {
    for used in [true, false] {
        let mut flow = Flow::probing_again(100_000);
        let mut bounds = Vec::new();
        for _ in 0..4 {
            let window = flow.bbr.cwnd().get();
            let sample = Delivery { window_limited: used, ..flow.amid(window) };
            let v = flow.ack(sample, flow.rtt.mul_f64(0.5), 80_000);
            bounds.push(v.inflight_longterm.expect("a bound").get() / PACKET);
            let next = Delivery { window_limited: used, ..flow.sample() };
            flow.ack(next, flow.rtt.mul_f64(0.5), 80_000);
        }
        if used { assert_eq!(bounds, [101, 103, 107, 115]) } else { assert_eq!(bounds, [100; 4]) }
    }
}

/// A.15: a sample above the bound without losses raises it to the data in flight.
#[test]
fn a_safe_sample_raises_the_long_term_bound() {
    let mut flow = Flow::bounded(100_000);
    for (tx_in_flight, lost, bound) in [
        (99_999, 0, 100_000),
        (110_000, 0, 110_000),
        // 2 % are safe, a byte more is not.
        (120_000, 2401, 110_000),
        (120_000, 2400, 120_000),
    ] {
        let sample = Delivery { tx_in_flight, lost, ..flow.sample() };
        let v = flow.ack(sample, flow.rtt, BDP);
        assert_eq!(v.inflight_longterm, Some(Bytes::new(bound)));
    }
}

/// A.6, A.21 and HandleInflightTooHigh(): the data in flight at the loss, or Beta of the target if that is
/// more. The target is the product, or the window if that is less.
#[test]
fn a6_a_loss_leaves_beta_of_the_target_in_flight_at_least() {
    for (tx_in_flight, bound) in [
        // 49 packets before the lost one: 0.7 of 125 are more.
        (50_000, 87_500),
        (88_500, 87_500),
        (89_500, 88_500),
    ] {
        let mut flow = Flow::cruising();
        flow.until(State::ProbeBwUp, BDP);
        let v = flow.lose(tx_in_flight, 10 * PACKET);
        assert_eq!(v.state, State::ProbeBwDown);
        assert_eq!(v.inflight_longterm, Some(Bytes::new(bound)));
    }
    // A window of 14 packets, since a packet was acknowledged per round trip, then one more for each.
    let mut flow = Flow::on(MS(10), BDP);
    for _ in 0..4 {
        flow.round(3 * BDP);
    }
    flow.until(State::ProbeBwUp, 10_000);
    let window = flow.bbr.cwnd().get();
    assert!(window < BDP, "{window}");
    let v = flow.lose(5000, 1000);
    let bound = v.inflight_longterm.expect("a bound");
    assert_eq!(bound, Bytes::new(window * 7 / 10));
}

/// InflightAtLoss(): of 100 packets before the lost one, 1.5 were lost; (2 − 1.5)/0.98 more cross
/// 2 %.
#[test]
fn the_bound_is_where_the_losses_crossed_the_threshold() {
    let mut flow = Flow::cruising();
    flow.until(State::ProbeBwUp, BDP);
    let v = flow.lose(101_000, 2500);
    assert_eq!(v.inflight_longterm, Some(Bytes::new(100_510)));
}

/// A.8 and IsTimeToCruise(): no more in flight than 85 % of inflight_longterm, and than the product.
#[test]
fn a8_cruise_begins_with_headroom() {
    for (longterm, most) in [(100_000, 85_000), (140_000, 119_000), (200_000, BDP)] {
        let mut flow = Flow::bounded(longterm);
        for _ in 0..3 {
            assert_eq!(flow.round(most + 1).state, State::ProbeBwDown, "{longterm}");
        }
        assert_eq!(flow.round(most).state, State::ProbeBwCruise, "{longterm}");
        // It is the bound of the window, too [§5.6.4.7].
        let window = flow.bbr.cwnd().get();
        assert!(window <= longterm * 85 / 100, "{window}");
    }
}

/// IsTimeToGoDown(), §5.3.3.6: after a probe that lost too much, the next one stops at its bound. Its
/// round trip over without losses, the flow probes again at once.
#[test]
fn a_probe_after_one_too_high_stops_at_the_bound_and_goes_on() {
    for (in_flight, stops) in [(100_000, true), (99_999, false)] {
        let mut flow = Flow::bounded(100_000);
        flow.until(State::ProbeBwUp, 80_000);
        let v = flow.ack(flow.amid(PACKET), MS(1), in_flight);
        assert_eq!(v.state == State::ProbeBwDown, stops, "{in_flight}");
        if stops {
            assert_eq!(flow.round(in_flight).state, State::ProbeBwRefill);
        }
    }
    // Losses in that round trip end it.
    let mut flow = Flow::bounded(100_000);
    flow.until(State::ProbeBwUp, 80_000);
    let v = flow.ack(flow.amid(PACKET), MS(1), 100_000);
    assert_eq!(v.state, State::ProbeBwDown);
    flow.lose(100_000, 10_000);
    assert_eq!(flow.round(100_000).state, State::ProbeBwDown);
}

/// A.10 and HandleProbeRTT(): 200 ms and a round trip after half of the product is in flight.
#[test]
fn a10_probe_rtt_lasts_for_its_time_and_a_round_trip() {
    let probing = |rtt: u64| {
        let mut flow = Flow::on(MS(rtt), BDP);
        flow.fill();
        // Too much in flight for CRUISE: nothing is due but ProbeRTT.
        let mut rounds = 0;
        while flow.round(2 * BDP).state != State::ProbeRtt {
            rounds += 1;
            assert!(rounds < 600);
        }
        // A byte more than half of the product.
        for _ in 0..40 {
            assert_eq!(flow.round(BDP / 2 + 1).state, State::ProbeRtt);
        }
        assert_eq!(flow.bbr.cwnd(), Bytes::new(BDP / 2));
        assert_eq!(flow.round(BDP / 2).state, State::ProbeRtt);
        flow
    };
    // The round trip is the longer one.
    let mut flow = probing(400);
    for ms in (10..400).step_by(10) {
        let v = flow.ack(flow.amid(PACKET), MS(10), BDP / 2);
        assert_eq!(v.state, State::ProbeRtt, "{ms} ms");
    }
    let v = flow.ack(flow.sample(), MS(10), BDP / 2);
    assert_eq!(v.state, State::ProbeBwCruise);
    // The 200 ms are.
    let mut flow = probing(10);
    for ms in (10..=200).step_by(10) {
        assert_eq!(flow.round(BDP / 2).state, State::ProbeRtt, "{ms} ms");
    }
    let v = flow.ack(flow.amid(PACKET), Duration::from_ps(1), BDP / 2);
    assert_eq!(v.state, State::ProbeBwCruise);
    // The window is as before.
    assert!(flow.bbr.cwnd().get() >= 2 * BDP, "{}", flow.bbr.cwnd());
}

/// CheckProbeRTT(): five seconds after the last smaller round-trip time, and not before.
#[test]
fn a10_probe_rtt_begins_five_seconds_after_a_smaller_sample() {
    let mut flow = Flow::on(MS(100), BDP);
    flow.round(BDP);
    let first = flow.now;
    flow.rtt = MS(99);
    flow.round(BDP);
    assert_eq!(flow.bbr.view().min_rtt, MS(99));
    let smaller = flow.now;
    assert_eq!(smaller.since(first), MS(99));
    flow.rtt = MS(100);
    while flow.now.since(smaller) < MS(5000) {
        assert_ne!(flow.round(BDP).state, State::ProbeRtt);
    }
    assert_eq!(flow.now.since(smaller), MS(5000));
    let v = flow.ack(flow.amid(PACKET), Duration::from_ps(1), BDP);
    assert_eq!(v.state, State::ProbeRtt);
    // The smallest one is remembered for ten.
    assert_eq!(v.min_rtt, MS(99));
}

/// A.12, A.13 and UpdateACKAggregation(): what arrived beyond the bandwidth since the last time at
/// which less did, the most of ten round trips. It widens the window.
#[test]
fn a13_the_window_holds_what_acknowledgements_bring_at_once() {
    let mut flow = Flow::cruising();
    // The whole round trips of Startup are forgotten.
    for _ in 0..10 {
        flow.round(BDP);
    }
    let grow = |flow: &mut Flow, acked: u64, after: u64| {
        let v = flow.ack(flow.amid(acked), MS(after), BDP);
        v.extra_acked.get()
    };
    // 12 500 bytes are expected per millisecond. After a silence all of a batch is more than that.
    assert_eq!(grow(&mut flow, 20_000, 10), 20_000);
    // 62 500 expected since, and less arrived: it starts again.
    assert_eq!(grow(&mut flow, 80_000, 5), 80_000);
    // 110 000 in a millisecond.
    assert_eq!(grow(&mut flow, 30_000, 1), 97_500);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(2 * BDP + 97_500));
    // Single packets: that batch counts for ten round trips, its own one among them.
    for round in 1..10 {
        let v = flow.round(BDP);
        assert_eq!(v.state, State::ProbeBwCruise);
        assert_eq!(v.extra_acked, Bytes::new(97_500), "round {round}");
        assert_eq!(flow.bbr.cwnd(), Bytes::new(2 * BDP + 97_500));
    }
    assert_eq!(flow.round(BDP).extra_acked, Bytes::new(PACKET));
    assert_eq!(flow.bbr.cwnd(), Bytes::new(2 * BDP + PACKET));
    // It is a window at most.
    assert_eq!(grow(&mut flow, 900_000, 1), 2 * BDP + PACKET);
}

/// A.12: in Startup a round trip is remembered.
#[test]
fn a12_startup_remembers_the_batches_of_a_round_trip() {
    let mut flow = Flow::on(MS(10), BDP);
    flow.round(BDP);
    let v = flow.ack(flow.amid(9000), MS(1), BDP);
    assert_eq!(v.extra_acked, Bytes::new(9000));
    assert_eq!(flow.round(BDP).extra_acked, Bytes::new(PACKET));
}

/// A.22, UpdateMaxBw() and AdaptLongTermModel(): a sample that the application limited counts if it is the
/// largest. The filter goes on to the next cycle by samples that it did not limit only.
#[test]
fn a22_limited_samples_count_where_they_are_the_largest() {
    let mbps = |n: u64| Rate::from_bps(n * 1_000_000);
    let mut flow = Flow::cruising();
    let round = |flow: &mut Flow, rate: u64, app_limited: bool| {
        let sample = Delivery { rate: mbps(rate), app_limited, ..flow.sample() };
        flow.ack(sample, flow.rtt, 80_000)
    };
    // A cycle whose probe ends by a loss, and the round trip after it. Its samples are these.
    let cycle = |flow: &mut Flow, rate: u64, app_limited: bool| {
        while round(flow, rate, app_limited).state != State::ProbeBwUp {}
        flow.lose(101_000, 10_000);
        round(flow, rate, app_limited).max_bw
    };
    assert_eq!(cycle(&mut flow, 100, false), mbps(100));
    // Limited ones do not lower it, however many cycles pass.
    for _ in 0..3 {
        assert_eq!(cycle(&mut flow, 80, true), mbps(100));
    }
    // Two cycles of others do. Nothing is left of 80 Mbps then.
    assert_eq!(cycle(&mut flow, 60, false), mbps(60));
    // A larger one counts.
    assert_eq!(round(&mut flow, 61, true).max_bw, mbps(61));
}

/// PickProbeWait() and IsRenoCoexistenceProbeTime(): a probe comes as many round trips after the last one
/// as the product has packets, 62 or 63 at most, as a coin decides.
#[test]
fn probes_are_63_round_trips_apart_at_most() {
    for (packets, most) in [(125, 63), (64, 63), (63, 63), (20, 20)] {
        // Longer ones would find 2 to 3 s over first.
        let mut flow = Flow::on(MS(10), packets * PACKET);
        flow.fill();
        let mut seen = Vec::new();
        for _ in 0..6 {
            flow.until(State::ProbeBwUp, 10_000);
            flow.lose(500_000, 400_000);
            assert_eq!(flow.bbr.view().state, State::ProbeBwDown);
            seen.push(flow.until(State::ProbeBwRefill, 10_000));
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen, [most - 1, most], "{packets} packets");
    }
}

/// PickProbeWait(): between 2 and 3 s where round trips are long, evenly spread.
#[test]
fn probes_are_two_to_three_seconds_apart_on_long_paths() {
    let waits = (0..40).map(|start| {
        let mut flow = Flow::on(MS(100), BDP);
        flow.now += MS(37 * start);
        flow.fill();
        flow.round(BDP);
        let down = flow.now;
        // Within one round trip, so these do not count.
        while flow.ack(flow.amid(PACKET), MS(1), BDP).state != State::ProbeBwRefill {
            assert!(flow.now.since(down) < MS(3100));
        }
        flow.now.since(down).as_secs_f64()
    });
    let waits: Vec<f64> = waits.collect();
    assert!(waits.iter().all(|w| (2.0..3.002).contains(w)), "{waits:?}");
    for part in [0.25, 0.5, 0.75] {
        let below = waits.iter().filter(|w| **w < 2.0 + part).count() as f64 / 40.0;
        assert!((below - part).abs() < 0.2, "{below} below {part}");
    }
}

/// CheckStartupHighLoss(), §5.3.1.3: six ranges in a round trip of recovery, with more than 2 % lost.
#[test]
fn losses_in_six_ranges_end_startup() {
    for (ranges, lost, in_recovery, ends) in [
        (6, 2501, true, true),
        (5, 2501, true, false),
        (6, 2500, true, false),
        (6, 2501, false, false),
    ] {
        let mut flow = Flow::on(MS(10), BDP);
        flow.round(BDP);
        for range in 0..ranges {
            // Three packets in a row are one range.
            for number in 100 + 4 * range..103 + 4 * range {
                let packet = Lost {
                    number,
                    total: flow.total,
                    size: PACKET,
                    tx_in_flight: BDP,
                    lost: PACKET,
                    app_limited: false,
                };
                flow.bbr.on_lost(&packet, flow.now);
            }
        }
        let sample = Delivery {
            lost,
            in_recovery,
            tx_in_flight: BDP,
            delivered: BDP + 5000,
            ..flow.sample()
        };
        let v = flow.ack(sample, flow.rtt, 2 * BDP);
        let state = if ends { State::Drain } else { State::Startup };
        assert_eq!(v.state, state, "{ranges} {lost} {in_recovery}");
        // The data delivered in the round trip, since that is more than the product.
        let bound = ends.then_some(Bytes::new(BDP + 5000));
        assert_eq!(v.inflight_longterm, bound);
        assert_eq!((v.full_bw_reached, v.full_bw_now), (ends, ends));
        // The ranges are of one round trip.
        if !ends {
            flow.lose(BDP, 9999);
            let next = Delivery { lost: 9999, in_recovery: true, ..flow.sample() };
            assert_eq!(flow.ack(next, flow.rtt, 2 * BDP).state, State::Startup);
        }
    }
}

/// The same losses after Startup bound nothing for long.
#[test]
fn losses_in_six_ranges_are_for_startup_only() {
    let mut flow = Flow::cruising();
    for _ in 0..7 {
        flow.lose(BDP, 10 * PACKET);
        flow.total += 2 * PACKET;
    }
    let lossy = Delivery { lost: 10 * PACKET, in_recovery: true, ..flow.sample() };
    let v = flow.ack(lossy, flow.rtt, BDP);
    assert_eq!(v.state, State::ProbeBwCruise);
    assert_eq!(v.inflight_longterm, None);
}
