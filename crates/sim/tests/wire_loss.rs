//! A fluid over wires that lose packets: it arrives thinned, and its senders hear of it.

use crate::common::scenario;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::run;

fn of(run: &Run, s: &Scenario, metric: Metric, name: &str) -> f64 {
    let flow = s.flows.iter().position(|f| f.name == name);
    let link = s.links.iter().position(|l| l.name == name);
    let entity = flow.map(Entity::Flow).or(link.map(Entity::Link));
    let mean = run.mean(metric, entity.expect("it is there"), s.steady);
    mean.unwrap_or_else(|| panic!("{name} has a {metric}"))
}

fn close(what: &str, found: f64, expected: f64, within: f64) {
    let error = (found - expected).abs() / expected;
    assert!(error <= within, "{what}: {found}, not {expected}");
}

/// 4 Mbps of which a tenth is lost on the first link: 3.6 Mbps come to the second one and to the sink.
/// A second wire that loses a fifth leaves 2.88.
#[test]
fn a_fluid_arrives_thinned() {
    for (second, left) in [(0.0, 3.6e6), (0.2, 2.88e6)] {
        let s = scenario(&format!(
            "duration = \"20 s\"\nsteady = [\"5 s\", \"20 s\"]\n\
             [link.one]\nfrom = \"a\"\nto = \"m\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nloss = 0.1\n\
             queue = {{ discipline = \"droptail\", limit = \"100 KB\" }}\n\
             [link.two]\nfrom = \"m\"\nto = \"b\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nloss = {second}\n\
             queue = {{ discipline = \"droptail\", limit = \"100 KB\" }}\n\
             [flow.f]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"none\"\ndemand = {{ constant = \"4 Mbps\" }}\nas = \"fluid\"\n\
             [flow.p]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"none\"\ndemand = {{ constant = \"1 Mbps\" }}\n"
        ));
        let hybrid = run(&s, &mut Quiet).expect("it runs");
        close("rate", of(&hybrid, &s, Metric::Throughput, "f"), left, 1e-3);
        close("sent", of(&hybrid, &s, Metric::SendingRate, "f"), 4e6, 1e-3);
        // With the packets on the same link, of which as many are lost.
        let served = of(&hybrid, &s, Metric::ServedRate, "two");
        close("served", served, 3.6e6 + 0.9e6, 0.01);
        let lost = of(&hybrid, &s, Metric::PathLossRatio, "f");
        close("lost", lost, 1.0 - left / 4e6, 0.01);
    }
}

/// Twenty flows of NewReno as a fluid, and two of packets, over a wire that loses a packet in a hundred:
/// nothing else holds them back, so that all have the rate that two alone have.
#[test]
fn a_crowd_hears_of_what_a_wire_loses() {
    let text = |count: usize| {
        let crowd = match count {
            0 => String::new(),
            n => format!(
                "[flow.crowd]\ncount = {n}\nfrom = \"left\"\nto = \"right\"\ncontroller = \"newreno\"\nas = \"fluid\"\n"
            ),
        };
        scenario(&format!(
            "duration = \"120 s\"\nsteady = [\"20 s\", \"120 s\"]\n\
             topology.dumbbell = {{ rate = \"1 Gbps\", delay = \"20 ms\", loss = 0.01, queue = {{ discipline = \"droptail\", limit = \"20 MB\" }} }}\n\
             {crowd}[flow.own]\ncount = 10\nfrom = \"left\"\nto = \"right\"\ncontroller = \"newreno\"\n"
        ))
    };
    let mean_of = |run: &Run, s: &Scenario, group: &str| {
        let flows = s.flows.iter().filter(|f| f.name.starts_with(group));
        let rates: Vec<f64> = flows
            .map(|f| of(run, s, Metric::Throughput, &f.name))
            .collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    let (alone, among) = (text(0), text(20));
    let packets = run(&alone, &mut Quiet).expect("it runs");
    let hybrid = run(&among, &mut Quiet).expect("it runs");
    let rate = mean_of(&packets, &alone, "own");
    close("own", mean_of(&hybrid, &among, "own"), rate, 0.05);
    close("crowd", mean_of(&hybrid, &among, "crowd"), rate, 0.05);
}
