//! Demands that are constant in the price: an application that sends no more than its flow's contract.

use crate::assumptions::{PLAIN, dumbbell, group, of, run};
use accord_scenario::Metric;

/// The control pairs of a flow, in bit/s: two packets of 64 bytes per round trip.
fn pairs(s: &accord_scenario::Scenario, run: &accord_record::Run, flow: &str) -> f64 {
    2.0 * 64.0 * 8.0 / of(s, run, Metric::Rtt, flow)
}

const CONTRACT: &str = "service = { contract = \"2 Mbps\" }";

/// x = min(demand, floor + w/q), for each kind of demand of 1 Mbps, and of 2 Mbps, which is the contract.
#[test]
fn a_demand_below_its_contract_leaves_the_rest_to_others() {
    let other = group("b", "left", "right", "\"monaco\"", "service = { contract = \"1 Mbps\" }");
    for (demand, expected) in [
        ("{ constant = \"1 Mbps\" }", 1e6),
        ("{ constant = \"2 Mbps\" }", 2e6),
        ("{ poisson = \"1 Mbps\" }", 1e6),
        ("{ on_off = { burst = \"125 KB\", pause = \"500 ms\", rate = \"2 Mbps\" } }", 1e6),
        ("{ media = { min = \"150 Kbps\", max = \"1 Mbps\" } }", 1e6),
    ] {
        let a =
            group("a", "left", "right", "\"monaco\"", &format!("{CONTRACT}\ndemand = {demand}"));
        let (s, run) = run(&dumbbell(PLAIN, &(a.clone() + &other)));
        // Control packets of both flows have the rest.
        let control: f64 = ["a", "b"].into_iter().map(|f| pairs(&s, &run, f)).sum();
        for (flow, expected) in [("a", expected), ("b", 10e6 - expected - control)] {
            let found = of(&s, &run, Metric::Throughput, flow);
            assert!((found - expected).abs() < 1.0, "{demand}: {flow} {found}");
        }
        // The flow alone.
        let (s, run) = self::run(&dumbbell(PLAIN, &a));
        let found = of(&s, &run, Metric::Throughput, "a");
        assert!((found - expected).abs() < 1.0, "{demand}: {found}");
    }
}

/// One of ten flows, and the long flow of a parking lot.
#[test]
fn a_demand_below_its_contract_is_one_of_many() {
    let small = format!("{CONTRACT}\ndemand = {{ constant = \"1 Mbps\" }}");
    let flows = group("a", "left", "right", "\"monaco\"", &small)
        + &group("b", "left", "right", "\"monaco\"", "count = 9");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    let left = 10e6 - 10.0 * pairs(&s, &run, "a");
    let found = of(&s, &run, Metric::Throughput, "b.4");
    assert!((found - (left - 1e6) / 9.0).abs() < 1.0, "{found}");
    let text = format!(
        "duration = \"60 s\"\n[topology.parking_lot]\nbottlenecks = 2\nrate = \"10 Mbps\"\n\
         delay = \"10 ms\"\nqueue = {PLAIN}\n{}{}{}",
        group("long", "r0", "r2", "\"monaco\"", &small),
        group("x", "r0", "r1", "\"monaco\"", CONTRACT),
        group("y", "r1", "r2", "\"monaco\"", "")
    );
    let (s, run) = self::run(&text);
    let long = pairs(&s, &run, "long");
    for (flow, expected) in [("long", 1e6), ("x", 9e6), ("y", 9e6)] {
        let control = if flow == "long" { 0.0 } else { long + pairs(&s, &run, flow) };
        let found = of(&s, &run, Metric::Throughput, flow) + control;
        assert!((found - expected).abs() < 1.0, "{flow}: {found}");
    }
}
