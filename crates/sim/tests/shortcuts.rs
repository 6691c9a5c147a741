//! Events that the engine leaves out do not change the run.

use crate::common::*;
use accord_family::Raw;
use accord_record::*;
use accord_scenario::*;
use accord_sim::{Audit, Shortcuts, run_with};
use accord_traffic::*;
use accord_units::*;

/// All results of a run, bit for bit.
type Seen = (Manifest, Vec<u64>, u64, Vec<Audit>, Vec<Audit>);

fn see(scenario: &Scenario, shortcuts: Shortcuts) -> (Seen, u64) {
    let (mut run, ports, flows) = run_with(scenario, &mut Quiet, shortcuts).unwrap();
    // Only the plan may differ.
    run.manifest.plan = None;
    let values = run.series.iter().flat_map(|s| &s.values);
    let bits = run.time.iter().chain(values).map(|v| v.to_bits()).collect();
    let hops = run.statistics.packet_hops;
    ((run.manifest, bits, hops, ports, flows), run.statistics.steps)
}

/// Returns the number of events of each level of shortcuts, for scenarios whose packets have
/// events.
fn same(what: &str, scenario: &Scenario) -> [u64; 3] {
    let (none, every) = see(scenario, Shortcuts::None);
    let (departures, fewer) = see(scenario, Shortcuts::Departures);
    let (fused, few) = see(scenario, Shortcuts::CutThrough);
    let (all, _) = see(scenario, Shortcuts::All);
    assert!(none.2 > 10_000, "{what}: too little happens");
    assert!(none == departures, "{what}: computed departures");
    assert!(none == fused, "{what}: fused links");
    assert!(none == all, "{what}: windows");
    [every, fewer, few]
}

/// Flows that have much in common, with many ties at the bottleneck.
fn dumbbell(name: &str, params: &[(&str, Raw)], queue: &str, limit: Limit) -> Scenario {
    let queue = discipline(queue, &[]);
    Dumbbell::new("20 Mbps", "5 ms", queue, limit, "10 s")
        .flows("near", 4, controller(name, params), "20 Mbps", (1000, 1000), ("0 s", None), true)
        .flows(
            "far",
            3,
            controller(name, params),
            "100 Mbps",
            (0, 9000),
            ("1 s", Some("7 s")),
            true,
        )
        .flows("back", 2, controller(name, params), "10 Mbps", (2000, 500), ("2 s", None), false)
        .0
}

#[test]
fn streams_that_space_their_packets() {
    for name in ["newreno", "vegas", "cubic"] {
        let mut s = dumbbell(name, &[], "droptail", Limit::Packets(30));
        let plain = see(&s, Shortcuts::All).0.1;
        for f in &mut s.flows {
            f.pacing = true;
        }
        same(name, &s);
        assert!(see(&s, Shortcuts::All).0.1 != plain, "{name}: nothing is spaced");
    }
}

/// The language's default is the transport's.
#[test]
fn flows_that_are_told_nothing_have_the_settings_of_linux() {
    let linux = accord_transport::stream::Settings::LINUX;
    assert_eq!((linux.min_rto, linux.pacing), (MIN_RTO, false));
    let default: Duration = "200 ms".parse().expect("the default in the reference");
    assert_eq!(MIN_RTO, default);
}

#[test]
fn streams_with_losses_at_a_droptail_queue() {
    for name in ["reno", "newreno", "vegas"] {
        let s = dumbbell(name, &[], "droptail", Limit::Packets(30));
        let (run, ..) = run_with(&s, &mut Quiet, Shortcuts::All).unwrap();
        let drops = run.mean(Metric::Drops, Entity::Link(0), window(0.0, 10.0));
        assert!(drops > Some(0.0) || name == "vegas", "{name}: no losses");
        let [every, fewer, few] = same(name, &s);
        // Three events of twelve for each packet and its acknowledgement.
        assert!(few * 19 < every * 5, "{name}: {few} events of {every}");
        assert!(few * 19 < fewer * 10, "{name}: {few} events of {fewer}");
    }
}

#[test]
fn selective_acknowledgements_and_byte_limits() {
    let sack = [("sack", Raw::Flag(true))];
    same("sack", &dumbbell("newreno", &sack, "droptail", Limit::Bytes(Bytes::new(25_000))));
}

