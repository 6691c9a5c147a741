//! The equilibria that the papers print, and closed forms for parking lots.
//!
//! Low02 in packets and ms, the rest in Mbit/s and ms, so weights are packets or kbit.
//! Rates in KB/s are packets/ms × 1000: a packet is 1 KB.

use crate::common::Random;
use accord_solver::{Demand, Problem, Routes, Settings, Solution, Status, solve};

fn solved(capacities: &[f64], flows: &[(Vec<u32>, Demand)]) -> Solution {
    let routes = Routes::new(capacities.len(), flows.iter().map(|(path, _)| path)).unwrap();
    let demands = flows.iter().map(|&(_, demand)| demand).collect();
    let problem = Problem::new(routes, capacities.to_vec(), demands).unwrap();
    let solution = solve(&problem, &Settings::default());
    assert_eq!(solution.status, Status::Solved, "{solution:?}");
    assert!(solution.certificate.relative_gap <= 1e-12);
    solution
}

fn log(weight: f64) -> Demand {
    Demand::Log { weight }
}

#[track_caller]
fn near(value: f64, expected: f64, digit: f64) {
    assert!((value - expected).abs() <= 0.51 * digit, "{value} is not {expected}");
}

/// `count` flows of each class; one rate and path price for each class.
fn classes(count: usize, capacities: &[f64], class: &[(Vec<u32>, f64)]) -> (Solution, Vec<f64>) {
    let flows: Vec<_> =
        class.iter().flat_map(|(path, weight)| vec![(path.clone(), log(*weight)); count]).collect();
    let solution = solved(capacities, &flows);
    let rates = solution.rates.chunks(count).map(|rates| rates[0]).collect();
    for rates in solution.rates.chunks(count) {
        assert!(rates.iter().all(|rate| rate == &rates[0]), "flows of a class differ");
    }
    (solution, rates)
}

/// Base round trips of the single link runs, with transmission times [Low02 tables I, II].
const SINGLE: [f64; 5] = [15.17, 15.17, 20.17, 30.17, 40.17];

#[test]
fn low02_table_1() {
    let (solution, rates) = classes(50, &[300.0], &SINGLE.map(|_| (vec![0], 2.0)));
    near(solution.prices[0], 1.66667, 1e-5);
    near(solution.prices[0] * 300.0, 500.0, 1e-6);
    let rtt = [16.8367, 16.8367, 21.8367, 31.8367, 41.8367];
    let windows = [20.2040, 20.2040, 26.2040, 38.2040, 50.2040];
    for class in 0..5 {
        near(rates[class] * 1e3, 1200.0, 1e-6);
        near(SINGLE[class] + solution.prices[0], rtt[class], 1e-4);
        near(rates[class] * (SINGLE[class] + solution.prices[0]), windows[class], 1e-4);
    }
}

#[test]
fn low02_table_2() {
    let (solution, rates) = classes(50, &[300.0], &SINGLE.map(|rtt| (vec![0], 0.2 * rtt)));
    near(solution.prices[0], 4.0283, 1e-4);
    near(solution.prices[0] * 300.0, 1208.5, 0.1);
    let expected = [753.1651, 753.1651, 1001.4067, 1497.8899, 1994.3732];
    let windows = [14.4595, 14.4595, 24.2324, 51.2253, 88.1480];
    for class in 0..5 {
        near(rates[class] * 1e3, expected[class], 1e-4);
        near(rates[class] * (SINGLE[class] + solution.prices[0]), windows[class], 1e-4);
    }
}

/// Links LA, SF, CH; classes 1a to 6a [Low02 fig. 4].
fn backbone() -> [Vec<u32>; 6] {
    [vec![0, 1], vec![1, 2], vec![0], vec![1], vec![2], vec![0, 1, 2]]
}

fn backbone_case(
    weights: [f64; 6],
    base: [f64; 6],
    rates: [f64; 6],
    rtt: [f64; 6],
    queues: [f64; 3],
) {
    let class: Vec<_> = backbone().into_iter().zip(weights).collect();
    let (solution, found) = classes(50, &[300.0; 3], &class);
    for class in 0..6 {
        near(found[class] * 1e3, rates[class], 1e-4);
        let delay: f64 = backbone()[class].iter().map(|&link| solution.prices[link as usize]).sum();
        near(base[class] + delay, rtt[class], 1e-4);
    }
    for (price, queue) in solution.prices.iter().zip(queues) {
        near(price * 300.0, queue, 1e-4);
    }
}

/// The paper's own round trips are 0.17 ms longer for each hop: it counts transmission twice.
const BACKBONE_BASE: [f64; 6] = [75.17, 80.17, 15.17, 60.17, 20.17, 100.18];

