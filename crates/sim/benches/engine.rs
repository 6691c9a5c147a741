//! Packet-hops and calendar events per second: `cargo bench -p accord-sim`.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::Quiet;
use accord_scenario::Scenario;
use accord_sim::{Calendar, EventKind};
use accord_units::Time;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const WORKS: [(&str, &str); 3] = [
    ("newreno-10", include_str!("../../cli/benches/newreno-10.toml")),
    ("newreno-250", include_str!("../../cli/benches/newreno-250.toml")),
    ("vegas-250", include_str!("../../cli/benches/vegas-250.toml")),
];

/// A tenth of a work, mostly the start, in which flows find their rates.
fn shortened(name: &str, text: &str) -> Scenario {
    let catalogue =
        Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
    let file = File::parse(name, text).expect("a scenario");
    let mut points = file.points(&catalogue, None).expect("a valid one");
    let mut scenario = points.swap_remove(0);
    scenario.duration = scenario.duration.mul_f64(0.1);
    scenario
}

fn works(c: &mut Criterion) {
    let mut group = c.benchmark_group("packet-hops");
    group.sample_size(10);
    for (name, text) in WORKS {
        let scenario = shortened(name, text);
        let run = || accord_sim::run(&scenario, &mut Quiet).expect("the observer does not stop it");
        group.throughput(Throughput::Elements(run().statistics.packet_hops));
        group.bench_function(name, |b| b.iter(run));
    }
    group.finish();
}

/// Takes an event and adds one, with `pending` events pending at exponential gaps.
fn calendar(c: &mut Criterion) {
    let mut group = c.benchmark_group("calendar");
    group.throughput(Throughput::Elements(1));
    for pending in [250, 1000, 10_000] {
        let mut calendar = Calendar::new(Time::MAX);
        let mut x = 1u64;
        let mut gap = move || {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1);
            u64::from(x.leading_zeros()) * 500_000_000 + (x >> 33)
        };
        for index in 0..pending {
            calendar.push(Time::from_ps(gap()), EventKind::Arrive, index);
        }
        group.bench_function(format!("pop-push-{pending}"), |b| {
            b.iter(|| {
                if let Some((now, kind, index)) = calendar.pop() {
                    let next = Time::from_ps(now.as_ps() + gap());
                    calendar.push(next, kind, black_box(index));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, works, calendar);
criterion_main!(benches);
