//! Tests of an integration: its table on the page, and its dependencies.

use accord_net::{Ends, Setup, network};

/// Returns the goodput of a connection, and the packets that it sent again, from 5 s to 30 s.
fn figures<C>(alone: &str, connect: C, limit: &str) -> String
where
    C: Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static,
{
    let queue = format!("{{ discipline = \"droptail\", limit = \"{limit}\" }}");
    let net = network(alone).set("topology.dumbbell.queue", &queue).carry("mine", connect);
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

/// Checks that the page has the figures of these congestion controls alone at a bottleneck.
pub fn page_has<C, M, const N: usize>(alone: &str, controls: [(&str, M); N])
where
    C: Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static,
    M: Fn() -> C,
{
    let limits = ["0.5 BDP", "1 BDP", "4 BDP"];
    let mut table = format!("| droptail of | {} |\n|---|---|---|---|\n", limits.join(" | "));
    for (name, control) in controls {
        let cells = limits.map(|limit| figures(alone, control(), limit));
        table += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    let page = include_str!("../../../../docs/src/stacks.md");
    assert!(page.contains(&table), "the page lacks\n{table}");
}

/// Checks that an integration's manifest has the package with the features that these tests have.
pub fn has_same_dependency(package: &str, integration: &str) {
    let features = |manifest: &str| {
        let line = manifest.lines().find(|line| line.starts_with(&format!("{package} = ")));
        line.and_then(|line| line.split_once("features = [").map(|(_, f)| f.to_string()))
    };
    let here = features(include_str!("../../Cargo.toml"));
    assert!(here.is_some() && features(integration) == here);
    assert!(integration.contains("accord-net = { path = \"../../crates/net\" }\n"));
}
