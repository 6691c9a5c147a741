//! Batches of classes: identical to the bit to classes moved one by one.

use crate::common::scenario;
use accord_fluid::run;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric};

/// Ten flows with different delays and start times over a buffer that their slow starts overflow,
/// with a change of delay. A demand that ends excludes a flow from batches.
fn ten(model: &str, controller: &str, access: &str, queue: &str, demand: &str) -> Run {
    let mut text = format!(
        "duration = \"20 s\"\nsample = \"50 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"50 Mbps\"\ndelay = \"5 ms\"\nqueue = {queue}\n\
         [[event]]\nat = \"11.3 s\"\nlink = \"bottleneck\"\ndelay = \"9 ms\"\n"
    );
    for i in 0..10 {
        text += &format!(
            "[flow.f{i}]\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\nstart = \"{}.7 s\"\ndemand = {demand}\n\
             access = {{ rate = \"{access}\", delay = \"{} ms\" }}\n",
            2 * (i % 4),
            3 + 4 * i
        );
    }
    run(&scenario(&text), &mut Quiet).expect("it runs")
}

/// Compares runs with a limit that always overflows, and one that only slow starts overflow.
fn compare(controller: &str, access: &str) {
    for model in ["integrator", "ack-clocked"] {
        for (limit, loses) in [("35 kB", true), ("2 MB", false)] {
            let queue = format!("{{ discipline = \"droptail\", limit = \"{limit}\" }}");
            let together = ten(model, controller, access, &queue, "\"greedy\"");
            let alone = ten(model, controller, access, &queue, "{ size = \"1000 GB\" }");
            let case = format!("{controller}, {access}, {model}, {limit}");
            assert_eq!(together.manifest.digest, alone.manifest.digest, "{case}");
            let drops = together.series(Metric::Drops, Entity::Link(0)).unwrap();
            let dropped: f64 = drops.values.iter().sum();
            assert!(dropped > 0.0 || !loses, "{case}: {dropped}");
        }
    }
}

#[test]
fn every_law_is_the_same_side_by_side() {
    for controller in [
        "\"monaco\"",
        "{ name = \"monaco\", policy = \"mw\" }",
        "{ name = \"monaco\", policy = \"aiad\" }",
        "{ name = \"monaco\", loss = \"accumulation\" }",
        "\"vegas\"",
        "\"newreno\"",
        "\"cubic\"",
    ] {
        compare(controller, "1 Gbps");
    }
}

/// A private link slower than the shared one has a queue.
#[test]
fn batches_with_several_queues_are_exact() {
    for controller in ["\"monaco\"", "\"vegas\"", "\"newreno\""] {
        compare(controller, "30 Mbps");
    }
}

/// Marks, and a virtual delay.
#[test]
fn batches_with_signals_are_exact() {
    let red = "{ discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"60 pkt\", ecn = true, limit = \"1 MB\" }";
    let cases = [
        ("{ name = \"newreno\", ecn = true }", red),
        ("{ name = \"cubic\", ecn = true }", red),
        ("\"monaco\"", "{ discipline = \"avd\" }"),
    ];
    for (controller, queue) in cases {
        for model in ["integrator", "ack-clocked"] {
            let run = |demand| ten(model, controller, "1 Gbps", queue, demand).manifest.digest;
            let (together, alone) = (run("\"greedy\""), run("{ size = \"1000 GB\" }"));
            assert_eq!(together, alone, "{controller}, {model}");
        }
    }
}

/// Monaco at a queue that only delays has a separate loop with fewer divisions: the same up to
/// rounding.
#[test]
fn proportional_batches_are_exact_up_to_rounding() {
    for model in ["integrator", "ack-clocked"] {
        let queue = "{ discipline = \"droptail\", limit = \"unlimited\" }";
        let run = |demand| ten(model, "\"monaco\"", "1 Gbps", queue, demand);
        let (batched, alone) = (run("\"greedy\""), run("{ size = \"1000 GB\" }"));
        assert_ne!(batched.manifest.digest, alone.manifest.digest, "{model}: another loop");
        for (a, b) in batched.series.iter().zip(&alone.series) {
            assert_eq!((a.metric, a.entity), (b.metric, b.entity));
            let scale = b.values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            for (x, y) in a.values.iter().zip(&b.values) {
                let near = (x - y).abs() <= 1e-9 * scale || x.is_nan() && y.is_nan();
                assert!(near, "{model}: {:?} {:?}: {x} and {y} of {scale}", a.metric, a.entity);
            }
        }
    }
}
