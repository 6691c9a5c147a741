//! Aggregates of traffic in whole runs: their record, and demands that change.

use crate::common::scenario;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario, Window};
use accord_sim::run_audited;
use accord_units::Time;

/// Two aggregates of constant rate on 10 Mbit/s. The first sends 4 Mbit/s and 12 from 5 s on.
fn two(queue: &str) -> Scenario {
    scenario(&format!(
        r#"
        duration = "20 s"
        sample = "100 ms"
        event = [{{ at = "5 s", flow = "a", demand_rate = "12 Mbps" }}]
        [topology.dumbbell]
        rate = "10 Mbps"
        delay = "1 ms"
        queue = {queue}
        [flow.a]
        from = "left"
        to = "right"
        access = {{ rate = "1 Gbps", delay = "0 s" }}
        controller = "none"
        demand = {{ constant = "4 Mbps" }}
        aggregate = "a"
        [flow.b]
        from = "left"
        to = "right"
        access = {{ rate = "1 Gbps", delay = "0 s" }}
        controller = "none"
        count = 2
        demand = {{ constant = "9 Mbps" }}
        aggregate = "b"
        "#
    ))
}

fn run(scenario: &Scenario) -> Run {
    let (run, ports, flows) = run_audited(scenario, &mut Quiet).unwrap();
    for audit in ports.iter().chain(&flows) {
        let out = audit.left + audit.dropped + audit.held;
        assert_eq!(audit.entered, out, "the counters do not balance");
    }
    run
}

fn mean(run: &Run, metric: Metric, entity: Entity, from: u64, to: u64) -> f64 {
    let second = |s| Time::ZERO + accord_units::Duration::from_secs(s);
    let window = Window { start: second(from), end: second(to) };
    let found = run.mean(metric, entity, window);
    found.unwrap_or_else(|| panic!("{metric} of {entity:?}"))
}

const LINK: Entity = Entity::Link(0);

fn at_link(aggregate: usize) -> Entity {
    Entity::Aggregate { link: 0, aggregate }
}

#[test]
fn bat_shares_by_weight_and_says_how() {
    let aggregates = "{ b = { weight = 3 } }";
    let s = two(&format!(
        "{{ discipline = \"bat\", limit = \"60 KB\", increase = 0.01, decrease = 0.1, \
         aggregates = {aggregates} }}"
    ));
    let run = run(&s);
    // At first a offers 4 Mbit/s, which is less than its share, so b gets the rest.
    let sent = |from, to| mean(&run, Metric::SendingRate, Entity::Flow(0), from, to);
    assert!((sent(1, 5) / 4e6 - 1.0).abs() < 0.01, "{}", sent(1, 5));
    assert!((sent(6, 20) / 12e6 - 1.0).abs() < 0.01, "{}", sent(6, 20));
    let admitted = |a| mean(&run, Metric::AdmittedRate, at_link(a), 8, 20);
    let offered = |a| mean(&run, Metric::OfferedRate, at_link(a), 8, 20);
    assert!((offered(0) / 12e6 - 1.0).abs() < 0.01, "{}", offered(0));
    assert!((offered(1) / 18e6 - 1.0).abs() < 0.01, "{}", offered(1));
    assert!(admitted(0) + admitted(1) < 10.1e6);
    let ratio = admitted(1) / admitted(0);
    assert!((ratio / 3.0 - 1.0).abs() < 0.15, "{ratio}");
    // The admitted bytes equal those that arrive.
    let throughput = |f| mean(&run, Metric::Throughput, Entity::Flow(f), 8, 20);
    let received = throughput(1) + throughput(2);
    assert!((received / admitted(1) - 1.0).abs() < 0.02, "{received}");
    // 2.5 and 7.5 Mbit/s of 12 and 18 offered.
    let transmit = |a| mean(&run, Metric::TransmitProbability, at_link(a), 8, 20);
    assert!((transmit(0) * 12e6 / admitted(0) - 1.0).abs() < 0.02);
    // All shares are 1, and b has two flows: a gets 2.5 for one, and b 7.5 for two.
    // (6.25)²/(2·20.3) = 0.96.
    let fairness = mean(&run, Metric::AggregateFairness, LINK, 8, 20);
    assert!((fairness - 0.96).abs() < 0.03, "{fairness}");
    // The two flows of b are equal.
    let within = mean(&run, Metric::FairnessIndex, Entity::Group(1), 8, 20);
    assert!(within > 0.99, "{within}");
}

#[test]
fn clcc_brings_the_ratio_to_the_shares() {
    let aggregates = "{ a = { share = 1, steered = false }, b = { share = 4 } }";
    let s = two(&format!(
        "{{ discipline = \"bat-clcc\", limit = \"60 KB\", aggregates = {aggregates} }}"
    ));
    let run = run(&s);
    let ratio = mean(&run, Metric::RateRatio, at_link(1), 12, 20);
    assert!((ratio / 4.0 - 1.0).abs() < 0.15, "{ratio}");
    let decrease = mean(&run, Metric::DecreaseFactor, at_link(0), 8, 20);
    assert!((decrease - 0.06).abs() < 1e-9, "{decrease}");
}

#[test]
fn other_queues_have_the_fairness_of_aggregates_too() {
    let run = run(&two("\"droptail\""));
    assert!(run.series(Metric::AggregateFairness, LINK).is_some());
    assert!(run.series(Metric::AdmittedRate, at_link(0)).is_none());
    assert!(run.series(Metric::ExcessBandwidth, LINK).is_none());
}
