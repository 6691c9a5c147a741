//! `--pcap`, read by tshark.

mod common;

use common::*;
use std::path::Path;
use std::process::Command;

/// Fields of each packet, as tshark reads them; `None` without tshark.
fn read(path: &Path) -> Option<Vec<String>> {
    let fields = [
        "frame.interface_name",
        "ip.dsfield.dscp",
        "udp.length",
        "_ws.malformed",
    ];
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields"]);
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

/// Packets that crossed links, as the manifest has it.
fn hops(dir: &Path) -> u64 {
    let text = std::fs::read_to_string(dir.join("manifest.json")).expect("there is one");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest["runs"][1]["packet_hops"]
        .as_u64()
        .expect("a number")
}

#[test]
fn every_packet_that_leaves_a_port_is_there() {
    let monaco = SMALL.replace("\"vegas\"", "\"monaco\"");
    let dir = folder(&[("small.toml", &monaco)]);
    let args = [
        "run",
        "small.toml",
        "-e",
        "theory,packet",
        "--pcap",
        "all.pcapng",
        "-o",
        "a",
    ];
    accord(dir.path(), &args).with(0);
    // The result is the same without.
    accord(
        dir.path(),
        &["run", "small.toml", "-e", "theory,packet", "-o", "b"],
    )
    .with(0);
    let series = |run: &str| std::fs::read(dir.path().join(run).join("series.parquet")).unwrap();
    assert!(series("a") == series("b"), "looking changes nothing");
    let Some(packets) = read(&dir.path().join("all.pcapng")) else {
        return;
    };
    assert_eq!(packets.len() as u64, hops(&dir.path().join("a")));
    let count = |line: &str| packets.iter().filter(|p| *p == line).count();
    // 1000 bytes less the header of IP; 64 bytes of control likewise.
    let (data, reports) = (
        count("bottleneck\t0\t980\t"),
        count("bottleneck.reverse\t46\t60\t"),
    );
    assert!(data > 1000 && reports > 20, "{data} and {reports}");
    assert_eq!(count("bottleneck.reverse\t0\t980\t"), 0);
    let malformed = packets.iter().filter(|p| !p.ends_with('\t')).count();
    assert_eq!(malformed, 0);
}

#[test]
fn a_capture_is_of_one_run() {
    let dir = folder(&[("small.toml", SMALL)]);
    let args = [
        "run",
        "small.toml",
        "-e",
        "packet",
        "--reps",
        "2",
        "--pcap",
        "x.pcapng",
    ];
    let ended = accord(dir.path(), &args).with(2);
    assert!(ended.stderr.contains("here are 2"), "{ended:#?}");
    let args = [
        "run",
        "small.toml",
        "-e",
        "packet",
        "--pcap",
        "no/such/x.pcapng",
    ];
    assert!(
        accord(dir.path(), &args)
            .with(2)
            .stderr
            .contains("cannot create")
    );
    let mut left = names(dir.path());
    left.retain(|name| name != "runs");
    assert_eq!(left, ["small.toml"]);
}
