//! Is it the optimum? Against a second method, and against the optimality conditions written out.

use crate::barrier;

use crate::common::{Random, mixed_problem, random_problem};
use accord_solver::{Demand, Problem, Routes, Settings, Status, solve, solve_watched};
use std::ops::ControlFlow;

/// A feasible problem of up to 6 links and 9 flows with all that the barrier method knows.
fn small_problem(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let (links, flows) = (1 + random.below(6), 1 + random.below(9));
    let capacities: Vec<f64> = (0..links).map(|_| 10f64.powf(random.between(0.0, 2.0))).collect();
    let narrowest = capacities.iter().copied().fold(f64::INFINITY, f64::min);
    let mut paths = Vec::new();
    let mut demands = Vec::new();
    for _ in 0..flows {
        let hops = 1 + random.below(links);
        paths.push(random.path(links, hops));
        let weight = random.between(0.3, 3.0);
        let part = random.unit() * narrowest / flows as f64;
        demands.push(match random.below(9) {
            0 => Demand::Capped { weight, cap: random.between(0.01, 0.7) * narrowest },
            1 => Demand::Contract { weight, floor: part, limit: f64::INFINITY, cap: f64::INFINITY },
            2 => Demand::Contract {
                weight,
                floor: random.between(0.0, 1.5) * narrowest,
                limit: random.between(0.5, 5.0) * weight,
                cap: f64::INFINITY,
            },
            3 => Demand::Fixed { rate: part },
            4 => Demand::AlphaFair { weight, alpha: random.between(0.4, 3.0) },
            5 => Demand::vegas(weight, 1.0, random.between(-0.5, 2.0)),
            6 => Demand::Reno { round_trip: random.between(0.3, 3.0) },
            _ => Demand::Log { weight },
        });
    }
    Problem::new(Routes::new(links, paths).unwrap(), capacities, demands).unwrap()
}

#[test]
fn a_barrier_method_on_the_rates_agrees() {
    let mut congested = 0;
    for seed in 0..300 {
        let problem = small_problem(seed);
        let solution = solve(&problem, &Settings::default());
        assert_eq!(solution.status, Status::Solved, "seed {seed}: {problem:?} {solution:?}");
        congested += usize::from(solution.prices.iter().any(|&price| price > 0.0));
        for (flow, (found, expected)) in
            solution.rates.iter().zip(barrier::solve(&problem)).enumerate()
        {
            // Reno flows may send nothing at all.
            let close = (found - expected).abs() <= 1e-5 * expected + 1e-7;
            assert!(close, "seed {seed} flow {flow}: {found}, barrier {expected}: {problem:?}");
        }
    }
    assert!(congested > 200, "the problems are too easy to tell anything: {congested}");
}

/// The larger α, the wider prices range: where one flow gets a tenth of what another does, by
/// 10^α.
#[test]
fn fairness_of_any_alpha_is_found() {
    let cases = [0.5, 2.0, 8.0, 16.0, 32.0]
        .into_iter()
        .flat_map(|alpha| (0..200).map(move |seed| (alpha, seed)));
    for (alpha, seed) in cases {
        let size = if seed < 2 { 1000 } else { 100 };
        let problem = random_problem(seed, size, 3 * size / 10);
        for power in [0.0, alpha] {
            let demands = problem.demands().iter().map(|demand| {
                let Demand::Log { weight } = *demand else {
                    unreachable!("the random problems are weighted proportional fairness")
                };
                let weight = weight.powf(power);
                Demand::AlphaFair { weight, alpha }
            });
            let (routes, capacities) = (problem.routes().clone(), problem.capacities().to_vec());
            let fair = Problem::new(routes, capacities, demands.collect()).unwrap();
            let solution = solve(&fair, &Settings::default());
            assert_eq!(
                solution.status,
                Status::Solved,
                "alpha {alpha}, seed {seed}, weights to the {power}: {:?}",
                solution.certificate
            );
        }
    }
}

