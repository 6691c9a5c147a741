//! The cost of a run is announced before it starts, and a run that does not fit is refused.

use crate::common::*;
use std::io::{BufRead, BufReader};
use std::path::Path;

fn cost(dir: &Path, args: &[&str]) -> serde_json::Value {
    let args = [&["check"], args, &["--json"]].concat();
    accord(dir, &args).with(0).json()["cost"].take()
}

fn number(cost: &serde_json::Value, key: &str) -> f64 {
    cost[key].as_f64().unwrap_or_else(|| panic!("{key}: {cost}"))
}

/// Packets and bytes do not depend on the machine. Experiments with and without control.
#[test]
fn packets_and_files_are_estimated_within_a_factor_of_two() {
    let dir = folder(&[("small.toml", SMALL)]);
    let net = ["new", "fat-tree", "-o", "tree.toml", "--duration", "5 s"];
    accord(dir.path(), &net).with(0);
    for id in ["small.toml", "tree.toml", "xia05-fig6", "ple03-fig1"] {
        let cost = cost(dir.path(), &[id, "-e", "packet"]);
        accord(dir.path(), &["run", id, "-e", "packet", "-q", "-o", "out"]);
        let (mut hops, mut bytes) = (0.0, 0.0);
        let mut open = vec![dir.path().join("out")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("a directory") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                bytes += path.metadata().expect("a file").len() as f64;
                if path.ends_with("manifest.json") {
                    let text = std::fs::read_to_string(path).expect("text");
                    let json: serde_json::Value = text.parse().expect("JSON");
                    let runs = json["runs"].as_array().cloned().unwrap_or_default();
                    hops += runs.iter().map(|r| number(r, "packet_hops")).sum::<f64>();
                }
            }
        }
        let ratio = number(&cost, "packet_hops") / hops;
        assert!((0.5..2.0).contains(&ratio), "{id}: {ratio} of {hops} packet-hops");
        let ratio = number(&cost, "file_bytes") / bytes;
        assert!((0.33..3.0).contains(&ratio), "{id}: {ratio} of {bytes} bytes");
        std::fs::remove_dir_all(dir.path().join("out")).expect("ours");
    }
}

/// An application that makes a packet in 12 ns costs time, whatever its controller lets go.
#[test]
fn packets_that_wait_for_congestion_control_cost_time() {
    let demand = "flow.f.demand={on_off={burst=\"1 B\",pause=\"1 ps\",rate=\"1 Tbps\"}}";
    let dir = folder(&[("small.toml", SMALL)]);
    let seconds = |more: &[&str]| {
        let cost = cost(dir.path(), &[&["small.toml", "-e", "packet"], more].concat());
        number(&cost, "seconds")
    };
    let flow = SMALL.lines().find_map(|line| line.strip_prefix("[flow.")).expect("a flow");
    let demand = demand.replace("flow.f.", &format!("flow.{}.", flow.trim_end_matches(']')));
    assert!(seconds(&["--set", &demand]) > 10.0 * seconds(&[]));
}

#[test]
fn repetitions_points_and_engines_add_up() {
    let dir = folder(&[("small.toml", SMALL)]);
    let one = cost(dir.path(), &["small.toml", "-e", "packet"]);
    let ten = cost(dir.path(), &["small.toml", "-e", "packet", "--reps", "10"]);
    assert_eq!(number(&ten, "runs"), 10.0);
    let ratio = number(&ten, "packet_hops") / number(&one, "packet_hops");
    assert!((ratio - 10.0).abs() < 1e-9, "{ratio}");
    let live = cost(dir.path(), &["small.toml", "-e", "live"]);
    // Real time.
    assert!((4.0..5.0).contains(&number(&live, "seconds")), "{live}");
    assert_eq!(number(&live, "packet_hops"), 0.0);
}

