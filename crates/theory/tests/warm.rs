//! Phases of many flows, each of which is solved from the one before.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Window};
use accord_theory::run;
use accord_units::{Duration, Time};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// Flows of equal weights over one link, with access links of their own: `always` all the time, and others from 10 s on or until 20 s.
fn shares(always: usize, others: &str) -> Run {
    let text = format!(
        "duration = \"30 s\"\nsample = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Gbps\"\ndelay = \"5 ms\"\n\
         queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.always]\ncount = {always}\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\n\
         access = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n{others}"
    );
    let file = File::parse("many.toml", &text).expect("it parses");
    let mut scenario = file.points(&CATALOGUE, None).expect("valid").swap_remove(0);
    // Shares by hand have no control packets.
    scenario.flows.iter_mut().for_each(|f| f.control = accord_units::Bytes::ZERO);
    run(&scenario, &mut Quiet).expect("a problem")
}

fn group(name: &str, count: usize, when: &str) -> String {
    format!(
        "[flow.{name}]\ncount = {count}\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\n{when}\n"
    )
}

#[test]
fn phases_of_many_flows_are_those_of_each_alone() {
    let others = group("late", 30, "start = \"10 s\"") + &group("early", 50, "stop = \"20 s\"");
    let run = shares(12_000, &others);
    let rate = |from: u64| {
        let at = |s| Time::ZERO + Duration::from_secs(s);
        let window = Window { start: at(from), end: at(from + 10) };
        let rate = run.mean(Metric::Throughput, Entity::Group(0), window);
        rate.expect("it is recorded") / 12_000.0
    };
    for (from, flows) in [(0, 12_050.0), (10, 12_080.0), (20, 12_030.0)] {
        let (found, expected) = (rate(from), 10e9 / flows);
        assert!((found / expected - 1.0).abs() < 1e-9, "{from} s: {found}, not {expected}");
    }
    assert_eq!(run.certificates.len(), 3);
    assert!(run.certificates.iter().all(|c| c.gap <= 1e-12));
}
