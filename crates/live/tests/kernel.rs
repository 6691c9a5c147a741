//! Flows that are connections of the kernel's TCP. Where they are impossible these tests report
//! that and pass. Bounds that a busy machine breaks are left out where a run is unfit for a verdict.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/readings.rs"]
mod readings;

use accord_live::{LiveError, Mode, obstacle, run};
use accord_record::*;
use accord_scenario::*;
use common::*;
use readings::{at_bottleneck, is_unfit, marked, skipped, values};

/// The kernel's CUBIC and a tunnel of ours through one bottleneck, together with a transfer of a
/// hundred packets, and bursts in the other direction until they are stopped.
const MIXED: &str = r#"
    id = "mixed"
    duration = "3 s"
    sample = "50 ms"
    [topology.dumbbell]
    rate = "10 Mbps"
    delay = "10 ms"
    queue = { discipline = "droptail", limit = "40 pkt" }
    [flow.greedy]
    from = "left"
    to = "right"
    access = { rate = "100 Mbps", delay = "1 ms" }
    egress = { rate = "100 Mbps", delay = "1 ms" }
    kernel = "cubic"
    [flow.tunnel]
    from = "left"
    to = "right"
    controller = "monaco"
    [flow.transfer]
    from = "left"
    to = "right"
    kernel = "reno"
    demand = { size = "100 KB" }
    start = "0.2 s"
    [flow.bursts]
    from = "right"
    to = "left"
    kernel = "reno"
    demand = { on_off = { burst = "20 KB", pause = "50 ms" } }
    stop = "1.5 s"
"#;

fn devices() -> Vec<String> {
    let entries = std::fs::read_dir("/sys/class/net").expect("Linux has it");
    let names = entries.map(|e| e.expect("readable").file_name().into_string());
    let mut names: Vec<_> = names.map(|n| n.expect("text")).collect();
    names.sort();
    names
}

/// Runs the scenario, if this machine can.
fn tried(text: &str) -> Option<(Scenario, Run)> {
    let s = scenario(text);
    if let Some(why) = obstacle(Mode::Namespaces, std::slice::from_ref(&s)) {
        skipped(&format!("no connections of the kernel: {why}"));
        return None;
    }
    let before = devices();
    let run = run(&s, Mode::Namespaces, &mut Quiet).expect("it can run");
    assert_eq!(devices(), before, "nothing is left in this namespace");
    Some((s, run))
}

#[test]
fn connections_of_the_kernel_go_through_our_routers() {
    let Some((s, run)) = tried(MIXED) else { return };
    assert_eq!(run.manifest.engine, Engine::Live);
    let of = |flow, metric| values(&run, metric, Entity::Flow(flow));
    let bits = |flow, metric| of(flow, metric).iter().sum::<f64>() * 0.05;
    let mut sum = 0.0;
    for flow in 0..4 {
        let (sent, came) = (bits(flow, Metric::SendingRate), bits(flow, Metric::Throughput));
        let fresh = bits(flow, Metric::Goodput);
        assert!(fresh <= came && came <= sent, "{flow}: {fresh} {came} {sent}");
        sum += if flow < 3 { came } else { 0.0 };
    }
    assert!(sum <= 10e6 * 3.0, "{sum} bit");
    // A round trip, of the handshake's packets at first, takes 24 ms.
    let rtts = [Metric::Rtt, Metric::MinRtt].map(|metric| of(0, metric));
    assert!(rtts.iter().flatten().all(|rtt| *rtt > 0.024), "{rtts:?}");
    let cwnd = of(0, Metric::Cwnd);
    assert!(cwnd.iter().all(|w| w % 1000.0 == 0.0 && *w >= 1000.0), "{cwnd:?}");
    let closed = run.notes.iter().find(|n| n.contains("closed the connection"));
    assert_eq!(closed, None);
    assert_eq!(at_bottleneck(&s, &run, Metric::Marks), 0.0);
    if is_unfit(&run) {
        return;
    }
    assert!((0..4).all(|flow| bits(flow, Metric::Goodput) > 0.0));
    assert!(bits(0, Metric::Throughput) > 1e6, "the greedy one is greedy");
    assert!(rtts.iter().all(|rtt| rtt.len() > 20) && cwnd.len() > 50, "{rtts:?} {cwnd:?}");
    // Slow start begins with ten segments [RFC 6928], and ends.
    assert!(cwnd.iter().any(|w| *w > 10_000.0), "{cwnd:?}");
    assert!(!of(0, Metric::Ssthresh).is_empty());
    let left: f64 = of(0, Metric::Accumulation).iter().sum();
    assert!(left > 0.0, "what waits for the bottleneck is seen");

    let transfers = |flow| run.transfers.iter().filter(move |t| t.flow == flow);
    let one: Vec<_> = transfers(2).collect();
    assert_eq!(one.len(), 1);
    assert_eq!((one[0].start, one[0].size.get()), (0.2, 100_000));
    // The handshake, ten packets, and the rest: at least three round trips of 20 ms.
    let took = one[0].duration;
    assert!(took.is_nan() || took > 0.06, "{took}");
    // A hundred packets with data, and a few of the handshake.
    let fresh = bits(2, Metric::Goodput) / 8.0;
    assert!(took.is_nan() || (100_000.0..101_000.0).contains(&fresh), "{fresh}");
    assert!(transfers(3).count() > 2);
    assert!(transfers(3).all(|t| t.start <= 1.5), "it has stopped");
}

#[test]
fn a_router_s_mark_reaches_the_kernel() {
    let text = marked("kernel = \"reno\"\ncontroller = { name = \"newreno\", ecn = true }");
    let Some((s, run)) = tried(&text) else { return };
    if is_unfit(&run) {
        return;
    }
    assert!(at_bottleneck(&s, &run, Metric::Marks) > 0.0);
    assert_eq!(at_bottleneck(&s, &run, Metric::Drops), 0.0);
    let again = values(&run, Metric::Retransmissions, Entity::Flow(0));
    assert_eq!(again.iter().sum::<f64>(), 0.0);
    // The window was reduced although nothing was lost.
    assert!(!values(&run, Metric::Ssthresh, Entity::Flow(0)).is_empty());
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let s = scenario(MIXED);
    match run(&s, Mode::Loopback, &mut Quiet) {
        Err(LiveError::Unable(why)) => {
            assert!(why.contains("greedy") && why.contains("--live namespaces"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert!(obstacle(Mode::Loopback, std::slice::from_ref(&s)).is_some());
    assert_eq!(obstacle(Mode::Loopback, &[]), None);
    let unknown =
        MIXED.replacen("kernel = \"cubic\"", "kernel = \"nosuch\"\ncontroller = \"cubic\"", 1);
    let unknown = scenario(&unknown);
    match obstacle(Mode::Namespaces, &[unknown]) {
        Some(LiveError::Unable(why)) if obstacle(Mode::Namespaces, &[s]).is_none() => {
            assert!(why.contains("\"nosuch\" (available: ") && why.contains("reno"), "{why}");
        }
        Some(LiveError::Unable(_)) => {}
        other => panic!("{other:?}"),
    }
}
