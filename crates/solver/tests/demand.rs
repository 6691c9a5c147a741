//! The parts of a demand must belong together: slope, inverse and integral of one function.

use accord_solver::Demand;
use proptest::prelude::*;

fn demand() -> impl Strategy<Value = Demand> {
    let size = || 0.1..10.0;
    let size_or_none = || prop_oneof![Just(f64::INFINITY), size()];
    prop_oneof![
        size().prop_map(|weight| Demand::Log { weight }),
        (size(), size()).prop_map(|(weight, cap)| Demand::Capped { weight, cap }),
        (size(), 0.0..10.0, size_or_none(), size_or_none()).prop_map(
            |(weight, floor, limit, cap)| Demand::Contract {
                weight,
                floor,
                limit,
                cap: f64::max(floor, cap),
            }
        ),
        (size(), prop_oneof![Just(1.0), 0.2..6.0])
            .prop_map(|(weight, alpha)| Demand::AlphaFair { weight, alpha }),
        (size(), -5.0..0.1).prop_map(|(weight, bias)| Demand::Vegas { weight, bias }),
        (size(), -0.1..5.0, size_or_none())
            .prop_map(|(weight, surcharge, cap)| { Demand::Surcharged { weight, surcharge, cap } }),
        size().prop_map(|round_trip| Demand::Reno { round_trip }),
        (0.0..10.0).prop_map(|rate| Demand::Fixed { rate }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Sums over many short pieces, each between the rates at its two ends.
    #[test]
    fn the_integral_is_that_of_the_rate(demand in demand(), from in 0.2..5.0, to in 0.2..5.0) {
        let pieces = 20_000;
        let at = |i: usize| from + (to - from) * i as f64 / f64::from(pieces);
        let rate = |i| demand.rate(at(i));
        let sum: f64 = (0..pieces as usize).map(|i| 0.5 * (rate(i) + rate(i + 1))).sum();
        let expected = sum * (to - from) / f64::from(pieces);
        let found = demand.integral(from, to);
        // A rate that falls lies between the sums over the left ends and over the right ends; the
        // mean of the two is far better, but not where Reno's rate ends as a root does.
        let half = 0.5 * (rate(0) - rate(pieces as usize)) * (to - from) / f64::from(pieces);
        let smooth = if matches!(demand, Demand::Reno { .. }) { 1.0 } else { 1e-5 };
        let near = (smooth * expected.abs()).min(half.abs() + 1e-12 * expected.abs());
        prop_assert!((found - expected).abs() <= near, "{found} {expected}");
        // However short, and in pieces or not.
        let short = demand.integral(from, from * (1.0 + 1e-12));
        let step = from * (1.0 + 1e-12) - from;
        prop_assert!((short - demand.rate(from) * step).abs() <= 1e-9 * short.abs());
        prop_assert!((found + demand.integral(to, from)).abs() <= 1e-12 * found.abs());
    }

    #[test]
    fn the_slope_is_that_of_the_rate(demand in demand(), q in 0.2..5.0) {
        let step = 1e-5 * q;
        let (left, right) = (demand.rate(q - step), demand.rate(q + step));
        prop_assert!(left >= right);
        let chord = (left - right) / (2.0 * step);
        // At a kink the chord is between the slopes of either side.
        let (a, b) = (demand.slope(q - step), demand.slope(q + step));
        let (low, high) = (a.min(b), a.max(b));
        let near = 1e-6 * (high + 1e-3);
        prop_assert!(low - near <= chord && chord <= high + near, "{low} {chord} {high}");
    }

    #[test]
    fn the_price_is_the_inverse_of_the_rate(demand in demand(), q in 0.2..5.0) {
        let rate = demand.rate(q);
        if demand.slope(q) > 0.0 {
            let price = demand.price(rate);
            prop_assert!((price - q).abs() <= 1e-9 * q, "{price} {q}");
        }
        // At the price of a rate the flow sends it; above, less.
        prop_assert!(rate == 0.0 || demand.price(rate * 0.99) >= q);
        prop_assert!(demand.price(rate * 1.01 + 0.01) <= q);
        prop_assert!(rate >= demand.least());
        prop_assert!((demand.rate(1e12) - demand.least()).abs() <= 1e-1);
    }
}

#[test]
fn contracts_as_the_paper_has_them() {
    // [Har02 eqs. 12-16], x̂ = 4, ā = 2, A = 6: the limit rules from q = 1 on.
    let contract = Demand::Contract { weight: 2.0, floor: 4.0, limit: 6.0, cap: f64::INFINITY };
    assert_eq!(contract.rate(0.5), 8.0);
    assert_eq!(contract.rate(1.0), 6.0);
    assert_eq!(contract.rate(2.0), 3.0);
    assert_eq!((contract.price(8.0), contract.price(3.0)), (0.5, 2.0));
    // 4·0.5 + 2·ln 2 up to the knee, then 6·ln 2.
    let expected = 2.0 + 8.0 * std::f64::consts::LN_2;
    assert!((contract.integral(0.5, 2.0) - expected).abs() < 1e-14);
    assert_eq!(contract.least(), 0.0);
    let unlimited =
        Demand::Contract { weight: 2.0, floor: 4.0, limit: f64::INFINITY, cap: f64::INFINITY };
    assert_eq!((unlimited.rate(1e9), unlimited.least()), (4.0 + 2e-9, 4.0));
}

/// The price at a cap is the highest at which the flow still sends at it.
#[test]
fn a_cap_is_reached_up_to_its_price() {
    let (weight, cap, surcharge) = (3.0, 2.0, 0.5);
    let beyond = cap * (1.0 + f64::EPSILON);
    let capped = Demand::Capped { weight, cap };
    assert_eq!((capped.price(cap), capped.price(beyond)), (1.5, 0.0));
    let surcharged = Demand::Surcharged { weight, surcharge, cap };
    assert_eq!((surcharged.price(cap), surcharged.price(beyond)), (1.0, 0.0));
    let contract = Demand::Contract { weight, floor: 1.0, limit: f64::INFINITY, cap };
    assert_eq!((contract.price(cap), contract.price(beyond)), (3.0, 0.0));
    let fixed = Demand::Fixed { rate: cap };
    assert_eq!((fixed.price(cap), fixed.price(beyond)), (f64::INFINITY, 0.0));
}
