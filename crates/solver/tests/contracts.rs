//! Contracted rates and their boundary conditions [Har02 eqs. 9-18]: parking lots against the
//! closed form, buffers against the optimality conditions written out.

use accord_solver::{Certificate, Demand, Problem, Routes, Settings, Solution, Status, solve};
use proptest::prelude::*;

/// x̂, ā, A of a long flow over all bottlenecks.
type Long = (f64, f64, f64);

fn contract((floor, weight, limit): Long) -> Demand {
    Demand::Contract { weight, floor, limit, cap: f64::INFINITY }
}

/// Long flows over a row of bottlenecks, and cross flows on each.
fn parking_lot(capacity: f64, longs: &[Long], cross: &[Vec<f64>]) -> Problem {
    let links = cross.len() as u32;
    let mut flows: Vec<(Vec<u32>, Demand)> =
        (longs.iter()).map(|&long| ((0..links).collect(), contract(long))).collect();
    for (link, weights) in (0..links).zip(cross) {
        let log = |&weight: &f64| (vec![link], Demand::Log { weight });
        flows.extend(weights.iter().map(log));
    }
    let (paths, demands): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
    let routes = Routes::new(cross.len(), paths).expect("sound paths");
    Problem::new(routes, vec![capacity; cross.len()], demands).expect("parameters in range")
}

/// [Har02 eq. 18] for those long flows that are below their limits, and for the others, at them,
/// contracted rate 0 and weight A. Rates of the long flows, then of the cross flows.
fn target_rates(capacity: f64, longs: &[Long], at_limit: u32, cross: &[Vec<f64>]) -> Vec<f64> {
    let long = longs.iter().enumerate().map(|(j, &(floor, weight, limit))| {
        if at_limit >> j & 1 == 1 { (0.0, limit) } else { (floor, weight) }
    });
    let long: Vec<(f64, f64)> = long.collect();
    let contracted: f64 = long.iter().map(|(floor, _)| floor).sum();
    let of_long: f64 = long.iter().map(|(_, weight)| weight).sum();
    let of_cross: Vec<f64> = cross.iter().map(|weights| weights.iter().sum()).collect();
    let all = of_long + of_cross.iter().sum::<f64>();
    let free = capacity - contracted;
    let mut rates: Vec<f64> =
        (long.iter()).map(|(floor, weight)| floor + weight / all * free).collect();
    for (weights, of_link) in cross.iter().zip(of_cross) {
        let share = |weight| weight / of_link * (1.0 - of_long / all) * free;
        rates.extend(weights.iter().map(share));
    }
    rates
}

fn solved(problem: &Problem) -> Solution {
    let solution = solve(problem, &Settings::default());
    assert_eq!(solution.status, Status::Solved, "{problem:?} {solution:?}");
    solution
}

fn weight() -> std::ops::Range<f64> {
    0.2..5.0
}

fn lot() -> impl Strategy<Value = (Vec<Long>, Vec<Vec<f64>>)> {
    let limit = prop_oneof![1 => Just(f64::INFINITY), 2 => 0.5..60.0];
    let long = (prop_oneof![1 => Just(0.0), 3 => 0.0..60.0], weight(), limit);
    let longs = proptest::collection::vec(long, 1..5);
    let cross = proptest::collection::vec(proptest::collection::vec(weight(), 1..4), 1..6);
    (longs, cross)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Of all ways to say which long flows are at their limits, exactly one agrees with the rates
    /// that eq. 18 then gives; it is the one that the solver has found without asking.
    #[test]
    fn random_parking_lots_are_those_of_equation_18((longs, cross) in lot()) {
        let capacity = 100.0;
        let floors = longs.iter().filter(|long| long.2.is_infinite()).map(|long| long.0);
        prop_assume!(floors.sum::<f64>() < 0.99 * capacity);
        let problem = parking_lot(capacity, &longs, &cross);
        let solution = solved(&problem);
        let mut agreeing = 0;
        for at_limit in 0..1u32 << longs.len() {
            let rates = target_rates(capacity, &longs, at_limit, &cross);
            if rates[longs.len()] <= 0.0 {
                continue;
            }
            // The path of a long flow costs the sum of the prices of each link's first cross flow.
            let mut first = longs.len();
            let mut q = 0.0;
            for weights in &cross {
                q += weights[0] / rates[first];
                first += weights.len();
            }
            let agrees = longs.iter().enumerate().all(|(j, &(floor, weight, limit))| {
                let wants = floor * q + weight;
                if at_limit >> j & 1 == 1 { wants >= limit } else { wants <= limit }
            });
            if agrees {
                agreeing += 1;
                for (found, expected) in solution.rates.iter().zip(&rates) {
                    prop_assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
                }
            }
        }
        prop_assert_eq!(agreeing, 1);
    }

    /// The conditions under which rates and prices are the unique optimum of max Σ U(x) − Σ P·z:
    /// each flow sends its demand at its price, a link with spare capacity costs nothing, an
    /// overloaded link costs its limit.
    #[test]
    fn full_buffers_meet_the_optimality_conditions(
        (longs, cross) in lot(),
        limits in proptest::collection::vec(prop_oneof![Just(f64::INFINITY), 0.01..10.0], 6),
    ) {
        let limits = limits[..cross.len()].to_vec();
        let floors = longs.iter().filter(|long| long.2.is_infinite()).map(|long| long.0);
        let insisted = floors.sum::<f64>();
        prop_assume!(insisted < 99.0 || limits.iter().all(|limit| limit.is_finite()));
        let problem = parking_lot(100.0, &longs, &cross).with_price_limits(limits.clone()).expect("positive");
        let solution = solved(&problem);
        let q: f64 = solution.prices.iter().sum();
        for (&rate, &(floor, weight, limit)) in solution.rates.iter().zip(&longs) {
            let wants = f64::min(limit / q, floor + weight / q);
            prop_assert!((rate / wants - 1.0).abs() < 1e-9, "{rate} {wants}");
        }
        let mut cross_rates = solution.rates[longs.len()..].iter();
        for ((weights, &price), &limit) in cross.iter().zip(&solution.prices).zip(&limits) {
            let mut load: f64 = solution.rates[..longs.len()].iter().sum();
            for weight in weights {
                let rate = cross_rates.next().expect("one for each");
                prop_assert!((rate * price / weight - 1.0).abs() < 1e-9);
                load += rate;
            }
            prop_assert!(price > 0.0 && price <= limit);
            prop_assert!(load > 100.0 * (1.0 - 1e-9), "{load}");
            prop_assert!(load < 100.0 * (1.0 + 1e-9) || price == limit, "{load}");
        }
    }
}

