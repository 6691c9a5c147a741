//! `ACCORD_LOG`: the events of the engines on stderr.

use crate::common::*;
use std::collections::BTreeMap;
use std::path::Path;

/// A flow that fills its queue and loses packets, alongside one that starts later, at two points.
const LOSSY: &str = r#"
id = "lossy"
duration = "10 s"

[topology.dumbbell]
rate = "5 Mbps"
delay = "10 ms"
queue = { discipline = "droptail", limit = "20 pkt" }

[flow.web]
from = "left"
to = "right"
controller = "cubic"

[flow.late]
from = "left"
to = "right"
controller = "newreno"
start = "2 s"
stop = "8 s"

[[event]]
at = "5 s"
link = "bottleneck"
rate = "2 Mbps"

[sweep.rate]
set = "topology.dumbbell.rate"
values = ["5 Mbps", "6 Mbps"]
"#;

/// Runs the scenario at this level. Returns the fields of each line with an event.
fn events(dir: &Path, level: &str) -> Vec<BTreeMap<String, String>> {
    let mut command = program(dir, &["run", "lossy.toml", "-e", "packet", "-o", level]);
    let ended = end(command.env("ACCORD_LOG", level).spawn().expect("it starts")).with(0);
    let lines = ended.stderr.lines().filter(|line| line.contains(" event="));
    let fields = |line: &str| {
        // No value of these events has a space, but for the last one.
        let pairs = line.split(' ').filter_map(|word| word.split_once('='));
        pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect()
    };
    lines.map(fields).collect()
}

#[test]
fn a_log_says_why_a_window_was_cut() {
    let dir = folder(&[("lossy.toml", LOSSY)]);
    assert_eq!(events(dir.path(), "info"), []);
    let events = events(dir.path(), "debug");
    let of = |kind: &str, flow: &str, point: &str| {
        let matches = |e: &&BTreeMap<String, String>| {
            e["event"] == kind
                && e.get("flow").is_none_or(|f| f == flow)
                && e["point"].ends_with(point)
        };
        events.iter().filter(matches).cloned().collect::<Vec<_>>()
    };
    for point in ["5", "6"] {
        let cuts = of("cut", "web", point);
        assert!(cuts.len() > 3, "{events:?}");
        let mut last = 0.0;
        for cut in &cuts {
            let number = |key: &str| cut[key].parse::<f64>().expect("a number");
            assert!(number("t") > last && number("t") < 10.0, "{cut:?}");
            last = number("t");
            // CUBIC keeps 0.7 of the data in flight [RFC 9438 §4.6].
            let kept = number("to") / number("in_flight");
            assert!(cut["because"] == "time-out" || (0.6..0.8).contains(&kept), "{cut:?}");
        }
        assert_eq!(of("start", "late", point)[0]["t"], "2.0");
        assert_eq!(of("stop", "late", point)[0]["t"], "8.0");
        let change = &of("change", "", point)[0];
        assert!(change["link"] == "bottleneck" && change["t"] == "5.0", "{change:?}");
    }
    // Watching changes nothing.
    let series =
        |run: &str| std::fs::read(dir.path().join(run).join("001/series.parquet")).unwrap();
    assert!(series("info") == series("debug"));
}

#[test]
fn a_wrong_level_is_named() {
    let dir = folder(&[]);
    let mut command = program(dir.path(), &["list"]);
    let ended = end(command.env("ACCORD_LOG", "loud").spawn().expect("it starts")).with(2);
    assert!(ended.stderr.contains("ACCORD_LOG: \"loud\" is not a level"), "{}", ended.stderr);
}