/// No power of an overload is beyond numbers.
#[test]
fn fairness_of_enormous_alpha_is_an_answer() {
    for alpha in [64.0, 300.0, 1e3, 1e6, 1e300] {
        let problem = random_problem(3, 200, 40);
        let demands = vec![Demand::AlphaFair { weight: 1.0, alpha }; 200];
        let (routes, capacities) = (problem.routes().clone(), problem.capacities().to_vec());
        let fair = Problem::new(routes, capacities, demands).unwrap();
        let solution = solve(&fair, &Settings::default());
        let numbers = |values: &[f64]| values.iter().all(|v| *v >= 0.0 && !v.is_nan());
        assert!(numbers(&solution.rates), "{alpha}: {:?}", solution.rates);
        assert!(solution.prices.iter().all(|p| p.is_finite()), "{alpha}: {:?}", solution.prices);
        let solved = solution.certificate.worst() <= 1e-12;
        assert_eq!(solved, solution.status == Status::Solved, "{alpha}");
    }
}

/// [Xia05 prop. 2 (a)-(d)], each as written there.
#[test]
fn random_networks_meet_the_optimality_conditions() {
    for (seed, flows, links) in [(1, 30, 10), (2, 200, 500), (3, 1000, 200), (4, 5000, 1000)] {
        let problem = random_problem(seed, flows, links);
        let solution = solve(&problem, &Settings::default());
        assert_eq!(solution.status, Status::Solved);
        let mut loads = vec![0.0; links];
        for flow in 0..flows {
            let path = problem.routes().path(flow);
            let price: f64 = path.iter().map(|&link| solution.prices[link as usize]).sum();
            let Demand::Log { weight } = problem.demands()[flow] else { unreachable!() };
            assert!((solution.rates[flow] * price / weight - 1.0).abs() < 1e-12);
            for &link in path {
                loads[link as usize] += solution.rates[flow];
            }
        }
        let mut tight = 0;
        for (link, load) in loads.into_iter().enumerate() {
            let price = solution.prices[link];
            let capacity = problem.capacities()[link];
            assert!(price >= 0.0);
            assert!(load <= capacity * (1.0 + 2e-12), "link {link}: {load} of {capacity}");
            let full = load >= capacity * (1.0 - 1e-9);
            assert!(full || price == 0.0, "link {link} is priced, not full: {price} {load}");
            tight += usize::from(full);
        }
        assert!(tight > links / 10, "only {tight} of {links} links are full");
    }
}

/// One link, so one equation in one unknown: bisection on the price.
#[test]
fn bisection_agrees_on_one_link() {
    let mut random = Random::new(7);
    for case in 0..100 {
        let demands: Vec<Demand> = (0..5)
            .map(|_| {
                let weight = random.between(0.1, 10.0);
                match random.below(4) {
                    2 => Demand::Surcharged {
                        weight,
                        surcharge: random.between(-1.0, 2.0),
                        cap: random.between(1.0, 100.0),
                    },
                    0 => Demand::AlphaFair { weight, alpha: random.between(0.3, 5.0) },
                    1 => Demand::Vegas { weight, bias: random.between(-1.0, 2.0) },
                    _ => Demand::Log { weight },
                }
            })
            .collect();
        // An independent form of the demand of these flows at a price [Low02 eqs. 12, 25].
        let load = |price: f64| -> f64 {
            let rate = |demand: &Demand| match *demand {
                Demand::AlphaFair { weight, alpha } => ((weight.ln() - price.ln()) / alpha).exp(),
                Demand::Vegas { bias, .. } if price <= bias => f64::INFINITY,
                Demand::Vegas { weight, bias } => weight / (price - bias),
                Demand::Log { weight } => weight / price,
                Demand::Surcharged { weight, surcharge, cap } => match price + surcharge {
                    paid if paid <= weight / cap => cap,
                    paid => weight / paid,
                },
                _ => unreachable!(),
            };
            demands.iter().map(rate).sum()
        };
        let capacity = 10f64.powf(random.between(-1.0, 3.0));
        let (mut low, mut high) = (1e-12, 1e12);
        for _ in 0..200 {
            let middle = f64::sqrt(low * high);
            *(if load(middle) > capacity { &mut low } else { &mut high }) = middle;
        }
        let routes = Routes::new(1, vec![[0]; 5]).unwrap();
        let problem = Problem::new(routes, vec![capacity], demands.clone()).unwrap();
        let solution = solve(&problem, &Settings::default());
        assert_eq!(solution.status, Status::Solved, "case {case}: {demands:?} {solution:?}");
        let found = solution.prices[0];
        assert!(found == 0.0 && low < 1e-11 || (found / low - 1.0).abs() < 1e-9, "{found} {low}");
    }
}