fn one_link(capacity: f64, demands: Vec<Demand>) -> Problem {
    let routes = Routes::new(1, vec![vec![0]; demands.len()]).expect("sound paths");
    Problem::new(routes, vec![capacity], demands).expect("parameters in range")
}

/// Two contracts of 60 and 70 on 100, targets of 3 and 1, a full buffer at the price 0.1: their
/// demands are 60 + 30 and 70 + 10; a third flow without contract demands 20.
#[test]
fn a_full_buffer_loses_what_oversubscribed_contracts_want_beyond_it() {
    let forever = f64::INFINITY;
    let demands = vec![
        contract((60.0, 3.0, forever)),
        contract((70.0, 1.0, forever)),
        Demand::Log { weight: 2.0 },
    ];
    let without = one_link(100.0, demands);
    let status = solve(&without, &Settings::default()).status;
    let Status::Infeasible { insisted, .. } = status else {
        panic!("{status:?}");
    };
    assert_eq!(insisted, 130.0);

    let with = without.with_price_limits(vec![0.1]).expect("positive");
    let solution = solved(&with);
    assert_eq!(solution.prices, [0.1]);
    for (found, expected) in solution.rates.iter().zip([90.0, 80.0, 20.0]) {
        assert!((found - expected).abs() < 1e-12);
    }
    // The certificate sees an answer that is off: too low a price, or one beyond the buffer.
    for price in [0.09, 0.11] {
        let q: f64 = price;
        let rates = [60.0 + 3.0 / q, 70.0 + 1.0 / q, 2.0 / q];
        assert!(Certificate::new(&with, &rates, &[price]).worst() > 0.05);
    }
    // The shortfall of the best rates is known exactly: D(p) − D(P) = ∫ (y − c) dp from p to P.
    let q: f64 = 0.09;
    let rates = [60.0 + 3.0 / q, 70.0 + 1.0 / q, 2.0 / q];
    let gap = Certificate::new(&with, &rates, &[q]).gap;
    let missing = 30.0 * (0.1 - q) + 6.0 * (0.1 / q).ln();
    assert!(gap >= missing && gap < 1.3 * missing, "{gap} {missing}");
}

/// A buffer that holds the equilibrium's queue changes nothing; one that does not lets each keep
/// what fits: w/P, whose sum is more than the link has.
#[test]
fn a_buffer_binds_only_if_the_queue_does_not_fit() {
    let demands: Vec<Demand> = [1.0, 2.0, 5.0].map(|weight| Demand::Log { weight }).into();
    // The queue of all three is a delay of 0.08.
    let fits = one_link(100.0, demands.clone()).with_price_limits(vec![0.0801]);
    assert_eq!(solved(&fits.expect("positive")).prices, [0.08]);
    let full = one_link(100.0, demands).with_price_limits(vec![0.05]);
    let rates = solved(&full.expect("positive")).rates;
    for (found, expected) in rates.iter().zip([20.0, 40.0, 100.0]) {
        assert!((found - expected).abs() < 1e-12);
    }
}

