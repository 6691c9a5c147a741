//! Runs that skip steady time, compared with whole runs.

use crate::common::scenario;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario, Window};
use accord_sim::{Audit, run, run_skipping, run_skipping_audited};
use accord_units::{Duration, Time};
use proptest::prelude::*;

fn skipping(s: &Scenario) -> Run {
    run_skipping(s, None, &mut Quiet).expect("it runs")
}

fn whole(s: &Scenario) -> Run {
    run(s, &mut Quiet).expect("it runs")
}

fn seconds(start: f64, end: f64) -> Window {
    Window { start: Time::from_secs_f64(start), end: Time::from_secs_f64(end) }
}

fn dumbbell(seconds: u32, queue: &str, flows: &str) -> Scenario {
    scenario(&format!(
        "duration = \"{seconds} s\"\nsteady = [\"{half} s\", \"{seconds} s\"]\n\
         [topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\nqueue = {queue}\n{flows}",
        half = seconds / 2
    ))
}

const DROPTAIL: &str = "{ discipline = \"droptail\", limit = \"100 pkt\" }";

/// Poisson traffic of small packets, of 2 Mbps.
const NOISE: &str = "packet = \"100 B\"\ndemand = { poisson = \"2 Mbps\" }";

fn flows(name: &str, count: u32, controller: &str, more: &str) -> String {
    format!(
        "[flow.{name}]\ncount = {count}\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n{more}\n"
    )
}

/// The values of all series as bits, up to a sample.
fn bits(run: &Run, samples: usize) -> Vec<Vec<u64>> {
    let values = run.series.iter().map(|s| &s.values[..samples]);
    values.map(|v| v.iter().map(|v| v.to_bits()).collect()).collect()
}

/// Until the first jump neither the random draws nor the record differ.
#[test]
fn the_run_is_the_same_until_the_first_jump() {
    let avd = "{ discipline = \"avd\", limit = \"200 pkt\" }";
    let codel = "{ discipline = \"codel\", limit = \"200 pkt\" }";
    let noise = flows("noise", 1, "none", NOISE);
    for (queue, text) in [
        (DROPTAIL, flows("f", 4, "monaco", "")),
        (DROPTAIL, flows("f", 4, "vegas", "processing = \"100 us\"")),
        (DROPTAIL, flows("f", 4, "vegas", "") + &noise),
        (avd, flows("f", 4, "monaco", "") + &noise),
        (
            codel,
            flows(
                "f",
                4,
                "monaco",
                "access = { rate = \"1 Gbps\", delay = { spread = [\"1 ms\", \"9 ms\"] } }",
            ),
        ),
    ] {
        let s = dumbbell(200, queue, &text);
        let (long, short) = (whole(&s), skipping(&s));
        let Some(first) = short.skipped.first() else {
            panic!("{queue} {text}: {:?}", short.notes);
        };
        assert_ne!(long.manifest.digest, short.manifest.digest);
        assert!(short.statistics.packet_hops < long.statistics.packet_hops);
        // The recorder may merge samples at another time.
        assert_eq!(long.time, short.time);
        let samples = long.time.partition_point(|at| *at <= first.start.as_secs_f64());
        assert!(samples > 10);
        assert!(bits(&long, samples) == bits(&short, samples), "{queue} {text}");
        assert!(bits(&long, samples + 9) != bits(&short, samples + 9));
    }
}

