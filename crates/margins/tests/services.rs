//! Margins of flows with services [Har02 algorithm 1].

use crate::common::scenario;
use accord_fluid::{run_with_step, step};
use accord_margins::{linearise, margins, stability};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::Time;

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];

fn link(model: &str, seconds: u32, rate: &str, queue: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"10 ms\"\nqueue = {{ discipline = {queue}, limit = \"unlimited\" }}\n"
    )
}

fn flow(name: &str, policy: &str, gain: f64, service: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", policy = \"{policy}\", gain = {gain}, mw_gain = \"1 Mbps\" }}\nservice = {service}\n"
    )
}

/// Twenty flows of a kind, half of whose link is contracted.
fn many(model: &str, gain: f64, service: &str) -> Scenario {
    let text = link(model, 60, "400 Mbps", "\"droptail\"");
    let mut s = scenario(&(text + &flow("f", "p", gain, service) + "count = 20\n"));
    s.sample = "5 ms".parse().expect("a time");
    s
}

/// Swing of the queue in the last quarter of the run, in seconds. The queue in equilibrium is some
/// milliseconds long.
fn swing(s: &Scenario) -> f64 {
    let run = run_with_step(s, step(s).expect("it has one"), &mut Quiet).expect("it runs");
    let l = s.links.iter().position(|l| l.name == "bottleneck");
    let q = run.series(Metric::QueuingDelay, Entity::Link(l.expect("there")));
    let q = &q.expect("there").values;
    let end = q[3 * q.len() / 4..].iter();
    let (low, high) = end.fold((f64::MAX, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
    high - low
}

/// A contract removes the part x̂/x of the feedback from the loop, so the gain may be larger;
/// a flow at its limit is one without a contract.
#[test]
fn integration_cycles_beyond_the_gain_that_the_linearisation_gives() {
    for model in MODELS {
        let critical = |service: &str| {
            let found = linearise(&many(model, 0.3, service), Time::ZERO).expect("at rest");
            0.3 * margins(&found.0, true).gain
        };
        let fair = critical("{ weight = 1 }");
        let half = "{ contract = \"10 Mbps\" }";
        let contracted = critical(half);
        assert!(contracted > 1.3 * fair, "{model}: {contracted} {fair}");
        let below = swing(&many(model, 0.95 * contracted, half));
        let above = swing(&many(model, 1.05 * contracted, half));
        assert!(below < 1e-9 && above > 1e-4, "{model}: {below} {above}");
        // Held at 6 KB, the target is 3: as a flow of weight 2.
        let held = critical("{ contract = \"19 Mbps\", limit = \"6 KB\" }");
        let double = critical("{ weight = 2 }");
        assert!((held / double - 1.0).abs() < 1e-9, "{model}: {held} {double}");
    }
}

/// The loop of z² − z + κ·(1 − x̂/x) = 0 has the limit 1/(1 − x̂/x).
#[test]
fn a_contract_takes_its_part_off_the_loop_of_a_round_trip() {
    for (service, limit) in [
        ("{ weight = 1 }", 1.0),
        ("{ contract = \"10 Mbps\" }", 2.0),
        ("{ contract = \"15 Mbps\" }", 4.0),
        // Its limit holds it, so its whole rate goes by the delay.
        ("{ contract = \"19 Mbps\", limit = \"6 KB\" }", 1.0),
    ] {
        let found = stability(&many("ack-clocked", 0.3, service), Time::ZERO).expect("at rest");
        let is = 0.3 * found.margins.gain;
        assert!((is / limit - 1.0).abs() < 1e-6, "{service}: {is}");
    }
}

/// Half of the rate is lost to jitter where (x/2 − x̂)·(q + jitter) = a*.
#[test]
fn jitter_does_not_take_a_contract() {
    let jitter = |service: &str| {
        let found = stability(&many("ack-clocked", 0.3, service), Time::ZERO).expect("at rest");
        let rest = &found.rest[0];
        rest.halving_jitter() / rest.queue
    };
    assert!((jitter("{ weight = 1 }") - 1.0).abs() < 1e-9);
    // 20 Mbit/s each, 5 of them contracted: 15·q = 5·(q + jitter).
    assert!((jitter("{ contract = \"5 Mbps\" }") - 2.0).abs() < 1e-6);
    assert_eq!(jitter("{ contract = \"12 Mbps\" }"), f64::INFINITY);
}

/// A flow whose application sends less than its contract takes a part of the link, and its window
/// moves nothing: the others have the margins of a link that is smaller by that part.
#[test]
fn a_flow_below_its_contract_leaves_the_loop_to_the_others() {
    for model in MODELS {
        let below = link(model, 40, "10 Mbps", "\"droptail\"")
            + &flow("a", "p", 0.5, "{ contract = \"2 Mbps\" }")
            + "demand = { constant = \"1 Mbps\" }\n"
            + &flow("b", "p", 0.5, "{ weight = 1 }");
        let alone =
            link(model, 40, "9 Mbps", "\"droptail\"") + &flow("b", "p", 0.5, "{ weight = 1 }");
        let [below, alone] =
            [below, alone].map(|text| stability(&scenario(&text), Time::ZERO).expect("at rest"));
        assert_eq!(below.rest.len(), 1, "{model}: only b moves");
        assert!(below.bound.is_none_or(|bound| bound.factor() > 0.0), "{model}");
        // Acknowledgements of a pass the way back with those of b, which takes some per mille.
        let (gain, right) = (below.margins.gain, alone.margins.gain);
        assert!((gain / right - 1.0).abs() < 0.15, "{model}: {gain}, alone {right}");
    }
}
