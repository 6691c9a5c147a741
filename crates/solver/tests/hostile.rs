//! Whatever comes: no panic, and a status that is true.

use crate::common::Random;
use accord_solver::{Demand, Problem, ProblemError, Routes, Settings, Status, solve};
use proptest::prelude::*;

/// Positive numbers of 18 orders of magnitude.
fn wild() -> impl Strategy<Value = f64> {
    (-9.0..9.0).prop_map(|exponent| 10f64.powf(exponent))
}

fn demand() -> impl Strategy<Value = Demand> {
    let wild_or_none = || prop_oneof![Just(f64::INFINITY), wild()];
    let zero_or_wild = || prop_oneof![Just(0.0), wild()];
    prop_oneof![
        4 => wild().prop_map(|weight| Demand::Log { weight }),
        2 => (wild(), wild()).prop_map(|(weight, cap)| Demand::Capped { weight, cap }),
        3 => (wild(), zero_or_wild(), wild_or_none(), wild_or_none())
            .prop_map(|(weight, floor, limit, cap)| Demand::Contract {
                weight,
                floor,
                limit,
                cap: f64::max(floor, cap),
            }),
        1 => (wild(), 0.1..10.0).prop_map(|(weight, alpha)| Demand::AlphaFair { weight, alpha }),
        1 => (wild(), wild(), any::<bool>()).prop_map(|(weight, size, negative)| {
            Demand::Vegas { weight, bias: if negative { -size } else { size } }
        }),
        1 => wild().prop_map(|round_trip| Demand::Reno { round_trip }),
        1 => zero_or_wild().prop_map(|rate| Demand::Fixed { rate }),
    ]
}

fn problem() -> impl Strategy<Value = Problem> {
    (1..7usize).prop_flat_map(|links| {
        let path = proptest::sample::subsequence((0..links as u32).collect::<Vec<_>>(), 1..=links);
        let flows = proptest::collection::vec((path, demand()), 1..13);
        (proptest::collection::vec(wild(), links), flows).prop_map(move |(capacities, flows)| {
            let (paths, demands): (Vec<_>, Vec<_>) = flows.into_iter().unzip();
            Problem::new(Routes::new(links, paths).unwrap(), capacities, demands).unwrap()
        })
    })
}

