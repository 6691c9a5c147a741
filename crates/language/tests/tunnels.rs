//! Tunnels between gateways, and what rides in them, in the language.

use crate::common::points;
use accord_family::Signal;
use accord_scenario::{Change, Scenario, print};
use accord_units::Bytes;

/// Two ways from `west` to `hub`, and hosts behind both.
const NETWORK: &str = "duration = \"10 s\"\n\
    [link.core]\nfrom = \"west\"\nto = \"hub\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\n\
    [link.up]\nfrom = \"west\"\nto = \"north\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\n\
    [link.down]\nfrom = \"north\"\nto = \"hub\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\n\
    [link.lan]\nfrom = \"lan\"\nto = \"west\"\nrate = \"1 Gbps\"\ndelay = \"1 ms\"\n\
    [link.far]\nfrom = \"hub\"\nto = \"server\"\nrate = \"1 Gbps\"\ndelay = \"1 ms\"\n\
    [flow.t]\nfrom = \"west\"\nto = \"hub\"\ncontroller = \"monaco\"\npacket = \"1080 B\"\n";

fn scenario(text: &str) -> Scenario {
    let points = points(&format!("{NETWORK}{text}"));
    points.unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// The nodes of a path.
fn nodes<'a>(s: &'a Scenario, path: &[usize]) -> Vec<&'a str> {
    let first = s.links[path[0]].from;
    let rest = path.iter().map(|&link| s.links[link].to);
    let nodes = std::iter::once(first).chain(rest);
    nodes.map(|n| s.nodes[n].name.as_str()).collect()
}

/// A scenario that is printed and read again is the same one.
fn comes_back(s: &Scenario) {
    let again = &points(&print(s)).unwrap_or_else(|e| panic!("{e}"))[0];
    assert_eq!(again.flows, s.flows);
    assert_eq!(again.events, s.events);
    assert_eq!(again.hash(), s.hash());
}

#[test]
fn a_rider_goes_to_the_tunnel_through_it_and_on() {
    let s = scenario(
        "tunnel = { overhead = \"80 B\", signal = \"delay\" }\n\
         [flow.inside]\nthrough = \"t\"\ncontroller = \"newreno\"\n\
         [flow.whole]\nfrom = \"lan\"\nto = \"server\"\nthrough = \"t\"\ncontroller = \"newreno\"\nprocessing = \"0 s\"\n\
         [flow.attached]\ncount = 2\naccess = { rate = \"1 Gbps\", delay = \"1 ms\" }\nthrough = \"t\"\ncontroller = \"newreno\"\n",
    );
    let tunnel = s.flows[0].tunnel.expect("it is a tunnel");
    assert_eq!(tunnel.overhead, Bytes::new(80));
    assert_eq!(tunnel.queue, Bytes::new(1_000_000));
    assert_eq!(tunnel.signal, Signal::Delay);
    assert_eq!(s.riders(0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(nodes(&s, &s.flows[1].path), ["west", "hub"]);
    assert_eq!(nodes(&s, &s.flows[2].path), ["lan", "west", "hub", "server"]);
    assert_eq!(nodes(&s, &s.flows[4].path), ["attached.2.source", "west", "hub"]);
    assert_eq!(nodes(&s, &s.flows[2].reverse_path), ["server", "hub", "west", "lan"]);
    comes_back(&s);
    // 1000 bytes over 1 Gbps twice, and 1080 over 10 Mbps: 16 µs and 864 µs, and 7 ms of delay.
    let time = s.at(accord_units::Time::ZERO).one_way_of(2, Bytes::new(1000));
    assert_eq!(time.as_ps(), 7_880_000_000);
}

#[test]
fn riders_follow_the_path_of_their_tunnel() {
    let s = scenario(
        "tunnel = {}\n\
         [flow.whole]\nfrom = \"lan\"\nto = \"server\"\nthrough = \"t\"\ncontroller = \"newreno\"\n\
         [[event]]\nat = \"5 s\"\nflow = \"t\"\npath = [\"west\", \"north\", \"hub\"]\n",
    );
    let paths: Vec<_> = (s.events.iter())
        .filter_map(|e| match &e.change {
            Change::Route { flow, path, reverse_path } => {
                Some((*flow, nodes(&s, path), nodes(&s, reverse_path)))
            }
            _ => None,
        })
        .collect();
    let there = vec!["lan", "west", "north", "hub", "server"];
    let back = there.iter().rev().copied().collect();
    assert_eq!(paths[1], (1, there, back));
    assert_eq!(paths[0].1, ["west", "north", "hub"]);
    comes_back(&s);
}
