//! The same networks by a general convex solver: how much the structure is worth.
//!
//! `cargo run --release -p accord-theory --example versus_clarabel [largest number of flows]`
//!
//! Clarabel (interior point, exponential cones, its own defaults) has the problem as
//! max Σ w·t, R·x ≤ c, (t, 1, x) ∈ K_exp, that is t ≤ ln x. Both answers are judged by the same
//! certificate. Both run on one thread. Larger networks take it many minutes.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Duration;

use accord_theory::{Certificate, Demand, Problem, Settings, Status, solve};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SupportedConeT,
};

fn main() {
    let largest = std::env::args().nth(1).map_or(10_000, |argument| {
        argument
            .parse()
            .expect("the largest number of flows is a whole number")
    });
    println!(
        "{:>7} {:>6} {:>11} {:>9} {:>13} {:>9} {:>16} {:>7}",
        "flows", "links", "accord [ms]", "gap", "clarabel [ms]", "gap", "status", "ratio"
    );
    for (flows, links) in [(100, 40), (1_000, 200), (10_000, 2_000)] {
        if flows <= largest {
            report(&common::random_problem(1, flows, links));
        }
    }
}

fn report(problem: &Problem) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("there is a thread");
    let own = (0..5).map(|_| timed(|| pool.install(|| solve(problem, &Settings::default()))));
    let (solution, own) = own.min_by_key(|(_, time)| *time).expect("five runs");
    assert_eq!(solution.status, Status::Solved);
    let ((status, prices), general) = timed(|| by_cones(problem));
    let path_prices = problem.routes().path_prices(&prices);
    let demands = problem.demands().iter().zip(path_prices);
    let rates: Vec<f64> = demands.map(|(demand, q)| demand.rate(q)).collect();
    let certificate = Certificate::new(problem, &rates, &prices);
    println!(
        "{:>7} {:>6} {:>11.2} {:>9.0e} {:>13.0} {:>9.0e} {:>16} {:>7.0}",
        problem.routes().flows(),
        problem.routes().links(),
        own.as_secs_f64() * 1e3,
        solution.certificate.relative_gap,
        general.as_secs_f64() * 1e3,
        certificate.relative_gap,
        status,
        general.as_secs_f64() / own.as_secs_f64(),
    );
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

#[allow(clippy::disallowed_methods, reason = "this program is a stopwatch")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = std::time::Instant::now();
    (work(), before.elapsed())
}
