//! `--qlog`, read by the library `qlog` and by `accord import run`.

use crate::common::*;
use flate2::read::GzDecoder;
use qlog::events::{EventData, quic::PacketHeader};
use qlog::reader::{Event, QlogSeqReader};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// A flow that loses packets, alongside one that is not a stream.
const LOSSY: &str = r#"
id = "lossy"
duration = "10 s"
sample = "100 ms"

[topology.dumbbell]
rate = "5 Mbps"
delay = "10 ms"
queue = { discipline = "droptail", limit = "20 pkt" }

[flow.web]
from = "left"
to = "right"
controller = "cubic"

[flow.tunnel]
from = "left"
to = "right"
controller = "monaco"
"#;

/// Returns the events of a file, all known to the library, with their times in milliseconds.
fn events(path: &Path) -> Vec<(f64, EventData)> {
    let file = BufReader::new(File::open(path).expect("it was written"));
    let reader = QlogSeqReader::new(Box::new(file)).expect("a header");
    let schemas = &reader.qlog.trace.event_schemas;
    assert_eq!(schemas[..], ["urn:ietf:params:qlog:events:quic-13"]);
    let known = reader.map(|event| match event {
        Event::Qlog(event) => (event.time, event.data),
        Event::Json(event) => panic!("the library does not know {}", event.name),
    });
    known.collect()
}

