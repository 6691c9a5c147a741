//! Max-min fairness against its definition, a slow method, and large α.

use crate::common::{Random, random_problem};
use accord_solver::{
    Bottleneck, Demand, MaxMinCertificate, Problem, ProblemError, Routes, Settings, Status,
    max_min, solve,
};

fn weighted(seed: u64, flows: usize, links: usize) -> Problem {
    let problem = random_problem(seed, flows, links);
    let mut random = Random::new(seed + 7);
    let demands = problem.demands().iter().map(|&demand| {
        let Demand::Log { weight } = demand else { unreachable!() };
        match random.below(4) {
            0 => Demand::Capped { weight, cap: random.between(0.01, 0.5) },
            1 => Demand::Fixed { rate: random.unit() / flows as f64 },
            _ => demand,
        }
    });
    let (routes, demands) = (problem.routes().clone(), demands.collect());
    Problem::new(routes, problem.capacities().to_vec(), demands).unwrap()
}

/// Filling in rounds, as the definition has it: find the next level at which anything stops.
fn in_rounds(problem: &Problem) -> Vec<f64> {
    let flows = problem.demands().len();
    let weight: Vec<f64> = (problem.demands().iter())
        .map(|demand| match *demand {
            Demand::Log { weight } | Demand::Capped { weight, .. } => weight,
            _ => 0.0,
        })
        .collect();
    let cap = |flow: usize| match problem.demands()[flow] {
        Demand::Capped { cap, .. } => cap,
        Demand::Fixed { rate } => rate,
        _ => f64::INFINITY,
    };
    let mut rates: Vec<f64> =
        (0..flows).map(|f| if weight[f] == 0.0 { cap(f) } else { 0.0 }).collect();
    let mut grows: Vec<bool> = weight.iter().map(|w| *w > 0.0).collect();
    while grows.iter().any(|g| *g) {
        let loads = problem.routes().loads(&rates);
        let growing: Vec<f64> =
            (0..flows).map(|f| if grows[f] { weight[f] } else { 0.0 }).collect();
        let speeds = problem.routes().loads(&growing);
        let mut step = f64::INFINITY;
        for ((capacity, load), speed) in problem.capacities().iter().zip(&loads).zip(&speeds) {
            if *speed > 0.0 {
                step = step.min((capacity - load) / speed);
            }
        }
        for f in (0..flows).filter(|&f| grows[f]) {
            step = step.min((cap(f) - rates[f]) / weight[f]);
        }
        for f in (0..flows).filter(|&f| grows[f]) {
            rates[f] += step * weight[f];
        }
        let loads = problem.routes().loads(&rates);
        for f in (0..flows).filter(|&f| grows[f]).collect::<Vec<_>>() {
            let full = |&link: &u32| {
                let capacity = problem.capacities()[link as usize];
                loads[link as usize] >= capacity * (1.0 - 1e-12)
            };
            let stops = rates[f] >= cap(f) * (1.0 - 1e-12);
            grows[f] = !(stops || problem.routes().path(f).iter().any(full));
        }
    }
    rates
}

#[test]
fn agrees_with_filling_in_rounds() {
    for seed in 0..100 {
        let problem = weighted(seed, 60, 15);
        let found = max_min(&problem).unwrap();
        assert_eq!(found.status, Status::Solved);
        assert!(found.certificate.worst() < 1e-13, "{:?}", found.certificate);
        for (flow, expected) in in_rounds(&problem).into_iter().enumerate() {
            let rate = found.rates[flow];
            assert!(
                (rate - expected).abs() <= 1e-10 * expected,
                "seed {seed} flow {flow}: {rate} {expected}"
            );
            if let Bottleneck::Link(link) = found.bottlenecks[flow] {
                assert!(problem.routes().path(flow).contains(&link));
            }
        }
    }
}

