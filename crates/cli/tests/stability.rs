//! `accord stability` from the command line.

use crate::common::*;
use serde_json::json;

/// Proportional control that is stable at small gains, and unstable at 2.0.
const LOOP: &str = r#"
duration = "20 s"
steady = ["10 s", "20 s"]
[topology.dumbbell]
rate = "30 Mbps"
delay = "10 ms"
queue = { discipline = "droptail", limit = "unlimited" }
[flow.f]
count = 4
from = "left"
to = "right"
controller = { name = "monaco", gain = 0.5, estimator = "ideal" }
"#;

fn rows(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_string).collect();
    text.lines().skip(1).map(row).collect()
}

#[test]
fn one_point_has_margins_and_an_exit_code() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let stable = accord(dir.path(), &["stability", "loop.toml"]).with(0);
    for words in ["stable", "gain margin", "delay margin", "rightmost roots"] {
        assert!(stable.stdout.contains(words), "{stable:#?}");
    }
    let gain = "flow.f.controller.gain=5.0";
    let unstable = accord(dir.path(), &["stability", "loop.toml", "--set", gain]).with(1);
    assert!(unstable.stdout.contains("NOT STABLE"), "{unstable:#?}");
}

#[test]
fn a_phase_in_which_no_flow_sends_says_so() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let late = ["stability", "loop.toml", "--set", "flow.f.start=1 s"];
    let found = accord(dir.path(), &late).with(0);
    let line = "0 s to 1 s, ack-clocked: no equilibrium to linearise at: no flow sends then";
    assert!(found.stdout.contains(line), "{found:#?}");
}

/// A virtual queue damps less at small gains.
#[test]
fn a_loop_that_smaller_gains_make_unstable_has_a_lower_limit() {
    const VIRTUAL: &str = r#"
duration = "20 s"
topology.dumbbell = { rate = "5 Mbps", delay = "200 ms", queue = { discipline = "avd", limit = "4000 pkt", gain = 0.05 } }
[flow.f]
count = 80
from = "left"
to = "right"
controller = { name = "monaco", gain = 0.5 }
"#;
    let dir = folder(&[("loop.toml", VIRTUAL)]);
    let stable = accord(dir.path(), &["stability", "loop.toml"]).with(0);
    assert!(stable.stdout.contains("no larger gain makes it cycle; below 0."), "{stable:#?}");
    let gain = "flow.f.controller.gain=0.1";
    let small = accord(dir.path(), &["stability", "loop.toml", "--set", gain]).with(1);
    assert!(small.stdout.contains("no smaller gain makes it stable"), "{small:#?}");
}

/// A flow that its application bounds keeps its rate, whatever the jitter.
#[test]
fn flows_that_do_not_move_have_no_jitter_that_halves_a_rate() {
    let bounded = LOOP.replace("count = 4", "count = 4\ndemand = { constant = \"1 Mbps\" }");
    let dir = folder(&[("loop.toml", bounded.as_str())]);
    let found = accord(dir.path(), &["stability", "loop.toml"]).with(0);
    assert!(found.stdout.contains("stable"), "{found:#?}");
    assert!(!found.stdout.contains("jitter"), "{found:#?}");
}

/// The numbers are those of the text, and four flows share 30 Mbps.
#[test]
fn one_point_as_json() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let text = accord(dir.path(), &["stability", "loop.toml"]).with(0);
    let found = accord(dir.path(), &["stability", "loop.toml", "--json"]).with(0);
    let phase = &found.json()["points"][0]["phases"][0];
    assert_eq!((&phase["stable"], &phase["error"]), (&json!(true), &json!(null)));
    for (key, unit, scale) in [("gain_margin", "", 1.0), ("delay_margin_s", " ms", 1e3)] {
        let number = scale * phase[key].as_f64().expect("a number");
        let words = match unit {
            "" => format!(" {number:.4} ("),
            unit => format!(" {number:.3}{unit}, phase margin"),
        };
        assert!(text.stdout.contains(&words), "{words}\n{text:#?}");
    }
    let flows = &phase["flows"][0];
    assert_eq!((&flows["group"], &flows["flows"]), (&json!("f"), &json!(4)));
    let rate = flows["rate_bps"].as_f64().expect("a number");
    // Control packets have the rest.
    assert!((0.99..1.0).contains(&(rate / 7.5e6)), "{rate}");

    let gain = "flow.f.controller.gain=5.0";
    let args = ["stability", "loop.toml", "--json", "--set", gain];
    let unstable = accord(dir.path(), &args).with(1).json();
    assert_eq!(unstable["points"][0]["phases"][0]["stable"], json!(false));
}

