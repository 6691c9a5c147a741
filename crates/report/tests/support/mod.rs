//! Scenarios and runs made by hand.
#![allow(dead_code)] // Each test and example uses its own part.

use accord_family::{Family, Objective, Price, Role, Service};
use accord_record::{Manifest, Run, Series};
use accord_scenario::{
    Across, Carrier, Claim, Engine, Entity, Expectation, Flow, FlowSettings, Fold, Group, Limit,
    Link, Metric, Node, Over, Queue, Recorded, Scenario, Subject, Target, Window,
};
use accord_traffic::Demand;
use accord_units::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

static CONTROLLER: Family = Family::new("monaco", Role::Controller(|_| Objective::Loss));

static QUEUE: Family = Family::new("droptail", Role::Queue(|_| Price::QueuingDelay));

pub fn window(start: u64, end: u64) -> Window {
    Window {
        start: Time::ZERO + Duration::from_secs(start),
        end: Time::ZERO + Duration::from_secs(end),
    }
}

/// A scenario of `seconds` with a sample each second, in which all flows cross all links.
/// The steady window is all but the first two seconds.
pub fn scenario(groups: &[(&str, usize)], links: &[&str], seconds: u64) -> Scenario {
    let mut flows = Vec::new();
    let mut ranges = Vec::new();
    for (g, (name, n)) in groups.iter().enumerate() {
        ranges.push(Group {
            recorded: Recorded::Flows,
            name: name.to_string(),
            flows: flows.len()..flows.len() + n,
        });
        flows.extend((0..*n).map(|i| Flow {
            name: match n {
                1 => name.to_string(),
                _ => format!("{name}.{i}"),
            },
            path: (0..links.len()).collect(),
            reverse_path: vec![],
            start: Time::ZERO,
            processing: Duration::ZERO,
            settings: Arc::new(FlowSettings {
                group: g,
                controller: Arc::new(CONTROLLER.defaults()),
                carrier: Carrier::Ours,
                service: Service::default(),
                demand: Demand::Greedy,
                stop: None,
                aggregate: 0,
                share: 1.0,
                packet: Bytes::new(1000),
                ack: Bytes::new(40),
                control: Bytes::new(40),
                sizes: None,
                min_rto: Duration::from_ms(200),
                pacing: false,
                tunnel: None,
                through: None,
            }),
        }));
    }
    Scenario {
        id: "by-hand".into(),
        title: "Made by hand".into(),
        source: String::new(),
        notes: String::new(),
        figure: None,
        point: vec![],
        seed: 1,
        duration: Duration::from_secs(seconds),
        sample: Duration::from_secs(1),
        inner: false,
        steady: window(2, seconds),
        aggregates: vec!["default".into()],
        fluid: Default::default(),
        nodes: (0..=links.len()).map(|i| Node { name: format!("n{i}") }).collect(),
        links: links
            .iter()
            .enumerate()
            .map(|(i, name)| Link {
                name: name.to_string(),
                from: i,
                to: i + 1,
                rate: Rate::from_bps(30_000_000),
                delay: Duration::from_ms(2),
                queue: Queue { discipline: QUEUE.defaults(), limit: Limit::Packets(90) },
                loss: 0.0,
                control_loss: 0.0,
                control_priority: true,
                parts: None,
                attachment: false,
            })
            .collect(),
        groups: ranges,
        flows,
        events: vec![],
        expectations: vec![],
    }
}

/// A run with a sample each second; series in any order.
pub fn run(engine: Engine, seed: u64, series: Vec<(Metric, Entity, Vec<f64>)>) -> Run {
    let samples = series.iter().map(|(_, _, v)| v.len()).max().unwrap_or(0);
    let time = (1..=samples).map(|i| i as f64).collect();
    run_at(engine, seed, time, series)
}

/// A run with these sampling times.
pub fn run_at(
    engine: Engine,
    seed: u64,
    time: Vec<f64>,
    series: Vec<(Metric, Entity, Vec<f64>)>,
) -> Run {
    // A ratio comes with its two metrics.
    let parts = |(metric, entity, values): &(Metric, Entity, Vec<f64>)| match metric.fold() {
        Fold::Ratio(over, under) => {
            let one = |v: &f64| if v.is_nan() { f64::NAN } else { 1.0 };
            let ones = values.iter().map(one).collect();
            vec![(over, *entity, values.clone()), (under, *entity, ones)]
        }
        _ => vec![],
    };
    let parts: Vec<_> = series.iter().flat_map(parts).collect();
    let mut series: Vec<Series> = (series.into_iter().chain(parts))
        .map(|(metric, entity, values)| Series { metric, entity, values })
        .collect();
    series.sort_by_key(|s| (s.entity, s.metric));
    let manifest = Manifest {
        engine,
        version: env!("CARGO_PKG_VERSION").into(),
        scenario_hash: "5ce0a210".into(),
        seed,
        digest: format!("d19e57{seed}"),
        plan: None,
    };
    Run::new(manifest, time, series)
}

/// The mean throughput of a group 0 flow in the packet engine over 2-4 s: a start for
/// other expectations.
pub fn expectation(target: Target) -> Expectation {
    Expectation {
        name: "an expectation".into(),
        engine: Engine::Packet,
        metric: Metric::Throughput,
        of: Subject::Group(0),
        over: Over::Mean,
        across: Across::Each,
        during: window(2, 4),
        target,
        paper: String::new(),
        claim: Claim::Ours,
        fails: None,
    }
}