#[test]
fn low02_table_3() {
    backbone_case(
        [2.0; 6],
        BACKBONE_BASE,
        [1381.9660, 1381.9660, 3618.0340, 2236.0680, 3618.0340, 1000.0],
        [76.6172, 81.6172, 15.7228, 61.0644, 20.7228, 102.1800],
        [165.8359, 268.3282, 165.8359],
    );
}

#[test]
fn low02_table_4() {
    backbone_case(
        [75.0, 80.0, 15.0, 60.0, 20.0, 100.0].map(|propagation| 0.2 * propagation),
        BACKBONE_BASE,
        [1466.8394, 1509.0905, 2818.8749, 1309.7843, 2776.6237, 1714.2857],
        [85.3961, 90.7724, 16.2343, 69.3318, 21.6106, 111.8467],
        [319.2763, 2748.5441, 432.1795],
    );
}

/// Five sources start one after the other and take the queuing delay that they find for
/// propagation [Low02 example 1, tables V, VI].
#[test]
fn low02_table_5() {
    let delays = [3.33333, 10.0, 21.21649, 39.55393, 69.28511];
    let queues = [20.0, 60.0, 127.2990, 237.3236, 415.7107];
    let (mut found, mut flows, mut rates) = (0.0, Vec::new(), Vec::new());
    for period in 0..5 {
        flows.push((vec![0], Demand::Vegas { weight: 2.0 * (10.0 + found), bias: found }));
        let solution = solved(&[6.0], &flows);
        found = solution.prices[0];
        rates = solution.rates;
        near(found, delays[period], 1e-5);
        near(found * 6.0, queues[period], 1e-4);
    }
    for (rate, expected) in rates.iter().zip([288.662, 404.336, 674.706, 1298.831, 3333.466]) {
        near(rate * 1e3, expected, 1e-3);
    }
}

/// With the right delays, under REM [Low02 table VII].
#[test]
fn low02_figure_7() {
    let flows = [10.0, 10.0, 20.0, 10.0, 30.0].map(|delay| (vec![0], log(2.0 * delay)));
    for (sources, price) in [3.3333, 6.6667, 13.3333, 16.6667, 26.6667].into_iter().enumerate() {
        near(solved(&[6.0], &flows[..=sources]).prices[0], price, 1e-4);
    }
    let rates = solved(&[6.0], &flows).rates;
    for (rate, expected) in rates.iter().zip([750.0, 750.0, 1500.0, 750.0, 2250.0]) {
        near(rate * 1e3, expected, 1e-6);
    }
}

/// The kbit of `count` KB.
fn kilobytes(count: f64) -> f64 {
    8.0 * count
}

fn contract(floor: f64, limit_in_kilobytes: f64) -> Demand {
    let (weight, limit) = (kilobytes(3.0), kilobytes(limit_in_kilobytes));
    Demand::Contract { weight, floor, limit, cap: f64::INFINITY }
}

#[test]
fn har02_figure_4() {
    let others = vec![(vec![0], log(kilobytes(3.0))); 9];
    let run = |floor, limit| {
        let mut flows = vec![(vec![0], contract(floor, limit))];
        flows.extend(others.iter().cloned());
        let solution = solved(&[100.0], &flows);
        (solution.rates[0], solution.prices[0] * 100.0 / 8.0)
    };
    let cases = [
        (15.0, 28.5714, 35.7143, 42.0),
        (30.0, 47.3684, 52.6316, 57.0),
        (3000.0, 99.0089, 99.1080, 3027.0),
    ];
    for (limit, knee, above, queue) in cases {
        for part in [0.0, 0.25, 0.5, 0.99] {
            near(run(part * knee, limit).0, 0.9 * part * knee + 10.0, 1e-6);
        }
        for floor in [1.01 * knee, 99.9, 150.0] {
            near(run(floor, limit).0, above, 1e-4);
            near(run(floor, limit).1, queue, 1e-6);
        }
        near(run(knee, limit).0, above, 2e-4);
    }
    near(run(60.0, f64::INFINITY).0, 64.0, 1e-9);
}

#[test]
fn har02_figure_5() {
    for weight in [1.0, 2.0, 10.0, 100.0, 491.0, 2691.0] {
        let mut flows = vec![(vec![0], log(kilobytes(3.0 * weight)))];
        flows.extend(vec![(vec![0], log(kilobytes(3.0))); 9]);
        let solution = solved(&[100.0], &flows);
        near(solution.rates[0], 100.0 * weight / (weight + 9.0), 1e-9);
        near(solution.prices[0] * 100.0 / 8.0, 3.0 * (weight + 9.0), 1e-6);
    }
}