/// The gain margin times the gain is the critical gain, constant along the axis; a longer delay
/// does not increase it where the queue is small compared with the path.
#[test]
fn a_map_over_two_parameters_with_packets() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let args = [
        "stability",
        "loop.toml",
        "--x",
        "flow.f.controller.gain=0.5..3.5",
        "--y",
        "topology.dumbbell.delay=10 ms..40 ms",
        "--points",
        "3",
        "--packets",
        "1",
        "--csv",
        "-o",
        "map",
    ];
    let ended = accord(dir.path(), &args).with(0);
    let table = std::fs::read_to_string(dir.path().join("map/map.csv")).unwrap();
    assert!(ended.stdout.contains(&table), "{ended:#?}");
    let rows = rows(&table);
    assert_eq!(rows.len(), 9);
    let number = |row: &[String], i: usize| row[i].parse::<f64>().unwrap();
    for line in rows.chunks(3) {
        let critical = number(&line[0], 0) * number(&line[0], 2);
        for row in line {
            let found = number(row, 0) * number(row, 2);
            assert!((found / critical - 1.0).abs() < 1e-4, "{row:?} {critical}");
            // Unstable where the margin is below one.
            assert_eq!(number(row, 4) < 0.0, number(row, 2) > 1.0, "{row:?}");
        }
    }
    assert_eq!(rows.iter().filter(|r| !r[5].is_empty()).count(), 1);
    let as_json = args.map(|arg| if arg == "--csv" { "--json" } else { arg });
    let map = accord(dir.path(), &as_json).with(0).json();
    assert_eq!(map["axes"][1], json!({"path": "topology.dumbbell.delay", "unit": "ms"}));
    let cells = map["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 9);
    for (row, cell) in rows.iter().zip(cells) {
        assert_eq!(cell["at"], json!([number(row, 0), number(row, 1)]));
        let margin = cell["gain_margin"].as_f64().expect("a number");
        assert_eq!(format!("{margin:.6}"), row[2]);
        assert_eq!(cell["packet_queue_variation"].is_null(), row[5].is_empty());
    }
    let page = std::fs::read_to_string(dir.path().join("map/map.html")).unwrap();
    assert_eq!(page.matches("</title></rect>").count(), 9);
    assert_eq!(page.matches("<circle").count(), 1);
}

#[test]
fn axes_that_make_no_sense_are_refused() {
    let dir = folder(&[("loop.toml", LOOP)]);
    for (x, said) in [
        ("flow.f.controller.gian=0.1..1", "gian"),
        ("flow.g.controller.gain=0.1..1", "there is no flow"),
        ("flow.f.controller.gain", "no \"=\""),
        ("flow.f.controller.gain=1", "no \"..\""),
        ("flow.f.controller.gain=2..1", "must be the smaller one"),
        ("topology.dumbbell.delay=1 ms..2 Mbps", "do not fit together"),
        ("flow.f.controller.gain=-1..1", "gain"),
    ] {
        let ended = accord(dir.path(), &["stability", "loop.toml", "--x", x]).with(2);
        assert!(ended.stderr.contains(said), "{x}: {ended:#?}");
        assert!(!dir.path().join("runs").exists(), "{x}");
    }
}

/// The second would silently win.
#[test]
fn axes_are_two() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let x = "flow.f.controller.gain=0.1..1";
    let args = ["stability", "loop.toml", "--x", x, "--y", x];
    let ended = accord(dir.path(), &args).with(2);
    assert!(ended.stderr.contains("both axes"), "{ended:#?}");
}

