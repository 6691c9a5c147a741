//! The same networks by a general convex solver: how much the structure is worth.
//!
//! `cargo bench -p accord-theory --bench general`
//!
//! Clarabel (interior point, exponential cones, its own defaults) has the problem as
//! max Σ w·t, R·x ≤ c, (t, 1, x) ∈ K_exp, that is t ≤ ln x. Both answers are judged by the same
//! certificate. Both run on one thread. Larger networks take it minutes.

#![allow(missing_docs, reason = "the macros make functions without any")]

#[path = "../tests/common/mod.rs"]
mod common;

use accord_theory::{Certificate, Demand, Problem, Settings, Status, solve};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SupportedConeT,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn general(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("general");
    group.sample_size(10);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("there is a thread");
    for (flows, links) in [(100, 40), (1_000, 200)] {
        let problem = common::random_problem(1, flows, links);
        let size = format!("{flows}x{links}");
        println!("{size}: {}", gaps(&problem));
        group.bench_function(BenchmarkId::new("accord", &size), |bencher| {
            pool.install(|| bencher.iter(|| solve(&problem, &Settings::default())));
        });
        group.bench_function(BenchmarkId::new("clarabel", &size), |bencher| {
            bencher.iter(|| by_cones(&problem));
        });
    }
    group.finish();
}

/// How good both answers are: the relative gaps that they are certified.
fn gaps(problem: &Problem) -> String {
    let solution = solve(problem, &Settings::default());
    assert_eq!(solution.status, Status::Solved);
    let (status, prices) = by_cones(problem);
    let path_prices = problem.routes().path_prices(&prices);
    let demands = problem.demands().iter().zip(path_prices);
    let rates: Vec<f64> = demands.map(|(demand, q)| demand.rate(q)).collect();
    let certificate = Certificate::new(problem, &rates, &prices);
    format!(
        "gap of accord {:.0e}, of clarabel ({status}) {:.0e}",
        solution.certificate.relative_gap, certificate.relative_gap
    )
}

/// Clarabel's status and prices. Variables are x, then t.
fn by_cones(problem: &Problem) -> (String, Vec<f64>) {
    let routes = problem.routes();
    let (flows, links) = (routes.flows(), routes.links());
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut entry = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    let mut bounds = problem.capacities().to_vec();
    let mut objective = vec![0.0; 2 * flows];
    for (flow, path) in routes.iter().enumerate() {
        for &link in path {
            entry(link as usize, flow, 1.0);
        }
        let Demand::Log { weight } = problem.demands()[flow] else {
            unreachable!("the random problems are weighted proportional fairness")
        };
        objective[flows + flow] = -weight;
        // b − A·(x, t) = (t, 1, x).
        let row = links + 3 * flow;
        entry(row, flows + flow, -1.0);
        entry(row + 2, flow, -1.0);
        bounds.extend([0.0, 1.0, 0.0]);
    }
    let constraints =
        CscMatrix::new_from_triplets(links + 3 * flows, 2 * flows, rows, columns, values);
    let mut cones = vec![NonnegativeConeT(links)];
    cones.extend((0..flows).map(|_| SupportedConeT::ExponentialConeT()));
    let settings = DefaultSettingsBuilder::default().verbose(false).build();
    let mut solver = DefaultSolver::new(
        &CscMatrix::zeros((2 * flows, 2 * flows)),
        &objective,
        &constraints,
        &bounds,
        &cones,
        settings.expect("the settings are in range"),
    )
    .expect("the dimensions agree");
    solver.solve();
    let prices = solver.solution.z[..links].iter().map(|p| p.max(0.0));
    (format!("{:?}", solver.solution.status), prices.collect())
}

criterion_group!(benches, general);
criterion_main!(benches);
