//! Services of a scenario: its equilibria, and what binds for whom [Har02 §IV, §VI].

use accord_family::{Family, Objective, Param, Price, Role, Service};
use accord_record::*;
use accord_scenario::*;
use accord_theory::{Outcome, unmet_contracts};
use accord_traffic::*;
use accord_units::*;
use std::sync::Arc;

const fn family(name: &'static str, params: &'static [Param], role: Role) -> Family {
    Family { params, ..Family::new(name, role) }
}

const TARGET: Size = Size::Bytes(Bytes::new(3000));
static ACC: Family =
    family("acc", &[], Role::Tunnel(|_| Objective::Accumulation { target: TARGET }));
static DROPTAIL: Family = family("droptail", &[], Role::Queue(|_| Price::QueuingDelay));
static AVD: Family = family("avd", &[], Role::Queue(|_| Price::VirtualDelay { utilisation: 0.98 }));

fn service(mbps: u64, weight: f64, limit_kb: Option<u64>) -> Service {
    Service {
        contract: Rate::from_bps(mbps * 1_000_000),
        weight,
        limit: limit_kb.map(|kb| Bytes::new(1000 * kb)),
    }
}

/// A flow: name, links, service, seconds in which it runs.
type Wish<'a> = (&'a str, std::ops::Range<usize>, Service, (u64, u64));

/// A row of links of 100 Mbit/s with buffers of 250 KB, and back.
fn scenario(queues: &[&'static Family], flows: &[Wish<'_>]) -> Scenario {
    let n = queues.len();
    let link = |name: String, from, to, queue: &'static Family| Link {
        name,
        from,
        to,
        rate: Rate::from_bps(100_000_000),
        delay: Duration::from_us(1000),
        queue: Queue { discipline: queue.defaults(), limit: Limit::Bytes(Bytes::new(250_000)) },
        loss: 0.0,
        control_loss: 0.0,
        control_priority: true,
        parts: None,
        attachment: false,
    };
    let forth = (0..n).map(|i| link(format!("hop{}", i + 1), i, i + 1, queues[i]));
    let back = (0..n).map(|i| link(format!("back{}", i + 1), i + 1, i, &DROPTAIL));
    let links = forth.chain(back).collect();
    let mut groups: Vec<Group> = Vec::new();
    for (i, (name, ..)) in flows.iter().enumerate() {
        let group = name.split('.').next().expect("a first part");
        match groups.last_mut() {
            Some(last) if last.name == group => last.flows.end = i + 1,
            _ => groups.push(Group {
                recorded: Default::default(),
                name: group.into(),
                flows: i..i + 1,
            }),
        }
    }
    let group_of = |i: usize| groups.iter().position(|g| g.flows.contains(&i));
    let flows: Vec<Flow> = (flows.iter().enumerate())
        .map(|(i, (name, path, service, (start, stop)))| Flow {
            name: name.to_string(),
            path: path.clone().collect(),
            reverse_path: path.clone().rev().map(|l| n + l).collect(),
            start: Time::ZERO + Duration::from_secs(*start),
            processing: Duration::ZERO,
            settings: Arc::new(FlowSettings {
                group: group_of(i).expect("each has one"),
                controller: Arc::new(ACC.defaults()),
                carrier: Carrier::Ours,
                service: *service,
                aggregate: 0,
                share: 1.0,
                demand: Demand::Greedy,
                stop: Some(Time::ZERO + Duration::from_secs(*stop)),
                packet: Bytes::new(1000),
                ack: Bytes::new(40),
                control: Bytes::ZERO,
                sizes: None,
                min_rto: Duration::from_ms(200),
                pacing: false,
                tunnel: None,
                through: None,
            }),
        })
        .collect();
    let ends = flows.iter().filter_map(|f| f.stop);
    let end = ends.max().expect("a flow");
    Scenario {
        inner: false,
        id: "test".into(),
        title: String::new(),
        source: String::new(),
        notes: String::new(),
        figure: None,
        point: vec![],
        seed: 1,
        duration: end.since(Time::ZERO),
        sample: Duration::from_secs(1),
        steady: Window { start: Time::ZERO, end },
        nodes: (0..=n).map(|i| Node { name: format!("r{i}") }).collect(),
        links,
        groups,
        flows,
        aggregates: vec!["default".into()],
        fluid: Default::default(),
        events: vec![],
        expectations: vec![],
    }
}

