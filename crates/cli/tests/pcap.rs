//! `--pcap`, of simulated and of real packets, read by tshark.

use crate::common::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Returns these fields of each packet, as tshark reads them, separated by tabs; `None` without
/// tshark.
fn read(path: &Path, fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields"]);
    command.args(["-o", "ip.check_checksum:TRUE"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let Ok(output) = command.output() else {
        skipped("there is no tshark to read the capture with");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(str::to_owned).collect())
}

/// Returns the number of packets that crossed links, from the manifest.
fn hops(dir: &Path) -> u64 {
    let text = std::fs::read_to_string(dir.join("manifest.json")).expect("there is one");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest["runs"][1]["packet_hops"].as_u64().expect("a number")
}

#[test]
fn every_packet_that_leaves_a_port_is_there() {
    let monaco = SMALL.replace("\"vegas\"", "\"monaco\"");
    let dir = folder(&[("small.toml", &monaco)]);
    let args = ["run", "small.toml", "-e", "theory,packet", "--pcap", "all.pcapng", "-o", "a"];
    accord(dir.path(), &args).with(0);
    // The result without a capture is the same.
    accord(dir.path(), &["run", "small.toml", "-e", "theory,packet", "-o", "b"]).with(0);
    let series = |run: &str| std::fs::read(dir.path().join(run).join("series.parquet")).unwrap();
    assert!(series("a") == series("b"), "looking changes nothing");
    let fields = ["frame.interface_name", "ip.dsfield.dscp", "udp.length", "_ws.malformed"];
    let Some(packets) = read(&dir.path().join("all.pcapng"), &fields) else {
        return;
    };
    assert_eq!(packets.len() as u64, hops(&dir.path().join("a")));
    let count = |line: &str| packets.iter().filter(|p| *p == line).count();
    // 1000 bytes less the IP header; 64 bytes of control likewise.
    let (data, reports) = (count("bottleneck\t0\t980\t"), count("bottleneck.reverse\t46\t44\t"));
    assert!(data > 1000 && reports > 20, "{data} and {reports}");
    assert_eq!(count("bottleneck.reverse\t0\t980\t"), 0);
    let malformed = packets.iter().filter(|p| !p.ends_with('\t')).count();
    assert_eq!(malformed, 0);
}

#[test]
fn a_capture_is_of_one_run() {
    let dir = folder(&[("small.toml", SMALL)]);
    let args = ["run", "small.toml", "-e", "packet", "--reps", "2", "--pcap", "x.pcapng"];
    let ended = accord(dir.path(), &args).with(2);
    assert!(ended.stderr.contains("makes 2"), "{ended:#?}");
    let args = ["run", "small.toml", "-e", "packet", "--pcap", "no/such/x.pcapng"];
    assert!(accord(dir.path(), &args).with(2).stderr.contains("cannot create"));
    let mut left = names(dir.path());
    left.retain(|name| name != "runs");
    assert_eq!(left, ["small.toml"]);
}

/// A tunnel and an ECN-capable stream through a queue that marks, for a second and a half.
const LIVE: &str = r#"
id = "live"
duration = "1.5 s"
sample = "50 ms"

[topology.dumbbell]
rate = "4 Mbps"
delay = "5 ms"
queue = { discipline = "red", ecn = true, limit = "100 pkt" }

[flow.tunnel]
from = "left"
to = "right"
controller = "monaco"

[flow.stream]
from = "left"
to = "right"
controller = { name = "newreno", ecn = true }
access = { rate = "1 Gbps", delay = "1 ms" }
"#;

#[test]
#[cfg(target_os = "linux")]
fn real_packets_are_as_they_were_meant() {
    let dir = folder(&[("live.toml", LIVE)]);
    let args = ["run", "live.toml", "-e", "live", "--live", "loopback", "--pcap", "live.pcapng"];
    let ended = accord(dir.path(), &args);
    // A machine that is too busy for a verdict writes the same packets, later.
    let code = ended.code.filter(|code| *code == 3).unwrap_or(0);
    ended.with(code);
    let captured = dir.path().join("live.pcapng");
    let fields = [
        "frame.interface_name",
        "ip.src",
        "ip.dst",
        "udp.srcport",
        "udp.dstport",
        "ip.len",
        "ip.dsfield.dscp",
        "ip.dsfield.ecn",
        "ip.checksum.status",
        "_ws.malformed",
    ];
    let Some(packets) = read(&captured, &fields) else {
        return;
    };
    // Flow 0 is the tunnel, and flow 1 the stream. Control packets have 64 bytes, and acknowledgements 40.
    let [tunnel, reports] = ["49152\t7471", "7471\t49152"];
    let [data, ends] = ["49153\t7471", "7471\t49153"];
    // The permitted packets: data and in-band packets, out-of-band packets and reports with
    // expedited forwarding (46), acknowledgements. Private hosts come after the routers, as
    // 10.0.0.3.
    let (to, from) = ("10.0.0.1\t10.0.0.2", "10.0.0.2\t10.0.0.1");
    let (stream, acks) = ("10.0.0.3\t10.0.0.2", "10.0.0.2\t10.0.0.3");
    let kinds = [
        format!("bottleneck\t{to}\t{tunnel}\t1000\t0\t0"),
        format!("bottleneck\t{to}\t{tunnel}\t64\t0\t0"),
        format!("bottleneck\t{to}\t{tunnel}\t64\t46\t0"),
        format!("bottleneck\t{stream}\t{data}\t1000\t0\t2"),
        format!("bottleneck\t{stream}\t{data}\t1000\t0\t3"),
        format!("bottleneck.reverse\t{from}\t{reports}\t64\t46\t0"),
        format!("bottleneck.reverse\t{acks}\t{ends}\t40\t0\t0"),
        format!("stream.access\t{stream}\t{data}\t1000\t0\t2"),
        format!("stream.access.reverse\t{acks}\t{ends}\t40\t0\t0"),
    ];
    for kind in &kinds {
        // The checksum is correct, and no packet is malformed.
        let line = format!("{kind}\t1\t");
        assert!(packets.contains(&line), "no {line:?} in {packets:#?}");
    }
    let other = packets.iter().find(|p| {
        let kind = p.strip_suffix("\t1\t");
        kind.is_none_or(|kind| kinds.iter().all(|k| k != kind))
    });
    assert_eq!(other, None, "every packet is one of these");

    // Packets of one link are in order; those of different links nearly so, unless the machine was
    // busy.
    let times = read(&captured, &["frame.interface_name", "frame.time_epoch"]);
    let mut latest = BTreeMap::new();
    let mut newest = 0.0_f64;
    for line in times.unwrap_or_default() {
        let (link, at) = line.split_once('\t').expect("two fields");
        let at: f64 = at.parse().expect("a time");
        let before = latest.insert(link.to_owned(), at).unwrap_or(0.0);
        assert!(at >= before, "{link}: {at} after {before}");
        newest = newest.max(at);
        let far = at > 2.0 || at < newest - 0.5;
        assert!(!far || code == 3, "{at} after {newest}");
    }
}

/// A full disk loses the capture, not the run.
#[test]
#[cfg(target_os = "linux")]
fn a_capture_that_cannot_be_written_costs_no_results() {
    let dir = folder(&[("small.toml", SMALL)]);
    std::os::unix::fs::symlink("/dev/full", dir.path().join("full")).expect("a link");
    let args = ["run", "small.toml", "-e", "packet", "--pcap", "full"];
    let ended = accord(dir.path(), &args).with(3);
    assert!(ended.stderr.contains("cannot write full"), "{ended:#?}");
    assert!(dir.path().join("runs/small/series.parquet").is_file());
    assert!(dir.path().join("full").exists(), "it was there before");
}
