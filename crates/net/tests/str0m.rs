//! `integrations/str0m`: its sources and its tests, unchanged, and the table of the page.

use accord_net::{Rate, network};

#[path = "../../../integrations/str0m/src/lib.rs"]
mod stack;

#[path = "../../../integrations/str0m/tests/networks.rs"]
mod networks;

// The tests of the integration name it as a crate.
extern crate self as accord_str0m;
pub use stack::{Encoder, with};

const ALONE: &str = include_str!("../../../integrations/str0m/tests/alone.toml");
const RIVAL: &str = "
[flow.rival]
from = \"left\"
to = \"right\"
packet = \"1500 B\"
controller = \"cubic\"
";

/// The limit of the queue, and the figures of the page: Mbps of the call, Mbps of CUBIC alongside it, and ms of queuing
/// delay. They are means of five seeds.
const CASES: [(&str, [[f64; 3]; 2]); 3] = [
    ("0.5 BDP", [[4.0, 0.0, 6.0], [3.6, 1.0, 9.0]]),
    ("1 BDP", [[4.0, 0.0, 13.0], [3.9, 0.9, 27.0]]),
    ("4 BDP", [[4.8, 0.0, 100.0], [3.8, 1.1, 130.0]]),
];

/// The same figures of a run, as means from 60 s to 120 s.
fn figures(scenario: &str, limit: &str) -> [f64; 3] {
    let queue = format!("{{ discipline = \"droptail\", limit = \"{limit}\" }}");
    let net = network(scenario).set("topology.dumbbell.queue", &queue);
    let net = net.set("duration", "120 s").set("steady", "[\"60 s\", \"120 s\"]");
    let encoder = Encoder { most: Rate::from_bps(30_000_000), ..Encoder::default() };
    let outcome = net.carry("mine", with(encoder)).run().expect("it runs");
    let (_, run) = &outcome.runs()[0];
    assert!(run.broken.is_empty(), "{:?}", run.broken);
    let mean = |name: &str| {
        let series = run.series.iter().find(|s| format!("{:?} {:?}", s.metric, s.entity) == name);
        series.map_or(0.0, |series| {
            let samples = run.time.iter().zip(&series.values).filter(|(at, _)| **at > 60.0);
            let steady: Vec<f64> = samples.map(|(_, value)| *value).collect();
            steady.iter().sum::<f64>() / steady.len() as f64
        })
    };
    let rates = [mean("Throughput Flow(0)"), mean("Throughput Flow(1)")].map(|rate| rate / 1e6);
    [rates[0], rates[1], mean("QueuingDelay Link(0)") * 1e3]
}

/// Figures differ with the seed, by up to 0.7 Mbps and half of a delay. Processes differ as seeds do. Bounds of 1 Mbps
/// and a factor of three are wide enough for both.
#[test]
fn the_page_has_the_figures() {
    let limits: Vec<&str> = CASES.iter().map(|(limit, _)| *limit).collect();
    let mut table = format!("| droptail of | {} |\n|---|---|---|---|\n", limits.join(" | "));
    let alone = CASES.map(|(_, [[call, _, delay], _])| format!("{call:.1} Mbps, {delay} ms"));
    let both = CASES
        .map(|(_, [_, [call, cubic, delay]])| format!("{call:.1} and {cubic:.1} Mbps, {delay} ms"));
    table += &format!("| the call alone | {} |\n", alone.join(" | "));
    table += &format!("| the call and CUBIC | {} |\n", both.join(" | "));
    let page = include_str!("../../../docs/src/stacks.md");
    assert!(page.contains(&table), "the page lacks\n{table}");
    for (limit, pages) in CASES {
        for (scenario, page) in [ALONE.to_string(), format!("{ALONE}{RIVAL}")].iter().zip(pages) {
            let found = figures(scenario, limit);
            println!("{limit}: {found:.2?}");
            let near = (found[0] - page[0]).abs() < 1.0 && (found[1] - page[1]).abs() < 1.0;
            let delay = found[2] / page[2];
            assert!(
                near && (1.0 / 3.0..3.0).contains(&delay),
                "{limit}: {found:.2?}, page: {page:?}"
            );
        }
    }
}

/// The tests here compile the integration with the dependencies of its manifest.
#[test]
fn the_integration_has_the_same_dependencies() {
    let theirs = include_str!("../../../integrations/str0m/Cargo.toml");
    let ours = include_str!("../Cargo.toml");
    let workspace = include_str!("../../../Cargo.toml");
    let line = |manifest: &'static str, package: &str| {
        let mut lines = manifest.lines();
        lines.find(|line| {
            line.strip_prefix(package).is_some_and(|rest| rest.starts_with([' ', '.']))
        })
    };
    let version = |manifest, package| {
        let line: &str = line(manifest, package)?;
        line.split('"').nth(1)
    };
    let features = |manifest, package| {
        line(manifest, package)
            .and_then(|line: &str| line.split_once("features = ["))
            .map(|(_, f)| f)
    };
    for package in
        ["aes", "aes-gcm", "dimpl", "fastrand", "hmac", "p256", "rcgen", "sha1", "sha2", "str0m"]
    {
        assert!(line(ours, package).is_some(), "{package}");
        assert_eq!(version(theirs, package), version(workspace, package), "{package}");
        // Keys of the workspace's rcgen are those of noq, which this integration does without.
        if package != "rcgen" {
            assert_eq!(features(theirs, package), features(ours, package), "{package}");
        }
    }
    assert!(theirs.contains("accord-net = { path = \"../../crates/net\" }\n"));
}
