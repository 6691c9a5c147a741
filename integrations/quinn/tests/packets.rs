//! Flows of the packet engine carried by quinn.

use accord_family::Catalogue;
use accord_record::{Interrupted, Observer, Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::Time;
use std::process::Command;

fn scenarios(text: &str) -> Result<Vec<Scenario>, String> {
    let controllers = [accord_control::FAMILIES, accord_quinn::FAMILIES].concat().leak();
    let catalogue = Catalogue { controllers, disciplines: accord_aqm::FAMILIES };
    let file = accord_language::File::parse("quic.toml", text).map_err(|e| e.to_string())?;
    file.points(&catalogue, None).map_err(|e| e.to_string())
}

fn scenario(text: &str) -> Scenario {
    scenarios(text).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

fn packets(s: &Scenario) -> Run {
    accord_sim::run(s, &mut Quiet).expect("it runs")
}

fn mean(run: &Run, metric: Metric, flow: usize, s: &Scenario) -> f64 {
    run.mean(metric, Entity::Flow(flow), s.steady).unwrap_or_else(|| panic!("no {metric:?}"))
}

const ALONE: &str = r#"
    duration = "20 s"
    sample = "50 ms"
    steady = ["5 s", "20 s"]
    [topology.dumbbell]
    rate = "20 Mbps"
    delay = "20 ms"
    queue = { discipline = "droptail", limit = "1 BDP" }
    [flow.a]
    from = "left"
    to = "right"
    packet = "1500 B"
    quic = "quinn"
    controller = "quinn-cubic"
"#;

#[test]
fn alone_it_fills_the_bottleneck_and_repeats_to_the_bit() {
    for (stack, controller) in [
        ("quinn", "quinn-cubic"),
        ("quinn", "quinn-newreno"),
        ("quinn", "cubic"),
        ("quinn-tls", "quinn-cubic"),
    ] {
        let text = ALONE.replace("quinn-cubic", controller);
        let s = scenario(&text.replace("\"quinn\"", &format!("\"{stack}\"")));
        let run = packets(&s);
        assert_eq!(run.manifest.digest, packets(&s).manifest.digest, "{stack}");
        assert!(run.broken.is_empty() && run.notes.is_empty(), "{:?}", run.notes);
        let mean = |metric| mean(&run, metric, 0, &s);
        let rate = mean(Metric::Throughput);
        assert!((19.5e6..=20e6).contains(&rate), "{stack} with {controller}: {rate} bit/s");
        // A round trip of 40 ms, and the bottleneck's transmission time for a full packet.
        assert!(mean(Metric::MinRtt) > 0.0406 && mean(Metric::MinRtt) < 0.042);
        assert!(mean(Metric::Rtt) > mean(Metric::MinRtt));
        assert!(mean(Metric::Cwnd) > 100_000.0 && mean(Metric::Accumulation) > 0.0);
        assert!(mean(Metric::Retransmissions) > 0.0);
    }
}

/// The packets of a run, as a capture.
#[derive(Default)]
struct Tap(Vec<u8>);

impl Observer for Tap {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Ok(())
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn packets(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }
}

/// tshark decrypts a capture with the keys that a process writes to `SSLKEYLOGFILE`, and finds the frames of both
/// directions.
#[test]
fn keys_decrypt_a_capture_of_tls() {
    const KEYS: &str = "SSLKEYLOGFILE";
    const NAME: &str = "keys_decrypt_a_capture_of_tls";
    let Some(keys) = std::env::var_os(KEYS).map(std::path::PathBuf::from) else {
        // The variable is that of a process, and other tests run in this one.
        let folder = tempfile::tempdir().expect("a place for temporary files");
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        again.args(["--exact", NAME, "--nocapture"]).env(KEYS, folder.path().join("keys"));
        let output = again.output().expect("it starts again");
        assert!(output.status.success(), "{output:?}");
        return;
    };
    let text = ALONE.replace("\"quinn\"", "\"quinn-tls\"");
    let text = text.replace("[\"5 s\", \"20 s\"]", "[\"0.5 s\", \"1 s\"]").replace("20 s", "1 s");
    let mut tap = Tap::default();
    accord_sim::run(&scenario(&text), &mut tap).expect("it runs");
    let capture = keys.with_file_name("tls.pcapng");
    std::fs::write(&capture, &tap.0).expect("written");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&capture).args(["-T", "fields", "-e", "ip.src", "-e", "quic.frame_type"]);
    let option = format!("tls.keylog_file:{}", keys.display());
    let Ok(output) = tshark.args(["-o", &option]).output() else {
        eprintln!("SKIPPED: decryption of the capture needs tshark");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let packets: Vec<(&str, &str)> = text.lines().filter_map(|l| l.split_once('\t')).collect();
    let (data, acknowledgements) = (["8", "10", "12", "14"], ["2", "3"]);
    for (end, types) in [("198.18.0.0", &data[..]), ("198.18.0.1", &acknowledgements)] {
        let has = |frames: &str| frames.split(',').any(|frame| types.contains(&frame));
        let of_end = packets.iter().filter(|(from, _)| *from == end);
        let of_end: Vec<&str> = of_end.map(|(_, frames)| *frames).collect();
        let found = of_end.iter().filter(|frames| has(frames)).count();
        assert!(found > 100 && found * 10 > of_end.len() * 9, "{end}: {found} of {}", of_end.len());
    }
}

/// A seed changes the random numbers of a connection, and a run with packets observed is the same.
#[test]
fn captures_and_seeds_are_those_of_the_run() {
    let s = scenario(&ALONE.replace("20 s", "6 s"));
    let tapped = || {
        let mut tap = Tap::default();
        let run = accord_sim::run(&s, &mut tap).expect("it runs");
        (run.manifest.digest, tap.0)
    };
    let (digest, bytes) = tapped();
    assert_eq!(digest, packets(&s).manifest.digest);
    assert!(bytes == tapped().1, "captures are equal to the byte");
    // The long header of an Initial packet of version 1, in a datagram of the first flow.
    let first = bytes.windows(5).any(|w| w[0] & 0xf0 == 0xc0 && w[1..] == [0, 0, 0, 1]);
    assert!(first && bytes.windows(4).any(|w| w == [198, 18, 0, 1]));
}

/// The logs are quinn's own, of both ends, on the time of the run. They change nothing.
#[test]
fn both_ends_write_their_qlog() {
    #[derive(Default)]
    struct Kept([Vec<u8>; 2]);
    impl Observer for Kept {
        fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
            Ok(())
        }
        fn wants_logs(&self) -> bool {
            true
        }
        fn stack_log(&mut self, flow: usize, end: usize, bytes: &[u8]) {
            assert_eq!(flow, 0);
            self.0[end].extend(bytes);
        }
    }
    let s = scenario(&ALONE.replace("20 s", "6 s"));
    let mut kept = Kept::default();
    let run = accord_sim::run(&s, &mut kept).expect("it runs");
    assert_eq!(run.manifest.digest, packets(&s).manifest.digest);
    let [sent, received] = kept.0.map(|bytes| String::from_utf8(bytes).expect("text"));
    for (log, event) in
        [(&sent, "packet_sent"), (&sent, "metrics_updated"), (&received, "packet_received")]
    {
        let records: Vec<_> = log.split('\u{1e}').skip(1).collect();
        assert!(records[0].contains("qlog_version"), "{}", records[0]);
        assert!(records.iter().filter(|r| r.contains(event)).count() > 100, "{event}");
        let time = |record: &str| -> f64 {
            let (_, rest) = record.split_once("\"time\":").expect("a time");
            rest[..rest.find([',', '}']).expect("an end")].parse().expect("a number")
        };
        let times: Vec<f64> = records[1..].iter().map(|record| time(record)).collect();
        assert!(times.is_sorted() && times[times.len() - 1] > 5_900.0, "milliseconds of the run");
    }
}

/// The three transports of one law at one link, a transfer, bursts, and a connection that stops.
#[test]
fn it_shares_links_with_other_flows_and_carries_all_demands() {
    let s = scenario(DEMANDS);
    let run = packets(&s);
    assert!(run.broken.is_empty(), "{:?}", run.notes);
    let transfers = |flow| run.transfers.iter().filter(move |t| t.flow == flow);
    let one: Vec<_> = transfers(0).collect();
    assert_eq!((one.len(), one[0].start, one[0].size.get()), (1, 0.2, 150_000));
    // The handshake, ten packets, then the rest: at least four round trips of 20 ms.
    assert!(one[0].duration > 0.08 && one[0].duration < 2.0, "{}", one[0].duration);
    assert!(transfers(1).filter(|t| !t.duration.is_nan()).count() > 2);
    assert!(transfers(1).all(|t| t.start <= 1.5), "it has stopped");
    let rate = mean(&run, Metric::Goodput, 2, &s);
    assert!((0.95e6..1.1e6).contains(&rate), "{rate} bit/s");
    assert!(mean(&run, Metric::Throughput, 3, &s) > 1e6);
}

const DEMANDS: &str = r#"
    duration = "6 s"
    sample = "50 ms"
    steady = ["2 s", "6 s"]
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
    quic = "quinn-tls"
    controller = "quinn-newreno"
    demand = { constant = "1 Mbps" }
    [flow.ours]
    from = "left"
    to = "right"
    packet = "1500 B"
    controller = "cubic"
"#;

/// A mark of a router reaches the controller, and one that asks for none sees drops.
#[test]
fn marks_reach_the_stack() {
    let marking = ALONE
        .replace("\"droptail\", limit = \"1 BDP\"", "\"codel\", ecn = true, limit = \"1000 pkt\"")
        .replace("\"quinn-cubic\"", "{ name = \"quinn-cubic\", ecn = ECN }");
    for (ecn, marked) in [("true", true), ("false", false)] {
        let s = scenario(&marking.replace("ECN", ecn));
        let run = packets(&s);
        let link = s.links.iter().position(|l| !l.attachment).expect("a bottleneck");
        let sum = |metric| -> f64 {
            let series = run.series(metric, Entity::Link(link)).expect("it is recorded");
            series.values.iter().filter(|v| v.is_finite()).sum()
        };
        assert_eq!(sum(Metric::Marks) > 0.0, marked);
        assert_eq!(sum(Metric::Drops) > 0.0, !marked);
    }
}

#[test]
fn riders_of_tunnels_are_refused_with_their_place() {
    let text = r#"
        duration = "5 s"
        [link.core]
        from = "west"
        to = "hub"
        rate = "10 Mbps"
        delay = "5 ms"
        [flow.tunnel]
        from = "west"
        to = "hub"
        controller = "monaco"
        packet = "1560 B"
        tunnel = {}
        [flow.users]
        through = "tunnel"
        packet = "1500 B"
        quic = "quinn"
        controller = "quinn-cubic"
    "#;
    let e = scenarios(text).expect_err("refused");
    assert!(e.contains("quic.toml:17:") && e.contains("leave out `quic` or `through`"), "{e}");
}
