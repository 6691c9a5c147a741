//! Scalable and classic flows over DualPI2 [RFC 9332]: shares, delays and conservation. `--nocapture`
//! prints the figures.
mod common;

use accord_record::Quiet;
use accord_scenario::{Entity, Metric};
use accord_sim::{Audit, run_audited};
use common::*;

/// The flows' goodput in Mbps and round-trip times in milliseconds, and what the bottleneck dropped.
struct Outcome {
    rates: Vec<f64>,
    rtts: Vec<f64>,
    utilisation: f64,
    drops: f64,
}

/// Flows by controller over DualPI2, 120 s of which the last 90 count.
#[expect(
    clippy::print_stdout,
    reason = "figures for the pages, with --nocapture"
)]
fn outcome(flows: &[&str], mbps: u32, rtt_ms: f64) -> Outcome {
    let mut file = format!(
        "duration = \"120 s\"\nsteady = [\"30 s\", \"120 s\"]\n\
         topology.dumbbell = {{ rate = \"{mbps} Mbps\", delay = \"{} ms\", \
         queue = {{ discipline = \"dualpi2\", limit = \"250 ms\" }} }}\n",
        rtt_ms / 2.0
    );
    for (i, controller) in flows.iter().enumerate() {
        file += &format!(
            "[flow.f{i}]\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\n\
             start = \"{i} s\"\npacket = \"1500 B\"\n"
        );
    }
    let s = scenario(&file);
    let (run, ports, ends) = run_audited(&s, &mut Quiet).expect("runs");
    balanced(&ports);
    balanced(&ends);
    let of = |metric| -> Vec<f64> {
        (0..flows.len())
            .map(|f| run.mean(metric, Entity::Flow(f), s.steady).expect("it ran"))
            .collect()
    };
    let rates: Vec<f64> = of(Metric::Goodput).iter().map(|bps| bps / 1e6).collect();
    let rtts: Vec<f64> = of(Metric::Rtt).iter().map(|s| s * 1e3).collect();
    let link = Entity::Link(0);
    let outcome = Outcome {
        utilisation: run.mean(Metric::Utilisation, link, s.steady).expect("it ran"),
        drops: run.mean(Metric::Drops, link, s.steady).expect("it ran"),
        rates,
        rtts,
    };
    println!(
        "{flows:?} {mbps} Mbps {rtt_ms} ms: {:.2?} Mbps, {:.2?} ms, {:.3} used, {:.1} drops",
        outcome.rates, outcome.rtts, outcome.utilisation, outcome.drops
    );
    outcome
}

fn balanced(books: &[Audit]) {
    for b in books {
        let out = b.left.packets + b.dropped.packets + b.held.packets;
        assert_eq!(b.entered.packets, out, "{b:?}");
        let out = b.left.bytes + b.dropped.bytes + b.held.bytes;
        assert_eq!(b.entered.bytes, out, "{b:?}");
    }
}

const PRAGUE: &str = "\"prague\"";
const CUBIC: &str = "{ name = \"cubic\", rack = true }";
const NEWRENO: &str = "{ name = \"newreno\", rack = true }";

/// RFC 9332 §1.1, §2.1: flows of both kinds get about the same rates, within a factor of two, and the
/// scalable one waits for a millisecond or two.
#[test]
fn prague_and_classic_flows_share_evenly() {
    for classic in [CUBIC, NEWRENO] {
        for mbps in [12, 40, 120] {
            for rtt in [10.0, 30.0, 80.0] {
                let o = outcome(&[PRAGUE, classic], mbps, rtt);
                let ratio = o.rates[0] / o.rates[1];
                assert!((0.5..2.0).contains(&ratio), "{classic} {mbps} {rtt}: {ratio}");
            }
        }
    }
}
