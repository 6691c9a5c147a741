//! Phases of a scenario: flows that measure their base round-trip time one after the other,
//! and links that convey their price by marks. Numbers are of [Low02 §4.2, §6.2, §6.3].

use accord_family::{Family, Objective, Param, Price, Role, Service, Target, kind::number};
use accord_record::*;
use accord_scenario::*;
use accord_traffic::*;
use accord_units::*;
use std::sync::Arc;

const fn family(name: &'static str, params: &'static [Param], role: Role) -> Family {
    Family { params, ..Family::new(name, role) }
}

/// 2 packets/ms, as in Low02 §6.2.
const ALPHA: Target = Target::PerRoundTrip(Rate::from_bps(16_000_000));

static MEASURED: Family = family(
    "measured",
    &[],
    Role::Controller(|_| Objective::MeasuredAccumulation { target: ALPHA }),
);
static KNOWN: Family = family(
    "known",
    &[],
    Role::Controller(|_| Objective::AccumulationPerRoundTrip { rate: Rate::from_bps(16_000_000) }),
);
static MARKS: Family =
    family("marks", &[], Role::Controller(|_| Objective::Marks { target: ALPHA, phi: 1.1 }));
static DROPTAIL: Family = family("droptail", &[], Role::Queue(|_| Price::QueuingDelay));
static REM: Family = family(
    "rem",
    &[number("1.1", 1.0, 2.0).declared("phi", "")],
    Role::Queue(|values| Price::Marks { phi: values.number("phi") }),
);

/// Flows one every `gap` over 6 packets/ms, the i-th with a base round-trip time of
/// `base_ms[i]`. Packets and acknowledgements are so small (1 byte of 8 bits at 48 Mbit/s)
/// that transmission adds 0.3 µs; rates are in bytes.
fn scenario(
    sender: &'static Family,
    queue: &'static Family,
    gap: f64,
    base_ms: &[u64],
) -> Scenario {
    let end = gap * base_ms.len() as f64;
    let link = |name: &str, from, to, delay: Duration, rate: u64, queue: &'static Family| Link {
        name: name.into(),
        from,
        to,
        rate: Rate::from_bps(rate),
        delay,
        queue: Queue { discipline: queue.defaults(), limit: Limit::Unlimited },
        loss: 0.0,
        control_loss: 0.0,
        control_priority: true,
        parts: None,
        attachment: false,
    };
    let mut links = Vec::new();
    let mut flows = Vec::new();
    let fast = 1_000_000_000_000;
    links.push(link("bottleneck", 0, 1, Duration::ZERO, 48_000_000, queue));
    links.push(link("bottleneck.reverse", 1, 0, Duration::ZERO, fast, &DROPTAIL));
    for (i, &ms) in base_ms.iter().enumerate() {
        let access = links.len();
        let half = Duration::from_us(500 * ms);
        links.push(link(&format!("a{i}"), 2, 0, half, fast, &DROPTAIL));
        links.push(link(&format!("a{i}.reverse"), 0, 2, half, fast, &DROPTAIL));
        flows.push(Flow {
            name: format!("f{i}"),
            path: vec![access, 0],
            reverse_path: vec![1, access + 1],
            start: Time::from_secs_f64(gap * i as f64),
            processing: Duration::ZERO,
            settings: Arc::new(FlowSettings {
                group: 0,
                controller: Arc::new(sender.defaults()),
                carrier: Carrier::Ours,
                service: Service::default(),
                demand: Demand::Greedy,
                stop: None,
                aggregate: 0,
                share: 1.0,
                packet: Bytes::new(1),
                ack: Bytes::new(1),
                control: Bytes::ZERO,
                sizes: None,
                min_rto: Duration::from_ms(200),
                pacing: false,
                tunnel: None,
                through: None,
            }),
        });
    }
    Scenario {
        inner: false,
        id: "test".into(),
        title: String::new(),
        source: String::new(),
        notes: String::new(),
        figure: None,
        point: vec![],
        seed: 1,
        duration: Duration::from_secs_f64(end),
        sample: Duration::from_secs_f64(gap / 10.0),
        steady: Window { start: Time::ZERO, end: Time::from_secs_f64(end) },
        nodes: ["left", "right", "host"].map(|name| Node { name: name.into() }).into(),
        links,
        groups: vec![Group {
            recorded: Default::default(),
            name: "f".into(),
            flows: 0..flows.len(),
        }],
        flows,
        aggregates: vec!["default".into()],
        fluid: Default::default(),
        events: vec![],
        expectations: vec![],
    }
}

