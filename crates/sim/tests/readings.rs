//! Every recorded value agrees with its documentation for any sampling period.

use crate::common::scenario;
use accord_record::*;
use accord_scenario::*;
use accord_sim::run;
use accord_units::*;

fn ran(s: &Scenario) -> Run {
    run(s, &mut Quiet).expect("it runs")
}

fn whole(s: &Scenario) -> Window {
    Window { start: Time::ZERO, end: s.end() }
}

fn bottleneck(s: &Scenario) -> Entity {
    let found = s.links.iter().position(|l| l.name == "bottleneck");
    Entity::Link(found.expect("there is one"))
}

/// 10 Mbps, 50 ms of propagation there and back.
fn dumbbell(head: &str, queue: &str, rest: &str) -> String {
    format!(
        r#"
{head}
[topology.dumbbell]
rate = "10 Mbps"
delay = "25 ms"
queue = {{ {queue} }}
{rest}
"#
    )
}

/// A rate that changes between samples, there and back.
fn rates() -> String {
    let queue = r#"discipline = "droptail", limit = "120 pkt""#;
    let rest = r#"
[flow.a]
path = ["left", "right"]
controller = { name = "newreno", sack = true }
[[event]]
at = "5.05 s"
link = "bottleneck"
rate = "1 Mbps"
[[event]]
at = "7.05 s"
link = "bottleneck"
rate = "10 Mbps"
"#;
    dumbbell("duration = \"10 s\"\nsample = \"100 ms\"", queue, rest)
}

/// Drops and marks by a discipline, of traffic that comes in bursts.
fn red() -> String {
    let queue = r#"discipline = "red", limit = "100 pkt", ecn = false"#;
    let rest = r#"
[flow.a]
count = 4
path = ["left", "right"]
controller = { name = "newreno", sack = true }
[flow.b]
path = ["left", "right"]
controller = "none"
demand = { poisson = "3 Mbps" }
[flow.c]
count = 2
path = ["left", "right"]
controller = "none"
demand = { poisson = "500 Kbps" }
record = "group"
"#;
    dumbbell("duration = \"6 s\"", queue, rest)
}

/// Marks, and queues that hold their packets.
fn codel() -> String {
    let queue = r#"discipline = "codel", limit = "200 pkt", ecn = true"#;
    let rest = r#"
[flow.a]
count = 4
path = ["left", "right"]
controller = { name = "newreno", sack = true, ecn = true }
"#;
    dumbbell("duration = \"6 s\"", queue, rest)
}

/// The part of a scenario that follows a dumbbell: one flow without a controller.
fn uncontrolled(demand: &str) -> String {
    format!("[flow.a]\npath = [\"left\", \"right\"]\ncontroller = \"none\"\ndemand = {demand}\n")
}

/// Metrics that are states at the instants of samples. All others are sums and means over time, and
/// their ratios.
fn is_state(metric: Metric) -> bool {
    use Metric::*;
    match metric {
        Cwnd | Ssthresh | Rtt | MinRtt | Accumulation | AccumulationEstimate => true,
        TransmitProbability | DecreaseFactor | RateRatio | ExcessBandwidth => true,
        // Of the throughputs of each period.
        FairnessIndex | AggregateFairness => true,
        _ => false,
    }
}

#[test]
fn a_figure_does_not_depend_on_the_sampling_period() {
    for text in [rates(), red(), codel()] {
        let mut s = scenario(&text);
        let once = |s: &mut Scenario, period| {
            s.sample = period;
            ran(s)
        };
        let duration = s.duration;
        let one = once(&mut s, duration);
        assert_eq!(one.time.len(), 1);
        let window = whole(&s);
        let mut compared = 0;
        for ms in [1, 10, 100, 1000] {
            let many = once(&mut s, Duration::from_ms(ms));
            assert_eq!(many.manifest.digest, one.manifest.digest);
            for series in &one.series {
                let (metric, entity) = (series.metric, series.entity);
                // A price is a state if a discipline has one. Otherwise it is a delay, and the mean
                // over time is not that for the mean rate.
                let follows_rate = metric == Metric::Price && text == rates();
                // The flow at a quantile changes from sample to sample.
                let of_several = matches!(entity, Entity::Quantile { .. });
                if is_state(metric) || follows_rate || of_several {
                    continue;
                }
                let is = many.mean(metric, entity, window);
                let should = one.mean(metric, entity, window);
                let (Some(is), Some(should)) = (is, should) else {
                    assert_eq!(is, should, "{metric} of {entity:?} by {ms} ms");
                    continue;
                };
                let same = (is - should).abs() <= 1e-9 * should.abs();
                assert!(same, "{metric} of {entity:?} by {ms} ms: {is}, not {should}");
                compared += 1;
            }
        }
        assert!(compared > 100);
    }
}

