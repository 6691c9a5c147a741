//! Kinds that are moved side by side as long as their queue only delays: the same to the bit as one by one.

mod common;

use accord_fluid::run;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric};
use common::scenario;

/// Ten flows of different delays that come one after the other to a buffer that their slow starts
/// overflow, with a change of its delay. An application that ends some time is enough not to glide.
fn ten(model: &str, queue: &str, demand: &str) -> Run {
    let mut text = format!(
        "duration = \"20 s\"\nsample = \"50 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"50 Mbps\"\ndelay = \"5 ms\"\nqueue = {queue}\n\
         [[event]]\nat = \"11.3 s\"\nlink = \"bottleneck\"\ndelay = \"9 ms\"\n"
    );
    for i in 0..10 {
        text += &format!(
            "[flow.f{i}]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\nstart = \"{}.7 s\"\ndemand = {demand}\n\
             access = {{ rate = \"1 Gbps\", delay = \"{} ms\" }}\n",
            2 * (i % 4),
            3 + 4 * i
        );
    }
    run(&scenario(&text), &mut Quiet).expect("it runs")
}

#[test]
fn who_glides_for_now_does_as_one_who_does_not() {
    for model in ["integrator", "ack-clocked"] {
        for (limit, loses) in [("35 kB", true), ("2 MB", false)] {
            let queue = format!("{{ discipline = \"droptail\", limit = \"{limit}\" }}");
            let glides = ten(model, &queue, "\"greedy\"");
            let alone = ten(model, &queue, "{ size = \"1000 GB\" }");
            assert_eq!(
                glides.manifest.digest, alone.manifest.digest,
                "{model}, {limit}"
            );
            let drops = glides.series(Metric::Drops, Entity::Link(0)).unwrap();
            let dropped: f64 = drops.values.iter().sum();
            assert_eq!(dropped > 0.0, loses, "{model}, {limit}: {dropped}");
        }
    }
}
