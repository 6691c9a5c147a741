//! The duality model of Vegas: its dynamics end where the solver says, and its tables come out.
//!
//! Packets and ms throughout, so a rate of 1 is 1000 KB/s with packets of 1 KB.

use crate::common::{Random, random_problem};
use accord_solver::{Demand, Problem, ProblemError, Routes, Settings, Status, solve};
use accord_theory::duality::{
    GradientProjection, Rem, Thresholds, VegasNetwork, backlogs, fairness_inequality, jain_index,
    newcomers, overflowing, persistent_congestion,
};

#[track_caller]
fn near(value: f64, expected: f64, digit: f64) {
    assert!((value - expected).abs() <= 0.51 * digit, "{value} is not {expected}");
}

/// LA, SF and CH with one flow of each class [Low02 fig. 4], and their propagation delays.
fn backbone(thresholds: Thresholds) -> (Problem, Vec<f64>) {
    let paths: [&[u32]; 6] = [&[0, 1], &[1, 2], &[0], &[1], &[2], &[0, 1, 2]];
    let delays = vec![75.0, 80.0, 15.0, 60.0, 20.0, 100.0];
    let demands = delays.iter().map(|&delay| Demand::Log { weight: thresholds.weight(delay) });
    let routes = Routes::new(3, paths).unwrap();
    let problem = Problem::new(routes, vec![6.0; 3], demands.collect()).unwrap();
    (problem, delays)
}

const PF: Thresholds = Thresholds::PerRoundTrip { packets: 2.0 };
const WPF: Thresholds = Thresholds::PerTime { rate: 0.2 };

