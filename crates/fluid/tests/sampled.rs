//! The loop of a flow that hears one report per round trip.

use accord_family::Reports;
use accord_fluid::Sampled;

const LAW: Reports = Reports {
    clocked: 4.0,
    correction: 0.25,
    weight: 0.5,
};

fn at(share: f64, queued: f64, gain: f64) -> Sampled {
    Sampled::new(&LAW, gain, (share, share), queued, 0.1)
}

/// The limits are eigenvalues of matrices that numpy takes from a loop written apart from this one.
#[test]
fn limits_are_those_of_the_script() {
    for (share, queued, limit) in [
        (1.0, 0.1, 1.00),
        (0.5, 0.1, 2.08),
        (0.2, 0.06, 0.76),
        (0.1, 0.06, 1.07),
        (0.05, 0.06, 2.09),
        (0.02, 0.03, 4.99),
        (0.1, 0.4, 1.40),
        (0.02, 0.005, 1.20),
    ] {
        let found = at(share, queued, 0.5);
        assert!(
            (found.largest - limit).abs() < 0.01,
            "{share} {queued}: {found:?}"
        );
        assert!(found.is_stable());
    }
}

/// A flow alone: y(n+1) = y(n) − κ·y(n−1), stable up to κ = 1, where it swings once in six steps.
#[test]
fn alone_it_is_stable_up_to_a_gain_of_one() {
    let found = at(1.0, 0.1, 1.1);
    assert!((found.largest - 1.0).abs() < 1e-4, "{found:?}");
    assert!(!found.is_stable() && found.root.re > 0.0);
    let sixth = std::f64::consts::TAU / 6.0 / 0.1;
    assert!((found.frequency / sixth - 1.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn the_least_of_the_shares_that_may_move_together_counts() {
    let both = Sampled::new(&LAW, 0.5, (0.05, 1.0), 0.06, 0.1);
    assert!(
        both.largest < 0.7 && (0.1..0.35).contains(&both.share),
        "{both:?}"
    );
}

/// At the gain of the papers it is stable on every path: `accord check` warns beyond that.
#[test]
fn a_gain_of_a_half_is_stable_for_every_share_and_queue() {
    for queued in [0.001, 0.005, 0.02, 0.06, 0.1, 0.2, 0.4, 0.8] {
        let found = Sampled::new(&LAW, 0.5, (1e-3, 1.0), queued, 0.1);
        assert!(found.is_stable(), "{queued}: {found:?}");
    }
}