/// Flows of the same route are merged inside; the weight of each must still get its part.
#[test]
fn flows_of_one_route_share_by_weight() {
    let mut paths = vec![vec![0, 1], vec![1], vec![0, 1], vec![0], vec![0, 1]];
    let mut demands: Vec<_> =
        [1.0, 2.0, 3.0, 4.0, 5.0].map(|weight| Demand::Log { weight }).to_vec();
    let run = |paths: &[Vec<u32>], demands: &[Demand]| {
        let routes = Routes::new(2, paths).unwrap();
        let problem = Problem::new(routes, vec![7.0, 5.0], demands.to_vec()).unwrap();
        solve(&problem, &Settings::default())
    };
    let apart = run(&paths, &demands);
    assert!((apart.rates[2] / apart.rates[0] - 3.0).abs() < 1e-12);
    assert!((apart.rates[4] / apart.rates[0] - 5.0).abs() < 1e-12);
    // One flow of weight 9 in the place of the three.
    paths.truncate(4);
    paths.remove(2);
    demands = [9.0, 2.0, 4.0].map(|weight| Demand::Log { weight }).to_vec();
    let together = run(&paths, &demands);
    let sum = apart.rates[0] + apart.rates[2] + apart.rates[4];
    assert!((together.rates[0] / sum - 1.0).abs() < 1e-11);
}

#[test]
fn the_same_problem_gives_the_same_bits() {
    let problem = random_problem(5, 500, 100);
    let settings = Settings::default();
    assert_eq!(solve(&problem, &settings), solve(&problem, &settings));
}

/// Large enough to be cut into parts.
#[test]
fn the_number_of_threads_is_not_in_the_result() {
    let problems = [random_problem(7, 40_000, 500), mixed_problem(7, 40_000, 500)];
    for problem in problems {
        let on_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| solve(&problem, &Settings::default()))
        };
        let one = on_threads(1);
        assert_eq!(one.status, Status::Solved);
        assert_eq!(one, on_threads(2));
        assert_eq!(one, on_threads(3));
    }
}

#[test]
fn no_steps_is_not_converged_and_says_how_far() {
    let problem = random_problem(6, 500, 100);
    let solution = solve(&problem, &Settings { max_iterations: 0, ..Settings::default() });
    assert_eq!(solution.status, Status::NotConverged);
    assert!(solution.certificate.worst() > 1e-6 && solution.certificate.worst().is_finite());
}

#[test]
fn a_watcher_sees_the_residual_fall_and_can_stop_it() {
    let problem = random_problem(6, 500, 100);
    let mut seen = Vec::new();
    let solution = solve_watched(&problem, &Settings::default(), &mut |progress| {
        seen.push(progress.residual);
        ControlFlow::Continue(())
    });
    assert_eq!(solution, solve(&problem, &Settings::default()));
    assert!(seen.len() > solution.iterations && seen.last() < Some(&1e-11));
    let mut steps = 0;
    let stopped = solve_watched(&problem, &Settings::default(), &mut |progress| {
        steps = progress.iterations;
        match steps {
            2 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    assert_eq!((steps, stopped.status), (2, Status::NotConverged));
}
