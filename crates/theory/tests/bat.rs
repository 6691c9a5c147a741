//! The max-min reference with floors, and the stability of CLCC's step, against their definitions.

use accord_solver::Status;
use accord_theory::bat::{Aggregate, fair_rates, step_is_stable};
use proptest::prelude::*;

fn any_aggregate() -> impl Strategy<Value = Aggregate> {
    let cap = prop_oneof![Just(f64::INFINITY), 0.5..200.0f64];
    (0.1..10.0f64, 0.0..40.0f64, cap).prop_map(|(weight, floor, cap)| Aggregate {
        weight,
        floor,
        cap,
    })
}

proptest! {
    /// The definition: no aggregate could have more without a loss of one that has no more for its weight
    /// and is above its floor.
    #[test]
    fn rates_are_max_min_fair_above_their_floors(
        aggregates in prop::collection::vec(any_aggregate(), 1..8),
    ) {
        let capacity = 100.0;
        let rates = fair_rates(capacity, &aggregates).expect("a problem");
        let floors: f64 = aggregates.iter().map(|a| a.floor.min(a.cap)).sum();
        if floors > capacity {
            let infeasible = matches!(rates.status, Status::Infeasible { .. });
            prop_assert!(infeasible);
            return Ok(());
        }
        let sum: f64 = rates.rates.iter().sum();
        let all: Vec<_> = aggregates.iter().zip(&rates.rates).collect();
        prop_assert!(sum <= capacity * (1.0 + 1e-9));
        for (a, x) in &all {
            prop_assert!(**x >= a.floor.min(a.cap) - 1e-9 && **x <= a.cap + 1e-9);
            if **x < a.cap - 1e-9 {
                prop_assert!((sum - capacity).abs() < 1e-6, "it could have more");
                for (b, y) in &all {
                    let takes = **y > b.floor + 1e-9;
                    prop_assert!(!takes || **y / b.weight <= **x / a.weight + 1e-9);
                }
            }
        }
    }

    /// The roots are found by running the recursion.
    #[test]
    fn the_step_is_stable_where_the_recursion_dies_out(
        gain in 0.01..4.0f64, elasticity in 0.1..3.0f64, memory in 0.0..1.0f64,
    ) {
        let (mut before, mut now) = (1.0, 1.0);
        for _ in 0..20_000 {
            let next = now - gain * elasticity * ((1.0 - memory) * now + memory * before);
            (before, now) = (now, next);
        }
        // Too near to the border for this number of steps.
        let l = gain * elasticity;
        let margin = (1.0 - l * memory).abs().min((2.0 - l * (1.0 - 2.0 * memory)).abs());
        prop_assume!(margin > 0.01 && l > 0.01);
        prop_assert_eq!(step_is_stable(gain, elasticity, memory), f64::abs(now) < 1e-3);
    }
}

#[test]
fn traffic_that_does_not_respond_takes_gains_up_to_two() {
    assert!(step_is_stable(1.99, 1.0, 0.0) && !step_is_stable(2.01, 1.0, 0.0));
    // Half of the measurement is old: overshoot comes by delay, no longer by the sign.
    assert!(step_is_stable(1.99, 1.0, 0.5) && !step_is_stable(2.01, 1.0, 0.5));
    assert!(!step_is_stable(1.5, 1.0, 1.0));
    // Without a gain an error stays, and it grows if the sign of the response is the wrong one.
    assert!(!step_is_stable(0.0, 1.0, 0.0) && !step_is_stable(0.5, -1.0, 0.0));
}