/// Numbers of flows are whole, and so are intermediate points if they fit.
#[test]
fn a_count_is_an_axis() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let x = "flow.f.count=1..4";
    let args = |points| ["stability", "loop.toml", "--x", x, "--points", points, "-o", "map"];
    accord(dir.path(), &args("4")).with(0);
    let table = std::fs::read_to_string(dir.path().join("map/map.csv")).unwrap();
    let counts: Vec<String> = rows(&table).iter().map(|r| r[0].clone()).collect();
    assert_eq!(counts, ["1", "2", "3", "4"]);
    let ended = accord(dir.path(), &args("3")).with(2);
    assert!(ended.stderr.contains("whole number"), "{ended:#?}");
}

/// A sweep of the file would override the map's values.
#[test]
fn a_file_with_a_sweep_has_no_map() {
    let sweep = "[sweep.g]\nset = [\"flow.f.controller.gain\"]\nvalues = [0.2, 0.4]\n";
    let dir = folder(&[("loop.toml", &format!("{LOOP}{sweep}"))]);
    let x = "flow.f.controller.gain=0.1..1";
    let ended = accord(dir.path(), &["stability", "loop.toml", "--x", x]).with(2);
    assert!(ended.stderr.contains("sweep"), "{ended:#?}");
    // Without a map, every point is shown.
    let all = accord(dir.path(), &["stability", "loop.toml"]).with(0);
    assert_eq!(all.stdout.matches("gain margin").count(), 2, "{all:#?}");
}

/// A law without a linearisation is reported in words.
#[test]
fn laws_of_the_sign_are_named() {
    let vegas =
        LOOP.replace("{ name = \"monaco\", gain = 0.5, estimator = \"ideal\" }", "\"vegas\"");
    let dir = folder(&[("vegas.toml", &vegas)]);
    let ended = accord(dir.path(), &["stability", "vegas.toml"]).with(0);
    assert!(ended.stdout.contains("no linearisation"), "{ended:#?}");
    assert!(!ended.stdout.contains("NaN"), "{ended:#?}");
    let json = accord(dir.path(), &["stability", "vegas.toml", "--json"]).with(0);
    let phase = &json.json()["points"][0]["phases"][0];
    let error = phase["error"].as_str().expect("a message");
    assert!(ended.stdout.contains(error), "{error}");
    assert!(phase["stable"].is_null());
    let map =
        ["stability", "vegas.toml", "--x", "topology.dumbbell.delay=1 ms..9 ms", "--points", "2"];
    let ended = accord(dir.path(), &map).with(0);
    assert!(ended.stdout.contains("no linearisation"), "{ended:#?}");
    assert!(!ended.stdout.contains("NaN"), "{ended:#?}");
}

/// Reno over RED has an equilibrium here, which becomes unstable with a longer delay.
#[test]
fn reno_over_red_has_a_map() {
    let queue = "queue = { discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"100 pkt\", max_probability = 0.2, weight = 0.02, limit = \"unlimited\" }";
    let red = LOOP
        .replace("queue = { discipline = \"droptail\", limit = \"unlimited\" }", queue)
        .replace("{ name = \"monaco\", gain = 0.5, estimator = \"ideal\" }", "\"reno\"");
    let dir = folder(&[("red.toml", &red)]);
    let one = accord(dir.path(), &["stability", "red.toml"]);
    assert!(one.stdout.contains("% marked or lost"), "{one:#?}");
    let x = "topology.dumbbell.delay=1 ms..100 ms";
    let map = ["stability", "red.toml", "--x", x, "--points", "3", "-o", "map"];
    accord(dir.path(), &map).with(0);
    let table = std::fs::read_to_string(dir.path().join("map/map.csv")).unwrap();
    let growth: Vec<f64> = (rows(&table).iter()).map(|r| r[3].parse().unwrap()).collect();
    assert!(growth[0] < 0.0 && growth[2] > 0.0, "{table}");
}

