//! The gain at which packets begin to cycle behind RED, against the margin that `stability` gives for
//! packets. Behind AVQ, REM and full buffers it gives none and says why.

use accord::language::File;
use accord::record::Quiet;
use accord::scenario::{Engine, Entity, Metric, Scenario};
use accord::{Options, catalogue, run};
use std::f64::consts::TAU;

/// A queue that cycles is like itself eight periods before, and one that noise moves is not.
const PERIODS: f64 = 8.0;
const ALIKE: f64 = 0.5;
/// The largest distance of the gain at which packets begin to cycle from the margin.
const WITHIN: f64 = 0.15;

/// A network and the queue in equilibrium, in packets.
#[derive(Clone, Copy)]
struct Case {
    oneway_ms: f64,
    flows: usize,
    queue: f64,
    ecn: bool,
}

const MBPS: f64 = 200.0;

impl Case {
    /// Returns a scenario with the same equilibrium, and a RED with this slope per packet.
    fn with(&self, slope: f64) -> Scenario {
        let rate = MBPS * 1e6 / 8e3;
        let base = 2e-3 * (self.oneway_ms + 1.0);
        let window = (base + self.queue / rate) * rate / self.flows as f64;
        let share = 2.0 / (window * window + 2.0);
        // Marks are even, so of a probability p the share is 2p/(1 + p).
        let probability = share / (2.0 - share);
        let least = self.queue - probability / slope;
        let most = least + 0.5 / slope;
        let Case { oneway_ms, flows, ecn, .. } = self;
        let queue = format!(
            "discipline = \"red\", min_threshold = \"{least:.6} pkt\", max_threshold = \"{most:.6} pkt\", weight = 0.002, max_probability = 0.5, ecn = {ecn}, limit = \"100000 pkt\""
        );
        over(&queue, *oneway_ms, *flows, *ecn)
    }

    /// The autocorrelation of the queue of packets.
    fn memory(&self, slope: f64, frequency: f64) -> f64 {
        let s = self.with(slope);
        let link = s.links.iter().position(|l| l.name == "bottleneck");
        let link = Entity::Link(link.expect("it is there"));
        memory(&s, Metric::BacklogPackets, link, frequency)
    }
}

/// Flows of NewReno over a queue.
fn over(queue: &str, oneway_ms: f64, flows: usize, ecn: bool) -> Scenario {
    let text = format!(
        "duration = \"45 s\"\nsteady = [\"15 s\", \"45 s\"]\nsample = \"5 ms\"\nfluid = {{ link_model = \"ack-clocked\" }}\n\
         [topology.dumbbell]\nrate = \"{MBPS} Mbps\"\ndelay = \"{oneway_ms} ms\"\nqueue = {{ {queue} }}\n\
         reverse = {{ queue = {{ discipline = \"droptail\", limit = \"unlimited\" }} }}\n\
         [flow.f]\ncount = {flows}\nfrom = \"left\"\nto = \"right\"\nprocessing = \"0 s\"\n\
         controller = {{ name = \"newreno\", ecn = {ecn}, initial_window = \"2 pkt\" }}\nrecord = \"group\"\n\
         start = {{ uniform = [\"0 s\", \"1 s\"] }}\naccess = {{ rate = \"10 Gbps\", delay = \"1 ms\" }}\n"
    );
    let file = File::parse("cycle.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&catalogue(), None);
    points.unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// The autocorrelation of a series of packets at a lag of some periods.
fn memory(s: &Scenario, metric: Metric, entity: Entity, frequency: f64) -> f64 {
    let run = run(s, Engine::Packet, &Options::default(), &mut Quiet).expect("it runs");
    let series = run.series(metric, entity).expect("recorded");
    let values = &series.values[run.within(s.steady)];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let off: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let of = |lag: usize| {
        let pairs = off.iter().zip(&off[lag..]);
        pairs.map(|(a, b)| a * b).sum::<f64>() / (off.len() - lag) as f64
    };
    let period = TAU / frequency / (run.time[1] - run.time[0]);
    let lags = ((PERIODS - 1.0) * period) as usize..((PERIODS + 1.0) * period) as usize;
    lags.map(of).fold(f64::MIN, f64::max) / of(0)
}

#[test]
fn packets_begin_to_cycle_where_the_margin_says() {
    let base = Case { oneway_ms: 5.0, flows: 200, queue: 1500.0, ecn: true };
    let cases = [
        ("a long queue", base, 2e-5),
        ("a short one", Case { oneway_ms: 40.0, queue: 300.0, ..base }, 3e-5),
        ("drops", Case { ecn: false, ..base }, 2e-5),
    ];
    for (name, case, slope) in cases {
        let s = case.with(slope);
        let found = accord::margins::stability(&s, s.steady.start);
        let found = found.unwrap_or_else(|e| panic!("{name}: {e}"));
        let margin = found.packets.expect("RED is known");
        let limit = slope * margin.gain;
        let at = |part: f64| case.memory(part * limit, margin.gain_frequency);
        let (below, above) = (at(1.0 - WITHIN), at(1.0 + WITHIN));
        println!(
            "{name}: {below:.2} below and {above:.2} above {limit:.2e}, {:.2} of the fluid's",
            margin.gain / found.margins.gain
        );
        assert!(below < ALIKE && above > ALIKE, "{name}: {below} {above}");
    }
}

/// The margin of the fluid is not the margin of packets if the fluid takes a queue for full, or
/// leaves out one that is empty in equilibrium: AVQ with a margin of a third rests, and REM with
/// one of nearly 2 cycles.
#[test]
fn pairs_without_a_margin_in_packets_say_why() {
    let avq = "discipline = \"avq\", gain = 0.05, buffer = \"100 KB\", ecn = true, limit = \"100000 pkt\"";
    let rem =
        "discipline = \"rem\", gain = 0.011, phi = 1.001, ecn = false, limit = \"100000 pkt\"";
    for (name, queue, ecn, word, fluid) in [
        ("avq", avq, true, "virtual queue", Some((0.34, false))),
        ("rem", rem, false, "rem drops", Some((1.71, true))),
        ("long", "discipline = \"droptail\", limit = \"1500 pkt\"", false, "buffer", None),
        ("short", "discipline = \"droptail\", limit = \"300 pkt\"", false, "buffer", None),
    ] {
        let s = over(queue, 40.0, 200, ecn);
        let found = accord::margins::stability(&s, s.steady.start);
        let found = found.unwrap_or_else(|e| panic!("{name}: {e}"));
        let why = found.unknown.expect("a reason");
        assert!(found.packets.is_none() && why.contains(word), "{name}: {why}");
        if let Some((margin, cycles)) = fluid {
            let m = found.margins;
            assert!((m.gain / margin - 1.0).abs() < 0.02, "{name}: {m:?}");
            let alike = memory(&s, Metric::Throughput, Entity::Group(0), m.gain_frequency);
            println!("{name}: {alike:.2} at a margin of {:.2}", m.gain);
            assert_eq!(alike > ALIKE, cycles, "{name}: {alike}");
        }
    }
}