#[test]
fn disciplines_with_randomness() {
    same("red", &dumbbell("newreno", &[], "red", Limit::Packets(60)));
    same("avq", &dumbbell("newreno", &[], "avq", Limit::Packets(60)));
    same("pie", &dumbbell("newreno", &[], "pie", Limit::Packets(60)));
}

#[test]
fn disciplines_that_judge_departures() {
    for queue in ["codel", "fq-codel", "host-fq", "dualpi2"] {
        let s = dumbbell("newreno", &[], queue, Limit::Packets(60));
        let [every, _, few] = same(queue, &s);
        // The bottleneck is stepped, the access links are not.
        assert!(few * 3 < every * 2, "{queue}: {few} events of {every}");
    }
}

#[test]
fn tunnels_beside_streams_and_datagrams() {
    let mut d = Dumbbell(dumbbell("vegas", &[], "droptail", Limit::Packets(60)));
    d = d.flows("tunnel", 2, controller("monaco", &[]), "20 Mbps", (500, 500), ("0 s", None), true);
    let first = d.0.flows.len();
    d = d.flows("cross", 3, controller("none", &[]), "20 Mbps", (500, 700), ("0 s", None), true);
    let rate: Rate = "1 Mbps".parse().unwrap();
    let burst = Draw::Exponential(Bytes::new(20_000));
    let pause = Draw::Exponential(Duration::from_ms(30));
    for (flow, demand) in d.0.flows[first..].iter_mut().zip([
        Demand::Poisson(rate),
        Demand::Constant(rate),
        Demand::OnOff { rate: Some(rate), burst, pause },
    ]) {
        flow.demand = demand;
    }
    d.0.flows[0].demand = Demand::OnOff { rate: None, burst, pause };
    d.0.flows[1].demand = Demand::Size(Bytes::new(3_000_000));
    // The flow is lossy and quick, so packets of one connection meet the next.
    d.0.flows[2].demand = Demand::Web(web());
    d.0.flows[3].demand = Demand::Web(web());
    same("mixed", &d.0);
}

/// A departure for which no packet waits needs no event, with any discipline.
#[test]
fn tunnels_over_two_queues() {
    for queue in ["droptail", "red", "avd", "avq", "rem", "pie", "bat", "bat-clcc", "codel"] {
        let mut s = fig6(controller("monaco", &[]), discipline(queue, &[]), 200);
        s.duration = Duration::from_secs(4);
        let [every, _, few] = same(queue, &s);
        assert!(few * 4 < every * 3, "{queue}: {few} events of {every}");
    }
}

/// If control packets have no separate queue, a tunnel's port can also be computed.
#[test]
fn tunnels_over_one_queue() {
    for (queue, limit) in [("droptail", 60), ("avd", 300), ("red", 60)] {
        let mut s = fig6(controller("monaco", &[]), discipline(queue, &[]), limit);
        s.duration = Duration::from_secs(5);
        s.links.iter_mut().for_each(|l| l.control_priority = false);
        same(queue, &s);
    }
}

/// Small files in quick succession.
fn web() -> Web {
    Web {
        body_mu: 9.357,
        body_sigma: 1.318,
        tail_share: 0.07,
        tail_least: Bytes::new(133_000),
        tail_shape: 1.1,
        largest: Bytes::new(1_000_000_000),
        objects_shape: 2.43,
        off_scale: Duration::from_ms(20),
        off_shape: 0.382,
        think_least: Duration::from_ms(10),
        think_shape: 1.5,
        longest: Duration::from_secs(3600),
        load: None,
    }
}

#[test]
fn loss_on_wires_and_limits_on_access_links() {
    let mut s = dumbbell("newreno", &[], "droptail", Limit::Packets(60));
    s.links[0].loss = 0.002;
    s.links[4].loss = 0.01;
    s.links[6].queue.limit = Limit::Packets(10);
    s.links[9].queue.limit = Limit::Packets(3);
    same("lossy", &s);
    s.flows.iter_mut().for_each(|f| f.demand = Demand::Web(web()));
    same("lossy web", &s);
}

#[test]
fn links_and_routes_that_change() {
    same("changes", &changes());
}

