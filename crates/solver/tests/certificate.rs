//! The certificate must be right about wrong answers.

use crate::common::{Random, mixed_problem, random_problem};
use crate::double::Double;
use accord_solver::{Certificate, Demand, Problem, Routes, Settings, Status, solve};

fn log_weights(problem: &Problem) -> Vec<f64> {
    let weight = |demand: &Demand| match *demand {
        Demand::Log { weight } => weight,
        _ => unreachable!("the random problems are weighted proportional fairness"),
    };
    problem.demands().iter().map(weight).collect()
}

/// Rates w/q at given prices.
fn demanded(problem: &Problem, prices: &[f64]) -> Vec<f64> {
    let path_prices = problem.routes().path_prices(prices);
    log_weights(problem).iter().zip(path_prices).map(|(w, q)| w / q).collect()
}

fn utility(problem: &Problem, rates: &[f64]) -> f64 {
    log_weights(problem).iter().zip(rates).map(|(w, x)| w * x.ln()).sum()
}

#[test]
fn perturbed_prices_are_found_out() {
    let problem = random_problem(11, 200, 40);
    let solution = solve(&problem, &Settings::default());
    assert!(solution.certificate.worst() <= 1e-12);
    let mut random = Random::new(12);
    for size in [1e-5, 1e-4, 1e-3, 1e-2, 0.1] {
        let prices: Vec<f64> =
            solution.prices.iter().map(|p| p * (1.0 + size * random.between(-1.0, 1.0))).collect();
        let certificate = Certificate::new(&problem, &demanded(&problem, &prices), &prices);
        // The loads move in proportion to the prices.
        assert!(certificate.stationarity <= 1e-15);
        assert!(certificate.primal > 0.05 * size, "{size}: {certificate:?}");
        assert!(certificate.primal < 5.0 * size, "{size}: {certificate:?}");
        assert!(certificate.relative_gap > 0.05 * size, "{size}: {certificate:?}");

        // The old rates do not belong to the new prices.
        let certificate = Certificate::new(&problem, &solution.rates, &prices);
        assert!(certificate.stationarity > 0.1 * size, "{size}: {certificate:?}");
    }
}

#[test]
fn each_condition_has_its_residual() {
    // One link of 10 shared by two: 5 each at price 1/5.
    let routes = Routes::new(2, [vec![0], vec![0, 1]]).unwrap();
    let demands = vec![Demand::Log { weight: 1.0 }; 2];
    let problem = Problem::new(routes, vec![10.0, 20.0], demands).unwrap();
    let check = |rates: [f64; 2], prices: [f64; 2]| Certificate::new(&problem, &rates, &prices);
    let right = check([5.0, 5.0], [0.2, 0.0]);
    assert!(right.worst() < 5e-15, "{right:?}");
    // Rates that the prices do not call for: 4 instead of 5.
    assert!((check([4.0, 4.0], [0.2, 0.0]).stationarity - 0.2).abs() < 1e-12);
    // Too low a price: 10 each into 10.
    let over = check([10.0, 10.0], [0.1, 0.0]);
    assert!((over.primal - 1.0).abs() < 1e-12, "{over:?}");
    assert!(over.complementarity == 0.0 && over.dual == 0.0);
    // Too high a price: 2.5 each, half of the link unused, all paid for it.
    let under = check([2.5, 2.5], [0.4, 0.0]);
    assert!((under.complementarity - 1.0).abs() < 1e-12 && under.primal == 0.0, "{under:?}");
    // A price on a link that is not full: 0.1 of 0.3, 20 - 10/3.
    let idle = check([5.0, 10.0 / 3.0], [0.2, 0.1]);
    assert!((idle.complementarity - 0.1 * (20.0 - 10.0 / 3.0)).abs() < 1e-12, "{idle:?}");
    // A negative price.
    let negative = check([5.0, 10.0], [0.2, -0.1]);
    assert_eq!((negative.dual, negative.relative_gap), (0.5, f64::INFINITY));
}

#[test]
fn what_is_no_number_is_infinitely_bad() {
    let problem = random_problem(13, 50, 10);
    let good = solve(&problem, &Settings::default());
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
        for link in 0..10 {
            let mut prices = good.prices.clone();
            prices[link] = bad;
            assert_eq!(Certificate::new(&problem, &good.rates, &prices).worst(), f64::INFINITY);
        }
        let mut rates = good.rates.clone();
        rates[7] = bad;
        assert_eq!(Certificate::new(&problem, &rates, &good.prices).worst(), f64::INFINITY);
    }
    let free = vec![0.0; 10];
    assert_eq!(Certificate::new(&problem, &good.rates, &free).gap, f64::INFINITY);
    // NaN as the price of an unused link.
    let routes = Routes::new(2, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![1.0; 2], vec![Demand::Log { weight: 1.0 }]).unwrap();
    assert!(Certificate::new(&problem, &[1.0], &[1.0, 0.0]).worst() <= 5e-15);
    assert_eq!(Certificate::new(&problem, &[1.0], &[1.0, f64::NAN]).worst(), f64::INFINITY);
}

