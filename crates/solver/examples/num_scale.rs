//! The scaling of the solver: sizes, steps, time of a cold start on one core and on two, certified
//! gap; and time of a warm start.
//!
//! `cargo run --release -p accord-solver --example num_scale [largest number of flows]`
//!
//! First networks with few links, whose flows cross 3 to 8 of them; then networks with twice as
//! many links as flows, and Poisson(10) links on each path. "cpu" is the CPU time of the
//! busiest thread, the mean of some runs; "wall" what passed in the shortest, which on a machine with
//! other work to do is more.
//! The answers on one core and on two are the same to the bit. Then a flow comes or goes, on the first
//! networks and on backbones whose flows share their paths with many. Last, max-min fairness.

#![expect(clippy::print_stdout, reason = "an example prints")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use accord_solver::{Problem, Routes, Settings, Solution, Status, max_min, solve, solve_from};
use std::ops::ControlFlow;

fn main() {
    let largest = std::env::args().nth(1).map_or(1_000_000, |argument| {
        argument.parse().expect("the largest number of flows is a whole number")
    });
    println!(
        "{:>9} {:>9} {:>9} {:>7} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "flows", "links", "hops", "newton", "inner", "1 cpu ms", "wall", "2 cpu ms", "wall", "gap"
    );
    for (flows, links) in SIZES {
        if flows <= largest {
            report(&common::random_problem(1, flows, links));
        }
    }
    for flows in [10_000, 100_000, 500_000] {
        if flows <= largest {
            report(&common::sparse_problem(1, flows));
        }
    }
    println!(
        "\none flow comes or goes, 1 core\n{:>9} {:>9} {:>9} {:>9} {:>6} {:>9} {:>7} {:>9}",
        "flows", "links", "cold ms", "newton", "inner", "warm ms", "part", "gap"
    );
    for (flows, links) in SIZES {
        if flows <= largest {
            warm(&common::random_problem(1, flows, links));
        }
    }
    for nodes in [30, 100, 300] {
        if 100_000 <= largest {
            warm(&common::backbone_problem(1, 100_000, nodes));
        }
    }
    println!("\nmax-min\n{:>9} {:>9} {:>11} {:>9}", "flows", "links", "1 core [ms]", "worst");
    for (flows, links) in SIZES.into_iter().filter(|size| size.0 <= largest) {
        let problem = common::random_problem(1, flows, links);
        let runs = (0..3).map(|_| timed(|| max_min(&problem).expect("weights only")));
        let (found, time) = runs.min_by_key(|run| run.1).expect("three runs");
        let (time, worst) = (time.as_secs_f64() * 1e3, found.certificate.worst());
        println!("{flows:>9} {links:>9} {time:>11.2} {worst:>9.1e}");
    }
}

/// Flows and links.
const SIZES: [(usize, usize); 4] =
    [(1_000, 200), (10_000, 2_000), (100_000, 10_000), (1_000_000, 100_000)];

/// Solves it for a while, and prints the shortest time.
fn report(problem: &Problem) {
    let (solution, one) = on_threads(1, problem);
    let (again, two) = on_threads(2, problem);
    assert_eq!(solution.status, Status::Solved);
    assert_eq!(solution, again);
    println!(
        "{:>9} {:>9} {:>9} {:>7} {:>6} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9.1e}",
        problem.routes().flows(),
        problem.routes().links(),
        problem.routes().hops(),
        solution.iterations,
        solution.inner_iterations,
        one.cpu,
        one.wall,
        two.cpu,
        two.wall,
        solution.certificate.relative_gap,
    );
}

/// Lets flows come and go one by one, and prints the mean CPU time of a solution and of a cold
/// start.
fn warm(problem: &Problem) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.build().expect("there is a thread");
    let (flows, links) = (problem.routes().flows(), problem.routes().links());
    pool.install(|| {
        let cold = cpu(|| drop(solve(problem, &Settings::default())));
        let mut prices = solve(problem, &Settings::default()).prices;
        // A flow like one that is there comes, then goes.
        let with = |flow: usize| {
            let paths = problem.routes().iter().chain([problem.routes().path(flow)]);
            let routes = Routes::new(links, paths).expect("as one that is there");
            let demands = [problem.demands(), &[problem.demands()[flow]]].concat();
            Problem::new(routes, problem.capacities().to_vec(), demands).expect("as one there")
        };
        let guests: Vec<Problem> = (0..3).map(|i| with(7 * i % flows)).collect();
        let (mut changes, mut newton, mut inner, mut gap) = (0, 0, 0, 0.0f64);
        let warm = cpu(|| {
            let now = if changes % 2 == 0 { &guests[changes / 2 % 3] } else { problem };
            let watch = &mut |_| ControlFlow::Continue(());
            let found = solve_from(now, &Settings::default(), &prices, watch);
            assert_eq!(found.status, Status::Solved);
            changes += 1;
            (newton, inner) = (newton + found.iterations, inner + found.inner_iterations);
            gap = gap.max(found.certificate.relative_gap);
            prices = found.prices;
        });
        println!(
            "{flows:>9} {links:>9} {cold:>9.1} {:>9.1} {:>6.1} {warm:>9.3} {:>6.2}% {gap:>9.1e}",
            newton as f64 / changes as f64,
            inner as f64 / changes as f64,
            100.0 * warm / cold,
        );
    });
}

/// Does some work again and again, and returns the mean CPU time of this thread that it takes, in ms.
fn cpu(mut work: impl FnMut()) -> f64 {
    let now = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let first = text.split(' ').next().unwrap_or("0");
        first.parse::<f64>().unwrap_or(0.0) / 1e6
    };
    let (before, mut runs) = (now(), 0);
    // The kernel counts in steps of milliseconds.
    while now() - before < 500.0 && runs < 1_000_000 {
        work();
        runs += 1;
    }
    (now() - before) / f64::from(runs)
}

/// In ms.
struct Times {
    /// Of the busiest thread, the mean of the runs.
    cpu: f64,
    /// The shortest.
    wall: f64,
}

fn on_threads(threads: usize, problem: &Problem) -> (Solution, Times) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().expect("there are threads");
    let (mut wall, mut total, mut runs) = (f64::INFINITY, 0.0, 0.0);
    let before = cpu_of_threads();
    loop {
        let (solution, time) = timed(|| pool.install(|| solve(problem, &Settings::default())));
        let time = time.as_secs_f64() * 1e3;
        (wall, total, runs) = (wall.min(time), total + time, runs + 1.0);
        if total > 500.0 && runs > 2.0 {
            let since = |(thread, now)| now - before.get(&thread).unwrap_or(&0.0);
            let busiest = cpu_of_threads().into_iter().map(since);
            let cpu = busiest.fold(f64::NAN, f64::max) / runs;
            break (solution, Times { cpu, wall });
        }
    }
}

/// Returns the CPU time of each thread of this program so far, in ms. It is known on Linux only.
fn cpu_of_threads() -> BTreeMap<PathBuf, f64> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return BTreeMap::new();
    };
    let nanoseconds = |thread: &PathBuf| -> Option<f64> {
        let text = std::fs::read_to_string(thread.join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    threads
        .flatten()
        .map(|thread| thread.path())
        .filter_map(|thread| nanoseconds(&thread).map(|ns| (thread, ns / 1e6)))
        .collect()
}

#[allow(clippy::disallowed_methods, reason = "this program is a stopwatch")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = std::time::Instant::now();
    (work(), before.elapsed())
}