/// Delays and rates of the bottleneck and of access links change, and so does a route.
fn changes() -> Scenario {
    let mut s = dumbbell("newreno", &[], "droptail", Limit::Packets(60));
    // A second path from left to right.
    let detour = s.links.len();
    for link in 0..2 {
        let mut other = s.links[link].clone();
        other.name = format!("detour.{link}");
        other.delay = Duration::from_ms(8);
        s.links.push(other);
    }
    let route = |s: &Scenario, flow: usize, link: usize| {
        let (mut path, mut reverse_path) =
            (s.flows[flow].path.clone(), s.flows[flow].reverse_path.clone());
        (path[1], reverse_path[1]) = (link, link + 1);
        Change::Route { flow, path, reverse_path }
    };
    let all = [
        (1.5, Change::Delay(0, Duration::from_ms(30))),
        (2.5, Change::Delay(0, Duration::from_ms(1))),
        (3.0, Change::Delay(s.flows[1].path[0], Duration::from_ms(20))),
        (3.5, Change::Rate(1, "4 Mbps".parse().unwrap())),
        (4.0, route(&s, 0, detour)),
        (4.0, route(&s, 5, detour)),
        (6.0, route(&s, 0, 0)),
        (6.5, Change::Rate(0, "8 Mbps".parse().unwrap())),
        (7.0, Change::Delay(s.flows[1].path[0], Duration::from_us(10))),
    ];
    s.events = all.map(|(at, change)| Event { at: Time::from_secs_f64(at), change }).into();
    s
}

fn balanced(audits: &[Audit]) {
    for (i, b) in audits.iter().enumerate() {
        let sum =
            |f: fn(&Audit) -> u64, g: fn(&Audit) -> [u64; 3]| (f(b), g(b).iter().sum::<u64>());
        let (entered, out) =
            sum(|b| b.entered.packets, |b| [b.left.packets, b.dropped.packets, b.held.packets]);
        assert_eq!(entered, out, "{i}: {b:?}");
        let (entered, out) =
            sum(|b| b.entered.bytes, |b| [b.left.bytes, b.dropped.bytes, b.held.bytes]);
        assert_eq!(entered, out, "{i}: {b:?}");
    }
}

#[test]
fn counters_balance_through_changes_of_delay_rate_and_route() {
    for shortcuts in [Shortcuts::All, Shortcuts::None] {
        let (run, ports, flows) = run_with(&changes(), &mut Quiet, shortcuts).unwrap();
        balanced(&ports);
        balanced(&flows);
        // The detour was used, and something was lost on the way.
        assert!(ports[ports.len() - 2].left.packets > 100);
        assert!(flows.iter().any(|f| f.dropped.packets > 0));
        assert!(flows.iter().any(|f| f.held.packets > 0));
        assert!(run.statistics.packet_hops > 10_000);
    }
}

#[test]
fn a_shorter_delay_does_not_let_packets_overtake() {
    // 60 ms become 5 ms, with many packets on the wire. Any three that arrived before an earlier
    // one would cause a spurious repair.
    let droptail = discipline("droptail", &[]);
    let mut s = Dumbbell::new("20 Mbps", "60 ms", droptail, Limit::Unlimited, "4 s")
        .flows("flow", 1, controller("vegas", &[]), "100 Mbps", (10, 10), ("0 s", None), true)
        .0;
    for (at, ms) in [(1.5, 5), (2.5, 40), (3.0, 1)] {
        let change = Change::Delay(0, Duration::from_ms(ms));
        s.events.push(Event { at: Time::from_secs_f64(at), change });
    }
    for shortcuts in [Shortcuts::All, Shortcuts::Departures, Shortcuts::None] {
        let (run, _, flows) = run_with(&s, &mut Quiet, shortcuts).unwrap();
        let sum = |m| run.mean(m, Entity::Flow(0), window(0.0, 4.0)).unwrap();
        assert_eq!(sum(Metric::Retransmissions), 0.0);
        assert_eq!(sum(Metric::Goodput), sum(Metric::Throughput));
        assert!(flows[0].left.packets > 1000, "{:?}", flows[0]);
    }
}

#[test]
fn same_seed_same_bytes() {
    let mut s = dumbbell("newreno", &[], "red", Limit::Packets(60));
    let (a, b) = (see(&s, Shortcuts::All), see(&s, Shortcuts::All));
    assert!(a == b);
    s.seed += 1;
    let c = see(&s, Shortcuts::All);
    assert!(a.0.0.digest != c.0.0.digest, "another seed, another run");
}