/// The closed form c·p/W − 1 + ln k, and the bound that it implies: U(x*) − U(x/k) ≤ W·gap.
#[test]
fn the_gap_bounds_what_is_missing() {
    for seed in 0..20 {
        let problem = random_problem(seed, 100, 30);
        let total: f64 = log_weights(&problem).iter().sum();
        let best = solve(&problem, &Settings::default());
        let mut random = Random::new(1000 + seed);
        for size in [1e-4, 0.01, 0.5] {
            let prices: Vec<f64> = best
                .prices
                .iter()
                .map(|p| (p + 0.01 * size) * (1.0 + size * random.unit()))
                .collect();
            let rates = demanded(&problem, &prices);
            let certificate = Certificate::new(&problem, &rates, &prices);
            let loads = problem.routes().loads(&rates);
            let k = loads.iter().zip(problem.capacities()).map(|(y, c)| y / c).fold(1.0, f64::max);
            let spent: f64 = prices.iter().zip(problem.capacities()).map(|(p, c)| p * c).sum();
            let expected = spent / total - 1.0 + f64::ln(k);
            assert!((certificate.relative_gap - expected).abs() < 1e-12 + 1e-9 * expected);
            let scaled: Vec<f64> = rates.iter().map(|x| x / k).collect();
            let missing = utility(&problem, &best.rates) - utility(&problem, &scaled);
            assert!(missing > 0.0 && missing <= certificate.gap, "{missing} {certificate:?}");
        }
    }
}

/// One flow of 1 + 1/q over a link of 2, of which it asks δ more. Scaled down it has the optimal rate, so
/// only the difference of ln(x − 1) less the payment for the excess is left, of second order. A bound that
/// scaled the contract as well would be of first order, or infinite.
#[test]
fn what_a_contract_insists_on_is_not_scaled() {
    let limit = f64::INFINITY;
    let demand = Demand::Contract { weight: 1.0, floor: 1.0, limit, cap: f64::INFINITY };
    let routes = Routes::new(1, [[0]]).unwrap();
    for excess in [0.1f64, 1e-3, 1e-5] {
        let problem = Problem::new(routes.clone(), vec![2.0], vec![demand]).unwrap();
        let rate = 2.0 + excess;
        let found = Certificate::new(&problem, &[rate], &[1.0 / (rate - 1.0)]);
        let exact = excess.ln_1p() - excess / (rate - 1.0);
        assert!((found.gap - exact).abs() < 1e-14 + 1e-9 * exact, "{excess}: {found:?}");
    }
}

/// Twenty thousand flows at their caps take a fifth of a link, and one flow the rest. The rounding of the
/// load is not charged at the marginal utility of the flows at their caps.
#[test]
fn flows_at_their_caps_do_not_loosen_the_gap() {
    let (weight, cap) = (24e3, 1e5);
    let mut demands = vec![Demand::Capped { weight, cap }; 20_000];
    demands.push(Demand::Log { weight });
    let routes = Routes::new(1, vec![[0]; 20_001]).unwrap();
    let problem = Problem::new(routes, vec![1e10], demands).unwrap();
    let solution = solve(&problem, &Settings::default());
    assert_eq!(solution.status, Status::Solved, "{:?}", solution.certificate);
    assert!((solution.rates[20_000] / 8e9 - 1.0).abs() < 1e-9);
}

/// Two capped flows and one of 1/q ask δ more than their link of 3. The optimum is not further away than the
/// gap, which is that of the last flow alone.
#[test]
fn what_a_cap_holds_is_not_scaled() {
    let capped = Demand::Capped { weight: 1e6, cap: 1.0 };
    let demands = vec![capped, capped, Demand::Log { weight: 1.0 }];
    let problem = Problem::new(Routes::new(1, [[0], [0], [0]]).unwrap(), vec![3.0], demands);
    let problem = problem.unwrap();
    for excess in [0.1f64, 1e-3, 1e-5] {
        let rate = 1.0 + excess;
        let found = Certificate::new(&problem, &[1.0, 1.0, rate], &[1.0 / rate]);
        let exact = excess.ln_1p() - excess / rate;
        assert!(found.gap >= exact, "{excess}: {found:?}");
        assert!(found.gap < exact + 1e-13 + 1e-9 * exact, "{excess}: {found:?}");
    }
}

