//! Tunnels and what rides in them, against shares worked out by hand.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_theory::run;

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// Three tunnels over 30 Mbps: contracts of 10, 5 and 0 Mbps, weights of 1, 2 and 1.
pub fn scenario(lan: &str, rest: &str) -> Scenario {
    let mut text = format!(
        "duration = \"20 s\"\n\
         [link.core]\nfrom = \"west\"\nto = \"hub\"\nrate = \"30 Mbps\"\ndelay = \"10 ms\"\n\
         control_priority = false\n\
         [link.lan]\nfrom = \"lan\"\nto = \"west\"\nrate = \"{lan}\"\ndelay = \"1 ms\"\n"
    );
    let services = ["contract = \"10 Mbps\"", "contract = \"5 Mbps\", weight = 2", ""];
    for (name, service) in ["a", "b", "c"].into_iter().zip(services) {
        text += &format!(
            "[flow.{name}]\nfrom = \"west\"\nto = \"hub\"\ncontroller = \"monaco\"\npacket = \"1060 B\"\n\
             tunnel = {{}}\nservice = {{ {service} }}\n"
        );
    }
    let file = File::parse("test", &(text + rest)).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&CATALOGUE, None);
    let mut s = points.unwrap_or_else(|e| panic!("{e}")).remove(0);
    // Values by hand have no control packets.
    s.flows.iter_mut().for_each(|f| f.control = accord_units::Bytes::ZERO);
    s
}

pub fn rider(name: &str, tunnel: &str, rest: &str) -> String {
    format!("[flow.{name}]\nthrough = \"{tunnel}\"\nfrom = \"lan\"\n{rest}\n")
}

pub const GREEDY: &str = "controller = \"bbr1\"";

fn constant(mbps: u32) -> String {
    format!("controller = \"none\"\ndemand = {{ constant = \"{mbps} Mbps\" }}")
}

/// The rates of flows at the end of the run, in Mbps.
fn check(s: &Scenario, run: &Run, expected: &[(&str, f64)]) {
    for &(name, mbps) in expected {
        let id = s.flows.iter().position(|f| f.name == name).expect(name);
        let series = run.series(Metric::Throughput, Entity::Flow(id));
        let got = series.expect("recorded").values.last().expect("a sample") / 1e6;
        assert!((got - mbps).abs() < 1e-4 * mbps.max(1.0), "{name}: {got}, not {mbps}");
    }
}

/// `c` carries 1 Mbps and its overhead, 1.06. Of the other 28.94 Mbps 15 are contracted, and 13.94 are
/// shared 1 : 2. In `a` a flow of 2 Mbps takes 2.12 with the overhead, and two greedy ones share the
/// rest: (14.6467 - 2.12) / 2 / 1.06.
#[test]
fn shares_nest() {
    let rest = rider("first", "a", GREEDY)
        + &rider("second", "a", GREEDY)
        + &rider("call", "a", &constant(2))
        + &rider("bulk", "b", GREEDY)
        + &rider("little", "c", &constant(1));
    let s = scenario("1 Gbps", &rest);
    let run = run(&s, &mut Quiet).expect("it runs");
    let expected = [
        ("a", 14.64667),
        ("b", 14.29333),
        ("c", 1.06),
        ("call", 2.0),
        ("first", 5.90881),
        ("second", 5.90881),
        ("bulk", 13.48428),
        ("little", 1.0),
    ];
    check(&s, &run, &expected);
    // The links outside carry the packets as they are: 2 + 2 · 5.90881 + 13.48428 + 1.
    let lan = s.links.iter().position(|l| l.name == "lan").expect("lan");
    let load = run.series(Metric::ServedRate, Entity::Link(lan));
    let load = load.expect("recorded").values.last().expect("a sample") / 1e6;
    assert!((load - 28.3019).abs() < 1e-3, "{load}");
}

/// A rider that offers more than its share gets the share; the excess is dropped at the edge.
#[test]
fn a_rider_that_does_not_respond_gets_no_more_than_its_share() {
    let rest = rider("flood", "c", &constant(50)) + &rider("small", "c", GREEDY);
    let s = scenario("1 Gbps", &rest);
    let run = run(&s, &mut Quiet).expect("it runs");
    // Nothing rides in the others, so `c` has all 30 Mbps: 15 / 1.06 for each.
    let expected = [("a", 0.0), ("b", 0.0), ("c", 30.0), ("flood", 14.15094), ("small", 14.15094)];
    check(&s, &run, &expected);
}

/// Tunnels carry the riders that are active.
#[test]
fn a_tunnel_is_idle_until_something_rides_in_it() {
    let rest =
        rider("early", "c", GREEDY) + &rider("late", "a", &format!("{GREEDY}\nstart = \"10 s\""));
    let s = scenario("1 Gbps", &rest);
    let run = run(&s, &mut Quiet).expect("it runs");
    let c = run.series(Metric::Throughput, Entity::Flow(2)).expect("recorded");
    assert!((c.values[0] / 1e6 - 30.0).abs() < 1e-3, "{}", c.values[0]);
    // From 10 s on 10 Mbps are contracted, and 20 are shared.
    check(&s, &run, &[("a", 20.0), ("c", 10.0), ("early", 9.43396), ("late", 18.86792)]);
}

/// The LAN has 5 Mbps, and the edge would let more through: theory says that it does not know.
#[test]
fn a_link_outside_that_holds_riders_back_has_no_theory() {
    let s = scenario("5 Mbps", &rider("slow", "a", GREEDY));
    let run = run(&s, &mut Quiet).expect("it runs");
    let told = run.notes.iter().any(|n| n.contains("lan holds back slow"));
    assert!(told, "{:?}", run.notes);
    let series = run.series(Metric::Throughput, Entity::Flow(0)).expect("recorded");
    assert!(series.values.iter().all(|v| v.is_nan()));
}

/// A gateway that goes by pairs alone sees no queue behind a router without priorities.
#[test]
fn pairs_alone_do_not_read_one_fifo() {
    let mut s = scenario("1 Gbps", &rider("bulk", "a", GREEDY));
    for flow in &mut s.flows {
        if let Some(tunnel) = &mut flow.tunnel {
            tunnel.signal = accord_family::Signal::Pairs;
        }
    }
    let run = run(&s, &mut Quiet).expect("it runs");
    let told = run.notes.iter().any(|n| n.contains("does not read the price"));
    assert!(told, "{:?}", run.notes);
}