#[test]
fn gradient_projection_converges_within_its_bound() {
    for thresholds in [PF, WPF] {
        let (problem, _) = backbone(thresholds);
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
        let least = if thresholds == PF { 2.0 } else { 3.0 };
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
        ("LA, SF and CH, PF", backbone(PF).0, 8.0, 9.0),
        ("LA, SF and CH, WPF", backbone(WPF).0, 10.0, 11.0),
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

/// Windows move by 1/D, so Vegas ends in a neighbourhood of the equilibrium [Low02 theorem 1];
/// a smaller γ leaves the rates where they are and makes the queues longer [Low02 §2.5].
#[test]
fn the_vegas_network_settles_around_the_equilibrium() {
    for thresholds in [PF, WPF] {
        for gamma in [1.0, 0.25] {
            let (problem, delays) = backbone(thresholds);
            let best = solve(&problem, &Settings::default());
            let mut network = VegasNetwork::new(&problem, delays.clone(), gamma).unwrap();
            let (settle, mean) = (400_000, 100_000);
            let (mut rates, mut round_trips) = (vec![0.0; 6], vec![0.0; 6]);
            for step in 0..settle + mean {
                network.step();
                if step >= settle {
                    let now = network.rates().into_iter().zip(network.round_trips());
                    for (flow, (rate, round_trip)) in now.enumerate() {
                        rates[flow] += rate / f64::from(mean);
                        round_trips[flow] += round_trip / f64::from(mean);
                    }
                }
            }
            let queuing = problem.routes().path_prices(&best.prices);
            for flow in 0..6 {
                let rate = rates[flow] / best.rates[flow] - 1.0;
                assert!(rate.abs() < 0.02, "{thresholds:?} {gamma} {flow}: {rate}");
                let expected = queuing[flow] / gamma;
                let delay = (round_trips[flow] - delays[flow]) / expected - 1.0;
                assert!(delay.abs() < 0.05, "{thresholds:?} {gamma} {flow}: {delay}");
            }
        }
    }
    let (problem, _) = backbone(PF);
    let error = VegasNetwork::new(&problem, vec![1.0; 5], 1.0).unwrap_err();
    assert_eq!(error.to_string(), "5 propagation delays or targets for 6 flows");
    assert!(VegasNetwork::new(&problem, vec![0.0; 6], 1.0).is_err());
}

#[test]
fn delay_and_loss_of_the_backbone() {
    let (problem, _) = backbone(PF);
    let best = solve(&problem, &Settings::default());
    // A fiftieth of table III's flows and capacities: a fiftieth of the queues.
    let expected = [165.8359, 268.3282, 165.8359].map(|queue| queue / 50.0);
    let found = backlogs(problem.capacities(), &best.prices);
    for (found, expected) in found.iter().zip(expected) {
        near(*found, expected, 1e-5);
    }
    let with = |buffer: f64| overflowing(problem.capacities(), &best.prices, &[buffer; 3]);
    assert_eq!(with(6.0), [] as [usize; 0]);
    assert_eq!(with(5.0), [1]);
    assert_eq!(with(3.0), [0, 1, 2]);
    // Little's law [Low02 eq. 22]: each flow has its target queued.
    for (rate, q) in (best.rates.iter()).zip(problem.routes().path_prices(&best.prices)) {
        near(rate * q, 2.0, 1e-9);
    }
}

/// [Low02 §3.2]: no feasible rates gain in sum of weighted relative changes.
#[test]
fn the_fairness_inequality_holds_for_all_feasible_rates_and_the_right_ones_only() {
    let problem = random_problem(3, 60, 20);
    let weights: Vec<f64> = (problem.demands().iter())
        .map(|demand| match *demand {
            Demand::Log { weight } => weight,
            _ => unreachable!(),
        })
        .collect();
    let fair = solve(&problem, &Settings::default()).rates;
    let mut random = Random::new(4);
    let mut feasible = |at_most: f64| -> Vec<f64> {
        let wish: Vec<f64> = (0..60).map(|_| random.between(1e-3, at_most)).collect();
        let loads = problem.routes().loads(&wish);
        let fits = (problem.capacities().iter().zip(loads)).map(|(c, y)| c / y);
        let scale = fits.fold(f64::INFINITY, f64::min);
        wish.into_iter().map(|x| x * scale).collect()
    };
    for at_most in [0.1, 1.0, 10.0] {
        for _ in 0..200 {
            let rates = feasible(at_most);
            assert!(fairness_inequality(&weights, &fair, &rates) < 0.0);
            // Seen from there, the fair ones are a gain.
            assert!(fairness_inequality(&weights, &rates, &fair) > 0.0);
        }
    }
}

#[test]
fn jain_index_as_defined() {
    assert_eq!(jain_index(&[3.0; 7]), 1.0);
    assert_eq!(jain_index(&[1.0, 0.0, 0.0, 0.0]), 0.25);
    near(jain_index(&[1.0, 2.0, 3.0]), 36.0 / 42.0, 1e-15);
    near(jain_index(&[1e-200, 2e-200, 3e-200]), 36.0 / 42.0, 1e-15);
    assert!(jain_index(&[]).is_nan() && jain_index(&[0.0]).is_nan());
}

/// [Low02 tables V and VI]: recursion and general solver, oracle and each other.
#[test]
fn persistent_congestion_by_recursion_and_by_theorem_3() {
    let delays = [3.33333, 10.0, 21.21649, 39.55393, 69.28511];
    let queues = [20.0, 60.0, 127.2990, 237.3236, 415.7107];
    let rates = [288.662, 404.336, 674.706, 1298.831, 3333.466];
    let periods = persistent_congestion(6.0, 2.0, 10.0, 5);
    let routes = Routes::new(1, vec![[0]; 5]).unwrap();
    let settings = Settings::default();
    let solutions = newcomers(&routes, &[6.0], &[2.0; 5], &[10.0; 5], &settings).unwrap();
    for (t, (period, solution)) in periods.iter().zip(&solutions).enumerate() {
        assert_eq!(solution.status, Status::Solved);
        near(period.queuing_delay, delays[t], 1e-5);
        near(6.0 * period.queuing_delay, queues[t], 1e-4);
        near(solution.prices[0] / period.queuing_delay, 1.0, 1e-10);
        for (a, b) in solution.rates.iter().zip(&period.rates) {
            near(a / b, 1.0, 1e-9);
        }
    }
    for (rate, expected) in periods[4].rates.iter().zip(rates) {
        near(rate * 1e3, expected, 1e-3);
    }
    // [Low02 table VI]: the base round-trip time of each: the queue that it found, 10 ms of propagation,
    // and 0.18 ms of transmission, which the model leaves out.
    for (t, expected) in [10.18, 13.5133, 20.18, 31.3965, 49.7339].into_iter().enumerate() {
        let found = if t == 0 { 0.0 } else { periods[t - 1].queuing_delay };
        near(10.18 + found, expected, 1e-4);
    }
}

/// Many sources: still a root of each period's equation [Low02 eq. 27], written out.
#[test]
fn persistent_congestion_of_many() {
    let periods = persistent_congestion(30.0, 0.5, 40.0, 60);
    let mut found = vec![0.0];
    for period in &periods {
        let p = period.queuing_delay;
        let total: f64 = found.iter().map(|f| 0.5 * (40.0 + f) / (p - f)).sum();
        near(total, 30.0, 1e-9);
        near(period.rates.iter().sum(), 30.0, 1e-9);
        found.push(p);
    }
    // The latest has the most, and the more so the later.
    let last = &periods[59].rates;
    assert!(last.is_sorted() && last[59] > 10.0 * last[0]);
}

/// On a backbone, where there is no recursion: the equilibrium equations of theorem 3.
#[test]
fn newcomers_on_a_network_meet_theorem_3() {
    let (problem, delays) = backbone(PF);
    let alpha: Vec<f64> = delays.iter().map(|d| 2.0 / d).collect();
    let settings = Settings::default();
    let routes = problem.routes();
    let solutions = newcomers(routes, &[6.0; 3], &alpha, &delays, &settings).unwrap();
    let mut errors: Vec<f64> = vec![];
    for (last, solution) in solutions.iter().enumerate() {
        let before = match last {
            0 => 0.0,
            _ => routes.path_prices(&solutions[last - 1].prices)[last],
        };
        errors.push(before / delays[last]);
        let queuing = routes.path_prices(&solution.prices);
        for flow in 0..=last {
            // α = w/d̂ − w/D with w = x·D [Low02 eq. 23].
            let round_trip = delays[flow] + queuing[flow];
            let window = solution.rates[flow] * round_trip;
            let taken = (1.0 + errors[flow]) * delays[flow];
            let difference = window / taken - window / round_trip;
            near(difference / alpha[flow], 1.0, 1e-9);
        }
    }
    assert!(newcomers(routes, &[6.0; 3], &alpha[1..], &delays, &settings).is_err());
}

/// [Low02 table VII, figure 7]: marks at the equilibrium, and the rates that follow from them.
#[test]
fn rem_marks_as_the_oracle_says_and_tells_the_rates() {
    let rem = Rem::new(1.1).unwrap();
    let targets = [10.0, 10.0, 20.0, 10.0, 30.0].map(|delay| 2.0 * delay);
    let marks = [0.2722, 0.4703, 0.7194, 0.7958, 0.9213];
    for sources in 1..=5 {
        let routes = Routes::new(1, vec![[0]; sources]).unwrap();
        let demands = targets[..sources].iter();
        let demands = demands.map(|&weight| Demand::Log { weight }).collect();
        let problem = Problem::new(routes, vec![6.0], demands).unwrap();
        let solution = solve(&problem, &Settings::default());
        let marked = rem.probability(solution.prices[0]);
        near(marked, marks[sources - 1], 1e-4);
        for (rate, target) in solution.rates.iter().zip(targets) {
            near(rem.rate(target, marked) / rate, 1.0, 1e-12);
        }
    }
    // Marks of several links add as prices do [Low02 eq. 32].
    let prices = [0.3, 7.0, 1e-9];
    let links = prices.map(|price| rem.probability(price));
    near(links[0], 1.0 - 1.1_f64.powf(-0.3), 1e-15);
    near(rem.price(rem.end_to_end(links)), 7.3 + 1e-9, 1e-12);
    near(rem.price(links[2]) / 1e-9, 1.0, 1e-12);
    for bad in [1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert_eq!(Rem::new(bad), None);
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

/// [Low02 eqs. 16-19] by hand: a window of 40 packets over 2 units of time is a rate of 20, ten above the
/// capacity, and a price of 0.5·10/10. The window grows by a packet per round trip.
#[test]
fn a_step_of_the_network_is_that_of_the_paper() {
    let routes = Routes::new(1, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![10.0], vec![Demand::Log { weight: 1.0 }]).unwrap();
    let mut network = VegasNetwork::new(&problem, vec![2.0], 0.5).unwrap();
    network.windows = vec![40.0];
    network.step();
    assert_eq!((network.prices[0], network.windows[0]), (0.5, 40.5));
    // The queuing delay is 1, and the path keeps 40.5/3·0.5 packets, more than one.
    network.step();
    assert_eq!(network.prices[0], 0.5 + 0.05 * (13.5 - 10.0));
    assert_eq!(network.windows[0], 40.5 - 1.0 / 3.0);
}

/// Windows whose paths hold their targets stay [Low02 eq. 17], and no price falls below zero
/// [Low02 eqs. 11, 16]: 2 packets over 4 units of time at the price ½, then none over a link of 10.
#[test]
fn a_step_keeps_what_is_in_equilibrium_and_no_price_falls_below_zero() {
    let routes = Routes::new(1, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![10.0], vec![Demand::Log { weight: 0.25 }]).unwrap();
    let mut network = VegasNetwork::new(&problem, vec![2.0], 0.25).unwrap();
    (network.prices, network.windows) = (vec![0.5], vec![2.0]);
    assert_eq!(network.rates(), [0.5]);
    network.step();
    assert_eq!(network.windows, [2.0]);
    (network.prices, network.windows) = (vec![0.125], vec![0.0]);
    network.step();
    assert_eq!(network.prices, [0.0]);

    let projection = GradientProjection::new(&problem, 5.0).unwrap();
    assert_eq!(projection.rates(&[0.0]), [5.0]);
    assert_eq!(projection.rates(&[0.125]), [2.0]);
    let mut prices = [0.125];
    projection.step(1.0, &mut prices);
    assert_eq!(prices, [0.0]);
}

/// A buffer that holds the backlog to the packet does not overflow; and Σ w·(x − x*)/x* in numbers.
#[test]
fn a_full_buffer_and_a_sum_of_relative_changes_by_hand() {
    assert_eq!(backlogs(&[8.0], &[0.5]), [4.0]);
    assert_eq!(overflowing(&[8.0, 8.0], &[0.5, 0.5], &[4.0, 3.5]), [1]);
    assert_eq!(fairness_inequality(&[1.0, 3.0], &[2.0, 4.0], &[1.0, 8.0]), -0.5 + 3.0);
}