fn mbps(run: &Run, flow: usize, from: u64, to: u64) -> Option<f64> {
    let at = |s| Time::ZERO + Duration::from_secs(s);
    let window = Window { start: at(from), end: at(to) };
    let mean = run.mean(Metric::Throughput, Entity::Flow(flow), window);
    mean.map(|bps| bps / 1e6)
}

fn services(run: &Run) -> Vec<&str> {
    let notes = run.notes.iter().map(String::as_str);
    notes.filter(|n| n.contains("contract") || n.contains("accumulation limit")).collect()
}

/// The long flows of [Har02 table I], and two cross flows on each bottleneck of the weights that
/// the four there have together, so eq. 18 is the same.
#[test]
fn har02_figure_6_says_who_is_held_at_which_limit() {
    let cross =
        |name, link: usize, weight| (name, link..link + 1, service(0, weight, None), (0, 100));
    let s = scenario(
        &[&DROPTAIL, &AVD, &DROPTAIL],
        &[
            ("long.0", 0..3, service(30, 1.0, Some(60)), (0, 100)),
            ("long.1", 0..3, service(35, 1.0, Some(75)), (25, 75)),
            ("long.2", 0..3, service(50, 1.0, Some(60)), (50, 75)),
            ("long.3", 0..3, service(10, 1.0, Some(15)), (0, 100)),
            cross("a", 0, 4.0),
            cross("b.0", 1, 3.0),
            cross("b.1", 1, 3.0),
            cross("c", 2, 4.0),
        ],
    );
    let mut plain = s.clone();
    plain.links[1].queue.discipline = DROPTAIL.defaults();
    let run = accord_theory::run(&plain, &mut Quiet).expect("a problem");
    let expected = [
        (0, 25, [Some(33.75), None, None, Some(13.75)], 26.25),
        (25, 50, [Some(31.6667), Some(36.6667), None, Some(8.3333)], 11.6667),
        (50, 75, [Some(23.8095), Some(29.7619), Some(23.8095), Some(5.9524)], 8.3333),
        (75, 100, [Some(33.75), None, None, Some(13.75)], 26.25),
    ];
    for (from, to, long, of_b) in expected {
        for (flow, expected) in long.into_iter().enumerate() {
            let found = mbps(&run, flow, from, to);
            assert_eq!(found.is_some(), expected.is_some());
            let off = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
            assert!(off.abs() < 1e-4, "{flow} in {from}-{to}: {found:?}");
        }
        let found = mbps(&run, 5, from, to).expect("active");
        assert!((found - of_b).abs() < 1e-4, "{found}");
    }
    let accumulation = run.series(Metric::Accumulation, Entity::Flow(3)).expect("there");
    assert!((accumulation.values[30] - 15e3).abs() < 1e-6);
    let notes = services(&run);
    assert_eq!(notes.len(), 2, "{notes:#?}");
    assert_eq!(
        notes[0],
        "theory: 25 s-50 s: long.3 is held at its accumulation limit of 15 KB and gets 8.333 Mbps of 11.67 Mbps, less than its contract of 10 Mbps"
    );
    let begins = "theory: 50 s-75 s: contracts on hop1 add up to 125 Mbps of 100 Mbps, 2 more links are oversubscribed; floors are not met: equilibrium would be: long.2 is held at its accumulation limit of 60 KB and gets 23.81 Mbps of 51.19 Mbps, less than its contract of 50 Mbps; ";
    assert!(notes[1].starts_with(begins), "{}", notes[1]);

    // The link with a virtual queue is to be used by 98 % only, so it has less to promise.
    let shortfalls = unmet_contracts(&s, &mut Quiet).expect("a problem");
    assert_eq!(shortfalls.len(), 2);
    let worst = shortfalls[1].oversubscribed[0];
    assert_eq!((worst.link, worst.contracts, worst.capacity), (1, 125e6, 98e6));
    assert_eq!(shortfalls[1].outcome, Outcome::Equilibrium);
}

