//! Random networks over all demands, against a second way to the same prices: each link in turn gets the
//! price at which its flows fill it, by bisection, until none moves. It needs no slope and no utility.
//!
//! `ACCORD_CASES=10000 cargo test -p accord-solver --test all bisection` tries more networks.

use crate::common::Random;
use accord_solver::{Demand, Problem, Routes, Settings, Status, solve};

/// The rate that a demand is documented to have at a price.
fn rate(demand: &Demand, q: f64) -> f64 {
    match *demand {
        Demand::Log { weight } => weight / q,
        Demand::Capped { weight, cap } => f64::min(cap, weight / q),
        Demand::Contract { weight, floor, limit, cap } => {
            let share = floor + weight / q;
            let held = if limit.is_finite() { limit / q } else { f64::INFINITY };
            [share, held, cap].into_iter().fold(f64::INFINITY, f64::min)
        }
        Demand::AlphaFair { weight, alpha } => (weight / q).powf(1.0 / alpha),
        Demand::Vegas { weight, bias } if q > bias => weight / (q - bias),
        Demand::Surcharged { weight, surcharge, cap } if q + surcharge > 0.0 => {
            f64::min(cap, weight / (q + surcharge))
        }
        Demand::Surcharged { cap, .. } => cap,
        Demand::Vegas { .. } => f64::INFINITY,
        Demand::Fixed { rate } => rate,
        _ => unreachable!("no such demand here"),
    }
}

/// The prices at which each link is full or free.
fn prices(problem: &Problem) -> Vec<f64> {
    let (routes, demands) = (problem.routes(), problem.demands());
    let mut prices = vec![1.0; routes.links()];
    for _ in 0..20_000 {
        let mut moved = 0.0f64;
        for link in 0..prices.len() {
            let load = |price: f64| -> f64 {
                let mut prices = prices.clone();
                prices[link] = price;
                let flows = routes.iter().zip(demands);
                let crosses = flows.filter(|(path, _)| path.contains(&(link as u32)));
                crosses
                    .map(|(path, demand)| {
                        rate(demand, path.iter().map(|&l| prices[l as usize]).sum())
                    })
                    .sum()
            };
            let fits = |price: f64| load(price) <= problem.capacities()[link];
            let next = if fits(0.0) {
                0.0
            } else {
                let (mut low, mut high) = (0.0, 1.0);
                while !fits(high) {
                    (low, high) = (high, 2.0 * high);
                }
                for _ in 0..100 {
                    let middle = 0.5 * (low + high);
                    *(if fits(middle) { &mut high } else { &mut low }) = middle;
                }
                high
            };
            moved = moved.max((next - prices[link]).abs() / next.max(1e-9));
            prices[link] = next;
        }
        if moved < 1e-11 {
            break;
        }
    }
    prices
}

fn demand(random: &mut Random, part: f64) -> Demand {
    let weight = 0.2 + 5.0 * random.unit();
    let some = |random: &mut Random| part * random.unit();
    let maybe = |random: &mut Random, value: f64| {
        if random.unit() < 0.5 { value } else { f64::INFINITY }
    };
    match (12.0 * random.unit()) as u32 {
        0..=2 => Demand::Log { weight },
        3 => Demand::Capped { weight, cap: 3.0 * some(random) + 1e-3 },
        4 => Demand::Fixed { rate: some(random) },
        5 => {
            // The application sends no more than the contract.
            let floor = some(random) + 1e-3;
            Demand::Contract { weight, floor, limit: f64::INFINITY, cap: floor }
        }
        6 => {
            let floor = some(random) + 1e-3;
            let more = 10f64.powf(-12.0 * random.unit());
            Demand::Contract { weight, floor, limit: f64::INFINITY, cap: floor * (1.0 + more) }
        }
        7..=9 => {
            let floor = some(random);
            let bound = 20.0 * random.unit() + 0.1;
            let limit = maybe(random, bound);
            let more = 3.0 * some(random) + 1e-3;
            let cap = floor + maybe(random, more);
            Demand::Contract { weight, floor, limit, cap }
        }
        10 => Demand::AlphaFair { weight, alpha: 0.5 + 2.0 * random.unit() },
        _ if random.unit() < 0.5 => Demand::Vegas { weight, bias: 0.5 * random.unit() },
        _ => {
            let surcharge = random.unit() - 0.2;
            let cap = 3.0 * part * random.unit() + 1e-3;
            Demand::Surcharged { weight, surcharge, cap: maybe(random, cap) }
        }
    }
}

fn network(random: &mut Random) -> Problem {
    let links = 1 + (4.0 * random.unit()) as u32;
    let flows = 1 + (9.0 * random.unit()) as usize;
    let capacities: Vec<f64> = (0..links).map(|_| 1.0 + 20.0 * random.unit()).collect();
    let least = capacities.iter().copied().fold(f64::INFINITY, f64::min);
    let paths: Vec<Vec<u32>> = (0..flows)
        .map(|_| {
            let first = (f64::from(links) * random.unit()) as u32;
            let last = first + 1 + (f64::from(links - first) * random.unit()) as u32;
            (first..last.min(links)).collect()
        })
        .collect();
    let part = 0.9 * least / flows as f64;
    let demands = (0..flows).map(|_| demand(random, part)).collect();
    let routes = Routes::new(links as usize, paths).expect("sound paths");
    Problem::new(routes, capacities, demands).expect("parameters in range")
}

#[test]
fn random_networks_have_the_rates_of_bisection() {
    let cases = std::env::var("ACCORD_CASES").map_or(400, |n| n.parse().expect("a number"));
    for seed in 0..cases {
        let problem = network(&mut Random::new(seed));
        let solution = solve(&problem, &Settings::default());
        assert_eq!(solution.status, Status::Solved, "seed {seed}: {problem:?} {solution:?}");
        let found = problem.routes().path_prices(&prices(&problem));
        for ((demand, q), x) in problem.demands().iter().zip(found).zip(&solution.rates) {
            let expected = rate(demand, q);
            let off = (x - expected).abs() / expected.max(1e-6);
            assert!(off < 1e-6, "seed {seed}: {demand:?}: {x} for {expected} in {problem:?}");
        }
    }
}
