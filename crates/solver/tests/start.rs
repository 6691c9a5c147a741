//! Problems whose flows come and go, from the prices before, against solutions from scratch.

use crate::common::{Random, any_demand, mixed_problem, random_problem};
use accord_solver::{Demand, Problem, Routes, Settings, Solution, Status, solve, solve_from};
use std::ops::ControlFlow;

fn again(problem: &Problem, before: &[f64]) -> Solution {
    solve_from(problem, &Settings::default(), before, &mut |_| ControlFlow::Continue(()))
}

/// Makes random changes, up to three at once, and compares after each time.
fn wander(seed: u64, problem: &Problem, changes: usize, demand: impl Fn(&mut Random) -> Demand) {
    let mut random = Random::new(seed);
    let links = problem.routes().links();
    let mut flows: Vec<(Vec<u32>, Demand)> = (problem.routes().iter().zip(problem.demands()))
        .map(|(path, demand)| (path.to_vec(), *demand))
        .collect();
    let mut prices = solve(problem, &Settings::default()).prices;
    for _ in 0..changes {
        for _ in 0..1 + random.below(3) {
            if random.unit() < 0.5 && flows.len() > 1 {
                flows.swap_remove(random.below(flows.len()));
            } else {
                let hops = 1 + random.below(4);
                flows.push((random.path(links, hops), demand(&mut random)));
            }
        }
        let routes = Routes::new(links, flows.iter().map(|(path, _)| path)).unwrap();
        let demands = flows.iter().map(|(_, demand)| *demand).collect();
        let now = Problem::new(routes, problem.capacities().to_vec(), demands)
            .and_then(|now| now.with_price_limits(problem.price_limits().to_vec()))
            .unwrap();
        let (warm, cold) = (again(&now, &prices), solve(&now, &Settings::default()));
        assert_eq!(warm.status, cold.status);
        prices = warm.prices.clone();
        if warm.status != Status::Solved {
            assert_eq!(warm.rates, cold.rates);
            continue;
        }
        for (flow, rate) in warm.rates.iter().enumerate() {
            let (least, most) = cold.certificate.rate_bounds(&now, &cold.prices, flow);
            let (low, high) = warm.certificate.rate_bounds(&now, &warm.prices, flow);
            assert!(low <= most && least <= high, "{flow}: {rate}, {least} to {most}");
        }
    }
}

fn weighted(random: &mut Random) -> Demand {
    Demand::Log { weight: random.between(0.1, 10.0) }
}

#[test]
fn flows_come_and_go() {
    for seed in 0..20 {
        let (flows, links) = [(3, 2), (20, 5), (100, 30), (300, 40)][seed as usize % 4];
        wander(seed, &random_problem(seed, flows, links), 30, weighted);
    }
}

#[test]
fn flows_of_all_kinds_come_and_go() {
    for seed in 0..20 {
        let problem = mixed_problem(seed, 60, 20);
        wander(seed, &problem, 20, |random| any_demand(random, 1e-3));
    }
}

#[test]
fn links_with_highest_prices_lose_what_does_not_fit() {
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let limits = (0..15).map(|_| random.between(0.1, 20.0)).collect();
        let problem = random_problem(seed, 40, 15).with_price_limits(limits);
        wander(seed, &problem.expect("positive limits"), 20, weighted);
    }
}

/// One flow among thousands is worth fewer steps than all of them.
#[test]
fn a_flow_that_comes_takes_fewer_steps_than_a_start() {
    let problem = random_problem(3, 3000, 300);
    let cold = solve(&problem, &Settings::default());
    for flow in 0..10 {
        let paths = problem.routes().iter().chain([problem.routes().path(flow)]);
        let routes = Routes::new(300, paths).unwrap();
        let demands = [problem.demands(), &[problem.demands()[flow]]].concat();
        let guest = Problem::new(routes, problem.capacities().to_vec(), demands).unwrap();
        let warm = again(&guest, &cold.prices);
        assert_eq!(warm.status, Status::Solved);
        assert!(warm.iterations < cold.iterations, "{} of {}", warm.iterations, cold.iterations);
        assert!(warm.inner_iterations < cold.inner_iterations, "{}", warm.inner_iterations);
    }
}

/// There are no prices to start from if nothing was sent.
#[test]
fn a_link_without_a_price_fills() {
    let log = Demand::Log { weight: 2.0 };
    let routes = Routes::new(2, [vec![0, 1], vec![1]]).unwrap();
    let problem = Problem::new(routes, vec![10.0, 4.0], vec![log; 2]).unwrap();
    let found = again(&problem, &[0.0, 0.0]);
    assert_eq!(found.status, Status::Solved);
    assert!(found.rates.iter().all(|rate| (rate - 2.0).abs() < 1e-9), "{:?}", found.rates);
    assert!((found.prices[1] - 1.0).abs() < 1e-9 && found.prices[0] == 0.0);
}

#[test]
fn a_watcher_can_stop_it() {
    let problem = random_problem(6, 500, 100);
    let watch = &mut |_| ControlFlow::Break(());
    let stopped = solve_from(&problem, &Settings::default(), &[0.0; 100], watch);
    assert_eq!((stopped.iterations, stopped.status), (0, Status::NotConverged));
}