/// The mean of a metric in the n-th period.
fn value(run: &Run, metric: Metric, entity: Entity, gap: f64, period: usize) -> Option<f64> {
    let window = Window {
        start: Time::from_secs_f64(gap * period as f64),
        end: Time::from_secs_f64(gap * (period as f64 + 1.0)),
    };
    run.mean(metric, entity, window)
}

fn near(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() < 2e-4, "{got} {expected}");
}

/// [Low02 table V]: queuing delays by the recursion (27)-(29), and rates in period 5.
#[test]
fn flows_that_start_one_after_the_other_misjudge_their_base() {
    let run = accord_theory::run(&scenario(&MEASURED, &DROPTAIL, 20.0, &[10; 5]), &mut Quiet)
        .expect("a problem");
    let delays = [3.33333, 10.0, 21.21649, 39.55393, 69.28511];
    for (period, ms) in delays.into_iter().enumerate() {
        let got = value(&run, Metric::QueuingDelay, Entity::Link(0), 20.0, period);
        near(got.expect("solved") * 1e3, ms);
    }
    let rates = [288.662, 404.336, 674.706, 1298.831, 3333.466];
    // The queue that each flow found at its start comes on top of its 10 ms.
    let bases = [10.0, 13.33333, 20.0, 31.21649, 49.55393];
    for (flow, (rate, base)) in rates.into_iter().zip(bases).enumerate() {
        let of = |metric| value(&run, metric, Entity::Flow(flow), 20.0, 4).expect("active");
        near(of(Metric::Throughput) / 8e3, rate);
        near(of(Metric::MinRtt) * 1e3, base);
    }
}

/// [Low02 figure 6a]: with the true base 20 packets for each source. No flow misjudges
/// its base if phases are too short for queues to form: 20 ms are two round trips.
#[test]
fn a_known_base_or_a_start_together_keeps_the_queue_linear() {
    for (family, gap) in [(&KNOWN, 20.0), (&MEASURED, 0.02)] {
        let run = accord_theory::run(&scenario(family, &DROPTAIL, gap, &[10; 5]), &mut Quiet)
            .expect("a problem");
        for period in 0..5 {
            let got = value(&run, Metric::QueuingDelay, Entity::Link(0), gap, period);
            near(got.expect("solved") * 6e3, 20.0 * (period as f64 + 1.0));
        }
    }
}

/// A phase of 19 round trips leaves no queue behind, one of 21 does; a flow that knows its base finds none.
#[test]
fn queues_form_in_twenty_round_trips() {
    for (family, gap, found) in
        [(&MEASURED, 0.19, 0.0), (&MEASURED, 0.21, 3.33333), (&KNOWN, 0.21, 0.0)]
    {
        let run = accord_theory::run(&scenario(family, &DROPTAIL, gap, &[10; 2]), &mut Quiet)
            .expect("a problem");
        let base = value(&run, Metric::MinRtt, Entity::Flow(1), gap, 1).expect("active");
        near(base * 1e3, 10.0 + found);
    }
}

/// [Low02 §6.3]: prices, marking probabilities and rates over REM; no queue.
#[test]
fn rem_has_prices_without_queues() {
    let bases = [10, 10, 20, 10, 30];
    let run =
        accord_theory::run(&scenario(&MARKS, &REM, 20.0, &bases), &mut Quiet).expect("a problem");
    let link = |metric, period| value(&run, metric, Entity::Link(0), 20.0, period).expect("solved");
    let expected = [
        (3.3333, 0.2722),
        (6.6667, 0.4703),
        (13.3333, 0.7194),
        (16.6667, 0.7958),
        (26.6667, 0.9213),
    ];
    for (period, (price, marks)) in expected.into_iter().enumerate() {
        near(link(Metric::Price, period) * 1e3, price);
        near(link(Metric::MarkingProbability, period), marks);
        assert_eq!(link(Metric::QueuingDelay, period), 0.0);
        near(link(Metric::Utilisation, period), 1.0);
    }
    for (flow, rate) in [750.0, 750.0, 1500.0, 750.0, 2250.0].into_iter().enumerate() {
        let got = value(&run, Metric::Throughput, Entity::Flow(flow), 20.0, 4);
        near(got.expect("active") / 8e3, rate);
    }
}