/// Returns the rate that the flows of each link insist on, written out again [Har02 eq. 15].
fn insisted(problem: &Problem) -> Vec<f64> {
    let rate = |demand: &Demand| match *demand {
        Demand::Contract { floor, limit, cap, .. } if limit == f64::INFINITY => {
            f64::min(floor, cap)
        }
        Demand::Fixed { rate } => rate,
        _ => 0.0,
    };
    problem.routes().loads(&problem.demands().iter().map(rate).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_status_is_true(problem in problem()) {
        let settings = Settings::default();
        let solution = solve(&problem, &settings);
        let certificate = &solution.certificate;
        prop_assert!(!certificate.worst().is_nan());
        let insisted_on = insisted(&problem);
        match solution.status {
            Status::Solved => {
                prop_assert!(certificate.worst() <= settings.tolerance);
                let loads = problem.routes().loads(&solution.rates);
                for (link, (load, capacity)) in loads.iter().zip(problem.capacities()).enumerate() {
                    prop_assert!(*load <= capacity * (1.0 + 1.1e-12), "link {link}: {load}");
                    prop_assert!(solution.prices[link] >= 0.0);
                    prop_assert!(insisted_on[link] <= *capacity);
                }
                prop_assert!(solution.rates.iter().all(|rate| *rate >= 0.0));
            }
            Status::Infeasible { link, insisted, capacity } => {
                prop_assert_eq!(insisted, insisted_on[link]);
                prop_assert_eq!(capacity, problem.capacities()[link]);
                prop_assert!(insisted >= capacity);
                prop_assert!(certificate.worst() > settings.tolerance);
            }
            Status::NotConverged => {
                prop_assert!(certificate.worst() > settings.tolerance);
                for (insisted, capacity) in insisted_on.iter().zip(problem.capacities()) {
                    prop_assert!(insisted <= capacity);
                }
            }
        }
    }

    /// With a highest price on each link elastic flows always have an equilibrium.
    #[test]
    fn full_buffers_have_an_answer(problem in problem(), limits in proptest::collection::vec(wild(), 6)) {
        let limits = limits[..problem.routes().links()].to_vec();
        let problem = problem.with_price_limits(limits.clone()).unwrap();
        let settings = Settings::default();
        let solution = solve(&problem, &settings);
        prop_assert!(!solution.certificate.worst().is_nan());
        let within = solution.certificate.worst() <= settings.tolerance;
        prop_assert_eq!(within, solution.status == Status::Solved);
        let bounds = solution.prices.iter().zip(&limits);
        prop_assert!(bounds.clone().all(|(price, limit)| (0.0..=*limit).contains(price)));
        let elastic = problem.demands().iter().all(Demand::is_elastic);
        let infeasible = matches!(solution.status, Status::Infeasible { .. });
        prop_assert!(!(elastic && infeasible));
    }

    #[test]
    fn any_numbers_are_an_error_or_an_answer(
        capacity in any::<f64>(), weight in any::<f64>(), other in any::<f64>(), third in any::<f64>(),
        kind in 0..8, path in proptest::collection::vec(0..4u32, 0..4),
    ) {
        let demand = match kind {
            0 => Demand::Log { weight },
            1 => Demand::Capped { weight, cap: other },
            2 => Demand::Contract { weight, floor: other, limit: third, cap: f64::INFINITY },
            3 => Demand::AlphaFair { weight, alpha: other },
            4 => Demand::Vegas { weight, bias: other },
            5 => Demand::Reno { round_trip: weight },
            6 => Demand::Surcharged { weight, surcharge: other, cap: third },
            _ => Demand::Fixed { rate: weight },
        };
        let built = Routes::new(3, [path, vec![0]]).and_then(|routes| {
            Problem::new(routes, vec![capacity, 1.0, 2.0], vec![demand, Demand::Log { weight: 1.0 }])
        });
        if let Ok(problem) = built {
            let settings = Settings::default();
            let solution = solve(&problem, &settings);
            let within = solution.certificate.worst() <= settings.tolerance;
            prop_assert_eq!(within, solution.status == Status::Solved);
        }
    }
}

/// Capacities over 18 orders of magnitude in one network are not an excuse.
#[test]
fn capacities_over_18_orders_of_magnitude_are_solved() {
    let mut random = Random::new(31);
    for case in 0..200 {
        let (links, flows) = (2 + random.below(30), 1 + random.below(60));
        let capacities = (0..links).map(|_| 10f64.powf(random.between(-9.0, 9.0))).collect();
        let mut path = || {
            let hops = 1 + random.below(6);
            random.path(links, hops)
        };
        let paths: Vec<_> = (0..flows).map(|_| path()).collect();
        let demands =
            (0..flows).map(|_| Demand::Log { weight: random.between(0.5, 2.0) }).collect();
        let problem =
            Problem::new(Routes::new(links, paths).unwrap(), capacities, demands).unwrap();
        let solution = solve(&problem, &Settings::default());
        assert_eq!(solution.status, Status::Solved, "case {case}: {:?}", solution.certificate);
    }
}

/// Two links one after the other with the same flows: the prices are not unique, the rates are.
#[test]
fn redundant_links_do_not_hurt() {
    for count in [2, 3, 50] {
        let paths = vec![(0..count).collect::<Vec<u32>>(); 4];
        let demands = [1.0, 2.0, 3.0, 4.0].map(|weight| Demand::Log { weight }).to_vec();
        for spread in [0.0, 1e-9, 1e-3, 1.0] {
            let capacities = (0..count).map(|link| 10.0 + spread * f64::from(link)).collect();
            let routes = Routes::new(count as usize, &paths).unwrap();
            let problem = Problem::new(routes, capacities, demands.clone()).unwrap();
            let solution = solve(&problem, &Settings::default());
            assert_eq!(solution.status, Status::Solved, "{count} {spread}: {solution:?}");
            for (flow, rate) in solution.rates.iter().enumerate() {
                assert!((rate - (flow + 1) as f64).abs() < 1e-6, "{count} {spread}: {rate}");
            }
        }
    }
}

#[test]
fn free_links_and_modest_flows_pay_nothing() {
    let routes = Routes::new(3, [vec![0, 1], vec![1]]).unwrap();
    let demands =
        vec![Demand::Capped { weight: 3.0, cap: 2.0 }, Demand::Capped { weight: 1.0, cap: 0.5 }];
    let problem = Problem::new(routes, vec![10.0, 3.0, 1.0], demands).unwrap();
    let solution = solve(&problem, &Settings::default());
    assert_eq!(solution.status, Status::Solved);
    assert_eq!((solution.rates, solution.prices), (vec![2.0, 0.5], vec![0.0; 3]));
}

#[test]
fn unresponsive_flows_leave_the_rest() {
    let solve = |rates: &[f64], with_log: bool| {
        let mut demands: Vec<_> = rates.iter().map(|&rate| Demand::Fixed { rate }).collect();
        if with_log {
            demands.push(Demand::Log { weight: 2.0 });
        }
        let routes = Routes::new(1, vec![[0]; demands.len()]).unwrap();
        solve(&Problem::new(routes, vec![8.0], demands).unwrap(), &Settings::default())
    };
    let shared = solve(&[3.0, 1.0], true);
    assert!((shared.rates[2] - 4.0).abs() < 1e-11 && (shared.prices[0] - 0.5).abs() < 1e-11);
    assert_eq!(solve(&[3.0, 5.0], false).status, Status::Solved);
    let infeasible = |insisted| Status::Infeasible { link: 0, insisted, capacity: 8.0 };
    assert_eq!(solve(&[3.0, 5.0], true).status, infeasible(8.0));
    let over = solve(&[3.0, 6.0], false);
    assert_eq!((over.status, over.rates), (infeasible(9.0), vec![3.0, 6.0]));
    assert_eq!(over.certificate.primal, 0.125);
}

/// The worst link is named [Har02 eq. 15].
#[test]
fn oversubscription_names_the_link() {
    let routes = Routes::new(3, [vec![0, 1, 2], vec![1, 2], vec![0]]).unwrap();
    let contract =
        |floor, limit| Demand::Contract { weight: 1.0, floor, limit, cap: f64::INFINITY };
    let solve = |limit| {
        let demands = vec![contract(6.0, limit), contract(6.0, limit), Demand::Log { weight: 1.0 }];
        let problem = Problem::new(routes.clone(), vec![10.0, 11.0, 8.0], demands).unwrap();
        solve(&problem, &Settings::default())
    };
    let status = solve(f64::INFINITY).status;
    assert_eq!(status, Status::Infeasible { link: 2, insisted: 12.0, capacity: 8.0 });
    // With an accumulation limit no flow needs a fixed rate: 8 is shared.
    let limited = solve(20.0);
    assert_eq!(limited.status, Status::Solved);
    assert!((limited.rates[0] + limited.rates[1] - 8.0).abs() < 1e-9);
}

#[test]
fn errors_name_the_flow_or_link() {
    let paths = |paths: &[&[u32]]| Routes::new(3, paths.iter().map(|path| path.to_vec()));
    assert_eq!(paths(&[]), Err(ProblemError::NoFlows));
    assert_eq!(Routes::new(0, [[0]]), Err(ProblemError::NoLinks));
    assert_eq!(paths(&[&[0], &[]]), Err(ProblemError::EmptyRoute { flow: 1 }));
    let unknown = paths(&[&[0], &[1], &[2, 3]]).unwrap_err();
    assert_eq!(unknown, ProblemError::UnknownLink { flow: 2, link: 3, links: 3 });
    assert_eq!(unknown.to_string(), "flow 2 crosses link 3, but there are only 3 links (0 to 2)");
    let twice = ProblemError::RepeatedLink { flow: 1, link: 2 };
    assert_eq!(paths(&[&[2], &[2, 0, 2]]), Err(twice));
    for offsets in [vec![0, 2], vec![1, 3], vec![0, 3, 2, 3]] {
        let error = Routes::from_compressed(3, offsets, vec![0, 1, 2]).unwrap_err();
        assert_eq!(error, ProblemError::BadOffsets { hops: 3 });
    }

    let routes = paths(&[&[0, 1], &[2]]).unwrap();
    let good = Demand::Log { weight: 1.0 };
    let build = |capacities: &[f64], demands: &[Demand]| {
        Problem::new(routes.clone(), capacities.to_vec(), demands.to_vec()).map(|_| ())
    };
    assert_eq!(build(&[1.0; 3], &[good; 2]), Ok(()));
    assert_eq!(
        build(&[1.0; 2], &[good; 2]),
        Err(ProblemError::CapacityCount { capacities: 2, links: 3 })
    );
    assert_eq!(build(&[1.0; 3], &[good]), Err(ProblemError::DemandCount { demands: 1, flows: 2 }));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = build(&[1.0, 1.0, bad], &[good; 2]).unwrap_err();
        assert!(matches!(error, ProblemError::BadCapacity { link: 2, .. }), "{error}");
        for demand in [
            Demand::Log { weight: bad },
            Demand::Capped { weight: 1.0, cap: bad },
            Demand::Contract { weight: bad, floor: 0.0, limit: 1.0, cap: f64::INFINITY },
            Demand::AlphaFair { weight: 1.0, alpha: bad },
            Demand::Vegas { weight: bad, bias: 0.0 },
            Demand::Surcharged { weight: bad, surcharge: 0.0, cap: 1.0 },
            Demand::Reno { round_trip: bad },
        ] {
            let error = build(&[1.0; 3], &[good, demand]).unwrap_err();
            assert!(matches!(error, ProblemError::BadDemand { flow: 1, .. }), "{error}");
        }
    }
    // These may be infinite.
    for bad in [0.0, -1.0, f64::NAN] {
        let contract = |limit, cap| Demand::Contract { weight: 1.0, floor: 0.0, limit, cap };
        let surcharged = Demand::Surcharged { weight: 1.0, surcharge: 0.0, cap: bad };
        for demand in [contract(bad, 1.0), contract(1.0, bad), surcharged] {
            let error = build(&[1.0; 3], &[good, demand]).unwrap_err();
            assert!(matches!(error, ProblemError::BadDemand { flow: 1, .. }), "{error}");
        }
    }
    for bad in [-1.0, f64::NAN] {
        for demand in [
            Demand::Contract { weight: 1.0, floor: bad, limit: 1.0, cap: f64::INFINITY },
            Demand::Contract { weight: 1.0, floor: 0.0, limit: bad, cap: f64::INFINITY },
            Demand::Fixed { rate: bad },
        ] {
            let error = build(&[1.0; 3], &[demand, good]).unwrap_err();
            assert!(matches!(error, ProblemError::BadDemand { flow: 0, .. }), "{error}");
        }
    }
    let error = build(&[1.0; 3], &[good, Demand::Capped { weight: 1.0, cap: -2.0 }]);
    assert_eq!(error.unwrap_err().to_string(), "flow 1: cap must be positive and finite, not -2");
}