/// Only an earlier map is replaced; other tables and runs are not.
#[test]
fn a_map_replaces_maps_only() {
    let dir = folder(&[("loop.toml", LOOP)]);
    let map = |to: &str| {
        let x = "flow.f.controller.gain=0.1..1";
        let args = ["stability", "loop.toml", "--x", x, "--points", "2", "-o", to];
        accord(dir.path(), &args)
    };
    let path = |name: &str| dir.path().join(name);
    std::fs::create_dir(path("mine")).unwrap();
    std::fs::write(path("mine/map.csv"), "mine").unwrap();
    std::fs::write(path("file"), "mine").unwrap();
    let run = ["run", "loop.toml", "-q", "--engine", "theory", "-o", "run"];
    accord(dir.path(), &run).with(0);
    for place in ["mine", "file", "run"] {
        let before = files(dir.path());
        let ended = map(place).with(2);
        assert!(ended.stderr.contains("not a map"), "{ended:#?}");
        assert!(files(dir.path()) == before, "{place} is as it was");
    }
    map("map").with(0);
    let first = files(&path("map"));
    map("map").with(0);
    assert!(files(&path("map")) == first);
    assert_eq!(names(&path("map")), ["manifest.json", "map.csv", "map.html"]);
    // With other files in it, it stays.
    std::fs::write(path("map/notes.txt"), "mine").unwrap();
    let ended = map("map").with(2);
    assert!(ended.stderr.contains("notes.txt"), "{ended:#?}");
    // A run does not replace a map either.
    let over = ["run", "loop.toml", "-q", "--engine", "theory", "-o", "map"];
    accord(dir.path(), &over).with(2);
    assert_eq!(names(dir.path()), ["file", "loop.toml", "map", "mine", "run"]);
}

/// The limit of z² − z + κ = 0 is 1. Below the limit of the whole loop, 0.578, a check is silent.
/// Between the two nothing is guaranteed.
#[test]
fn a_check_names_the_margin_of_a_gain_beyond_it() {
    let warnings = |gain: &str| {
        let text = LOOP.replace("gain = 0.5", gain);
        let dir = folder(&[("loop.toml", &text)]);
        accord(dir.path(), &["check", "loop.toml"]).with(0).stderr
    };
    for gain in ["gain = 0.5", "gain = 0.57"] {
        assert_eq!(warnings(gain), "");
    }
    let between = warnings("gain = 0.7");
    for words in
        ["a gain of 0.700 for f is beyond 0.578", "guaranteed to be stable", "accord stability"]
    {
        assert!(between.contains(words), "{between}");
    }
    let beyond = warnings("gain = 1.5");
    for words in ["a gain of 1.500 for f is beyond 1.000", "cycles", "accord stability"] {
        assert!(beyond.contains(words), "{beyond}");
    }
}

/// Four flows over one link have the gain 1 as the limit of z² − z + κ = 0, and 0.578 as the limit
/// of stability of the whole loop. Without the bound on the increase the latter is the limit.
#[test]
fn a_window_that_is_decided_once_per_round_trip_has_the_limit_of_its_loop() {
    let found = |controller: &str, code| {
        let text = LOOP.replace("gain = 0.5, estimator = \"ideal\"", controller);
        let dir = folder(&[("loop.toml", &text)]);
        let text = accord(dir.path(), &["stability", "loop.toml"]).with(code).stdout;
        let json = accord(dir.path(), &["stability", "loop.toml", "--json"]).with(code);
        let phase = json.json()["points"][0]["phases"][0].clone();
        let number = |key: &str| phase[key].as_f64().expect("a number");
        (text, number("gain_margin"), number("guaranteed_gain"))
    };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 5e-3;
    let (text, gain, guaranteed) = found("gain = 0.5", 0);
    assert!(text.contains(": stable\n") && text.contains("guaranteed"), "{text}");
    assert!(near(gain, 2.0) && near(guaranteed, 0.578 / 0.5), "{gain} {guaranteed}");
    let (text, gain, guaranteed) = found("gain = 0.8", 0);
    assert!(text.contains("not guaranteed"), "{text}");
    assert!(near(gain, 1.0 / 0.8) && near(guaranteed, 0.578 / 0.8), "{gain} {guaranteed}");
    let (text, gain, _) = found("gain = 1.1", 1);
    assert!(text.contains("NOT STABLE") && near(gain, 1.0 / 1.1), "{text}");
    let (text, gain, guaranteed) = found("law = \"xia05\", gain = 0.8", 1);
    assert!(text.contains("NOT STABLE"), "{text}");
    assert!(near(gain, 0.578 / 0.8) && gain == guaranteed, "{gain} {guaranteed}");
}