/// α-fair rates with the weights w^α tend to the max-min fair ones.
#[test]
fn is_the_limit_of_large_alpha() {
    let problem = random_problem(5, 40, 10);
    let limit = max_min(&problem).unwrap().rates;
    let mut last = f64::INFINITY;
    for alpha in [1.0, 4.0, 16.0, 32.0] {
        let demands = problem.demands().iter().map(|demand| {
            let Demand::Log { weight } = *demand else { unreachable!() };
            let weight = weight.powf(alpha);
            Demand::AlphaFair { weight, alpha }
        });
        let (routes, capacities) = (problem.routes().clone(), problem.capacities().to_vec());
        let fair = Problem::new(routes, capacities, demands.collect()).unwrap();
        let solution = solve(&fair, &Settings::default());
        assert_eq!(solution.status, Status::Solved);
        let off = (solution.rates.iter().zip(&limit)).map(|(a, b)| (a / b - 1.0).abs());
        let off = off.fold(0.0, f64::max);
        assert!(off < 0.5 * last, "{alpha}: {off}, before {last}");
        last = off;
    }
    assert!(last < 0.1, "{last}");
}

#[test]
fn the_certificate_finds_out_what_is_not_max_min() {
    let routes = Routes::new(2, [vec![0, 1], vec![0], vec![1]]).unwrap();
    let demands = vec![Demand::Log { weight: 1.0 }; 3];
    let problem = Problem::new(routes, vec![2.0, 5.0], demands).unwrap();
    let check = |rates: [f64; 3]| MaxMinCertificate::new(&problem, &rates).unwrap();
    assert_eq!(check([1.0, 1.0, 4.0]).worst(), 0.0);
    // Proportional fairness is not it: the long flow could have more at the cost of the rich.
    assert!(check([0.8, 1.2, 4.2]).bottleneck > 0.3);
    // Neither are rates that leave something, nor rates that are too much.
    assert!((check([1.0, 1.0, 3.0]).bottleneck - 0.2).abs() < 1e-15);
    assert_eq!(check([2.0, 2.0, 4.0]).primal, 1.0);
    assert_eq!(check([f64::NAN, 1.0, 4.0]).worst(), f64::INFINITY);
}

#[test]
fn what_has_no_answer_says_so() {
    let build = |demand| {
        let routes = Routes::new(1, [[0], [0]]).unwrap();
        let demands = vec![demand, Demand::Log { weight: 1.0 }];
        Problem::new(routes, vec![4.0], demands).unwrap()
    };
    let reno = build(Demand::Reno { round_trip: 1.0 });
    let error = max_min(&reno).unwrap_err();
    assert!(matches!(error, ProblemError::WrongDemand { flow: 0, .. }), "{error}");
    let full = max_min(&build(Demand::Fixed { rate: 5.0 })).unwrap();
    let infeasible = Status::Infeasible { link: 0, insisted: 5.0, capacity: 4.0 };
    assert_eq!((full.status, full.rates), (infeasible, vec![5.0, 0.0]));
    let room = max_min(&build(Demand::Fixed { rate: 1.0 })).unwrap();
    assert_eq!(room.rates, [1.0, 3.0]);
}

/// Capacities and weights over 18 orders of magnitude.
#[test]
fn wild_numbers_are_exact_to_rounding() {
    let mut random = Random::new(3);
    for _ in 0..300 {
        let (links, flows) = (1 + random.below(12), 1 + random.below(30));
        let wild = |random: &mut Random| 10f64.powf(random.between(-9.0, 9.0));
        let capacities = (0..links).map(|_| wild(&mut random)).collect();
        let demands = (0..flows).map(|_| Demand::Log { weight: wild(&mut random) }).collect();
        let paths: Vec<_> = (0..flows)
            .map(|_| {
                let hops = 1 + random.below(4);
                random.path(links, hops)
            })
            .collect();
        let problem =
            Problem::new(Routes::new(links, paths).unwrap(), capacities, demands).unwrap();
        let found = max_min(&problem).unwrap();
        assert!(found.certificate.worst() < 1e-13, "{:?}", found.certificate);
        assert!(found.rates.iter().all(|rate| *rate > 0.0));
    }
}

/// A rate above its cap, or another than its fixed one, is not max-min fair, whatever room there is.
#[test]
fn a_rate_beyond_its_cap_is_not_certified() {
    let capped = Demand::Capped { weight: 1.0, cap: 1.0 };
    for demand in [capped, Demand::Fixed { rate: 1.0 }] {
        let routes = Routes::new(1, [vec![0]]).unwrap();
        let problem = Problem::new(routes, vec![10.0], vec![demand]).unwrap();
        let found = |rate| MaxMinCertificate::new(&problem, &[rate]).unwrap().worst();
        assert_eq!(found(1.0), 0.0);
        assert!(found(2.0) > 0.5, "{demand:?}: {}", found(2.0));
    }
}
