//! The period of a sample: the time since the previous sample, without events that coincide with
//! the sample.

use crate::common::*;
use accord_record::*;
use accord_scenario::*;
use accord_sim::run;
use accord_units::*;

#[test]
fn what_changes_at_the_time_of_a_sample_is_no_part_of_it() {
    let queue = discipline("droptail", &[]);
    let monaco = || controller("monaco", &[]);
    let dumbbell = Dumbbell::new("10 Mbps", "5 ms", queue, Limit::Unlimited, "4 s");
    let early = dumbbell.flows("early", 1, monaco(), "1 Gbps", (0, 0), ("0 s", None), true);
    let mut s = early.flows("late", 1, monaco(), "1 Gbps", (0, 0), ("1 s", Some("2 s")), true).0;
    s.sample = Duration::from_ms(100);
    s.events.push(Event {
        at: Time::from_secs_f64(3.0),
        change: Change::Rate(0, "5 Mbps".parse().unwrap()),
    });
    let run = run(&s, &mut Quiet).unwrap();
    let at = |metric, entity, time: f64| {
        let place = run.time.iter().position(|t| (t - time).abs() < 1e-9);
        run.series(metric, entity).unwrap().values[place.unwrap()]
    };
    let late = |time| at(Metric::Throughput, Entity::Flow(1), time);
    assert!(late(1.0).is_nan(), "it starts with the end of that period");
    assert!(late(1.1) > 0.0);
    assert!(late(2.0) > 0.0, "it stops with the end of that period");
    let during =
        |from, to| Window { start: Time::from_secs_f64(from), end: Time::from_secs_f64(to) };
    let before = run.mean(Metric::Throughput, Entity::Flow(1), during(0.0, 1.0));
    assert_eq!(before, None);
    // Against the new rate, the same bytes would be a utilisation of 2.
    let used = at(Metric::Utilisation, Entity::Link(0), 3.0);
    assert!((0.95..1.01).contains(&used), "{used}");
}

/// A packet takes 10 ms, and one is sent per sample of 10 ms. So each arrives at the instant of a sample, and
/// none waits. The second scenario has the nominal arrivals of its packets on record, because a delay changes.
#[test]
fn data_that_arrives_at_the_time_of_a_sample_is_not_queued() {
    let text = r#"
duration = "1 s"
sample = "10 ms"
[topology.dumbbell]
rate = "8 Mbps"
delay = "9 ms"
[flow.a]
from = "left"
to = "right"
controller = "none"
demand = { constant = "800 Kbps" }
"#;
    let change = r#"
[[event]]
at = "503 ms"
link = "bottleneck"
delay = "12 ms"
"#;
    for text in [text.to_string(), format!("{text}{change}")] {
        let run = run(&scenario(&text), &mut Quiet).unwrap();
        let queued = &run.series(Metric::Accumulation, Entity::Flow(0)).unwrap().values;
        assert_eq!(queued.len(), 100);
        assert!(queued.iter().all(|bytes| *bytes == 0.0), "{queued:?}");
    }
}

/// A transfer of 100 packets ends within a second. Its values end with it, like those of a flow that stops,
/// and like those of theory and fluid. So a mean covers the time of the transfer.
#[test]
fn values_end_with_a_transfer() {
    let queue = discipline("droptail", &[]);
    let dumbbell = Dumbbell::new("10 Mbps", "5 ms", queue, Limit::Unlimited, "4 s");
    let newreno = controller("newreno", &[]);
    let mut s = dumbbell.flows("f", 1, newreno, "1 Gbps", (0, 0), ("0 s", None), true).0;
    s.sample = Duration::from_ms(100);
    s.flows[0].demand = accord_traffic::Demand::Size(Bytes::new(100_000));
    let run = run(&s, &mut Quiet).unwrap();
    let took = run.transfers[0].duration;
    assert!(took < 1.0, "{took}");
    let rates = &run.series(Metric::Throughput, Entity::Flow(0)).unwrap().values;
    for (at, rate) in run.time.iter().zip(rates) {
        assert_eq!(rate.is_nan(), *at > took + 0.1, "{at}: {rate}, {took}");
    }
}
