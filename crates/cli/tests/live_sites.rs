//! Gateways of scenarios in live runs: the program itself is at the ends of tunnels. It needs root,
//! and is skipped with the reason otherwise. It needs a build with the gateway: `cargo test -p
//! accord-cli --features lab,gateway --test live_sites`.

#![cfg(all(feature = "gateway", target_os = "linux"))]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

mod common;

use common::*;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Two sites over 10 Mbps. Flows in the first tunnel come from behind its gateway and go beyond the
/// other one.
const SITES: &str = r#"
id = "sites-test"
duration = "6 s"
steady = ["3 s", "6 s"]
sample = "50 ms"

[link.core]
from = "west"
to = "hub"
rate = "10 Mbps"
delay = "10 ms"
control_priority = false
queue = { discipline = "droptail", limit = "50 KB" }

[link.lan]
from = "lan"
to = "west"
rate = "1 Gbps"
delay = "1 ms"

[link.far]
from = "hub"
to = "far"
rate = "1 Gbps"
delay = "1 ms"

[flow.a]
from = "west"
to = "hub"
controller = "monaco"
packet = "1060 B"
tunnel = {}
service = { contract = "6 Mbps" }

[flow.b]
from = "west"
to = "hub"
controller = "monaco"
packet = "1060 B"
tunnel = {}

[flow.a-users]
count = 2
from = "lan"
to = "far"
through = "a"
controller = "cubic"

[flow.b-users]
through = "b"
kernel = "reno"
"#;

/// The variable that marks processes started by a test.
const MARK: &str = "ACCORD_TEST_OF_LIVE_SITES";

/// Returns the number of processes with this mark, of the program and its gateways.
fn marked(mark: &str) -> usize {
    let wanted = format!("{MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("Linux has it");
    let of_it = entries.filter(|entry| {
        let path = entry.as_ref().expect("readable").path().join("environ");
        let environ = std::fs::read(path).unwrap_or_default();
        environ.split(|b| *b == 0).any(|v| v == wanted.as_bytes())
    });
    of_it.count()
}

/// Waits until the number of processes with the mark is as `wanted`, and returns true if it is.
fn wait_for(mark: &str, wanted: impl Fn(usize) -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(60);
    // Counted once, since the program has short-lived children as well as gateways.
    while !wanted(marked(mark)) {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

fn start(dir: &Path, mark: &str) -> Child {
    let args = ["run", "sites.toml", "--engine", "packet,live", "--json"];
    let mut command = program(dir, &args);
    // The folder of site files remains when the program is killed.
    command.env(MARK, mark).env("TMPDIR", dir);
    command.spawn().expect("it can be started")
}

/// Returns true if this machine has no gateways for live runs, and reports it.
fn impossible(ended: &Ended) -> bool {
    let why = ["not allowed", "cannot", "no program", "live namespaces"];
    let not = ended.code == Some(3) && why.iter().any(|why| ended.stderr.contains(why));
    if not {
        skipped(&format!("no live gateways: {}", ended.stderr.trim()));
    }
    not
}

/// The contract holds, packets of both riders arrive, and no gateway remains.
#[test]
fn contracts_hold_through_real_gateways() {
    let dir = folder(&[("sites.toml", SITES)]);
    let ended = end(start(dir.path(), "whole"));
    if impossible(&ended) {
        return;
    }
    assert_eq!(marked("whole"), 0, "a gateway is left");
    if ended.code == Some(3) {
        assert!(ended.stderr.contains("too busy"), "{ended:#?}");
    } else {
        ended.with(0);
    }
    let table = accord(dir.path(), &["compare", "runs/sites-test", "--json"]).with(0);
    let table = table.json();
    let mean = |of: &str, metric: &str| {
        let rows = table["points"][0]["rows"].as_array().expect("rows");
        let mut found = (rows.iter()).filter(|r| r["group"] == of && r["quantity"] == metric);
        let row = found.next().unwrap_or_else(|| panic!("no {metric} of {of}: {table:#}"));
        let mut columns = row["values"].as_array().expect("values").iter();
        let live = columns.find(|c| c["column"] == "sites-test: live");
        live.and_then(|live| live["mean"].as_f64()).unwrap_or(f64::NAN)
    };
    let [a, b] = ["a", "b"].map(|tunnel| mean(tunnel, "throughput"));
    // In theory 8 and 2 Mbps. A busy machine adds queues of its own.
    assert!(a > 5e6 && a + b < 10.1e6, "{a} and {b}");
    assert!(a > 1.5 * b && b > 0.3e6, "{a} and {b}");
    let users = mean("a-users", "throughput");
    // 60 of 1060 bytes are the tunnel's.
    let parts = 2.0 * users / a;
    assert!((0.9..0.97).contains(&parts), "{users} of {a}");
    for metric in ["rtt", "accumulation", "accumulation_estimate"] {
        assert!(mean("a", metric) > 0.0, "{metric}: {table:#}");
    }
}

/// Tunnel a moves to a path that is 30 ms longer each way, whose link then gets slower.
const CHANGES: &str = r#"
[link.up]
from = "west"
to = "north"
rate = "10 Mbps"
delay = "20 ms"
control_priority = false
queue = { discipline = "droptail", limit = "50 KB" }

[link.down]
from = "north"
to = "hub"
rate = "1 Gbps"
delay = "20 ms"

[[event]]
at = "3 s"
flow = "a"
path = ["west", "north", "hub"]

[[event]]
at = "6 s"
link = "up"
rate = "4 Mbps"

[[expect]]
name = "the short path, with whatever is queued"
metric = "rtt"
of = "a"
engine = "live"
during = ["1 s", "3 s"]
at_most = "65 ms"

[[expect]]
name = "the long path"
metric = "rtt"
of = "a"
engine = "live"
during = ["5 s", "9 s"]
at_least = "75 ms"

[[expect]]
name = "the slow link"
metric = "throughput"
of = "a"
engine = "live"
during = ["7 s", "9 s"]
at_least = "1 Mbps"
at_most = "4.2 Mbps"
"#;

/// Changes on the path of a tunnel reach real gateways, and the live expectations of the scenario
/// are checked.
#[test]
fn events_reach_real_gateways() {
    let text = SITES.replace("\"6 s\"", "\"9 s\"") + CHANGES;
    let dir = folder(&[("sites.toml", &text)]);
    let ended = end(start(dir.path(), "events"));
    if impossible(&ended) {
        return;
    }
    if ended.code == Some(3) {
        return assert!(ended.stderr.contains("too busy"), "{ended:#?}");
    }
    let checks = ended.with(0).json()["checks"].clone();
    let met = checks.as_array().expect("checks").iter();
    let met = met.filter(|c| c["engine"] == "live" && c["class"] == "met");
    assert_eq!(met.count(), 3, "{checks:#}");
}

/// An interrupt ends the gateways in order, and so does a killed program.
#[test]
fn gateways_end_with_the_run() {
    let long = SITES.replace("\"6 s\"", "\"1000 s\"");
    let dir = folder(&[("sites.toml", &long)]);
    for name in ["-INT", "-KILL"] {
        let mut child = start(dir.path(), name);
        // The program, and four gateways.
        let all = wait_for(name, |n| n >= 5);
        if !all {
            let _ = child.kill();
            let ended = end(child);
            assert!(impossible(&ended), "{ended:#?}");
            return;
        }
        signal(&child, name);
        let ended = end(child);
        assert_ne!(ended.code, Some(0));
        assert!(wait_for(name, |n| n == 0), "{name}: a gateway is left");
    }
}
