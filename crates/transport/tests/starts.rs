//! The slow starts of CUBIC on a path: HyStart++, SEARCH and Rapid Start with real losses and repairs.

use crate::bottleneck::{Link, PACKET, Path};
use accord_control::cubic::{Config, SlowStart};
use accord_control::{Controller, Cubic};
use accord_units::{Duration, Time};
use std::collections::VecDeque;

fn cubic(slow_start: SlowStart, rack: bool) -> Cubic {
    let config = Config { slow_start, rack, ..Config::default() };
    config.build(PACKET).expect("in range")
}

/// A path with a buffer in bandwidth-delay products.
fn link(mbps: f64, rtt_ms: f64, buffer: f64) -> Link {
    let mut link = Link::new(mbps, rtt_ms, 0);
    link.buffer = (buffer * link.bdp()) as u64;
    link
}

/// The recovery after Rapid Start ends near β times the packets that path and queue hold, and congestion avoidance
/// goes on from there. Of the window at the first loss up to two thirds are lost.
#[test]
fn rapid_start_finds_the_packets_that_path_and_queue_hold() {
    for rack in [false, true] {
        for (mbps, rtt, buffer) in [(20.0, 80.0, 1.0), (50.0, 60.0, 0.5), (10.0, 200.0, 2.0)] {
            let link = link(mbps, rtt, buffer);
            let full = link.bdp() + link.buffer as f64;
            let mut path = Path::new(cubic(SlowStart::Rapid, rack), link);
            path.until(10.0, "a loss", |p| p.controller().ssthresh().is_some());
            let at_loss = path.controller().cwnd();
            let stage = |c: &Cubic| {
                let mut inner = Vec::new();
                c.inner(&mut inner);
                inner[3]
            };
            path.until(10.0, "the end", |p| stage(p.controller()) == 4.0);
            let end = path.controller().cwnd();
            let part = end.as_f64() / PACKET.as_f64() / full;
            assert!((0.6..0.8).contains(&part), "{mbps} Mbps, {rtt} ms, {rack}: {part}");
            assert!(end < at_loss);
            assert!(path.utilisation(2.0) > 0.95, "{mbps} Mbps, {rtt} ms, {rack}");
        }
    }
}

/// SEARCH ends slow start before a loss if the buffer holds eight products, and the window then fills the path.
#[test]
fn search_ends_before_a_loss() {
    for (mbps, rtt) in [(20.0, 40.0), (50.0, 60.0), (10.0, 200.0)] {
        let link = link(mbps, rtt, 8.0);
        let bdp = link.bdp();
        let mut path = Path::new(cubic(SlowStart::Search, true), link);
        path.until(10.0, "the end", |p| p.controller().ssthresh().is_some());
        let window = path.controller().cwnd().as_f64() / PACKET.as_f64() / bdp;
        assert_eq!(path.dropped, 0);
        assert!((1.0..9.0).contains(&window), "{mbps} Mbps, {rtt} ms: {window}");
        assert!(path.utilisation(2.0) > 0.99);
    }
}

/// Prints the table of `docs/src/models/starts.md`. Rapid Start has 90 % of the rate first on each path.
#[test]
fn rapid_start_is_first() {
    println!("| path | slow start | 90 % of the rate after | link used in 10 s | packets lost |");
    println!("|---|---|---|---|---|");
    let batches = Some(Duration::from_ms(10));
    for (name, mbps, rtt, buffer, batches) in [
        ("20 Mbps, 40 ms, 1 BDP", 20.0, 40.0, 1.0, None),
        ("50 Mbps, 60 ms, 8 BDP", 50.0, 60.0, 8.0, None),
        ("50 Mbps, 60 ms, 1 BDP, batches", 50.0, 60.0, 1.0, batches),
        ("20 Mbps, 600 ms, 1 BDP", 20.0, 600.0, 1.0, None),
    ] {
        let mut reached = Vec::new();
        for (start, word) in [
            (SlowStart::Rapid, "Rapid Start"),
            (SlowStart::Plain, "until a loss"),
            (SlowStart::HyStartPlus, "HyStart++"),
            (SlowStart::Search, "SEARCH"),
        ] {
            let mut link = link(mbps, rtt, buffer);
            link.batches = batches;
            let in_a_round = link.bdp();
            let mut path = Path::new(cubic(start, true), link);
            let (mut latest, mut seen, mut first) = (VecDeque::new(), 0, None);
            path.run(10.0, |p| {
                if first.is_some() || p.arrived == seen {
                    return;
                }
                seen = p.arrived;
                latest.push_back(p.now);
                let round = p.link.propagation;
                while latest.front().is_some_and(|at| *at + round < p.now) {
                    latest.pop_front();
                }
                if latest.len() as f64 >= 0.9 * in_a_round {
                    first = Some(p.now.since(Time::ZERO).as_secs_f64());
                }
            });
            let used = path.arrived as f64 * PACKET.bits_f64() / 10.0 / (mbps * 1e6);
            let after = first.expect("it has the rate");
            println!(
                "| {name} | {word} | {after:.2} s | {:.0} % | {} |",
                100.0 * used,
                path.dropped
            );
            reached.push(after);
        }
        assert!(reached[1..].iter().all(|other| *other >= reached[0]), "{name}: {reached:?}");
    }
}
