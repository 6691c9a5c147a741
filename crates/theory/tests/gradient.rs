//! The duality model of Vegas: gradient projection ends where the solver says.
//!
//! Packets and ms throughout, so a rate of 1 is 1000 KB/s with packets of 1 KB.

use accord_solver::{Demand, Problem, ProblemError, Routes, Settings, solve};
use accord_theory::GradientProjection;

#[track_caller]
fn near(value: f64, expected: f64, digit: f64) {
    assert!((value - expected).abs() <= 0.51 * digit, "{value} is not {expected}");
}

/// LA, SF and CH with one flow of each class [Low02 fig. 4], whose weights follow from their propagation
/// delays.
fn backbone(weight: impl Fn(f64) -> f64) -> Problem {
    let paths: [&[u32]; 6] = [&[0, 1], &[1, 2], &[0], &[1], &[2], &[0, 1, 2]];
    let delays = [75.0, 80.0, 15.0, 60.0, 20.0, 100.0];
    let demands = delays.map(|delay| Demand::Log { weight: weight(delay) });
    Problem::new(Routes::new(3, paths).unwrap(), vec![6.0; 3], demands.to_vec()).unwrap()
}

/// Two packets per round trip, and 0.2 packets per ms.
const PF: fn(f64) -> f64 = |_| 2.0;
const WPF: fn(f64) -> f64 = |delay| 0.2 * delay;

#[test]
fn gradient_projection_converges_within_its_bound() {
    for (weight, least) in [(PF, 2.0), (WPF, 3.0)] {
        let problem = backbone(weight);
        let best = solve(&problem, &Settings::default());
        let method = GradientProjection::new(&problem, 6.0).unwrap();
        let off = |gamma: f64, steps: usize| {
            let mut prices = vec![1.0; 3];
            for _ in 0..steps {
                method.step(gamma, &mut prices);
            }
            let rates = method.rates(&prices).into_iter().zip(&best.rates);
            rates.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
        };
        let gamma = method.largest_step();
        // 2·αd·c/(L̄·S̄·x̄²): three links in the longest path, four flows at the most shared.
        near(gamma, 2.0 * least * 6.0 / (3.0 * 4.0 * 36.0), 1e-12);
        assert!(off(gamma, 30_000) < 1e-9, "{}", off(gamma, 30_000));
        assert!(off(gamma, 100) > 1e-3, "it is slow");
    }
    let routes = Routes::new(1, [[0]]).unwrap();
    let reno = Demand::Reno { round_trip: 1.0 };
    let problem = Problem::new(routes, vec![1.0], vec![reno]).unwrap();
    let error = GradientProjection::new(&problem, 1.0).unwrap_err();
    assert!(matches!(error, ProblemError::WrongDemand { flow: 0, .. }));
}