#[test]
fn har02_figure_6() {
    let long = |floor, limit| (vec![0, 1, 2], contract(floor, limit));
    let (l0, l1, l2, l3) = (long(30.0, 60.0), long(35.0, 75.0), long(50.0, 60.0), long(10.0, 15.0));
    let phases = [
        (vec![&l0, &l3], vec![33.75, 13.75], [13.125, 26.25, 8.75]),
        (vec![&l0, &l1, &l3], vec![31.6667, 36.6667, 8.3333], [5.8333, 11.6667, 3.8889]),
        (
            vec![&l0, &l1, &l2, &l3],
            vec![23.8095, 29.7619, 23.8095, 5.9524],
            [4.1667, 8.3333, 2.7778],
        ),
    ];
    for (longs, rates, [outer, heavy, middle]) in phases {
        let mut flows: Vec<_> = longs.into_iter().cloned().collect();
        let count = flows.len();
        for bottleneck in 0..3 {
            for flow in 0..4 {
                let weight = if (bottleneck, flow) == (1, 0) { 3.0 } else { 1.0 };
                flows.push((vec![bottleneck], log(kilobytes(3.0 * weight))));
            }
        }
        let solution = solved(&[100.0; 3], &flows);
        for (found, expected) in solution.rates[..count].iter().zip(&rates) {
            near(*found, *expected, 1e-4);
        }
        let mut expected = [outer; 12];
        expected[4..8].fill(middle);
        expected[4] = heavy;
        for (found, expected) in solution.rates[count..].iter().zip(expected) {
            near(*found, expected, 1e-4);
        }
    }
}

/// `long` flows over `links` links, and `short` ones on each: the rates of one of either.
fn parking_lot(links: u32, capacity: f64, long: usize, short: usize) -> (f64, f64) {
    let mut flows = vec![((0..links).collect(), log(24.0)); long];
    for link in 0..links {
        flows.extend(vec![(vec![link], log(24.0)); short]);
    }
    let rates = solved(&vec![capacity; links as usize], &flows).rates;
    (rates[0], rates[long])
}

#[test]
fn xia05_parking_lots() {
    for links in 1..=7 {
        let (long, short) = parking_lot(links, 100.0, 3, 1);
        let n = f64::from(links);
        near(long, 100.0 / (3.0 + n), 1e-9);
        near(short, 100.0 * n / (3.0 + n), 1e-9);
    }
    // Figure 10: two short flows on each of three bottlenecks. Figure 11: one on each of two.
    let figures = [
        (parking_lot(3, 100.0, 1, 2), (14.2857, 42.8571)),
        (parking_lot(3, 100.0, 2, 2), (12.5, 37.5)),
        (parking_lot(2, 1.0, 1, 1), (0.3333, 0.6667)),
        (parking_lot(2, 1.0, 2, 1), (0.25, 0.5)),
    ];
    for ((long, short), expected) in figures {
        near(long, expected.0, 1e-4);
        near(short, expected.1, 1e-4);
    }
}

/// [Har02 eq. 18]: contracted long flows over a row of bottlenecks, random weights. In a
/// long row the system of the prices is far from diagonal.
#[test]
fn contracted_parking_lot_of_a_thousand_links() {
    let mut random = Random::new(18);
    let links = 1000;
    let mut flows: Vec<(Vec<u32>, Demand)> = Vec::new();
    let (mut reserved, mut long_weight, mut cross_weight) = (0.0, 0.0, 0.0);
    for _ in 0..5 {
        let (weight, floor) = (random.between(100.0, 500.0), random.between(0.0, 15.0));
        let limit = f64::INFINITY;
        flows.push((
            (0..links).collect(),
            Demand::Contract { weight, floor, limit, cap: f64::INFINITY },
        ));
        reserved += floor;
        long_weight += weight;
    }
    for link in 0..links {
        let weight = random.between(0.2, 5.0);
        flows.push((vec![link], log(weight)));
        cross_weight += weight;
    }
    let solution = solved(&vec![100.0; links as usize], &flows);
    let shared = (100.0 - reserved) / (long_weight + cross_weight);
    for (rate, (path, demand)) in solution.rates.iter().zip(&flows) {
        let expected = match *demand {
            Demand::Contract { weight, floor, .. } => floor + weight * shared,
            _ => 100.0 - reserved - long_weight * shared,
        };
        assert!((rate / expected - 1.0).abs() < 1e-9, "{path:?}: {rate} is not {expected}");
    }
}
