//! The same networks by a general convex solver: how much the structure is worth.
//!
//! `cargo bench -p accord-theory --bench general --features faer`
//!
//! Clarabel (interior point, exponential cones, its own tolerances) has the dual problem, which has
//! far fewer variables that matter: min c·p − Σ w·t, p ≥ 0, (t, 1, Rᵀp) ∈ K_exp, that is t ≤ ln q.
//! With rates as variables in place of prices it took half as long again at 10 000 flows, and its gap
//! was wider. Both answers are judged by the same certificate, both run on one thread.
//!
//! Without the feature Clarabel has its default linear algebra, which takes minutes for 10 000 flows,
//! so that row is left out. With it, Clarabel does that row once, and CPU time is compared.

#![allow(missing_docs, reason = "the macros make functions without any")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use accord_solver::{Certificate, Demand, Problem, Settings, Status, solve};
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
    if cfg!(feature = "faer") {
        pool.install(largest);
    }
}

/// CPU time of this thread in seconds.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().unwrap_or("0");
    first.parse::<f64>().unwrap_or(0.0) / 1e9
}

/// 10 000 flows, once by Clarabel, the least of ten by us.
fn largest() {
    let problem = common::random_problem(1, 10_000, 2_000);
    let time = |work: &dyn Fn()| {
        let before = cpu();
        work();
        cpu() - before
    };
    let ours = || drop(solve(&problem, &Settings::default()));
    let ours = (0..10).map(|_| time(&ours)).fold(f64::INFINITY, f64::min);
    let theirs = time(&|| drop(by_cones(&problem)));
    println!(
        "10000x2000: accord {:.1} ms of CPU, clarabel {theirs:.2} s, ratio {:.0}; {}",
        1e3 * ours,
        theirs / ours,
        gaps(&problem)
    );
}

/// The quality of both answers: the relative gaps of their certificates.
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

/// Clarabel's status and prices. Variables are p, then t.
fn by_cones(problem: &Problem) -> (String, Vec<f64>) {
    let routes = problem.routes();
    let (flows, links) = (routes.flows(), routes.links());
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut entry = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    let mut objective = problem.capacities().to_vec();
    let mut bounds = vec![0.0; links];
    for link in 0..links {
        entry(link, link, -1.0);
    }
    for (flow, path) in routes.iter().enumerate() {
        let Demand::Log { weight } = problem.demands()[flow] else {
            unreachable!("the random problems are weighted proportional fairness")
        };
        objective.push(-weight);
        // b − A·(p, t) = (t, 1, q).
        let row = links + 3 * flow;
        entry(row, links + flow, -1.0);
        for &link in path {
            entry(row + 2, link as usize, -1.0);
        }
        bounds.extend([0.0, 1.0, 0.0]);
    }
    let (height, width) = (links + 3 * flows, links + flows);
    let constraints = CscMatrix::new_from_triplets(height, width, rows, columns, values);
    let mut cones = vec![NonnegativeConeT(links)];
    cones.extend((0..flows).map(|_| SupportedConeT::ExponentialConeT()));
    let method = if cfg!(feature = "faer") { "faer" } else { "qdldl" };
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_threads(1)
        .direct_solve_method(method.into())
        .build();
    let mut solver = DefaultSolver::new(
        &CscMatrix::zeros((width, width)),
        &objective,
        &constraints,
        &bounds,
        &cones,
        settings.expect("the settings are in range"),
    )
    .expect("the dimensions agree");
    solver.solve();
    let prices = solver.solution.x[..links].iter().map(|p| p.max(0.0));
    (format!("{:?}", solver.solution.status), prices.collect())
}

criterion_group!(benches, general);
criterion_main!(benches);
