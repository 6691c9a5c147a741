//! Scalable and classic flows over DualPI2 [RFC 9332]: shares, delays and conservation. `--nocapture`
//! prints the figures.

use crate::common::*;
use accord_record::Quiet;
use accord_scenario::{Entity, Metric};
use accord_sim::{Audit, run_audited};

/// The flows' goodput in Mbps and round-trip times in milliseconds, and the drops of the
/// bottleneck.
struct Outcome {
    rates: Vec<f64>,
    rtts: Vec<f64>,
    utilisation: f64,
    dropped: f64,
}

/// Flows by controller over DualPI2, 120 s of which the last 90 count.
#[expect(clippy::print_stdout, reason = "figures for the pages, with --nocapture")]
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
    let of_steady = |metric| {
        let values = &run.series(metric, link).expect("it ran").values;
        // Samples of 100 ms.
        values[values.len() / 4..].to_vec()
    };
    let outcome = Outcome {
        utilisation: run.mean(Metric::Utilisation, link, s.steady).expect("it ran"),
        dropped: of_steady(Metric::Drops).iter().sum(),
        rates,
        rtts,
    };
    println!(
        "{flows:?} {mbps} Mbps {rtt_ms} ms: {:.2?} Mbps, {:.2?} ms, {:.3} used, {:.1} drops",
        outcome.rates, outcome.rtts, outcome.utilisation, outcome.dropped
    );
    outcome
}

fn balanced(audits: &[Audit]) {
    for b in audits {
        let out = b.left.packets + b.dropped.packets + b.held.packets;
        assert_eq!(b.entered.packets, out, "{b:?}");
        let out = b.left.bytes + b.dropped.bytes + b.held.bytes;
        assert_eq!(b.entered.bytes, out, "{b:?}");
    }
}

const PRAGUE: &str = "\"prague\"";
const CUBIC: &str = "{ name = \"cubic\", rack = true }";
const NEWRENO: &str = "{ name = \"newreno\", rack = true }";

/// The queuing delay of a flow, in milliseconds.
fn waits(o: &Outcome, flow: usize, rtt_ms: f64) -> f64 {
    o.rtts[flow] - rtt_ms
}

/// RFC 9332 §1.1, §2.1: flows of both kinds get about the same rates, and the scalable one waits for a
/// millisecond or two, of which its own packet takes one at 12 Mbps. The coupling of 2 is for CUBIC in
/// its Reno-friendly region [§2.5].
#[test]
fn prague_and_cubic_share_evenly() {
    for mbps in [12, 40, 120] {
        for rtt in [10.0, 30.0, 80.0] {
            let o = outcome(&[PRAGUE, CUBIC], mbps, rtt);
            let ratio = o.rates[0] / o.rates[1];
            assert!((0.5..2.0).contains(&ratio), "{mbps} {rtt}: {ratio}");
            assert!(waits(&o, 0, rtt) < 2.0, "{mbps} {rtt}");
            assert!(waits(&o, 1, rtt) > 5.0, "{mbps} {rtt}");
            assert!(o.utilisation > 0.98, "{mbps} {rtt}: {}", o.utilisation);
        }
    }
}

/// The same holds for NewReno if half of its window is at most the data in the target of 15 ms: at
/// round trips up to 15 ms. At longer ones a single flow leaves its queue empty after each cut, and
/// Prague takes the rest.
#[test]
fn prague_and_newreno_share_evenly() {
    for mbps in [12, 40, 120] {
        let o = outcome(&[PRAGUE, NEWRENO], mbps, 10.0);
        let ratio = o.rates[0] / o.rates[1];
        assert!((0.5..2.0).contains(&ratio), "{mbps}: {ratio}");
        assert!(waits(&o, 0, 10.0) < 2.0, "{mbps}");
    }
}

/// Many flows of each kind: five with five, and one with nine.
#[test]
fn shares_are_per_flow() {
    for n in [1, 5] {
        let flows = [vec![PRAGUE; n], vec![CUBIC; 10 - n]].concat();
        let o = outcome(&flows, 40, 20.0);
        let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
        let ratio = mean(&o.rates[..n]) / mean(&o.rates[n..]);
        assert!((0.5..2.0).contains(&ratio), "{n}: {ratio}");
        assert!((0..n).all(|f| waits(&o, f, 20.0) < 2.0));
    }
}

/// With PI2 only, classic flows wait for the target. The drop probability is that at which their window
/// follows the square-root formula, √(3/2p) packets per round trip.
#[test]
fn pi2_holds_the_target_at_the_square_root_law() {
    for n in [5, 10] {
        let o = outcome(&vec![NEWRENO; n], 40, 30.0);
        let wait = o.rtts.iter().sum::<f64>() / n as f64 - 30.0;
        assert!((wait - 15.0).abs() < 3.0, "{n}: {wait}");
        let seconds = 0.1 * 900.0;
        let sent: f64 = o.rates.iter().sum::<f64>() * 1e6 / 8.0 / 1500.0 * seconds;
        let loss = o.dropped / sent;
        let window = o.rates.iter().sum::<f64>() / n as f64 * 1e3 / 8.0 / 1500.0 * (wait + 30.0);
        let law = (1.5 / loss).sqrt();
        assert!((window / law - 1.0).abs() < 0.15, "{n}: {window} against {law}");
    }
}

/// With scalable flows only, the ramp of their own queue decides, and there are no classic drops.
#[test]
fn prague_alone_keeps_the_queue_at_the_ramp() {
    for rtt in [10.0, 40.0] {
        let o = outcome(&[PRAGUE, PRAGUE], 40, rtt);
        assert_eq!(o.dropped, 0.0);
        assert!(waits(&o, 0, rtt) < 2.0 && o.utilisation > 0.95, "{rtt}");
        let ratio = o.rates[0] / o.rates[1];
        assert!((0.8..1.25).contains(&ratio), "{rtt}: {ratio}");
    }
}

/// Two Prague flows whose round-trip times are 5 and 25 ms: below 25 ms they do not depend on it
/// [draft-briscoe-iccrg-prague-congestion-control-04 §2.4.4]. Without this rule the flow with the shorter one
/// gets more.
#[test]
fn short_round_trips_have_no_advantage() {
    let ratio = |prague: &str| {
        let mut file = "duration = \"120 s\"\nsteady = [\"40 s\", \"120 s\"]\n\
             topology.dumbbell = { rate = \"40 Mbps\", delay = \"2 ms\", \
             queue = { discipline = \"dualpi2\", limit = \"250 ms\" } }\n"
            .to_string();
        for (i, delay) in ["0.5 ms", "10.5 ms"].into_iter().enumerate() {
            file += &format!(
                "[flow.f{i}]\nfrom = \"left\"\nto = \"right\"\ncontroller = {prague}\n\
                 packet = \"1500 B\"\naccess = {{ rate = \"1 Gbps\", delay = \"{delay}\" }}\n"
            );
        }
        let s = scenario(&file);
        let (run, ..) = run_audited(&s, &mut Quiet).expect("runs");
        let rate = |f| run.mean(Metric::Goodput, Entity::Flow(f), s.steady).unwrap();
        rate(0) / rate(1)
    };
    let (with, without) = (ratio(PRAGUE), ratio("{ name = \"prague\", transition = 1000000 }"));
    assert!((0.87..1.15).contains(&with), "{with}");
    assert!(without > 2.0 * with, "{without} and {with}");
}
