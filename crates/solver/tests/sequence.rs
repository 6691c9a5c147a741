//! Sequences of arrivals and departures, against problems that are solved from the start.
//!
//! The oracle is a cold solve of the present problem: its certificate bounds the rate of each flow,
//! and the certificate of the flows, not of the rows, judges the result of the sequence.

use crate::common::{Random, any_demand, mixed_problem, random_problem};
use accord_solver::{
    Certificate, Demand, Problem, ProblemError, Routes, Sequence, Settings, Status,
};
use accord_solver::{Solution, solve};

/// Compares a sequence with a cold solve. `flows` are the numbers of the flows that are there.
fn compare(shares: &Sequence, flows: &[usize], status: Status) {
    let problem = shares.problem().expect("there are flows");
    assert_eq!(problem.routes().flows(), flows.len());
    let cold: Solution = solve(&problem, &Settings::default());
    assert_eq!(status, cold.status);
    let rates: Vec<f64> = flows.iter().map(|&f| shares.rate(f).unwrap()).collect();
    if status != Status::Solved {
        assert_eq!(rates, cold.rates);
        return;
    }
    let certificate = Certificate::new(&problem, &rates, shares.prices());
    assert!(certificate.worst() <= 1.01e-12, "{certificate:?}");
    let claimed = shares.certificate();
    // Outward rounding depends on the order of flows.
    let rounding = 1e-14;
    assert!((claimed.relative_gap - certificate.relative_gap).abs() <= rounding);
    assert!((claimed.primal - certificate.primal).abs() <= rounding);
    assert!((claimed.complementarity - certificate.complementarity).abs() <= rounding);
    for (flow, rate) in rates.iter().enumerate() {
        let (least, most) = cold.certificate.rate_bounds(&problem, &cold.prices, flow);
        let (low, high) = certificate.rate_bounds(&problem, shares.prices(), flow);
        assert!(low <= most && least <= high, "{flow}: {rate}, {least} to {most}");
    }
}

/// Makes random changes, some of them at once, and compares after each time.
fn wander(seed: u64, problem: &Problem, changes: usize, demand: impl Fn(&mut Random) -> Demand) {
    let mut random = Random::new(seed);
    let links = problem.routes().links();
    let mut shares = Sequence::new(problem, Settings::default());
    let mut flows: Vec<usize> = (0..problem.routes().flows()).collect();
    let status = shares.solve();
    compare(&shares, &flows, status);
    for _ in 0..changes {
        for _ in 0..1 + random.below(3) {
            if random.unit() < 0.5 && flows.len() > 1 {
                let gone = flows.swap_remove(random.below(flows.len()));
                assert!(shares.depart(gone).is_some());
                assert_eq!(shares.depart(gone), None);
                assert_eq!(shares.rate(gone), None);
            } else {
                let path = match random.below(3) {
                    // The demand of a present flow, so that weights add up.
                    0 => {
                        let problem = shares.problem().unwrap();
                        let flow = random.below(problem.routes().flows());
                        problem.routes().path(flow).to_vec()
                    }
                    _ => {
                        let hops = 1 + random.below(4);
                        random.path(links, hops)
                    }
                };
                let demand = demand(&mut random);
                flows.push(shares.arrive(&path, demand).expect("a sound flow"));
            }
        }
        flows.sort_unstable();
        let status = shares.solve();
        compare(&shares, &flows, status);
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

/// None of them insists on a rate, so that rows are kept.
#[test]
fn flows_with_kinks_come_and_go() {
    let demand = |random: &mut Random| {
        loop {
            let demand = any_demand(random, 0.0);
            if demand.least() == 0.0 && demand.is_elastic() {
                return demand;
            }
        }
    };
    for seed in 0..20 {
        wander(seed, &random_problem(seed, 50, 15), 30, demand);
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
    let mut shares = Sequence::new(&problem, Settings::default());
    shares.solve();
    assert_eq!(shares.steps(), (cold.iterations, cold.inner_iterations));
    for flow in 0..10 {
        let path = problem.routes().path(flow);
        let guest = shares.arrive(path, problem.demands()[flow]).unwrap();
        assert_eq!(shares.solve(), Status::Solved);
        let fewer = shares.steps().0 < cold.iterations && shares.steps().1 < cold.inner_iterations;
        assert!(fewer, "{:?}, {} and {}", shares.steps(), cold.iterations, cold.inner_iterations);
        shares.depart(guest);
    }
}

#[test]
fn a_link_may_be_empty_and_fill_again() {
    let log = Demand::Log { weight: 2.0 };
    let routes = Routes::new(2, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![10.0, 4.0], vec![log]).unwrap();
    let mut shares = Sequence::new(&problem, Settings::default());
    assert_eq!(shares.solve(), Status::Solved);
    assert_eq!(shares.depart(0), Some(log));
    assert_eq!(shares.solve(), Status::Solved);
    assert!(shares.problem().is_none());
    assert_eq!(shares.prices(), [0.0, 0.0]);
    let both = shares.arrive(&[0, 1], log).unwrap();
    let second = shares.arrive(&[1], log).unwrap();
    assert_eq!(shares.solve(), Status::Solved);
    assert!((shares.rate(both).unwrap() - 2.0).abs() < 1e-9);
    assert!((shares.rate(second).unwrap() - 2.0).abs() < 1e-9);
    assert!((shares.prices()[1] - 1.0).abs() < 1e-9);
    assert_eq!(shares.prices()[0], 0.0);
}

#[test]
fn what_does_not_fit_is_infeasible_until_it_leaves() {
    let log = Demand::Log { weight: 2.0 };
    let routes = Routes::new(1, [[0]]).unwrap();
    let problem = Problem::new(routes, vec![10.0], vec![log]).unwrap();
    let mut shares = Sequence::new(&problem, Settings::default());
    let stream = shares.arrive(&[0], Demand::Fixed { rate: 12.0 }).unwrap();
    assert!(matches!(shares.solve(), Status::Infeasible { link: 0, .. }));
    assert_eq!(shares.rate(stream), Some(12.0));
    assert_eq!(shares.rate(0), Some(0.0));
    shares.depart(stream);
    assert_eq!(shares.solve(), Status::Solved);
    assert!((shares.rate(0).unwrap() - 10.0).abs() < 1e-9);
}

#[test]
fn flows_that_make_no_sense_are_refused_by_their_number() {
    let problem = random_problem(1, 5, 4);
    let mut shares = Sequence::new(&problem, Settings::default());
    let log = Demand::Log { weight: 1.0 };
    let refused = |shares: &mut Sequence, path: &[u32], demand| {
        let before = shares.problem();
        let error = shares.arrive(path, demand).unwrap_err();
        assert_eq!(shares.problem(), before);
        error
    };
    let flow = 5;
    assert_eq!(refused(&mut shares, &[], log), ProblemError::EmptyRoute { flow });
    let error = refused(&mut shares, &[1, 7], log);
    assert_eq!(error, ProblemError::UnknownLink { flow, link: 7, links: 4 });
    let error = refused(&mut shares, &[1, 2, 1], log);
    assert_eq!(error, ProblemError::RepeatedLink { flow, link: 1 });
    let error = refused(&mut shares, &[1], Demand::Log { weight: 0.0 });
    assert!(matches!(error, ProblemError::BadDemand { flow: 5, .. }));
    assert_eq!(shares.arrive(&[1], log), Ok(5));
}