/// Rates that no price lowers are more than the link: no scaling makes them feasible.
#[test]
fn an_overload_of_fixed_rates_has_no_finite_gap() {
    let routes = || Routes::new(1, [[0]]).unwrap();
    let of = |capacity| Problem::new(routes(), vec![capacity], vec![Demand::Fixed { rate: 2.0 }]);
    let gap = |problem: Problem| Certificate::new(&problem, &[2.0], &[0.0]).gap;
    assert_eq!(gap(of(1.9).unwrap()), f64::INFINITY);
    assert_eq!(gap(of(2.0).unwrap()), 0.0);
}

/// A fixed rate takes its part of the capacity, and changes no residual of the others.
#[test]
fn a_fixed_rate_is_no_spending() {
    let log = Demand::Log { weight: 1.0 };
    let alone = Problem::new(Routes::new(1, [[0]]).unwrap(), vec![2.0], vec![log]).unwrap();
    let routes = Routes::new(1, [[0], [0]]).unwrap();
    let both = Problem::new(routes, vec![10.0], vec![log, Demand::Fixed { rate: 8.0 }]).unwrap();
    for price in [0.4, 0.5, 0.6] {
        let rate = 1.0 / price;
        let expected = Certificate::new(&alone, &[rate], &[price]);
        let found = Certificate::new(&both, &[rate, 8.0], &[price]);
        let near = |is: f64, should: f64| {
            assert!((is - should).abs() < 1e-13, "{price}: {found:?} {expected:?}");
        };
        near(found.relative_gap, expected.relative_gap);
        near(found.complementarity, expected.complementarity);
    }
}

/// Each kind of demand, at prices off the optimum: the optimal rates are where they must be.
#[test]
fn rate_bounds_hold_and_shrink() {
    for problem in [random_problem(21, 100, 30), mixed_problem(21, 100, 30)] {
        let best = solve(&problem, &Settings::default());
        assert_eq!(best.status, Status::Solved);
        let mut random = Random::new(22);
        let mut widths = Vec::new();
        for size in [0.1, 1e-3, 1e-5, 0.0] {
            let prices: Vec<f64> =
                best.prices.iter().map(|p| p * (1.0 + size * random.between(-1.0, 1.0))).collect();
            let certificate = Certificate::new(&problem, &best.rates, &prices);
            let mut width: f64 = 0.0;
            for (flow, rate) in best.rates.iter().enumerate() {
                let (low, high) = certificate.rate_bounds(&problem, &prices, flow);
                assert!(
                    low <= *rate && *rate <= high,
                    "{rate} is not in {low} to {high}: {:?}",
                    problem.demands()[flow]
                );
                width = width.max((high - low) / rate.max(1e-3));
            }
            widths.push(width);
        }
        assert!(
            widths[1] < widths[0] && widths[2] < 0.2 * widths[1] && widths[3] < 1e-4,
            "{widths:?}"
        );
    }
}

/// Not so wide either: r − 1 − ln r = gap/w at both ends.
#[test]
fn rate_bounds_of_a_flow_among_a_million() {
    let routes = Routes::new(1, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![1e9], vec![Demand::Log { weight: 1.0 }]).unwrap();
    let with_gap = |gap| {
        let certificate = Certificate::new(&problem, &[1.0], &[1.0]);
        Certificate { gap, ..certificate }.rate_bounds(&problem, &[1.0], 0)
    };
    let (low, high) = with_gap(1e-12 * 1e6);
    assert!((high - 1.0014).abs() < 2e-5 && (low - 0.9986).abs() < 2e-5, "{low} {high}");
    let (low, high) = with_gap(1e-6 * 1e6);
    assert!(low <= 0.158594 && low > 0.1583 && (3.146193..3.15).contains(&high), "{low} {high}");
    assert_eq!(with_gap(f64::INFINITY), (0.0, 1e9));
    let (low, high) = with_gap(1e4);
    assert!(low == 0.0 && high > 1e4, "{low} {high}");
}

