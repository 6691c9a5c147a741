//! A thousand different flows for a second of simulated time.

use accord_family::Catalogue;
use accord_fluid::{run_with_step, step};
use accord_language::File;
use accord_record::Quiet;
use criterion::{Criterion, criterion_group, criterion_main};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

fn thousand(c: &mut Criterion) {
    for model in ["integrator", "ack-clocked"] {
        let text = format!(
            "duration = \"5 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"1 Gbps\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
             [flow.f]\ncount = 1000\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", gain = 0.3 }}\naccess = {{ rate = \"10 Gbps\", delay = {{ spread = [\"2.5 ms\", \"50 ms\"] }} }}\n"
        );
        let file = File::parse("bench.toml", &text).expect("it parses");
        let scenario = file.points(&CATALOGUE, None).expect("valid").swap_remove(0);
        let h = step(&scenario).expect("it has one");
        c.bench_function(&format!("1000 flows, 5 s, {model}"), |b| {
            b.iter(|| run_with_step(&scenario, h, &mut Quiet).expect("it runs"));
        });
    }
}

criterion_group!(benches, thousand);
criterion_main!(benches);
