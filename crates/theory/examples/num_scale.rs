//! How the solver scales: sizes, steps, time of a cold start on one core, certified gap.
//!
//! `cargo run --release -p accord-theory --example num_scale [largest number of flows]`
//!
//! First networks with few links, whose flows cross 3 to 8 of them; then networks with twice as
//! many links as flows, and Poisson(10) links on each path.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Duration;

use accord_theory::{Problem, Settings, Status, solve};

fn main() {
    let largest = std::env::args().nth(1).map_or(1_000_000, |argument| {
        argument
            .parse()
            .expect("the largest number of flows is a whole number")
    });
    println!(
        "{:>9} {:>9} {:>9} {:>7} {:>6} {:>11} {:>9}",
        "flows", "links", "hops", "newton", "inner", "time [ms]", "gap"
    );
    for (flows, links) in [
        (1_000, 200),
        (10_000, 2_000),
        (100_000, 10_000),
        (1_000_000, 100_000),
    ] {
        if flows <= largest {
            report(&common::random_problem(1, flows, links));
        }
    }
    for flows in [10_000, 100_000, 500_000] {
        if flows <= largest {
            report(&common::sparse_problem(1, flows));
        }
    }
}

/// Solves it for a while, and prints the mean.
fn report(problem: &Problem) {
    let (mut times, mut total) = (0, Duration::ZERO);
    let solution = loop {
        let (solution, time) = timed(|| solve(problem, &Settings::default()));
        times += 1;
        total += time;
        if total > Duration::from_millis(300) {
            break solution;
        }
    };
    assert_eq!(solution.status, Status::Solved);
    println!(
        "{:>9} {:>9} {:>9} {:>7} {:>6} {:>11.2} {:>9.1e}",
        problem.routes().flows(),
        problem.routes().links(),
        problem.routes().hops(),
        solution.iterations,
        solution.inner_iterations,
        total.as_secs_f64() * 1e3 / f64::from(times),
        solution.certificate.relative_gap,
    );
}

#[allow(clippy::disallowed_methods, reason = "this program is a stopwatch")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = std::time::Instant::now();
    (work(), before.elapsed())
}