/// Kinks: a flow at its cap, a contract at its knee, a Reno flow that sends nothing.
#[test]
fn rate_bounds_at_kinks() {
    let one = |demand, q: f64, gap| {
        let routes = Routes::new(1, [[0]]).unwrap();
        let problem = Problem::new(routes, vec![1e9], vec![demand]).unwrap();
        let certificate = Certificate::new(&problem, &[demand.rate(q)], &[q]);
        Certificate { gap, ..certificate }.rate_bounds(&problem, &[q], 0)
    };
    let near = |found: (f64, f64), low: f64, high: f64| {
        assert!(
            (found.0 / low - 1.0).abs() < 1e-3 && (found.1 / high - 1.0).abs() < 1e-14,
            "{found:?}"
        );
    };
    // At half the price of the knee, the area grows only beyond it: it is ln 2 - 1/2 at 1.
    let capped = Demand::Capped { weight: 1.0, cap: 1.0 };
    near(one(capped, 0.5, 1e-12), 1.0 - 2e-6 * 0.5, 1.0);
    // Area over q from 1 on, less x(q - 1/2): with q = 2 it is 1/2 + ln 2 - 3/4.
    near(one(capped, 0.5, 0.5 + f64::ln(2.0) - 0.75), 0.5, 1.0);
    near(one(capped, 0.0, 1.0 + f64::ln(2.0) - 1.0), 0.5, 1.0);
    let reno = Demand::Reno { round_trip: 1.0 };
    let (low, high) = one(reno, 1.5, 1e-3);
    assert!(low == 0.0 && high > 0.0 && high < 0.01, "{low} {high}");
    assert_eq!(one(Demand::Fixed { rate: 3.0 }, 2.0, 1.0), (3.0, 3.0));
}

/// The gap is rounded outward: above its value in twice the precision, and by little.
#[test]
fn the_gap_is_a_proof() {
    for seed in 0..20 {
        let problem = random_problem(seed, 300, 60);
        let best = solve(&problem, &Settings::default());
        let mut random = Random::new(seed);
        for size in [0.0, 1e-15, 1e-12, 1e-6, 0.1] {
            let prices: Vec<f64> =
                best.prices.iter().map(|p| p * (1.0 + size * random.between(-1.0, 1.0))).collect();
            let certificate = Certificate::new(&problem, &best.rates, &prices);
            let (exact, spending) = exact_gap(&problem, &prices);
            let room = (certificate.gap - exact) / spending;
            // The closed form is itself good to 1e-30; only ln k is an f64.
            let logarithm = 1e-15 * exact / spending;
            assert!(room > -logarithm, "{size}: {room}");
            assert!(room < 2e-14 + logarithm, "{size}: {room}");
        }
    }
}

/// W·(c·p/W − 1 + ln k), and W.
fn exact_gap(problem: &Problem, prices: &[f64]) -> (f64, f64) {
    let (mut total, mut spent) = (Double::from(0.0), Double::from(0.0));
    let mut loads = vec![Double::from(0.0); prices.len()];
    for (path, weight) in problem.routes().iter().zip(log_weights(problem)) {
        let q = path
            .iter()
            .fold(Double::from(0.0), |sum, &link| sum.plus(prices[link as usize].into()));
        let rate = Double::from(weight).over(q);
        for &link in path {
            loads[link as usize] = loads[link as usize].plus(rate);
        }
        total = total.plus(weight.into());
    }
    let mut excess: f64 = 0.0;
    for ((&price, &capacity), load) in prices.iter().zip(problem.capacities()).zip(loads) {
        spent = spent.plus(Double::from(price).times(capacity.into()));
        excess = excess.max(load.plus((-capacity).into()).value() / capacity);
    }
    let total_value = total.value();
    let gap = spent.minus(total).value() + total_value * excess.ln_1p();
    (gap, total_value)
}

/// The example that docs/src/theory/certificate.md computes by hand.
#[test]
fn the_example_by_hand() {
    let routes = Routes::new(2, [vec![0, 1], vec![0], vec![1]]).unwrap();
    let demands = vec![Demand::Log { weight: 24.0 }; 3];
    let problem = Problem::new(routes, vec![9.0; 2], demands).unwrap();
    let prices = [5.0, 4.0];
    let rates = demanded(&problem, &prices);
    let wrong = Certificate::new(&problem, &rates, &prices);
    assert!((wrong.gap - 9.0).abs() < 1e-12 && (wrong.relative_gap - 0.125).abs() < 1e-14);
    let (low, high) = wrong.rate_bounds(&problem, &prices, 0);
    let rate = 24.0 / 9.0;
    assert!((low / rate - 0.364).abs() < 2e-3 && (high / rate - 2.132).abs() < 2e-3);
    assert!(low < 3.0 && 3.0 < high);
    let right = Certificate::new(&problem, &[3.0, 6.0, 6.0], &[4.0, 4.0]);
    assert!(right.worst() < 1e-14);
}
