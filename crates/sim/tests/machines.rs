//! A network divided among machines gives the same run as the whole: the same packets end at the
//! same times, and the samples agree.

use crate::common::*;
use accord_family::{InnerState, Raw};
use accord_record::*;
use accord_scenario::*;
use accord_sim::{Digest, Shortcuts};
use accord_sim::{Machine, Part, Tally, merge, run_with};
use accord_units::*;

/// Runs the scenario on machines with these nodes, which exchange their departures.
fn divided(s: &Scenario, crews: &[&[NodeId]]) -> (Vec<Vec<Part>>, Vec<Tally>) {
    let mut machines: Vec<Machine> = crews.iter().map(|nodes| Machine::new(s, nodes)).collect();
    let place = |node: NodeId| crews.iter().position(|nodes| nodes.contains(&node)).unwrap();
    let lookahead = machines.iter().map(Machine::lookahead).min().unwrap();
    assert!(!lookahead.is_zero(), "nothing would ever go on");
    let mut parts: Vec<Vec<Part>> = crews.iter().map(|_| Vec::new()).collect();
    let mut now = Time::ZERO;
    while now < s.end() {
        now = (now + lookahead).min(s.end());
        for (machine, parts) in machines.iter_mut().zip(&mut parts) {
            machine.advance(now);
            parts.extend(machine.parts());
            assert!(machine.next_effect() > now);
        }
        for i in 0..machines.len() {
            while let Some(departure) = machines[i].leave(now + lookahead) {
                assert!(departure.at > now, "it should have left before");
                let to = place(s.links[departure.link].to);
                machines[to].enter(departure.link, departure.parcel, departure.at);
            }
        }
    }
    (parts, machines.into_iter().map(Machine::finish).collect())
}

/// Returns the digest, the transfers and the number of packet-hops of all machines together.
fn total(s: &Scenario, tallies: Vec<Tally>) -> (String, Vec<Transfer>, u64) {
    let mut digest = Digest::new(s.seed);
    let mut transfers = Transfers::default();
    let mut hops = 0;
    for tally in tallies {
        digest.merge(s.seed, tally.digest);
        transfers.merge(tally.transfers);
        hops += tally.hops;
    }
    (digest.to_string(), transfers.finish().0, hops)
}

/// Returns the series of the merged samples.
fn record(s: &Scenario, parts: Vec<Vec<Part>>) -> (Vec<f64>, Vec<Series>) {
    let mut recorder = Recorder::new(s);
    let mut all: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    loop {
        let sample: Vec<Part> = all.iter_mut().filter_map(Iterator::next).collect();
        let Some(first) = sample.first() else {
            break;
        };
        assert!(sample.len() == all.len() && sample.iter().all(|p| p.number == first.number));
        let now = Time::ZERO + s.sample * first.number;
        let link = |id: LinkId| {
            let links = sample.iter().flat_map(|part| &part.links);
            links.clone().find(|(link, _)| *link == id).expect("one machine has it").1.clone()
        };
        recorder.sample(
            now,
            merge(s, &sample).into_iter().enumerate(),
            |_| InnerState::default(),
            link,
        );
    }
    recorder.finish(s)
}

/// Checks that machines with these nodes give the same run as the whole.
fn same(what: &str, s: &Scenario, crews: &[&[NodeId]]) {
    let (run, ports, _) = run_with(s, &mut Quiet, Shortcuts::All).unwrap();
    let hops: u64 = ports.iter().map(|p| p.left.packets).sum();
    assert!(hops > 5_000, "{what}: {hops} packet-hops");
    let (parts, tallies) = divided(s, crews);
    let active = tallies.iter().filter(|tally| tally.hops > 1_000).count();
    assert_eq!(active, crews.len(), "{what}: not all machines do something");
    let (digest, transfers, divided_hops) = total(s, tallies);
    assert_eq!(digest, run.manifest.digest, "{what}");
    assert_eq!(divided_hops, hops, "{what}");
    let bits = |t: &Transfer| (t.flow, t.start.to_bits(), t.size, t.duration.to_bits());
    let sent = run.transfers.iter().map(bits);
    assert!(transfers.iter().map(bits).eq(sent), "{what}: transfers");
    let (time, series) = record(s, parts);
    assert_eq!(time, run.time, "{what}");
    for (ours, whole) in series.iter().zip(&run.series) {
        assert_eq!((ours.metric, ours.entity), (whole.metric, whole.entity));
        // A lost packet would have arrived later, and the machines together do not know which of
        // the lost ones would have arrived by now.
        if ours.metric == Metric::Accumulation {
            continue;
        }
        let equal = ours.values.iter().zip(&whole.values).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(equal && ours.values.len() == whole.values.len(), "{what}: {:?}", ours.metric);
    }
}

