//! The gain at which packets of Monaco begin to cycle, against the margin that `stability` gives. The path
//! grows longer by 6 ms, many packets, and the flows rest again or do not.

use accord::language::File;
use accord::record::{Quiet, Run};
use accord::scenario::{Engine, Entity, Metric, Scenario};
use accord::{Options, catalogue, run};

/// The largest distance of the gain at which packets begin to cycle from the margin.
const WITHIN: f64 = 0.15;

/// Gains over the margin at which the packets are run.
const PARTS: [f64; 7] = [0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15];

/// A law, its flows, and the rate of each in Mbps. The target is 3 KB per Mbps of it.
#[derive(Clone, Copy)]
struct Case {
    law: &'static str,
    flows: usize,
    each: usize,
    start: &'static str,
}

const ALONE: &str = "\"0 s\"";
const SPREAD: &str = "{ uniform = [\"0 s\", \"1 s\"] }";

fn parsed(text: &str) -> Scenario {
    let file = File::parse("rounds.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&catalogue(), None);
    points.unwrap_or_else(|e| panic!("{e}")).remove(0)
}

fn packets(scenario: &Scenario) -> Run {
    run(scenario, Engine::Packet, &Options::default(), &mut Quiet).expect("it runs")
}

/// Returns the standard deviation of a queue over its mean.
fn variation(scenario: &Scenario, run: &Run, link: &str) -> f64 {
    let link = scenario.links.iter().position(|l| l.name == link);
    let link = Entity::Link(link.expect("it is there"));
    let series = run.series(Metric::BacklogPackets, link).expect("recorded");
    let queue = &series.values[run.within(scenario.steady)];
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    let square = queue.iter().map(|q| (q - mean).powi(2)).sum::<f64>();
    (square / queue.len() as f64).sqrt() / mean
}

impl Case {
    fn with(&self, gain: f64) -> Scenario {
        let Case { law, flows, each, start } = self;
        // The pipe of 44.3 ms, and the target.
        let window = (each * 443_000 / 80 + 3000 * each) / 1000;
        let text = format!(
            "duration = \"60 s\"\nsteady = [\"50 s\", \"60 s\"]\nsample = \"2 ms\"\n\
             [topology.dumbbell]\nrate = \"{} Mbps\"\ndelay = \"20 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
             [flow.f]\ncount = {flows}\nfrom = \"left\"\nto = \"right\"\nstart = {start}\n\
             controller = {{ name = \"monaco\", {law}, target = \"{} KB\", gain = {gain}, initial_window = {window} }}\n\
             access = {{ rate = \"10 Gbps\", delay = \"1 ms\" }}\n\
             [[event]]\nat = \"20 s\"\nlink = \"bottleneck\"\ndelay = \"26 ms\"\n",
            flows * each,
            3 * each,
        );
        parsed(&text)
    }

    /// Returns the limit of the gain that `stability` gives, and up to which it guarantees rest.
    fn limits(&self) -> (f64, f64) {
        let s = self.with(0.4);
        let found = accord::margins::stability(&s, s.steady.start).expect("an equilibrium");
        let limit = found.margins.gain;
        (0.4 * limit, 0.4 * found.bound.map_or(limit, |b| b.factor()))
    }

    fn run(&self, gain: f64) -> (Scenario, Run) {
        let s = self.with(gain);
        let run = packets(&s);
        (s, run)
    }

    /// Returns the standard deviation of the queue over its mean.
    fn variation(&self, gain: f64) -> f64 {
        let (s, run) = self.run(gain);
        variation(&s, &run, "bottleneck")
    }

    /// Returns the distance of the largest and the smallest window of a flow, in packets.
    fn swing(&self, gain: f64) -> f64 {
        let (s, run) = self.run(gain);
        let series = run.series(Metric::Cwnd, Entity::Flow(0)).expect("recorded");
        let windows = &series.values[run.within(s.steady)];
        let (low, high) =
            windows.iter().fold((f64::MAX, 0.0f64), |(l, h), w| (l.min(*w), h.max(*w)));
        (high - low) / s.flows[0].packet.as_f64()
    }

    /// Returns the first of the gains at which the packets cycle, over the limit.
    fn begins(&self, limit: f64, cycles: impl Fn(f64) -> bool) -> f64 {
        let first = PARTS.into_iter().find(|part| cycles(part * limit));
        first.unwrap_or(f64::INFINITY)
    }
}

/// Without a bound on the increase the queue swings by a good part of itself.
#[test]
fn packets_begin_to_cycle_at_the_limit_of_the_whole_loop() {
    let one = |law| Case { law, flows: 1, each: 30, start: ALONE };
    let four = Case { flows: 4, each: 50, start: SPREAD, ..one("law = \"xia05\"") };
    for (case, known) in [
        (one("law = \"xia05\""), 0.578),
        (four, 0.578),
        (one("law = \"xia05\", rtt = \"smoothed\""), 0.757),
        (one("law = \"xia05\", place = \"at-once\""), 0.478),
        (one("law = \"xia05\", rtt = \"least\", place = \"at-once\""), 1.0),
        (one("law = \"accord\", increase = \"policy\""), 0.578),
    ] {
        let limit = case.limits().0;
        assert!((limit / known - 1.0).abs() < 5e-3, "{}: {limit}", case.law);
        let begins = case.begins(limit, |gain| case.variation(gain) > 0.2);
        println!(
            "{} flow(s), {}: limit {limit:.3}, packets cycle from {:.3}",
            case.flows,
            case.law,
            begins * limit
        );
        assert!(begins > 1.0 - WITHIN && begins <= 1.0 + WITHIN, "{}: {begins}", case.law);
    }
}

/// A law that bounds the increase by a packet per round trip swings by a few packets. A window at rest
/// moves within two of them.
#[test]
fn bounded_laws_begin_to_swing_by_some_packets_at_a_gain_of_one() {
    for law in ["law = \"har02\"", "law = \"accord\""] {
        let case = Case { law, flows: 1, each: 30, start: ALONE };
        let (limit, guaranteed) = case.limits();
        assert!((limit - 1.0).abs() < 1e-9, "{law}: {limit}");
        let begins = case.begins(limit, |gain| case.swing(gain) > 2.5);
        println!(
            "{law}: limit {limit:.3}, packets swing from {begins:.3}; guaranteed up to {guaranteed:.3}"
        );
        assert!(begins > 1.0 - WITHIN && begins <= 1.0 + WITHIN, "{law}: {begins}");
        assert!(case.swing(guaranteed) < 2.5, "{law}");
        assert!(case.swing(2.0 * limit) < 8.0, "{law}: a swing of some packets");
    }
}

/// Flows over two bottlenecks, and flows of two round trips, have the limit as a bound. They rest there,
/// and a gain beyond it is not called unstable.
#[test]
fn flows_that_differ_rest_up_to_the_bound() {
    let begin = "duration = \"60 s\"\nsteady = [\"50 s\", \"60 s\"]\nsample = \"5 ms\"\n";
    let flows = |name: &str, from: &str, to: &str, access: &str, gain: f64| {
        format!(
            "[flow.{name}]\ncount = 2\nfrom = \"{from}\"\nto = \"{to}\"\nstart = {SPREAD}\n{access}\n\
             controller = {{ name = \"monaco\", law = \"xia05\", target = \"30 KB\", gain = {gain} }}\n"
        )
    };
    let link = |name: &str, from: &str, to: &str, rate: u32| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n"
        )
    };
    let event = "[[event]]\nat = \"20 s\"\nlink = \"ab\"\ndelay = \"12 ms\"\n";
    let lot = |gain| {
        let links = link("ab", "a", "b", 30) + &link("bc", "b", "c", 40);
        let long = flows("long", "a", "c", "", gain);
        let short = flows("x", "a", "b", "", gain) + &flows("y", "b", "c", "", gain);
        parsed(&format!("{begin}{links}{long}{short}{event}"))
    };
    let near = "access = { rate = \"10 Gbps\", delay = \"1 ms\" }";
    let far = "access = { rate = \"10 Gbps\", delay = \"40 ms\" }";
    let two = |gain| {
        let links = link("ab", "a", "b", 40);
        let both = flows("near", "a", "b", near, gain) + &flows("far", "a", "b", far, gain);
        parsed(&format!("{begin}{links}{both}{event}"))
    };
    let margins = |s: &Scenario| {
        let found = accord::margins::stability(s, s.steady.start).expect("an equilibrium");
        (found.is_stable(), found.is_guaranteed(), found.bound.expect("a bound").factor())
    };
    for (name, case) in [("lot", &lot as &dyn Fn(f64) -> Scenario), ("two", &two)] {
        let (stable, guaranteed, factor) = margins(&case(0.5));
        assert!(stable && guaranteed, "{name}");
        let limit = 0.5 * factor;
        assert!((limit - 0.578).abs() < 1e-3, "{name}: {limit}");
        let (stable, guaranteed, _) = margins(&case(1.05 * limit));
        assert!(stable && !guaranteed, "{name}");
        let s = case(limit);
        let found = variation(&s, &packets(&s), "ab");
        assert!(found < 0.05, "{name}: {found}");
    }
}