/// Flows that do not react to the signal of a link have no equilibrium there, and the run says so.
#[test]
fn a_price_that_is_not_read_is_no_price() {
    let mut other_phi = scenario(&MARKS, &REM, 20.0, &[10]);
    let values = &mut other_phi.links[0].queue.discipline;
    values.set("phi", &accord_family::Raw::Number(1.2)).expect("in range");
    for s in [
        scenario(&MARKS, &DROPTAIL, 20.0, &[10]),
        scenario(&MEASURED, &REM, 20.0, &[10]),
        other_phi,
    ] {
        let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
        assert_eq!(value(&run, Metric::Price, Entity::Link(0), 20.0, 0), None);
        assert!(run.notes.iter().any(|n| n.contains("does not read the price")));
    }
}

static PAIRS: Family = family(
    "pairs",
    &[],
    Role::Tunnel(|_| Objective::Accumulation { target: Size::Packets(4000.0) }),
);
static ACKS: Family = family(
    "acks",
    &[],
    Role::Controller(|_| Objective::Accumulation { target: Size::Packets(4000.0) }),
);

/// A tunnel measures by control packets, here of 6000 bytes, 1 ms at the bottleneck: its window
/// fills that round trip, not that of data.
#[test]
fn a_window_is_the_rate_times_what_the_flow_measures() {
    for (sender, base) in [(&PAIRS, 0.021), (&ACKS, 0.020)] {
        let mut s = scenario(sender, &DROPTAIL, 20.0, &[20]);
        s.flows[0].control = Bytes::new(6000);
        let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
        let is = |metric| value(&run, metric, Entity::Flow(0), 20.0, 0).unwrap();
        near(is(Metric::MinRtt), base);
        // 6 MB/s, of which a pair of 12000 bytes per round trip takes its part, and 4000 bytes queued.
        let rate = is(Metric::Throughput) / 8.0;
        let pairs = if base > 0.02 { 12_000.0 / is(Metric::Rtt) } else { 0.0 };
        near(rate + pairs, 6e6);
        near(is(Metric::Cwnd), rate * base + 4000.0);
    }
}

/// If both packets of a pair wait in one queue, its delay is a price that the flow does not read.
/// At a link that is not full there is no price to read.
#[test]
fn a_queue_that_control_packets_wait_in_is_not_read() {
    for (sender, limits, read) in
        [(&PAIRS, true, false), (&ACKS, true, true), (&PAIRS, false, true)]
    {
        let mut s = scenario(sender, &DROPTAIL, 20.0, &[20]);
        let hidden = s.flows[0].path[if limits { 1 } else { 0 }];
        s.links[hidden].control_priority = false;
        let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
        let rate = value(&run, Metric::Throughput, Entity::Flow(0), 20.0, 0);
        assert_eq!(rate, read.then_some(48e6), "{} {limits}", sender.name);
        let said = run.notes.iter().any(|n| n.contains("wait with the rest"));
        assert_eq!(said, !read, "{:?}", run.notes);
    }
}

/// An equilibrium counts no losses on the wire, and the run says so.
#[test]
fn losses_on_the_wire_are_said_to_be_left_out() {
    let mut s = scenario(&ACKS, &DROPTAIL, 20.0, &[20]);
    for loss in [0.0, 0.01] {
        s.links[0].loss = loss;
        let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
        let said = run.notes.iter().any(|n| n.contains("losses on the wire"));
        assert_eq!(said, loss > 0.0, "{:?}", run.notes);
    }
}

/// A flow without control has neither a window nor an estimate, and losses on its wires are left out, too.
#[test]
fn a_constant_rate_has_no_window_and_loses_nothing() {
    static CONSTANT: Family =
        family("constant", &[], Role::Controller(|_| Objective::Unresponsive));
    let mut s = scenario(&CONSTANT, &DROPTAIL, 20.0, &[20]);
    s.flows[0].demand = accord_traffic::Demand::Constant(Rate::from_bps(8_000_000));
    s.links[0].loss = 0.5;
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    let of = |metric| value(&run, metric, Entity::Flow(0), 20.0, 0);
    assert_eq!((of(Metric::Throughput), of(Metric::Cwnd)), (Some(8e6), None));
    assert_eq!(of(Metric::AccumulationEstimate), None);
    let said = run.notes.iter().any(|n| n.contains("50.00 % of the packets"));
    assert!(said, "{:?}", run.notes);
    // More than the link has, and nothing slows it.
    s.flows[0].demand = accord_traffic::Demand::Constant(Rate::from_bps(60_000_000));
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    assert!(run.notes.iter().any(|n| n.contains("losses on the wire")), "{:?}", run.notes);
}