/// Means of a run with skips agree with those of whole runs with other seeds. They lie within the
/// interval of another run at 99 % confidence, plus the error that steady-state detection allows.
#[test]
fn means_are_those_of_whole_runs() {
    const SEEDS: u64 = 5;
    /// Student's t for 4 degrees of freedom, 99 % between both ends.
    const STUDENT: f64 = 4.604;
    const ERROR: f64 = 0.011;
    for (controller, queue) in [
        ("monaco", DROPTAIL),
        ("vegas", DROPTAIL),
        ("monaco", "{ discipline = \"avd\", limit = \"200 pkt\" }"),
    ] {
        let text = flows("f", 4, controller, "start = { uniform = [\"0 s\", \"1 s\"] }")
            + &flows("noise", 1, "none", NOISE);
        let with_seed = |seed: u64| {
            let text = format!(
                "seed = {seed}\nduration = \"300 s\"\nsteady = [\"100 s\", \"300 s\"]\n\
                 [topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\nqueue = {queue}\n{text}"
            );
            scenario(&text)
        };
        let runs: Vec<Run> = (1..=SEEDS).map(|seed| whole(&with_seed(seed))).collect();
        let s = with_seed(SEEDS + 1);
        let short = skipping(&s);
        assert!(short.skipped().as_secs_f64() > 100.0, "{controller}: {:?}", short.notes);
        for (metric, entity) in [
            (Metric::Throughput, Entity::Flow(0)),
            (Metric::Throughput, Entity::Flow(3)),
            (Metric::Rtt, Entity::Flow(1)),
            (Metric::Cwnd, Entity::Flow(2)),
            (Metric::Backlog, Entity::Link(0)),
            (Metric::Utilisation, Entity::Link(0)),
        ] {
            let mean = |run: &Run| run.mean(metric, entity, s.steady).expect("it has one");
            let all: Vec<f64> = runs.iter().map(mean).collect();
            let n = SEEDS as f64;
            let centre = all.iter().sum::<f64>() / n;
            let squares: f64 = all.iter().map(|v| (v - centre).powi(2)).sum();
            let spread = STUDENT * (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt();
            let found = mean(&short);
            assert!(
                (found - centre).abs() <= spread + ERROR * centre,
                "{controller} {queue}: {metric} {found}, not {centre} ± {spread}"
            );
        }
    }
}

/// Events during the run happen at their times, with their effects: a start, a transfer, a change
/// of the rate and a stop.
#[test]
fn nothing_in_the_middle_is_missed() {
    let text = flows("old", 2, "monaco", "stop = \"250.3 s\"")
        + &flows("new", 1, "monaco", "start = \"100.1 s\"")
        + &flows("file", 1, "monaco", "start = \"200.2 s\"\ndemand = { size = \"2 MB\" }")
        + "[[event]]\nat = \"300 s\"\nlink = \"bottleneck\"\nrate = \"10 Mbps\"\n";
    let s = dumbbell(400, DROPTAIL, &text);
    let (long, short) = (whole(&s), balanced(&s));
    assert!(short.skipped().as_secs_f64() > 250.0, "{:?}", short.notes);
    for at in [100.1, 200.2, 250.3, 300.0, 400.0] {
        let at = Time::from_secs_f64(at);
        let inside = |part: &&Window| part.start <= at && at <= part.end;
        assert_eq!(short.skipped.iter().find(inside), None);
    }
    let rate = |run: &Run, flow, from, to| {
        let mean = run.mean(Metric::Throughput, Entity::Flow(flow), seconds(from, to));
        mean.unwrap_or(0.0)
    };
    for (flow, from, to) in [
        (0, 50.0, 100.0),
        (2, 101.0, 105.0),
        (0, 105.0, 200.0),
        (0, 248.0, 251.0),
        (2, 251.0, 255.0),
        (2, 255.0, 300.0),
        (2, 301.0, 310.0),
        (2, 310.0, 400.0),
    ] {
        let (a, b) = (rate(&long, flow, from, to), rate(&short, flow, from, to));
        assert!((a - b).abs() < 0.03 * a, "flow {flow}, {from} to {to} s: {b}, not {a}");
    }
    let first = |run: &Run| {
        let new = run.series(Metric::Throughput, Entity::Flow(2)).expect("it is recorded");
        new.values.iter().position(|v| !v.is_nan())
    };
    assert_eq!(first(&long), first(&short));
    let [a, b] = [&long, &short].map(|run| run.transfers[0]);
    assert_eq!((a.start, a.size), (b.start, b.size));
    assert!((a.duration - b.duration).abs() < 0.1 * a.duration, "{b:?}, not {a:?}");
    // The demand of the last sample before the change is the old rate, and that of the next sample the new
    // one.
    let link =
        |run: &Run| run.series(Metric::LinkRate, Entity::Link(0)).expect("it is").values.clone();
    assert_eq!(link(&long), link(&short));
}

/// Returns the reason why nothing was skipped.
fn refused(run: &Run) -> &str {
    assert_eq!(run.skipped, []);
    let note = run.notes.last().expect("there is a note");
    note.strip_prefix("nothing was skipped: ").expect("it says why")
}

#[test]
fn what_does_not_rest_is_not_skipped() {
    let monaco = flows("f", 2, "monaco", "");
    let more = |demand: &str| monaco.clone() + &flows("more", 1, "newreno", demand);
    for (text, why) in [
        (more("demand = { on_off = { burst = \"100 KB\", pause = \"1 s\" } }"), "an on-off source"),
        (more("demand = { size = \"1 GB\" }"), "a transfer"),
        (flows("f", 1, "newreno", ""), "varied so much"),
    ] {
        let s = dumbbell(60, DROPTAIL, &text);
        let run = skipping(&s);
        assert!(refused(&run).contains(why), "{:?}", run.notes);
        // A run without skips equals the whole run.
        assert_eq!(run.manifest, whole(&s).manifest);
    }
    // Timers follow the clock in an outage.
    let outage = flows("f", 2, "newreno", "")
        + "[[event]]\nat = \"0.5 s\"\nlink = \"bottleneck\"\nrate = \"0 bps\"\n";
    let run = skipping(&dumbbell(60, DROPTAIL, &outage));
    assert!(refused(&run).contains("delivered none"), "{:?}", run.notes);
}

/// Theory has a veto.
#[test]
fn nothing_is_skipped_against_theory() {
    let s = dumbbell(100, DROPTAIL, &flows("f", 2, "monaco", ""));
    let mut theory = skipping(&s);
    assert!(!theory.skipped.is_empty());
    let agreed = run_skipping(&s, Some(&theory), &mut Quiet).expect("it runs");
    assert_eq!(agreed.skipped, theory.skipped);
    for series in &mut theory.series {
        let scale = match (series.metric, series.entity) {
            (Metric::Throughput, Entity::Flow(1)) => 1.1,
            _ => 1.0,
        };
        series.values.iter_mut().for_each(|v| *v *= scale);
    }
    let refused_run = run_skipping(&s, Some(&theory), &mut Quiet).expect("it runs");
    assert!(refused(&refused_run).contains("f.2 differed from theory"), "{:?}", refused_run.notes);
}

/// Returns the bytes that a flow has sent and that neither arrived nor were lost, by its series.
fn under_way(run: &Run, flow: usize, period: Duration) -> (f64, f64) {
    let sum = |metric| {
        let series = run.series(metric, Entity::Flow(flow)).expect("it is recorded");
        let there = series.values.iter().filter(|v| !v.is_nan());
        there.sum::<f64>() * period.as_secs_f64() / 8.0
    };
    let sent = sum(Metric::SendingRate);
    (sent, sent - sum(Metric::Throughput) - sum(Metric::LostRate))
}

/// Checks conservation in a run: at each port and for each flow, and by the series, including the
/// skipped time, for the data under way at the end.
fn balanced(s: &Scenario) -> Run {
    let (run, ports, audits) = run_skipping_audited(s, None, &mut Quiet).expect("it runs");
    for Audit { entered, left, dropped, held } in ports.iter().chain(&audits) {
        let packets = left.packets + dropped.packets + held.packets;
        let bytes = left.bytes + dropped.bytes + held.bytes;
        assert_eq!((entered.packets, entered.bytes), (packets, bytes));
    }
    for (flow, audit) in audits.iter().enumerate() {
        let (sent, there) = under_way(&run, flow, s.sample);
        let held = audit.held.bytes as f64;
        assert!((there - held).abs() < 1e-9 * sent, "{there}, not {held}");
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Nothing is lost or counted twice.
    #[test]
    fn counters_balance(
        seed in 0u64..1000,
        count in 1u32..5,
        delay in 1u32..30,
        limit in 20u32..200,
        controller in prop::sample::select(vec!["monaco", "vegas", "newreno"]),
        queue in prop::sample::select(vec!["droptail", "red", "codel", "fq-codel"]),
        event in 30.0f64..100.0,
    ) {
        let s = scenario(&format!(
            "seed = {seed}\nduration = \"120 s\"\nsample = \"100 ms\"\n\
             [topology.dumbbell]\nrate = \"8 Mbps\"\ndelay = \"{delay} ms\"\n\
             queue = {{ discipline = \"{queue}\", limit = \"{limit} pkt\" }}\n{}{}",
            flows("f", count, controller, "start = { uniform = [\"0 s\", \"1 s\"] }"),
            flows("late", 1, controller, &format!("start = \"{event} s\"\nstop = \"110 s\"")),
        ));
        balanced(&s);
    }
}

/// A queue that fills: 0.1 Mbps more than the link can send for half an hour, after half an hour of the
/// same. The mean backlog of the second half is ¾ of an hour's worth, 33.75 MB.
#[test]
fn a_queue_that_fills_is_not_skipped() {
    for demand in ["constant", "poisson"] {
        let text = format!(
            "duration = \"1 h\"\nsteady = [\"30 min\", \"1 h\"]\n\
             topology.dumbbell = {{ rate = \"1 Mbps\", delay = \"20 ms\", \
             queue = {{ discipline = \"droptail\", limit = \"1 GB\" }} }}\n\
             [flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\n\
             demand = {{ {demand} = \"1.1 Mbps\" }}\n"
        );
        let s = scenario(&text);
        let run = skipping(&s);
        let backlog = run.mean(Metric::Backlog, Entity::Link(0), s.steady);
        let expected = 0.75 * 3600.0 * 0.1e6 / 8.0;
        let off = backlog.expect("it is recorded") / expected - 1.0;
        assert!(off.abs() < 0.01, "{demand}: {off}");
    }
    // A full queue is steady.
    let noise = "demand = { constant = \"22 Mbps\" }";
    let s = dumbbell(600, DROPTAIL, &flows("f", 1, "none", noise));
    assert!(!skipping(&s).skipped.is_empty());
}

/// No time is skipped before the observation spans the memory of the controllers: ten seconds of
/// round-trip times for BBR and Copa, ten minutes for LEDBAT.
#[test]
fn no_jump_is_before_the_memory_of_a_controller_was_watched() {
    for (controller, seconds, memory) in
        [("bbr3", 600, 10.2), ("copa", 600, 10.0), ("ledbat", 600, 600.0)]
    {
        let s = dumbbell(seconds, DROPTAIL, &flows("f", 1, controller, ""));
        for jump in skipping(&s).skipped {
            // The later half of the observation.
            assert!(jump.start.as_secs_f64() > 2.0 * memory, "{controller}: {jump:?}");
        }
    }
}