/// Unless live is named, points without live expectations do not run live.
#[test]
fn live_runs_are_those_of_which_something_is_expected() {
    let text = SMALL.to_string()
        + "\n[[expect]]\nmetric = \"drops\"\nof = \"bottleneck\"\nengine = \"live\"\n\
           when = { n = 2 }\nat_most = 0\n\
           [sweep.n]\nset = \"flow.a.count\"\nvalues = [1, 2, 3]\n";
    let dir = folder(&[("some.toml", &text)]);
    // Three of theory and of packets, and one live run of 4 s.
    let some = cost(dir.path(), &["some.toml"]);
    assert_eq!(number(&some, "runs"), 7.0);
    assert!((4.0..6.0).contains(&number(&some, "seconds")), "{some}");
    let all = cost(dir.path(), &["some.toml", "-e", "packet,live"]);
    assert_eq!(number(&all, "runs"), 6.0);
    assert!(number(&all, "seconds") >= 12.0, "{all}");
}

/// More flows than any machine has memory for, within the limits of the language.
#[test]
fn what_does_not_fit_is_refused() {
    let huge = "duration = \"10 s\"\nsample = \"100 ms\"\n\
                topology.dumbbell = { rate = \"1 Gbps\", delay = \"5 ms\" }\n\
                [flow.a]\ncount = 400_000\nfrom = \"left\"\nto = \"right\"\n\
                controller = \"newreno\"\nrecord = \"group\"\n";
    let dir = folder(&[("huge.toml", huge)]);
    let args = ["run", "huge.toml", "-e", "packet", "--reps", "10000"];
    let refused = accord(dir.path(), &args).with(3);
    for part in ["GB of memory", "--memory", "this machine has"] {
        let said = refused.stderr.replace("\n  │ ", " ");
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(names(dir.path()), ["huge.toml"], "nothing was begun");
    // A limit of the shell is met before the memory of the machine.
    let line = format!(
        "ulimit -v 4000000; exec {} run huge.toml -e packet --reps 100",
        env!("CARGO_BIN_EXE_accord")
    );
    let mut shell = std::process::Command::new("sh");
    let limited = shell.args(["-c", &line]).current_dir(dir.path()).output();
    let limited = limited.expect("there is a shell");
    let said = String::from_utf8_lossy(&limited.stderr).into_owned();
    assert_eq!(limited.status.code(), Some(3), "{said}");
    assert!(said.contains("ulimit -v leaves"), "{said}");
    // A budget below the available memory, and below the need of a small run.
    let small = folder(&[("small.toml", SMALL)]);
    let args = ["run", "small.toml", "-e", "packet", "--memory", "1 MB"];
    let refused = accord(small.path(), &args).with(3);
    assert!(refused.stderr.contains("--memory allows 1"), "{refused:#?}");
    assert_eq!(names(small.path()), ["small.toml"], "nothing was begun");
    let args = ["run", "small.toml", "--memory", "1 GB"];
    accord(small.path(), &args).with(0);
    let args = ["run", "small.toml", "--memory", "much"];
    let wrong = accord(small.path(), &args).with(2);
    assert!(wrong.stderr.contains("--memory"), "{wrong:#?}");
    // A long run is announced, and not refused.
    let dir = folder(&[("long.toml", LONG)]);
    let mut child = program(dir.path(), &["run", "long.toml"]).spawn().expect("it starts");
    let said = BufReader::new(child.stderr.take().expect("it is piped"));
    let said = said.lines().map(|line| line.expect("text"));
    let announced = { said }.find(|line| line.contains("Ctrl-C ends it"));
    signal(&child, "-INT");
    end(child);
    assert!(announced.is_some_and(|line| line.contains("min")));
}

/// Packets that the first queue drops cross no link, but take their time.
#[test]
fn dropped_packets_take_time() {
    let flood = "duration = \"5 s\"\n\
                 topology.dumbbell = { rate = \"10 Mbps\", delay = \"10 ms\" }\n\
                 [flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\n\
                 demand = { constant = \"50 Tbps\" }\n";
    let dir = folder(&[("flood.toml", flood)]);
    let flood = cost(dir.path(), &["flood.toml", "-e", "packet"]);
    assert!(number(&flood, "packet_hops") < 1e4, "{flood}");
    assert!(number(&flood, "core_seconds") > 30.0, "{flood}");
}

#[test]
fn points_that_cannot_differ_are_named() {
    let sweep = "[sweep.rate]\nset = [\"flow.a.start.uniform\"]\n\
                 values = { early = [\"0 s\", \"0.1 s\"], same = [\"0 s\", \"0.1 s\"], late = [\"1 s\", \"2 s\"] }\n";
    let dir = folder(&[("twins.toml", &format!("{SMALL}{sweep}"))]);
    let json = accord(dir.path(), &["check", "twins.toml", "--json"]).with(0).json();
    assert_eq!(json["alike"], serde_json::json!([["rate = early", "rate = same"]]));
    let said = accord(dir.path(), &["check", "twins.toml"]).with(0).stderr;
    assert!(said.contains("rate = early and rate = same cannot differ"), "{said}");
}

#[test]
fn events_without_effect_are_named() {
    let event = |at, keys| format!("[[event]]\nat = \"{at}\"\nlink = \"bottleneck\"\n{keys}\n");
    let delay = "delay = \"9 ms\"";
    let twice = event("1 s", delay) + &event("1 s", "delay = \"8 ms\"\ndirection = \"forward\"");
    let late = event("4 s", delay);
    let good = "duration = \"4 s\"\ntopology.dumbbell = { rate = \"1 Mbps\", delay = \"5 ms\" }\n\
                flow.a = { from = \"left\", to = \"right\", controller = \"newreno\" }\n";
    let one = event("1 s", delay) + &event("1 s", "rate = \"2 Mbps\"") + &event("2 s", delay);
    // A sweep sets the time of the event, beyond the end at its second point.
    let swept = "[sweep.at]\nset = \"event.1.at\"\nvalues = [\"1 s\", \"4 s\"]\n";
    let files = [
        ("good.toml", good.to_owned() + &one),
        ("odd.toml", good.to_owned() + &twice + &late),
        ("swept.toml", good.to_owned() + &event("2 s", delay) + swept),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, &text[..]));
    let dir = folder(&files);
    for args in [&["check"][..], &["run", "-e", "packet"]] {
        let said = |file| accord(dir.path(), &[args, &[file]].concat()).with(0);
        let good = said("good.toml").stderr;
        assert!(!good.contains("two events") && !good.contains("no effect"), "{args:?}: {good}");
        let swept = said("swept.toml").stderr.replace("\n  │ ", " ");
        assert!(swept.contains("at 4 s has no effect"), "{args:?}: {swept}");
        let odd = said("odd.toml").stderr.replace("\n  │ ", " ");
        for words in ["two events set the delay of bottleneck at 1 s", "at 4 s has no effect"] {
            assert!(odd.contains(words), "{args:?}: {odd}");
        }
    }
}

/// The default buffer of a slow, short link holds not even one packet.
#[test]
fn a_queue_that_is_too_short_is_named() {
    let short = "duration = \"1 s\"\ntopology.dumbbell = { rate = \"1 Mbps\", delay = \"1 ms\" }\n\
                 flow.a = { from = \"left\", to = \"right\", controller = \"cubic\" }\n";
    let longer = short
        .replace("\"1 ms\"", "\"1 ms\", queue = { discipline = \"droptail\", limit = \"3 pkt\" }");
    let dir = folder(&[("short.toml", short), ("longer.toml", &longer)]);
    let says = "the queue of bottleneck holds ";
    for command in [&["check"][..], &["run", "-e", "packet"]] {
        let stderr = |file: &str| accord(dir.path(), &[command, &[file]].concat()).with(0).stderr;
        let (short, longer) = (stderr("short.toml"), stderr("longer.toml"));
        assert!(short.contains(says) && !longer.contains(says), "{short}\n{longer}");
    }
}