fn run(dir: &Path, options: &str) -> Ended {
    let args = format!("run lossy.toml -e packet {options}");
    accord(dir, &args.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn a_log_has_what_the_sender_did() {
    let dir = folder(&[("lossy.toml", LOSSY)]);
    run(dir.path(), "--qlog logs -o a").with(0);
    run(dir.path(), "-o b --csv").with(0);
    let series = |run: &str| std::fs::read(dir.path().join(run).join("series.parquet")).unwrap();
    assert!(series("a") == series("b"), "looking changes nothing");
    // A tunnel has no log.
    assert_eq!(names(&dir.path().join("logs")), ["web.sqlog"]);

    let events = events(&dir.path().join("logs/web.sqlog"));
    assert!(events.is_sorted_by(|a, b| a.0 <= b.0));
    let number = |header: &PacketHeader| header.packet_number.expect("it has one");
    let (mut sent, mut lost) = (Vec::new(), Vec::new());
    let (mut acks, mut states, mut windows) = (0, Vec::new(), Vec::new());
    for (_, data) in &events {
        match data {
            EventData::QuicPacketSent(p) => sent.push(number(&p.header)),
            EventData::QuicPacketReceived(_) => acks += 1,
            EventData::QuicPacketLost(p) => lost.push(number(p.header.as_ref().unwrap())),
            EventData::QuicCongestionStateUpdated(s) => states.push(s.new.clone()),
            EventData::QuicMetricsUpdated(m) => windows.extend(m.congestion_window),
            other => panic!("{other:?}"),
        }
    }
    assert!(sent.iter().copied().eq(0..sent.len() as u64), "one by one");
    assert!(sent.len() > 1000 && acks > 1000 && windows.len() > 100);
    assert!(!lost.is_empty() && lost.iter().all(|n| sent.contains(n)));
    assert!(states.iter().any(|s| s == "recovery"));
    assert!(states.iter().any(|s| s == "congestion_avoidance"));
    // Each repair belongs to a loss. The table counts them.
    let csv = std::fs::read_to_string(dir.path().join("b/series.csv")).expect("a table");
    let of_web = |line: &&str| line.contains(",web,retransmissions,");
    let repairs = csv.lines().filter(of_web).filter_map(|l| l.rsplit(',').next());
    let repairs: f64 = repairs.filter_map(|v| v.parse::<f64>().ok()).sum();
    assert_eq!(repairs, lost.len() as f64);
}

/// A log that is read back agrees with the run that wrote it.
#[test]
fn a_log_comes_back_as_a_run() {
    let dir = folder(&[("lossy.toml", LOSSY)]);
    for version in ["draft", "0.3"] {
        let options = format!("--qlog logs --qlog-version {version} -o runs/ours");
        run(dir.path(), &options).with(0);
        let import = "import run logs/web.sqlog --group web --from 5s -o runs/read";
        accord(dir.path(), &import.split_whitespace().collect::<Vec<_>>()).with(0);
        let compared = accord(dir.path(), &["compare", "runs/ours", "runs/read", "--json"]);
        let compared = compared.with(0).json();
        let rows = compared["points"][0]["rows"].as_array().expect("rows");
        for (metric, band) in [("throughput", 0.01), ("rtt", 0.01), ("cwnd", 0.02)] {
            let is = |r: &&serde_json::Value| r["group"] == "web" && r["quantity"] == metric;
            let row = rows.iter().find(is).unwrap_or_else(|| panic!("{rows:#?}"));
            let value = |i: usize| row["values"][i]["mean"].as_f64().expect("a number");
            let error = value(1) / value(0) - 1.0;
            assert!(error.abs() < band, "{version}, {metric}: {error}");
        }
    }
}

#[test]
fn version_0_3_has_the_names_that_qvis_reads() {
    let dir = folder(&[("lossy.toml", LOSSY)]);
    run(dir.path(), "--qlog logs --qlog-version 0.3").with(0);
    let text = std::fs::read_to_string(dir.path().join("logs/web.sqlog")).expect("a log");
    let records: Vec<serde_json::Value> = (text.split('\u{1e}').skip(1))
        .map(|record| serde_json::from_str(record).expect("JSON"))
        .collect();
    // The header fields that qvis requires.
    assert_eq!(records[0]["qlog_version"], "0.3");
    assert_eq!(records[0]["qlog_format"], "JSON-SEQ");
    assert!(records[0]["trace"].is_object());
    for name in [
        "transport:packet_sent",
        "transport:packet_received",
        "recovery:metrics_updated",
        "recovery:packet_lost",
        "recovery:congestion_state_updated",
    ] {
        assert!(records.iter().any(|r| r["name"] == name), "{name}");
    }
    assert!(!text.contains("\"quic:"));
}

/// BBR's own states and variables are in its log.
#[test]
fn a_log_has_the_inner_state_of_the_controller() {
    let bbr = LOSSY.replace("\"cubic\"", "\"bbr3\"");
    let dir = folder(&[("lossy.toml", &bbr)]);
    run(dir.path(), "--qlog logs").with(0);
    let text = std::fs::read_to_string(dir.path().join("logs/web.sqlog")).expect("a log");
    let records = text.split('\u{1e}').skip(2);
    let records: Vec<serde_json::Value> =
        records.map(|record| serde_json::from_str(record).expect("JSON")).collect();
    let states: Vec<_> = records.iter().filter_map(|r| r["data"]["new"].as_str()).collect();
    assert_eq!(states[..2], ["startup", "drain"]);
    let rates: Vec<_> = records.iter().filter_map(|r| r["data"]["bbr3.max_bw"].as_f64()).collect();
    let latest = rates.last().expect("a rate");
    assert!((1e6..6e6).contains(latest), "{latest} bit/s over 5 Mbps");
}

#[test]
fn logs_are_of_one_run_and_of_streams() {
    let tunnel = LOSSY.replace("\"cubic\"", "\"monaco\"");
    let dir = folder(&[("lossy.toml", LOSSY), ("tunnels.toml", &tunnel)]);
    let ended = run(dir.path(), "--reps 2 --qlog logs").with(2);
    assert!(ended.stderr.contains("makes 2"), "{ended:#?}");
    let args = ["run", "tunnels.toml", "-e", "packet", "--qlog", "logs"];
    let ended = accord(dir.path(), &args).with(2);
    assert!(ended.stderr.contains("nothing to write"), "{ended:#?}");
    let ended = run(dir.path(), "--qlog lossy.toml").with(2);
    assert!(ended.stderr.contains("cannot create"), "{ended:#?}");
}

#[test]
#[cfg(target_os = "linux")]
fn real_packets_are_logged() {
    let brief = LOSSY.replace("\"10 s\"", "\"1.5 s\"");
    let dir = folder(&[("lossy.toml", &brief)]);
    let args = "run lossy.toml -e live --live loopback --qlog logs";
    let ended = accord(dir.path(), &args.split_whitespace().collect::<Vec<_>>());
    // On a busy machine there may be no verdict, but there is a log.
    assert!([Some(0), Some(3)].contains(&ended.code), "{ended:#?}");
    let events = events(&dir.path().join("logs/web.sqlog"));
    let sent = |e: &&(f64, EventData)| matches!(e.1, EventData::QuicPacketSent(_));
    assert!(events.iter().filter(sent).count() > 50, "{}", events.len());
}

#[test]
fn flent_gets_its_series() {
    let dir = folder(&[("lossy.toml", LOSSY)]);
    run(dir.path(), "-o runs/lossy").with(0);
    let export = ["export", "flent", "runs/lossy", "-o", "x.flent.gz"];
    accord(dir.path(), &export).with(0);
    // A file is not replaced by accident.
    let again = accord(dir.path(), &export).with(2);
    assert!(again.stderr.contains("--force"), "{again:#?}");
    let mut text = String::new();
    let file = File::open(dir.path().join("x.flent.gz")).expect("it was written");
    GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(file["version"], 3);
    assert_eq!(file["metadata"]["NAME"], "tcp_nup");
    let times = file["x_values"].as_array().expect("times").len();
    assert_eq!(times, 100);
    for series in ["TCP upload::1", "TCP upload::2", "TCP upload sum"] {
        let values = file["results"][series].as_array().expect(series);
        assert_eq!(values.len(), times, "{series}");
    }
    let last = &file["raw_values"]["TCP upload::1"][99];
    assert!(last["tcp_rtt"].as_f64().is_some_and(|ms| ms > 20.0), "{last}");
    // Flows that have not started are not averaged [flent, ComputingRunner].
    let late = LOSSY.replace("[flow.web]", "[flow.web]\nstart = \"4 s\"");
    let late = late.replace("[flow.tunnel]", "[flow.tunnel]\nstart = \"8 s\"");
    std::fs::write(dir.path().join("lossy.toml"), late).expect("written");
    run(dir.path(), "-o runs/late").with(0);
    let export = ["export", "flent", "runs/late", "-o", "late.flent.gz"];
    accord(dir.path(), &export).with(0);
    let mut text = String::new();
    let file = File::open(dir.path().join("late.flent.gz")).expect("it was written");
    (GzDecoder::new(file).read_to_string(&mut text)).expect("gzip");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let value = |series: &str, i: usize| file["results"][series][i].as_f64();
    let both = ["TCP upload::1", "TCP upload::2"];
    for (i, there) in [(20, 0), (60, 1), (95, 2)] {
        let values: Vec<f64> = both.iter().filter_map(|s| value(s, i)).collect();
        assert_eq!(values.len(), there, "{i}");
        let sum = values.iter().copied().reduce(|a, b| a + b);
        let near = |found: Option<f64>, wanted: Option<f64>| match (found, wanted) {
            (Some(found), Some(wanted)) => (found / wanted - 1.0).abs() < 1e-12,
            (found, wanted) => found == wanted,
        };
        assert!(near(value("TCP upload sum", i), sum), "{i}");
        assert!(near(value("TCP upload avg", i), sum.map(|sum| sum / there as f64)), "{i}");
    }
    let none = ["export", "flent", "runs/lossy", "-e", "live"];
    let none = accord(dir.path(), &none).with(2);
    assert!(none.stderr.contains("available: packet"), "{none:#?}");
}

/// The rate in a file whose last interval is short, and in the same file compressed and truncated,
/// with invalid bytes in one record.
#[test]
fn means_are_over_what_was_measured() {
    let interval = |i: usize, end: f64| {
        let bytes = ((end - i as f64) * 2_500_000.0).round();
        format!(
            "{{\"event\":\"interval\",\"data\":{{\"streams\":[{{\"socket\":5,\"start\":{i},\"end\":{end},\"bytes\":{bytes},\"sender\":false}}]}}}}\n"
        )
    };
    let whole: String = (0..9).map(|i| interval(i, i as f64 + 1.0)).collect();
    let whole = format!("{{\"event\":\"start\",\"data\":{{}}}}\n{whole}{}", interval(9, 9.0005));
    let broken = [whole.as_bytes(), b"{\"event\":\"\xff\xfe"].concat();
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, whole.repeat(40).as_bytes()).expect("memory");
    let zipped = zipped.finish().expect("memory");
    let dir = folder(&[("small.json", &whole)]);
    std::fs::write(dir.path().join("broken.json"), broken).expect("written");
    std::fs::write(dir.path().join("cut.json.gz"), &zipped[..zipped.len() - 20]).expect("written");
    accord(dir.path(), &["import", "run", "small.json", "-o", "first"]).with(0);
    for file in ["small.json", "broken.json", "cut.json.gz"] {
        for sample in ["1s", "700ms", "10s"] {
            let args = ["import", "run", file, "-o", "run", "--sample", sample];
            accord(dir.path(), &args).with(0);
            let json = accord(dir.path(), &["compare", "first", "run", "--json"]).with(0).json();
            let rows = json["points"][0]["rows"].as_array().expect("rows");
            let of = |q: &str| rows.iter().find(|r| r["quantity"] == q).expect("a row");
            for i in [0, 1] {
                let mean = of("throughput")["values"][i]["mean"].as_f64();
                let off = mean.expect("a number") / 20e6 - 1.0;
                assert!(off.abs() < 1e-6, "{file}, {sample}: {off}");
            }
        }
    }
}

/// A file without measurements is refused with its place.
#[test]
fn errors_say_where() {
    let cases = [
        ("a.ss", "1.0\n0 0 10.0.0.1:1 10.0.0.2:2\n\t cubic rtt:x/2 cwnd:10\n", "line 3"),
        ("b.ss", "2.0\n1.0\n", "line 2"),
        (
            "c.sqlog",
            "\u{1e}{\"qlog_version\":\"0.3\",\"trace\":{}}\n\u{1e}{\"time\":1}\n",
            "line 2",
        ),
        ("d.json", "{\"start\":{},\"intervals\":[{}]}", "intervals[0]"),
        ("e.txt", "nothing\n", "--format"),
        ("f.ss", "1.0\n", "no sample"),
    ];
    for (name, text, place) in cases {
        let dir = folder(&[(name, text)]);
        let ended = accord(dir.path(), &["import", "run", name]).with(2);
        assert!(ended.stderr.contains(place), "{name}: {}", ended.stderr);
        assert!(!dir.path().join("runs").exists(), "{name}");
    }
}
