//! `integrations/smoltcp`: its sources and its tests, unchanged, and the table of the page.

#[path = "../../../integrations/smoltcp/src/lib.rs"]
mod stack;

#[path = "../../../integrations/smoltcp/tests/networks.rs"]
mod networks;

// The tests of the integration name it as a crate.
extern crate self as accord_smoltcp;
pub use stack::{CongestionControl, with};

use accord_net::network;

/// The goodput of a connection, and the packets that it sent again, from 5 s to 30 s.
fn figures(control: CongestionControl, limit: &str) -> String {
    let queue = format!("{{ discipline = \"droptail\", limit = \"{limit}\" }}");
    let net = network(include_str!("../../../integrations/smoltcp/tests/alone.toml"));
    let net = net.set("topology.dumbbell.queue", &queue).carry("mine", with(control));
    let outcome = net.run().expect("it runs");
    let (_, run) = &outcome.runs()[0];
    assert!(run.broken.is_empty(), "{:?}", run.broken);
    let window = run.time.iter().zip(1..).filter(|(at, _)| **at > 5.0 + 1e-9).map(|(_, n)| n - 1);
    let window: Vec<usize> = window.collect();
    let of = |name: &str| {
        let series = run.series.iter().find(|s| format!("{:?}", s.metric) == name);
        let values = &series.expect("a series").values;
        window.iter().map(|sample| values[*sample]).sum::<f64>()
    };
    let goodput = of("Goodput") / window.len() as f64 / 1e6;
    format!("{goodput:.1} Mbps, {:.0}", of("Retransmissions"))
}

#[test]
fn the_page_has_the_figures() {
    let limits = ["0.5 BDP", "1 BDP", "4 BDP"];
    let mut table = format!("| droptail of | {} |\n|---|---|---|---|\n", limits.join(" | "));
    for (name, control) in [
        ("its CUBIC", CongestionControl::Cubic),
        ("its Reno", CongestionControl::Reno),
        ("no congestion control", CongestionControl::None),
    ] {
        let cells = limits.map(|limit| figures(control, limit));
        table += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    let page = include_str!("../../../docs/src/stacks.md");
    assert!(page.contains(&table), "the page lacks\n{table}");
}

/// The tests here compile the integration with the dependencies of its manifest.
#[test]
fn the_integration_has_the_same_dependencies() {
    let features = |manifest: &str| {
        let line = manifest.lines().find(|line| line.starts_with("smoltcp = ")).map(str::to_string);
        line.and_then(|line| line.split_once("features = [").map(|(_, f)| f.to_string()))
    };
    let integration = include_str!("../../../integrations/smoltcp/Cargo.toml");
    let here = features(include_str!("../Cargo.toml"));
    assert!(here.is_some() && features(integration) == here);
    assert!(integration.contains("accord-net = { path = \"../../crates/net\" }\n"));
}