/// An observer is called within a phase, too, and can end it there.
#[test]
fn a_phase_can_be_interrupted() {
    struct Twice(u32);
    impl Observer for Twice {
        fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
            self.0 += 1;
            if self.0 > 1 { Err(Interrupted) } else { Ok(()) }
        }
    }
    let s = scenario(&KNOWN, &DROPTAIL, 20.0, &[10]);
    assert_eq!(s.phases().count(), 1);
    let ended = accord_theory::run(&s, &mut Twice(0));
    assert!(matches!(ended, Err(accord_theory::EquilibriumError::Interrupted)));
}

/// The load, queue and price of an unused link are 0, not missing.
#[test]
fn an_idle_link_has_no_load_no_queue_and_no_price() {
    for queue in [&DROPTAIL, &REM] {
        let mut s =
            scenario(if queue.name == "rem" { &MARKS } else { &KNOWN }, queue, 10.0, &[10, 10]);
        s.flows[0].stop = Some(Time::from_secs_f64(5.0));
        let run = accord_theory::run(&s, &mut Quiet).unwrap();
        let link = |metric| &run.series(metric, Entity::Link(0)).unwrap().values;
        let used = link(Metric::Utilisation);
        assert!((used[0] - 1.0).abs() < 1e-9 && (used[12] - 1.0).abs() < 1e-9, "{used:?}");
        for metric in [
            Metric::Utilisation,
            Metric::Backlog,
            Metric::BacklogPackets,
            Metric::QueuingDelay,
            Metric::Price,
        ] {
            assert_eq!(link(metric)[5..10], [0.0; 5], "{metric}");
        }
        // A share of arrivals has no value where nothing arrives.
        if queue.name == "rem" {
            let marking = &link(Metric::MarkingProbability)[5..10];
            assert!(marking.iter().all(|p| p.is_nan()), "{marking:?}");
        }
        assert_eq!(run.certificates.len(), 2);
    }
}

/// A flow over a dead link has nothing, and the other has the bottleneck alone, as proven; then
/// both share again. If the bottleneck is dead, no flow has anything.
#[test]
fn an_outage_leaves_the_rest_to_the_others() {
    let event = |at: f64, link, bps| Event {
        at: Time::from_secs_f64(at),
        change: Change::Rate(link, Rate::from_bps(bps)),
    };
    let mut s = scenario(&KNOWN, &DROPTAIL, 10.0, &[10, 10]);
    s.flows[1].start = Time::ZERO;
    let access = s.flows[0].path[0];
    s.events =
        vec![event(5.0, access, 0), event(10.0, access, 1_000_000_000_000), event(15.0, 0, 0)];
    let run = accord_theory::run(&s, &mut Quiet).unwrap();
    let of = |metric, entity| &run.series(metric, entity).unwrap().values;
    let rate = |flow: usize, i: usize| of(Metric::Throughput, Entity::Flow(flow))[i] / 48e6;
    for (i, first, second) in [(2, 0.5, 0.5), (7, 0.0, 1.0), (12, 0.5, 0.5), (17, 0.0, 0.0)] {
        assert!((rate(0, i) - first).abs() < 1e-9, "{i}: {}", rate(0, i));
        assert!((rate(1, i) - second).abs() < 1e-9, "{i}: {}", rate(1, i));
    }
    assert!(of(Metric::Rtt, Entity::Flow(0))[7].is_nan());
    for (link, i) in [(access, 7), (0, 17)] {
        for metric in [Metric::Utilisation, Metric::QueuingDelay, Metric::Price] {
            assert!(of(metric, Entity::Link(link))[i].is_nan(), "{metric}");
        }
    }
    assert_eq!(of(Metric::Utilisation, Entity::Link(access))[17], 0.0);
    assert_eq!(run.certificates.len(), 3);
    assert!(run.certificates.iter().all(|c| c.gap < 1e-9));
    assert!(run.series.iter().all(|s| s.values.iter().all(|v| !v.is_infinite())));
}