/// A contract far above the capacity is a share of weight A, whatever it says [Har02 §VI-A].
#[test]
fn a_contract_far_above_capacity_is_its_limit() {
    let others = |first| vec![first, Demand::Log { weight: 3.0 }, Demand::Log { weight: 6.0 }];
    for floor in [1e3, 1e9, 1e18] {
        let problem = one_link(100.0, others(contract((floor, 3.0, 15.0))));
        let rates = solved(&problem).rates;
        for (found, expected) in rates.iter().zip([62.5, 12.5, 25.0]) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{floor}: {found}");
        }
    }
    // A limit below the target is the target; a contract of nothing is a share.
    for (long, expected) in
        [((0.0, 3.0, 1.0), 10.0), ((40.0, 3.0, 1.0), 10.0), ((0.0, 1.0, 9.0), 10.0)]
    {
        let rates = solved(&one_link(100.0, others(contract(long)))).rates;
        assert!((rates[0] / expected - 1.0).abs() < 1e-12, "{long:?}: {}", rates[0]);
    }
}

#[test]
fn limits_that_are_none_are_refused() {
    let problem = || one_link(1.0, vec![Demand::Log { weight: 1.0 }]);
    for limit in [0.0, -1.0, f64::NAN] {
        assert!(problem().with_price_limits(vec![limit]).is_err());
    }
    assert!(problem().with_price_limits(vec![]).is_err());
}

/// Behind a full buffer of delay 0.1 the flow would send 50; the next link has 7, and gains nothing
/// from the losses before it: its price makes up for the rest, 5/7 − 0.1.
#[test]
fn behind_a_full_buffer_the_next_link_rules() {
    let routes = Routes::new(2, [vec![0, 1]]).expect("sound path");
    let problem = Problem::new(routes, vec![1.0, 7.0], vec![Demand::Log { weight: 5.0 }]);
    let problem = problem.and_then(|problem| problem.with_price_limits(vec![0.1, 1e6]));
    let solution = solved(&problem.expect("in range"));
    assert!((solution.rates[0] - 7.0).abs() < 1e-12);
    assert_eq!(solution.prices[0], 0.1);
    assert!((solution.prices[1] - (5.0 / 7.0 - 0.1)).abs() < 1e-12);
}

/// x = min(cap, floor + w/q): an application that sends no more than its contract, or hardly more, sends
/// all its data, and the other flow takes the rest.
#[test]
fn a_demand_below_its_contract_leaves_the_rest_to_others() {
    let flow =
        |floor: f64, cap: f64| Demand::Contract { weight: 3.0, floor, limit: f64::INFINITY, cap };
    let others = [Demand::Log { weight: 3.0 }, flow(1.0, f64::INFINITY)];
    for other in others {
        for more in [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3] {
            let solution = solved(&one_link(10.0, vec![flow(2.0, 2.0 * (1.0 + more)), other]));
            let cap = 2.0 * (1.0 + more);
            for (found, expected) in solution.rates.iter().zip([cap, 10.0 - cap]) {
                assert!((found - expected).abs() < 1e-9, "{more}: {solution:?}");
            }
        }
    }
    let alone = solved(&one_link(10.0, vec![flow(2.0, 2.0)]));
    assert_eq!((alone.rates[0], alone.prices[0]), (2.0, 0.0));
    let mut ten = vec![Demand::Log { weight: 1.0 }; 9];
    ten.push(flow(1.0, 1.0));
    let ten = solved(&one_link(10.0, ten));
    assert!(ten.rates[..9].iter().all(|x| (x - 1.0).abs() < 1e-9), "{ten:?}");
    // A parking lot: the long flow is constant, and each link's other flow has the rest.
    let long = (vec![0, 1], flow(2.0, 2.0));
    let cross = (0..2).map(|link| (vec![link], Demand::Log { weight: 1.0 }));
    let (paths, demands): (Vec<_>, Vec<_>) = std::iter::once(long).chain(cross).unzip();
    let routes = Routes::new(2, paths).expect("sound paths");
    let lot = solved(&Problem::new(routes, vec![10.0, 6.0], demands).expect("in range"));
    for (found, expected) in lot.rates.iter().zip([2.0, 8.0, 4.0]) {
        assert!((found - expected).abs() < 1e-9, "{lot:?}");
    }
}

#[test]
fn a_floor_above_its_cap_is_refused() {
    let routes = Routes::new(1, [[0]]).expect("a path");
    let demand = Demand::Contract { weight: 1.0, floor: 2.0, limit: f64::INFINITY, cap: 1.0 };
    let error = Problem::new(routes, vec![10.0], vec![demand]).expect_err("the cap is below");
    assert_eq!(error.to_string(), "flow 0: cap must be the floor at least, not 1");
}