/// The nodes of a dumbbell: the hosts on the left with their router, and the others.
fn halves(s: &Scenario) -> [Vec<NodeId>; 2] {
    let left = |node: &NodeId| {
        let links = s.links.iter();
        *node == 0 || links.clone().any(|l| l.attachment && (l.from, l.to) == (*node, 0))
    };
    let (left, right) = (0..s.nodes.len()).partition(left);
    [left, right]
}

/// The hosts and the two routers.
fn thirds(s: &Scenario) -> [Vec<NodeId>; 3] {
    [vec![0], vec![1], (2..s.nodes.len()).collect()]
}

fn dumbbell(name: &str, params: &[(&str, Raw)], queue: &str) -> Scenario {
    let queue = discipline(queue, &[]);
    Dumbbell::new("20 Mbps", "5 ms", queue, Limit::Packets(30), "5 s")
        .flows("near", 3, controller(name, params), "20 Mbps", (1000, 1000), ("0 s", None), true)
        .flows(
            "far",
            2,
            controller(name, params),
            "100 Mbps",
            (500, 9000),
            ("1 s", Some("3 s")),
            true,
        )
        .flows("back", 2, controller(name, params), "10 Mbps", (2000, 500), ("2 s", None), false)
        .0
}

fn same_in_parts(what: &str, s: &Scenario) {
    let [left, right] = halves(s);
    same(what, s, &[&left, &right]);
    let [a, b, hosts] = thirds(s);
    same(what, s, &[&a, &b, &hosts]);
}

#[test]
fn streams_over_queues_that_drop_and_mark() {
    same_in_parts("newreno", &dumbbell("newreno", &[], "droptail"));
    same_in_parts("cubic", &dumbbell("cubic", &[], "fq-codel"));
    same_in_parts("bbr3", &dumbbell("bbr3", &[], "red"));
}

#[test]
fn tunnels_and_datagrams() {
    let mut d = Dumbbell(dumbbell("vegas", &[], "avd"));
    d = d.flows("tunnel", 2, controller("monaco", &[]), "20 Mbps", (500, 500), ("0 s", None), true);
    d = d.flows("open", 1, controller("none", &[]), "20 Mbps", (500, 700), ("0 s", None), true);
    let last = d.0.flows.len() - 1;
    d.0.flows[last].demand = accord_traffic::Demand::Constant(Rate::from_bps(1_000_000));
    same_in_parts("mixed", &d.0);
}

/// A machine with all nodes has an empty outside.
#[test]
fn one_machine_is_the_whole() {
    let s = dumbbell("newreno", &[], "droptail");
    let all: Vec<NodeId> = (0..s.nodes.len()).collect();
    same("newreno", &s, &[&all]);
}

/// Links that lose, reorder and vary, changes of rates, delays and routes, and transfers.
#[test]
fn difficult_links_and_changes() {
    let s = scenario(
        r#"
        id = "parts"
        duration = "6 s"
        [topology.parking_lot]
        bottlenecks = 2
        rate = "5 Mbps"
        delay = "5 ms"
        queue = { discipline = "red", limit = "20 pkt" }
        [link.hop2]
        loss = 0.01
        jitter = { normal = "2 ms", reorder = true }
        [link.shortcut]
        from = "r0"
        to = "r2"
        rate = "3 Mbps"
        delay = "30 ms"
        [flow.tunnel]
        from = "r0"
        to = "r2"
        access = { rate = "100 Mbps", delay = "1 ms" }
        egress = { rate = "100 Mbps", delay = "1 ms" }
        controller = "monaco"
        [flow.stream]
        from = "r0"
        to = "r2"
        access = { rate = "100 Mbps", delay = "1 ms" }
        egress = { rate = "100 Mbps", delay = "1 ms" }
        controller = "newreno"
        demand = { on_off = { burst = "200 KB", pause = "50 ms" } }
        [[event]]
        at = "2 s"
        link = "hop1"
        rate = "3 Mbps"
        [[event]]
        at = "3 s"
        link = "hop2"
        delay = "9 ms"
        "#,
    );
    let name = |node: &NodeId| s.nodes[*node].name.clone();
    let (routers, hosts): (Vec<_>, Vec<_>) =
        (0..s.nodes.len()).partition(|node| name(node).starts_with('r') && name(node).len() == 2);
    assert_eq!(routers.len(), 3);
    let crews: Vec<&[NodeId]> = routers.chunks(1).chain([&hosts[..]]).collect();
    same("parts", &s, &crews);
}