#[test]
fn a_link_is_never_used_above_its_rate() {
    for (text, ms, limit) in [
        (red(), 1, 1.0 + 1e-9),
        (codel(), 1, 1.0 + 1e-9),
        (red(), 100, 1.0 + 1e-9),
        // A packet may be in service while the rate changes.
        (rates(), 100, 1.02),
    ] {
        let mut s = scenario(&text);
        s.sample = Duration::from_ms(ms);
        let run = ran(&s);
        let used = run.samples(Metric::Utilisation, bottleneck(&s), whole(&s));
        let most = used.reduce(f64::max).expect("values");
        assert!(most < limit, "{most} by {ms} ms");
        if text != rates() {
            continue;
        }
        let busy = Window { start: Time::from_secs_f64(5.5), end: Time::from_secs_f64(7.0) };
        let used = run.mean(Metric::Utilisation, bottleneck(&s), busy);
        assert!((used.expect("a value") - 1.0).abs() < 1e-6, "{used:?}");
    }
}

#[test]
fn marks_and_drops_are_over_what_came() {
    let s = scenario(&red());
    let run = ran(&s);
    let of = |metric| run.mean(metric, bottleneck(&s), whole(&s)).expect("a value");
    let (drops, came) = (of(Metric::Drops), of(Metric::Arrivals));
    assert!(drops > 10.0);
    assert_eq!(of(Metric::LossRatio), drops / came);
    assert_eq!(of(Metric::MarkingProbability), of(Metric::Judged) / came);
    // The first case in which the two differ: no room.
    let mut s = scenario(&red());
    let Entity::Link(link) = bottleneck(&s) else { unreachable!() };
    s.links[link].queue.limit = Limit::Packets(10);
    let run = ran(&s);
    let of = |metric| run.mean(metric, bottleneck(&s), whole(&s)).expect("a value");
    assert!(of(Metric::LossRatio) > of(Metric::MarkingProbability));
}

/// A stopped flow stays present until its last packet has arrived.
#[test]
fn a_stopped_flow_is_there_until_its_data_has_arrived() {
    let s = scenario(
        r#"
duration = "10 s"
sample = "100 ms"
steady = ["0 s", "10 s"]
[topology.dumbbell]
rate = "10 Mbps"
delay = "400 ms"
queue = { discipline = "droptail", limit = "100 pkt" }
[flow.a]
path = ["left", "right"]
controller = "none"
demand = { constant = "5 Mbps" }
stop = "4 s"
[flow.b]
path = ["left", "right"]
controller = "none"
demand = { constant = "4 Mbps" }
stop = "4 s"
record = "group"
"#,
    );
    let run = ran(&s);
    let period = 0.1;
    let bytes = |metric, entity| -> f64 {
        let rates = run.samples(metric, entity, whole(&s));
        rates.sum::<f64>() * period / 8.0
    };
    let a = run.series(Metric::Throughput, Entity::Flow(0)).expect("it is there");
    for (time, v) in run.time.iter().zip(&a.values) {
        // 400 ms and the delay of a packet over the links.
        assert_eq!(v.is_nan(), *time > 4.45, "{v} at {time}");
    }
    let group = s.groups.iter().position(|g| g.name == "b").expect("group b");
    for entity in [Entity::Flow(0), Entity::Group(group)] {
        let sent = bytes(Metric::SendingRate, entity);
        let came = bytes(Metric::Throughput, entity);
        assert!(sent > 1e6);
        assert!((came / sent - 1.0).abs() < 1e-12, "{came} of {sent}");
    }
    // The link carried exactly the delivered data, to the bit.
    let flows = bytes(Metric::Throughput, Entity::Flow(0))
        + bytes(Metric::Throughput, Entity::Group(group));
    let served = bytes(Metric::ServedRate, bottleneck(&s));
    assert_eq!(flows.round(), served.round());
    assert!((flows - served).abs() < 1e-3);
}

/// M/D/1: at a load of ρ a packet waits ρ / (2 (1 - ρ)) services (Pollaczek and Khinchine), and the
/// backlog is the arrival rate times the waiting time (Little).
#[test]
fn a_poisson_flow_waits_as_in_m_d_1() {
    for (discipline, load) in [("droptail", 0.5), ("droptail", 0.8), ("codel", 0.8)] {
        let mbps = load * 10.0;
        let s = scenario(&dumbbell(
            "duration = \"400 s\"\nsample = \"10 s\"",
            &format!("discipline = \"{discipline}\""),
            &uncontrolled(&format!("{{ poisson = \"{mbps} Mbps\" }}")),
        ));
        let run = ran(&s);
        let of = |metric, entity| run.mean(metric, entity, whole(&s)).expect("a value");
        let service = 8e-4;
        let waits = of(Metric::PathQueuingDelay, Entity::Flow(0));
        let should = service * load / (2.0 * (1.0 - load));
        assert!(
            (waits / should - 1.0).abs() < 0.03,
            "{discipline}, {load}: waits {waits} s, not {should}"
        );
        let rate = of(Metric::Arrivals, bottleneck(&s)) / 400.0;
        let queued = of(Metric::BacklogPackets, bottleneck(&s));
        assert!(
            (queued / (rate * waits) - 1.0).abs() < 1e-3,
            "{discipline}, {load}: {queued} packets, {rate}/s, {waits} s"
        );
        let bytes = of(Metric::Backlog, bottleneck(&s));
        assert!((bytes / queued / 1000.0 - 1.0).abs() < 1e-12);
    }
}

