//! Flows of the live engine carried by quinn. Lateness delays events, so bounds of what moved in a time are left
//! out where the machine was too busy for a verdict, and the test reports it. The others always hold.
#![cfg(target_os = "linux")]

#[path = "../../../crates/live/tests/common/readings.rs"]
mod readings;

use accord::live::{Mode, obstacle};
use accord::record::{Quiet, Run};
use accord::scenario::{Engine, Entity, Metric, Scenario};
use accord::{Options, run};
use readings::{at_bottleneck, is_unfit, marked, skipped, values};

/// The interval of samples of all scenarios here, in seconds.
const SAMPLE: f64 = 0.05;

fn scenario(text: &str) -> Scenario {
    read(text).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

fn read(text: &str) -> Result<Vec<Scenario>, String> {
    let catalogue = accord::catalogue_with(accord_quinn::FAMILIES, &[]);
    let file = accord::language::File::parse("quic.toml", text).map_err(|e| e.to_string())?;
    file.points(&catalogue, None).map_err(|e| e.to_string())
}

fn live(s: &Scenario, mode: Mode) -> Run {
    let options = Options { live: Some(mode), ..Options::default() };
    run(s, Engine::Live, &options, &mut Quiet).expect("it runs")
}

fn packets(s: &Scenario) -> Run {
    run(s, Engine::Packet, &Options::default(), &mut Quiet).expect("it runs")
}

/// Returns the bits that a flow moved from a time on, in seconds.
fn bits(run: &Run, metric: Metric, flow: usize, from: f64) -> f64 {
    let rates = values(run, metric, Entity::Flow(flow));
    rates.iter().skip((from / SAMPLE) as usize).sum::<f64>() * SAMPLE
}

const SINGLE: &str = r#"
    duration = "6 s"
    sample = "50 ms"
    [topology.dumbbell]
    rate = "10 Mbps"
    delay = "20 ms"
    queue = { discipline = "droptail", limit = "1 BDP" }
    [flow.a]
    from = "left"
    to = "right"
    packet = "1500 B"
    quic = "quinn"
    controller = "quinn-cubic"
"#;

/// quinn's own controller and one of ours in it fill a link as in the packet engine.
#[test]
fn alone_it_fills_the_bottleneck() {
    // Both begin with ten packets, and ours with an extra byte for quinn.
    for (controller, first) in [("quinn-cubic", 15_000.0), ("cubic", 15_001.0)] {
        let s = scenario(&SINGLE.replace("quinn-cubic", controller));
        let run = live(&s, Mode::Loopback);
        let sum = |metric| bits(&run, metric, 0, 0.0);
        let (sent, came) = (sum(Metric::SendingRate), sum(Metric::Throughput));
        let fresh = sum(Metric::Goodput);
        assert!(fresh <= came && came <= sent, "{fresh} {came} {sent}");
        assert!(came <= 10e6 * 6.0);
        // A round trip of 40 ms, and the bottleneck's transmission time for a full packet. Packets
        // of the handshake before that are smaller.
        let of = |metric| values(&run, metric, Entity::Flow(0));
        let rtts = [Metric::Rtt, Metric::MinRtt].map(of);
        assert!(rtts.iter().flatten().all(|rtt| *rtt > 0.040), "{rtts:?}");
        assert!(run.notes.iter().any(|n| n.contains(&format!("quinn with {controller}"))));
        assert!(run.broken.is_empty(), "{:?}", run.broken);
        if is_unfit(&run) {
            continue;
        }
        assert!(fresh > 0.0 && rtts.iter().all(|rtt| rtt.len() > 100), "{fresh} {rtts:?}");
        let cwnd = of(Metric::Cwnd);
        assert_eq!(cwnd[0], first);
        assert!(cwnd.iter().any(|w| *w > 50_000.0), "{cwnd:?}");
        assert!(!of(Metric::Ssthresh).is_empty(), "something was lost");
        assert!(of(Metric::Retransmissions).iter().sum::<f64>() > 0.0);
        assert!(of(Metric::Accumulation).iter().sum::<f64>() > 0.0);
        let theirs = bits(&packets(&s), Metric::Goodput, 0, 2.0);
        let ratio = bits(&run, Metric::Goodput, 0, 2.0) / theirs;
        assert!((0.95..1.05).contains(&ratio), "{controller}: {ratio} of packets");
    }
}

/// A transfer, bursts that are stopped, and a constant rate, by controllers of ours.
const DEMANDS: &str = r#"
    duration = "3 s"
    sample = "50 ms"
    [topology.dumbbell]
    rate = "10 Mbps"
    delay = "10 ms"
    queue = { discipline = "droptail", limit = "60 pkt" }
    [flow.transfer]
    from = "left"
    to = "right"
    packet = "1500 B"
    quic = "quinn"
    controller = "newreno"
    demand = { size = "150 KB" }
    start = "0.2 s"
    [flow.bursts]
    from = "right"
    to = "left"
    packet = "1300 B"
    quic = "quinn"
    controller = "vegas"
    demand = { on_off = { burst = "26 KB", pause = "50 ms" } }
    stop = "1.5 s"
    [flow.constant]
    from = "left"
    to = "right"
    packet = "1500 B"
    quic = "quinn"
    controller = "quinn-newreno"
    demand = { constant = "1 Mbps" }
"#;

#[test]
fn demands_are_carried_by_streams() {
    let run = live(&scenario(DEMANDS), Mode::Loopback);
    let transfers = |flow| run.transfers.iter().filter(move |t| t.flow == flow);
    let one: Vec<_> = transfers(0).collect();
    assert_eq!(one.len(), 1);
    assert_eq!((one[0].start, one[0].size.get()), (0.2, 150_000));
    // The handshake, ten packets, then the rest: at least four round trips of 20 ms.
    let took = one[0].duration;
    assert!(took.is_nan() || took > 0.08, "{took}");
    assert!(transfers(1).all(|t| t.start <= 1.5), "it has stopped");
    assert!(run.broken.is_empty(), "{:?}", run.broken);
    if is_unfit(&run) {
        return;
    }
    // A hundred packets with data, and a few of the handshake.
    let fresh = bits(&run, Metric::Goodput, 0, 0.0) / 8.0;
    assert!(took.is_nan() || (147_000.0..156_000.0).contains(&fresh), "{fresh} B");

    assert!(transfers(1).filter(|t| !t.duration.is_nan()).count() > 2);
    // A packet at 1.5 s closes the connection. Afterwards the peer may only repeat that.
    assert!(bits(&run, Metric::SendingRate, 1, 1.6) < 8.0 * 1300.0);

    let constant = bits(&run, Metric::Goodput, 2, 1.0) / 2.0;
    assert!((0.9e6..1.1e6).contains(&constant), "{constant} bit/s");
}

#[test]
fn a_router_s_mark_reaches_quinn() {
    let marks_and_drops = |ecn: bool| {
        let s = scenario(&marked(&format!(
            "packet = \"1500 B\"\nquic = \"quinn\"\ncontroller = {{ name = \"quinn-newreno\", ecn = {ecn} }}"
        )));
        let run = live(&s, Mode::Loopback);
        let sum = |metric| at_bottleneck(&s, &run, metric);
        (sum(Metric::Marks), sum(Metric::Drops), run)
    };
    let (marks, drops, run) = marks_and_drops(true);
    if is_unfit(&run) {
        return;
    }
    assert!(marks > 0.0 && drops == 0.0, "{marks} marks, {drops} drops");
    let again: f64 = values(&run, Metric::Retransmissions, Entity::Flow(0)).iter().sum();
    assert_eq!(again, 0.0);
    // The window was reduced although nothing was lost.
    assert!(!values(&run, Metric::Ssthresh, Entity::Flow(0)).is_empty());

    let (marks, drops, run) = marks_and_drops(false);
    assert!(
        marks == 0.0 && (is_unfit(&run) || drops > 0.0),
        "{marks} marks, {drops} drops without ECN"
    );
}

/// The example of the book, for half of its duration.
const BESIDE: &str = include_str!("../../../docs/examples/quic.toml");
/// The maximum relative deviation of a group's throughput from that in the packet engine. Over 15 s
/// its standard deviation between live runs is a tenth to a fifth. The phase effect, which the
/// jitter of the scenario prevents, doubles the throughput of one group and halves that of another.
const BAND: f64 = 0.5;
/// The number of runs outside of the band that make a failure.
const ATTEMPTS: usize = 3;

/// The name is one of the first, since this test takes longest and tests start by name.
#[test]
fn all_three_cubics_share_as_in_packets() {
    let s = scenario(&BESIDE.replace("\"40 s\"", "\"20 s\""));
    if let Some(why) = obstacle(Mode::Namespaces, std::slice::from_ref(&s)) {
        skipped(&format!("no connections of the kernel: {why}"));
        return;
    }
    let throughputs = |run: &Run| {
        let of = |group| {
            let rates = values(run, Metric::Throughput, Entity::Group(group));
            rates.iter().skip((5.0 / SAMPLE) as usize).sum::<f64>() * SAMPLE / 15.0
        };
        [0, 1, 2].map(of)
    };
    let expected = throughputs(&packets(&s));
    let mut differing = Vec::new();
    for _ in 0..ATTEMPTS {
        let run = live(&s, Mode::Namespaces);
        let found = throughputs(&run);
        assert!(run.broken.is_empty(), "{:?}", run.broken);
        if is_unfit(&run) {
            return;
        }
        assert!(found.iter().all(|rate| *rate > 0.0), "{found:?}");
        assert!(found.iter().sum::<f64>() < 20.2e6, "{found:?}");
        let pairs = found.iter().zip(&expected);
        let apart = pairs.map(|(found, expected)| (found / expected - 1.0).abs());
        if apart.fold(0.0, f64::max) <= BAND {
            return;
        }
        differing.push(found);
    }
    panic!("in packets {expected:?}, live {differing:?} bit/s");
}

#[test]
fn what_quinn_cannot_run_is_refused_with_the_reason() {
    for (controller, why) in [
        ("bbr3", "samples of the delivery rate"),
        ("dctcp", "counts marked packets"),
        ("monaco", "pairs of control packets"),
    ] {
        let e = read(&SINGLE.replace("quinn-cubic", controller)).expect_err("refused");
        assert!(e.contains("quic.toml:13:18: ") && e.contains(why), "{e}");
        assert!(e.contains("quinn runs: ") && e.contains("quinn-bbr"), "{e}");
    }
    let e = read(&SINGLE.replace("\"quinn\"", "\"msquic\"")).expect_err("refused");
    assert!(e.contains("no QUIC stack \"msquic\"") && e.contains("there are: quinn"), "{e}");
    // A program without quinn reports where to get it.
    for (controller, lacking) in
        [("quinn-cubic", "no controller \"quinn-cubic\""), ("cubic", "no QUIC stack \"quinn\"")]
    {
        let text = SINGLE.replace("quinn-cubic", controller);
        let file = accord::language::File::parse("quic.toml", &text).expect("it is TOML");
        let e = file.points(&accord::catalogue(), None).expect_err("refused");
        let e = e.to_string();
        assert!(e.contains(lacking) && e.contains("--features quic"), "{e}");
    }
}
