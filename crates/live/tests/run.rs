//! Live runs. Lateness delays events, so what moved in a time depends on the load of the machine. Such bounds
//! are left out if the run is unfit for a verdict, which the test reports. The others always hold.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/readings.rs"]
#[allow(dead_code, reason = "this file uses its own part")]
mod readings;

use accord_live::{LiveError, Mode, run};
use accord_record::*;
use accord_scenario::*;
use accord_units::{Duration, Time};
use common::*;
use readings::is_unfit;

/// Returns the samples of a flow's metric within a part of the run, without missing ones.
fn values(run: &Run, metric: Metric, entity: Entity, from: f64, to: f64) -> Vec<f64> {
    let series = run.series(metric, entity).expect("it is recorded");
    let window = Window { start: Time::from_secs_f64(from), end: Time::from_secs_f64(to) };
    let values = series.values[run.within(window)].iter();
    values.copied().filter(|v| !v.is_nan()).collect()
}

fn total(values: &[f64], period: f64) -> f64 {
    values.iter().sum::<f64>() * period
}

/// Tunnel, stream and datagrams over one bottleneck.
const MIXED: &str = r#"
    id = "mixed"
    duration = "1.5 s"
    sample = "50 ms"
    [topology.dumbbell]
    rate = "2 Mbps"
    delay = "5 ms"
    queue = { discipline = "droptail", limit = "20 pkt" }
    [flow.tunnel]
    from = "left"
    to = "right"
    access = { rate = "100 Mbps", delay = "1 ms" }
    egress = { rate = "100 Mbps", delay = "1 ms" }
    controller = "monaco"
    [flow.stream]
    from = "left"
    to = "right"
    access = { rate = "100 Mbps", delay = "1 ms" }
    egress = { rate = "100 Mbps", delay = "1 ms" }
    controller = "newreno"
    stop = "1.2 s"
    [flow.datagrams]
    from = "left"
    to = "right"
    access = { rate = "100 Mbps", delay = "1 ms" }
    egress = { rate = "100 Mbps", delay = "1 ms" }
    controller = "none"
    demand = { constant = "200 kbps" }
    start = "0.3 s"
"#;

#[test]
fn all_transports_get_through_and_no_link_carries_more_than_it_can() {
    let s = scenario(MIXED);
    for mode in modes() {
        let run = run(&s, mode, &mut Quiet).unwrap();
        assert_eq!(run.manifest.engine, Engine::Live);
        assert_eq!(run.manifest.scenario_hash, s.hash());
        assert_eq!(run.time.len(), 30, "{mode}: a sample each 50 ms");
        let mut all = Vec::new();
        for flow in 0..3 {
            let bits = |metric| total(&values(&run, metric, Entity::Flow(flow), 0.0, 1.5), 0.05);
            let (sent, came) = (bits(Metric::SendingRate), bits(Metric::Throughput));
            assert!(came <= sent, "{mode}: flow {flow} got {came} of {sent} bit");
            all.push(came);
        }
        let sum: f64 = all.iter().sum();
        assert!(sum <= 2e6 * 1.5, "{mode}: {sum} bit");
        let datagrams = values(&run, Metric::SendingRate, Entity::Flow(2), 0.3, 1.5);
        // 25 packets of 1000 bytes per second, delivered or not.
        assert!((total(&datagrams, 0.05) - 240_000.0).abs() <= 16_000.0);
        assert!(run.notes.len() >= 2);
        let rtt = values(&run, Metric::Rtt, Entity::Flow(0), 0.0, 1.5);
        assert!(rtt.iter().all(|rtt| *rtt > 0.014), "{mode}: {rtt:?}");
        if is_unfit(&run) {
            continue;
        }
        assert!(all.iter().all(|came| *came > 8_000.0 * 3.0), "{mode}: {all:?} bit got through");
        assert!(run.statistics.packet_hops > 100);
    }
}

/// The delay at 0.6 s, the rate at 1.2 s, the route at 1.8 s.
const EVENTS: &str = r#"
    id = "events"
    duration = "2.4 s"
    sample = "50 ms"
    nodes = ["a", "b", "c"]
    [link.near]
    from = "a"
    to = "b"
    rate = "4 Mbps"
    delay = "5 ms"
    [link.far]
    from = "a"
    to = "c"
    rate = "4 Mbps"
    delay = "5 ms"
    [link.on]
    from = "c"
    to = "b"
    rate = "4 Mbps"
    delay = "100 ms"
    [flow.f]
    path = ["a", "b"]
    controller = "monaco"
    [[event]]
    at = "0.6 s"
    link = "near"
    delay = "40 ms"
    [[event]]
    at = "1.2 s"
    link = "near"
    rate = "400 kbps"
    [[event]]
    at = "1.8 s"
    flow = "f"
    path = ["a", "c", "b"]
"#;

#[test]
fn events_happen_when_they_should() {
    let s = scenario(EVENTS);
    let run = run(&s, Mode::Loopback, &mut Quiet).unwrap();
    let near = link(&s, "near");
    let on = link(&s, "on");
    let early = values(&run, Metric::Utilisation, Entity::Link(on), 0.0, 1.8);
    assert_eq!(early.iter().sum::<f64>(), 0.0, "the route is the first one");
    if is_unfit(&run) {
        return;
    }
    let rate = values(&run, Metric::Throughput, Entity::Flow(0), 1.25, 1.8);
    assert!(total(&rate, 0.05) <= 400e3 * 0.55 + 8_000.0, "{rate:?}");
    let served = |from, to| {
        let used = values(&run, Metric::Utilisation, Entity::Link(near), from, to);
        used.iter().sum::<f64>()
    };
    assert!(served(0.0, 1.8) > 0.0);
    // Packets in flight at the change still arrive. After them there are none.
    assert!(served(2.2, 2.4) == 0.0, "the route has changed");
    let late = values(&run, Metric::Utilisation, Entity::Link(on), 1.8, 2.4);
    assert!(late.iter().sum::<f64>() > 0.0);
}

/// Returns the link of that name.
fn link(s: &Scenario, name: &str) -> usize {
    s.links.iter().position(|l| l.name == name).expect("a link")
}

/// Stops at once.
struct Impatient;

impl Observer for Impatient {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Err(Interrupted)
    }
}

#[test]
fn an_observer_can_stop_it() {
    let mut s = scenario(MIXED);
    s.duration = Duration::from_secs(100_000);
    for mode in modes() {
        assert_eq!(run(&s, mode, &mut Impatient), Err(LiveError::Interrupted));
    }
}

#[test]
fn what_only_a_simulator_can_do_is_refused() {
    let text = MIXED.replace(
        "controller = \"monaco\"",
        "controller = { name = \"monaco\", estimator = \"ideal\" }",
    );
    match run(&scenario(&text), Mode::Loopback, &mut Quiet) {
        Err(LiveError::Scenario(why)) => assert!(why.contains("tunnel"), "{why}"),
        other => panic!("{other:?}"),
    }
}