/// Without limits: 60 + 70 on 100 Mbit/s. With 20 ms in the buffer a share of weight 1 is
/// 1.2 Mbit/s, so 61.2 + 71.2 + 1.2 are sent into it, and of each 100/133.6 get through.
#[test]
fn oversubscription_without_limits_ends_at_the_buffer() {
    let flows = [
        ("a", 0..1, service(60, 1.0, None), (0, 10)),
        ("b", 0..1, service(70, 1.0, None), (0, 10)),
        ("c", 0..1, service(0, 1.0, None), (0, 10)),
    ];
    let mut s = scenario(&[&DROPTAIL], &flows);
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    assert_eq!(mbps(&run, 0, 0, 10), None);
    assert_eq!(
        services(&run),
        [
            "theory: 0 s-10 s: contracts on hop1 add up to 130 Mbps of 100 Mbps; floors are not met: no accumulation limit holds the flows; the buffer of hop1 fills, windows halve at losses and never settle; if it were always full: a 45.81 Mbps of a contract of 60 Mbps, b 53.29 Mbps of a contract of 70 Mbps"
        ]
    );
    // A buffer in packets is as many of the flows' packets.
    let (bytes, said) = (s.links[0].queue.limit, services(&run));
    s.links[0].queue.limit = Limit::Packets(250_000 / s.flows[0].packet.get());
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    assert_eq!(services(&run), said);
    s.links[0].queue.limit = bytes;
    // A limit for one of them is enough for an equilibrium: the 30 that b leaves are shared by
    // weights 15, 3 and 3.
    s.flows[0].service.limit = Some(Bytes::new(15_000));
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    for (flow, expected) in
        [30.0 * 15.0 / 21.0, 70.0 + 30.0 * 3.0 / 21.0, 30.0 * 3.0 / 21.0].into_iter().enumerate()
    {
        let found = mbps(&run, flow, 0, 10).expect("an equilibrium");
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    // Without an end to the buffer there is none to the queue.
    s.flows[0].service.limit = None;
    s.links[0].queue.limit = Limit::Unlimited;
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    assert!(run.notes.iter().any(|n| n.contains("neither a queue nor losses slow them")));
    let shortfalls = unmet_contracts(&s, &mut Quiet).expect("a problem");
    assert_eq!(shortfalls[0].outcome, Outcome::None);
}

/// The other flows share the part of a contract that its application does not use.
#[test]
fn an_application_that_wants_less_than_its_contract_is_not_short_of_it() {
    let flows = [
        ("voice", 0..1, service(60, 1.0, Some(60)), (0, 10)),
        ("some", 0..1, service(20, 1.0, None), (0, 10)),
        ("site", 0..1, service(60, 1.0, None), (0, 10)),
        ("rest", 0..1, service(0, 1.0, None), (0, 10)),
    ];
    let mut s = scenario(&[&DROPTAIL], &flows);
    s.flows[0].demand = Demand::Constant(Rate::from_bps(10_000_000));
    s.flows[1].demand = Demand::Constant(Rate::from_bps(21_000_000));
    // 100 − 10 − 21 − 60 = 9 are shared by two.
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    for (flow, expected) in [10.0, 21.0, 64.5, 4.5].into_iter().enumerate() {
        let found = mbps(&run, flow, 0, 10).expect("an equilibrium");
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert_eq!(services(&run), [""; 0]);
    assert_eq!(unmet_contracts(&s, &mut Quiet).expect("a problem"), []);
}

/// A thousand flows are a line, not a thousand.
#[test]
fn many_flows_make_few_words() {
    let names: Vec<String> = (0..1000).map(|i| format!("f{}.{i}", i / 100)).collect();
    let flows: Vec<_> = (names.iter().enumerate())
        .map(|(i, name)| {
            let limit = 10 + i as u64 / 100;
            (name.as_str(), 0..1, service(1, 1.0, Some(limit)), (0, 10))
        })
        .collect();
    let run = accord_theory::run(&scenario(&[&DROPTAIL], &flows), &mut Quiet).expect("a problem");
    let notes = services(&run);
    assert_eq!(notes.len(), 1);
    let line = "f0.0, f0.1, f0.2, f0.3 and 96 more flows are each held at the accumulation limit of 10 KB and get ";
    assert!(notes[0].contains(line), "{}", notes[0]);
    assert!(notes[0].contains(" and 6 more kinds of flows"), "{}", notes[0]);
    assert!(notes[0].len() < 1000);
}

/// Contracts that use a link up do not oversubscribe it [Har02 eq. 15].
#[test]
fn contracts_may_use_a_link_up() {
    let flows = [
        ("a", 0..1, service(60, 1.0, Some(60)), (0, 10)),
        ("b", 0..1, service(40, 1.0, Some(40)), (0, 10)),
    ];
    let run = accord_theory::run(&scenario(&[&DROPTAIL], &flows), &mut Quiet).expect("a problem");
    assert!((mbps(&run, 0, 0, 10).expect("an equilibrium") - 60.0).abs() < 1e-3);
    let shortfalls = unmet_contracts(&scenario(&[&DROPTAIL], &flows), &mut Quiet);
    assert_eq!(shortfalls.expect("a problem"), []);
}

/// Held at 3 KB, a flow has half of the link, less than the 60 Mbit/s of its share and its contract, and more
/// than its contract: that is met.
#[test]
fn a_flow_at_its_limit_may_have_its_contract() {
    let flows = [
        ("a", 0..1, service(10, 1.0, Some(3)), (0, 10)),
        ("b", 0..1, service(0, 1.0, None), (0, 10)),
    ];
    let s = scenario(&[&DROPTAIL], &flows);
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    assert!((mbps(&run, 0, 0, 10).expect("an equilibrium") - 50.0).abs() < 1e-3);
    assert_eq!(services(&run).len(), 1);
    assert_eq!(unmet_contracts(&s, &mut Quiet).expect("a problem"), []);
}

/// An application of 10 Mbit/s has no use for a contract of 60. With 3 of 60 KB in the queue it has 5.
#[test]
fn a_contract_counts_as_far_as_it_is_used() {
    let flows = [
        ("voice", 0..1, service(60, 1.0, Some(3)), (0, 10)),
        ("rest", 0..1, service(0, 19.0, None), (0, 10)),
    ];
    let mut s = scenario(&[&DROPTAIL], &flows);
    s.flows[0].demand = Demand::Constant(Rate::from_bps(10_000_000));
    let shortfalls = unmet_contracts(&s, &mut Quiet).expect("a problem");
    let held = &shortfalls[0].held[0];
    assert!((held.rate / 5e6 - 1.0).abs() < 1e-6, "{held:?}");
    assert_eq!((held.contract, held.due), (10e6, 10e6));
}

/// Three hops of 100 Mbit/s whose buffers of 20 ms are full. Of the 80 + 0.4 Mbit/s of the long flow, and the
/// 60 + 1.2 of each cross flow, 100/141.6 pass the first hop, 100/117.98 the second, 100/109.33 the third.
#[test]
fn losses_on_the_way_leave_room_on_the_next_hop() {
    let flows = [
        ("long", 0..3, service(80, 1.0, None), (0, 10)),
        ("x", 0..1, service(60, 1.0, None), (0, 10)),
        ("y", 1..2, service(60, 1.0, None), (0, 10)),
        ("z", 2..3, service(60, 1.0, None), (0, 10)),
    ];
    let s = scenario(&[&DROPTAIL; 3], &flows);
    let shortfalls = unmet_contracts(&s, &mut Quiet).expect("a problem");
    assert_eq!(shortfalls[0].outcome, Outcome::FullBuffers(vec![0, 1, 2]));
    for (flow, expected) in [44.02, 43.22, 51.87, 55.98].into_iter().enumerate() {
        let held = shortfalls[0].held.iter().find(|held| held.flows == [flow]).expect("held");
        assert!((held.rate / 1e6 - expected).abs() < 0.01, "{held:?}");
    }
}