/// Five packets at once, twenty times per second: the queue is empty for most of the time.
#[test]
fn the_longest_queue_is_that_of_any_instant() {
    let demand = r#"{ on_off = { rate = "1 Tbps", burst = "5000 B", pause = "50 ms" } }"#;
    for discipline in ["droptail", "codel"] {
        let s = scenario(&dumbbell(
            "duration = \"10 s\"\nsample = \"100 ms\"",
            &format!("discipline = \"{discipline}\""),
            &uncontrolled(demand),
        ));
        let run = ran(&s);
        let of = |metric| run.mean(metric, bottleneck(&s), whole(&s));
        assert_eq!(of(Metric::BacklogPacketsMax), Some(5.0), "{discipline}");
        assert_eq!(of(Metric::BacklogMax), Some(5000.0), "{discipline}");
        // Services of 0.8 ms: 4 + 3 + 2 + 1 packets wait for one each.
        let mean = of(Metric::BacklogPackets).expect("a value");
        assert!((mean / (10.0 * 0.8 / 50.0) - 1.0).abs() < 0.01, "{mean}");
        let samples = run.samples(Metric::BacklogPacketsMax, bottleneck(&s), whole(&s));
        assert!(samples.into_iter().all(|v| v == 5.0));
    }
}

/// An overload of two: half of the packets are lost, except for the backlog at the end.
#[test]
fn a_flow_loses_what_the_link_drops_of_it() {
    let s = scenario(&dumbbell(
        "duration = \"60 s\"",
        "discipline = \"droptail\", limit = \"10 pkt\"",
        &uncontrolled("{ constant = \"20 Mbps\" }"),
    ));
    let run = ran(&s);
    let lost = run.mean(Metric::PathLossRatio, Entity::Flow(0), whole(&s));
    assert!((lost.expect("a value") - 0.5).abs() < 1e-3, "{lost:?}");
    let rate = run.mean(Metric::LostRate, Entity::Flow(0), whole(&s));
    assert!((rate.expect("a value") / 10e6 - 1.0).abs() < 1e-3, "{rate:?}");
    // A flow without drops.
    let mut s = s;
    s.links.iter_mut().for_each(|l| l.queue.limit = Limit::Unlimited);
    let lost = ran(&s).mean(Metric::PathLossRatio, Entity::Flow(0), whole(&s));
    assert_eq!(lost, Some(0.0));
}

/// CoDel drops at the head, and packets that waited for seconds leave at once. No reading of the queue is negative,
/// no share above one, and packets in service have waited as long as they did.
#[test]
fn waits_in_vain_make_no_reading_negative() {
    let rest = r#"
[flow.a]
path = ["left", "right"]
controller = "none"
demand = { constant = "40 Mbps" }
stop = "3 s"
"#;
    let queue = r#"discipline = "codel", limit = "unlimited""#;
    let s = scenario(&dumbbell("duration = \"10 s\"\nsample = \"10 ms\"", queue, rest));
    let (run, link) = (ran(&s), bottleneck(&s));
    let values = |metric| run.samples(metric, link, whole(&s)).collect::<Vec<_>>();
    for metric in [Metric::ServedBacklog, Metric::QueuingDelay, Metric::Price] {
        let values = values(metric);
        assert!(values.iter().all(|v| *v >= 0.0) && values.iter().any(|v| *v > 1.0), "{metric}");
    }
    for metric in [Metric::LossRatio, Metric::MarkingProbability] {
        assert!(values(metric).iter().all(|v| (0.0..=1.0).contains(v)), "{metric}");
    }
    // Little's law, while the load lasts: the backlog served is the sum of the waits, 1000 bytes each, per second.
    let s = scenario(&dumbbell(
        "duration = \"40 s\"",
        r#"discipline = "codel", limit = "1000 pkt""#,
        &rest.replace("40 Mbps", "12 Mbps").replace("stop = \"3 s\"", ""),
    ));
    let (run, link) = (ran(&s), bottleneck(&s));
    let late = Window { start: Time::ZERO + Duration::from_secs(20), end: s.end() };
    let mean = |metric, of| run.mean(metric, of, late).expect("a value");
    let waited = mean(Metric::QueuingSum, Entity::Flow(0)) * 1000.0 / 20.0;
    let served = mean(Metric::ServedBacklog, link);
    assert!((served / waited - 1.0).abs() < 0.02, "{served} {waited}");
}
