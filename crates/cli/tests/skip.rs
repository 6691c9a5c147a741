//! Runs that skip time report it, and are refused where skipping is impossible.

use crate::common::*;

const LONG: &str = r#"
title = "Two flows for long"
duration = "300 s"
steady = ["100 s", "300 s"]

expect = [{ name = "the link is full", metric = "utilisation", of = "bottleneck", at_least = 0.9 }]

[topology.dumbbell]
rate = "8 Mbps"
delay = "10 ms"

[flow.f]
count = 2
from = "left"
to = "right"
controller = "monaco"
"#;

#[test]
fn a_run_says_what_it_skipped() {
    let dir = folder(&[("long.toml", LONG)]);
    let words = ["run", "long.toml", "-e", "theory,packet"];
    let whole = accord(dir.path(), &[&words[..], &["--json", "-o", "whole"]].concat()).with(0);
    let short = ["--skip", "steady", "-o", "short"];
    let short = accord(dir.path(), &[&words[..], &["--json"], &short].concat()).with(0);
    let packet = |ended: &Ended| {
        let json = ended.json();
        let runs = json["points"][0]["runs"].as_array().expect("runs").clone();
        let packet = runs.into_iter().find(|run| run["engine"] == "packet");
        packet.expect("it ran")
    };
    let [whole, short] = [packet(&whole), packet(&short)];
    assert_eq!(whole["skipped_s"], 0.0);
    assert!(short["skipped_s"].as_f64() > Some(200.0), "{short}");
    assert_ne!(whole["digest"], short["digest"]);

    // The manifest has it, also when it is read back.
    let manifest = std::fs::read_to_string(dir.path().join("short/manifest.json")).unwrap();
    assert!(manifest.contains("\"skipped_ps\""), "{manifest}");
    let manifest = std::fs::read_to_string(dir.path().join("whole/manifest.json")).unwrap();
    assert!(!manifest.contains("skipped_ps"), "{manifest}");
    accord(dir.path(), &["compare", "whole", "short"]).with(0);

    // The verdict has it, in the terminal and on the page.
    let shown = accord(dir.path(), &[&words[..], &["--skip", "steady"]].concat()).with(0);
    assert!(shown.stdout.contains("1 of 1 check met; skipped "), "{shown:#?}");
    assert!(shown.stdout.contains("packet, seed 1: skipped "), "{shown:#?}");
    assert!(shown.stderr.contains("of 300 s were skipped in "), "{shown:#?}");
    let page = std::fs::read_to_string(dir.path().join("runs/long/page.html")).unwrap();
    assert!(page.contains("1 of 1 check met; skipped "));

    // Nothing is skipped before a transfer is complete.
    let set = ["--skip", "steady", "--set", "flow.f.demand={ size = \"10 GB\" }"];
    let none = accord(dir.path(), &[&words[..], &set].concat()).with(0);
    assert!(none.stderr.contains("nothing was skipped: f.1 is a transfer"), "{none:#?}");
}

#[test]
fn what_cannot_skip_is_refused() {
    let dir = folder(&[("long.toml", LONG)]);
    for (more, why) in [
        (&["-e", "theory"][..], "--skip needs the packet engine"),
        (&["-e", "packet,live", "--live", "loopback"], "a live run cannot skip time"),
        (&["-e", "packet", "--pcap", "x.pcapng"], "cannot be used with"),
        (&["-e", "packet", "--qlog", "logs"], "cannot be used with"),
    ] {
        let words = ["run", "long.toml", "--skip", "steady"];
        let refused = accord(dir.path(), &[&words[..], more].concat()).with(2);
        assert!(refused.stderr.contains(why), "{refused:#?}");
    }
}