/// The bound of [Low02 theorem 2] and the limit of the step, with x̄ one percent above the largest
/// rate of the equilibrium and prices that start as far from it. On one link of equal flows the step
/// is stable up to 2·p*, which is the bound with x̄ = x*. Prints the table of docs/src/theory/solver.md.
#[test]
fn the_bound_on_the_step_is_the_limit_of_one_link_and_conservative_on_several() {
    let log = |weight| Demand::Log { weight };
    let of = |links: usize, paths: &[&[u32]]| {
        let routes = Routes::new(links, paths).unwrap();
        Problem::new(routes, vec![6.0; links], vec![log(2.0); paths.len()]).unwrap()
    };
    let row = of(3, &[&[0, 1, 2], &[0], &[1], &[2]]);
    let cases = [
        ("one link, 3 flows", of(1, &[&[0_u32] as &[u32]; 3]), 1.0, 1.05),
        ("one link, 50 flows", of(1, &[&[0_u32] as &[u32]; 50]), 1.0, 1.05),
        ("three links in a row, 4 flows", row, 4.0, 5.0),
        ("LA, SF and CH, PF", backbone(PF), 8.0, 9.0),
        ("LA, SF and CH, WPF", backbone(WPF), 10.0, 11.0),
    ];
    println!("| network | bound | converges up to | ratio |\n|---|---|---|---|");
    for (name, problem, below, above) in &cases {
        let best = solve(problem, &Settings::default());
        let largest = best.rates.iter().copied().fold(0.0, f64::max);
        let method = GradientProjection::new(problem, 1.01 * largest).unwrap();
        let converges = |gamma: f64| {
            let mut prices: Vec<f64> = best.prices.iter().map(|p| 1.01 * p).collect();
            for _ in 0..40_000 {
                method.step(gamma, &mut prices);
            }
            let mut rates = method.rates(&prices).into_iter().zip(&best.rates);
            rates.all(|(a, b)| (a / b - 1.0).abs() < 1e-6)
        };
        let bound = method.largest_step();
        assert!(converges(bound), "{name}: at the bound");
        let (mut low, mut high) = (1.0, 100.0);
        while high - low > 1e-3 * low {
            let middle = 0.5 * (low + high);
            if converges(middle * bound) {
                low = middle;
            } else {
                high = middle;
            }
        }
        println!("| {name} | {bound:.4} | {:.4} | {low:.2} |", low * bound);
        assert!((*below..*above).contains(&low), "{name}: {low}");
    }
}

#[test]
fn delay_of_the_backbone() {
    let problem = backbone(PF);
    let best = solve(&problem, &Settings::default());
    // A fiftieth of table III's flows and capacities: a fiftieth of the queues.
    let expected = [165.8359, 268.3282, 165.8359].map(|queue| queue / 50.0);
    for (price, expected) in best.prices.iter().zip(expected) {
        near(6.0 * price, expected, 1e-5);
    }
    // Little's law [Low02 eq. 22]: each flow has its target queued.
    for (rate, q) in (best.rates.iter()).zip(problem.routes().path_prices(&best.prices)) {
        near(rate * q, 2.0, 1e-9);
    }
}

/// sources r and s with the same path price: rates as Low02 says of PF and WPF [Low02 §3.2, eq. 26].
#[test]
fn estimation_errors_distort_fairness_as_equation_26() {
    let routes = Routes::new(1, [[0], [0]]).unwrap();
    let with = |demands: [Demand; 2]| {
        let problem = Problem::new(routes.clone(), vec![6.0], demands.to_vec()).unwrap();
        solve(&problem, &Settings::default()).rates
    };
    // PF with the same absolute error: rates as 1 + ε. Delays 10 and 40, error 5 ms.
    let rates = with([Demand::vegas(0.2, 10.0, 0.5), Demand::vegas(0.05, 40.0, 0.125)]);
    near(rates[0] / rates[1], 1.5 / 1.125, 1e-10);
    // WPF without error: rates as propagation delays.
    let rates = with([Demand::vegas(0.2, 10.0, 0.0), Demand::vegas(0.2, 40.0, 0.0)]);
    near(rates[1] / rates[0], 4.0, 1e-11);
    // Equation 26 itself.
    let rates = with([Demand::vegas(0.2, 10.0, 0.7), Demand::vegas(0.3, 40.0, -0.2)]);
    let (left, right) =
        (1.7 * 0.2 * 10.0 / rates[0] + 0.7 * 10.0, 0.8 * 0.3 * 40.0 / rates[1] - 0.2 * 40.0);
    near(left / right, 1.0, 1e-10);
}

/// Rates are at most x̄, and no price falls below zero [Low02 eqs. 11, 12].
#[test]
fn a_step_keeps_rates_and_prices_within_bounds() {
    let routes = Routes::new(1, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![10.0], vec![Demand::Log { weight: 0.25 }]).unwrap();
    let projection = GradientProjection::new(&problem, 5.0).unwrap();
    assert_eq!(projection.rates(&[0.0]), [5.0]);
    assert_eq!(projection.rates(&[0.125]), [2.0]);
    let mut prices = [0.125];
    projection.step(1.0, &mut prices);
    assert_eq!(prices, [0.0]);
}
