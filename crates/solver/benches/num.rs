//! Cold start on random networks of 10³ to 10⁵ flows.

#![allow(missing_docs, reason = "the macros make functions without any")]

#[path = "../tests/common/mod.rs"]
mod common;

use accord_solver::{Settings, solve};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn num(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("num");
    group.sample_size(10);
    for (flows, links) in [(1_000, 200), (10_000, 2_000), (100_000, 10_000)] {
        let problem = common::random_problem(1, flows, links);
        group.bench_function(BenchmarkId::from_parameter(format!("{flows}x{links}")), |bencher| {
            bencher.iter(|| solve(&problem, &Settings::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, num);
criterion_main!(benches);
