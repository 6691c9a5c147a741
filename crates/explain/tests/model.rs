//! Taking an effect away leaves the equilibrium of the model where it was.

use accord_control::FAMILIES as CONTROLLERS;
use accord_explain::Effect;
use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Change, Engine, Entity, Metric, Scenario};
use accord_units::Time;

const CATALOGUE: Catalogue =
    Catalogue { controllers: CONTROLLERS, disciplines: accord_aqm::FAMILIES };

/// The first point of each scenario that comes with the program and is small.
fn scenarios() -> Vec<Scenario> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .expect("the scenarios")
        .map(|e| e.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    let points = files.iter().map(|path| {
        let file = File::open(path).expect("valid");
        file.points(&CATALOGUE, None).expect("valid").swap_remove(0)
    });
    points.filter(|s| s.flows.len() <= 40).collect()
}

/// The metrics of theory that are in bytes. Those in packets change with the packets' size.
const METRICS: [Metric; 6] = [
    Metric::Throughput,
    Metric::Rtt,
    Metric::MinRtt,
    Metric::Accumulation,
    Metric::Backlog,
    Metric::Utilisation,
];

/// Values in the middle of each phase that is longer than a few samples.
fn values(s: &Scenario, run: &Run) -> Vec<(Entity, Metric, usize, f64)> {
    let mut found = Vec::new();
    for (k, phase) in s.phases().enumerate() {
        let middle = (phase.start.as_secs_f64() + phase.end.as_secs_f64()) / 2.0;
        let period = run.time.first().copied().unwrap_or(0.0);
        let i = run.time.partition_point(|t| *t < middle);
        if phase.end.since(phase.start).as_secs_f64() < 4.0 * period || i >= run.time.len() {
            continue;
        }
        for series in run.series.iter().filter(|s| METRICS.contains(&s.metric)) {
            found.push((series.entity, series.metric, k, series.values[i]));
        }
    }
    found
}

/// All flows measure by packets of the same sizes, and no link carries them there and back or
/// changes its rate: what smaller
/// ones save can be given back exactly. Elsewhere base round-trip times may move, and the report
/// of an attribution says by how much.
fn keeps_base_rtt(s: &Scenario) -> bool {
    let state = s.at(Time::ZERO);
    let same = (0..s.flows.len()).all(|f| state.probe(f) == state.probe(0));
    let rates = s.events.iter().any(|e| matches!(e.change, Change::Rate(..)));
    let there = |l: &usize| s.flows.iter().any(|f| f.path.contains(l));
    let both_ways = (s.flows.iter()).any(|f| f.reverse_path.iter().any(there));
    same && !rates && !both_ways
}

#[test]
fn theory_stays_as_effects_go() {
    let (mut looked_at, mut seen) = (0, std::collections::BTreeSet::new());
    for mut s in scenarios() {
        // Control pairs get smaller with the packets, and leave more to data.
        s.flows.iter_mut().for_each(|f| f.control = accord_units::Bytes::ZERO);
        let theory = |s: &Scenario| accord_theory::run(s, &mut Quiet).expect("a valid problem");
        let before = values(&s, &theory(&s));
        for effect in Effect::ALL {
            let Ok(without) = effect.without(&s, 4, Engine::Packet) else {
                continue;
            };
            let after = values(&without, &theory(&without));
            // To know the base round-trip time is another equilibrium where a queue hid it. The load of
            // acknowledgements is in theory as well.
            if matches!(effect, Effect::BaseRtt | Effect::Acks) {
                continue;
            }
            let pairs = before.iter().filter_map(|a| {
                // A long run is sampled coarsely: a short phase may have no value there.
                let same = |b: &&(_, _, _, f64)| (a.0, a.1, a.2) == (b.0, b.1, b.2);
                Some((a, after.iter().find(same)?))
            });
            let pairs: Vec<_> = pairs.collect();
            let (some, all) = (pairs.len(), before.len());
            let place = format!("{} without {}", s.id, effect.name());
            assert!(2 * some >= all, "{place}: {some} of {all} values");
            for (a, b) in pairs {
                if matches!(a.1, Metric::Rtt | Metric::MinRtt) && !keeps_base_rtt(&s) {
                    continue;
                }
                let near = a.3 == b.3 || (a.3 - b.3).abs() <= 1e-6 * a.3.abs().max(1e-6);
                let none = a.3.is_nan() && b.3.is_nan();
                assert!(near || none, "{place}: {a:?} against {}", b.3);
                looked_at += 1;
            }
            seen.insert(effect);
        }
    }
    assert!(looked_at > 1000, "{looked_at} values");
    let expected = [Effect::Packets, Effect::Buffers, Effect::Bursts, Effect::Timers];
    assert!(expected.iter().all(|e| seen.contains(e)), "{seen:?}");
    assert!(seen.contains(&Effect::StartUp), "{seen:?}");
}
