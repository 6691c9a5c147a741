//! The loop of flows that decide once per round trip.

use accord_family::{Pace, Rounds};
use accord_margins::{Loop, largest};
use std::f64::consts::TAU;

const RTT: f64 = 0.1;

/// z² − z + κ = 0 has the roots e^(±iπ/3) at κ = 1, and at κ = ½ the roots e^(±iπ/4)/√2.
#[test]
fn within_a_packet_the_roots_are_in_closed_form() {
    let at = |gain| Loop::within_a_packet(gain, RTT);
    let half = at(0.5);
    assert!((half.root.re * RTT + 0.5 * 2f64.ln()).abs() < 1e-12, "{half:?}");
    assert!((half.root.im * RTT - TAU / 8.0).abs() < 1e-12, "{half:?}");
    assert!((half.factor() - 2.0).abs() < 1e-12 && half.is_stable());
    let one = at(1.0);
    assert!(one.root.re.abs() < 1e-12 && one.is_stable(), "{one:?}");
    assert!((one.frequency - one.root.im).abs() < 1e-9, "{one:?}");
    assert!(!at(1.01).is_stable() && at(1.01).root.re > 0.0);
    // Real roots, the larger of which decays by √¾ at κ = 3/16.
    assert!((at(3.0 / 16.0).root.re * RTT - 0.75f64.ln()).abs() < 1e-12);
}

/// Without a pace and without turns the whole loop is that of a packet.
#[test]
fn a_window_alone_has_the_roots_of_a_packet() {
    let alone = Rounds { pace: Pace::Least, turns: false };
    let at = Loop::whole(alone, 0.5, RTT);
    let roots = Loop::within_a_packet(0.5, RTT).root;
    assert!((at.root - roots).norm() < 1e-2 * roots.norm(), "{at:?}");
    assert!((largest(alone) - 1.0).abs() < 1e-12);
}

/// The logarithm of the size of a deviation after many rounds, the window at first `w` times the
/// outstanding data: the equations of the page of Monaco, deviations counted in the sender's variables.
fn grown(rounds: Rounds, gain: f64, w: f64) -> f64 {
    let (mut window, mut outstanding, mut size) = (w, 1.0f64, 0.0f64);
    let (mut found, mut round_trip) = (0.0f64, 0.0f64);
    for n in 0..400_000 {
        round_trip = match rounds.pace {
            Pace::Latest => found,
            Pace::Smoothed => 0.875 * round_trip + 0.125 * found,
            Pace::Least => f64::NEG_INFINITY,
        };
        let over = (outstanding - window).max(0.0);
        found = if rounds.turns && n % 2 == 1 { outstanding - over } else { outstanding };
        outstanding = (outstanding - over + window - round_trip).min(window);
        window -= gain * found;
        let scale = window.abs().max(outstanding.abs()).max(found.abs());
        size += scale.ln();
        (window, outstanding) = (window / scale, outstanding / scale);
        (found, round_trip) = (found / scale, round_trip / scale);
    }
    size
}

/// A per cent below the limit deviations decay, a per cent above it they grow.
#[test]
fn limits_are_where_iterated_deviations_begin_to_grow() {
    for pace in [Pace::Latest, Pace::Smoothed, Pace::Least] {
        for turns in [true, false] {
            let rounds = Rounds { pace, turns };
            let limit = largest(rounds);
            for w in [1.0, -1.0, 0.3] {
                let below = grown(rounds, 0.99 * limit, w);
                let above = grown(rounds, 1.01 * limit, w);
                assert!(below < 0.0 && above > 0.0, "{rounds:?}, {w}: {below} {above}");
            }
            let below = Loop::whole(rounds, 0.99 * limit, RTT);
            let above = Loop::whole(rounds, 1.01 * limit, RTT);
            assert!(below.is_stable() && below.root.re < 0.0, "{below:?}");
            assert!(!above.is_stable() && above.root.re >= 0.0, "{above:?}");
        }
    }
}

/// At the gain of the papers the loop of each law is stable, whatever the deviation.
#[test]
fn a_gain_of_a_half_is_stable_under_every_law() {
    for pace in [Pace::Latest, Pace::Smoothed, Pace::Least] {
        let rounds = Rounds { pace, turns: true };
        assert!(Loop::whole(rounds, 0.5, RTT).root.re < 0.0, "{pace:?}");
    }
}

/// Growth and frequency of the whole loop are those of the iterated equations, and the frequency of its cycle is
/// that at the limit.
#[test]
fn growth_and_frequency_are_those_of_iterated_deviations() {
    for pace in [Pace::Latest, Pace::Smoothed, Pace::Least] {
        for turns in [true, false] {
            let rounds = Rounds { pace, turns };
            let limit = largest(rounds);
            for part in [0.8, 1.3] {
                let found = Loop::whole(rounds, part * limit, RTT);
                let growth = grown(rounds, part * limit, 1.0) / 400_000.0;
                let off = (found.root.re * RTT - growth).abs();
                assert!(off < 2e-3 + 0.02 * growth.abs(), "{rounds:?}, {part}: {found:?} {growth}");
                let cycle = Loop::whole(rounds, limit, RTT).root.im;
                assert!((found.frequency - cycle).abs() < 1e-9, "{rounds:?}: {found:?}");
            }
            // At the limit the sign of the growth is that of the verdict, whatever a circle that is not
            // whole adds.
            for gain in [limit, limit * (1.0 + 1e-12)] {
                let found = Loop::whole(rounds, gain, RTT);
                assert_eq!(found.is_stable(), found.root.re < 0.0, "{found:?}");
            }
        }
    }
}
