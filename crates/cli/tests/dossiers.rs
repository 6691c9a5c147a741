//! The directories of evaluations, and comparisons with those of other runs.

use crate::common::*;
use std::fs;
use std::path::Path;

const PACK: &str = r#"
name = "mine"
title = "Mine"
source = "here"
subject = "controller"

[[measure]]
name = "queuing delay"
metric = "queuing_delay"
of = "bottleneck"
better = "less"

[[section]]
number = "1"
title = "Delay"
asks = "Keeps the queue short."

[[section.case]]
name = "one"
title = "One flow"
scenario = "one"
subject = ["flow.subject.controller"]
measures = ["queuing delay"]

[[section.case]]
name = "two"
title = "One flow again"
scenario = "one"
set = ["duration=3 s"]
subject = ["flow.subject.controller"]
measures = ["queuing delay"]
"#;

const ONE: &str = r#"
duration = "4 s"
[topology.dumbbell]
rate = "8 Mbps"
delay = "20 ms"
[flow.subject]
from = "left"
to = "right"
controller = "cubic"
start = { uniform = ["0 s", "0.2 s"] }
"#;

/// Returns a directory with the pack `mine`.
fn with_pack() -> tempfile::TempDir {
    let dir = folder(&[]);
    fs::create_dir(dir.path().join("mine")).expect("made");
    for (name, text) in [("pack", PACK), ("one", ONE)] {
        fs::write(dir.path().join(format!("mine/{name}.toml")), text).expect("written");
    }
    dir
}

fn evaluate(at: &Path, more: &[&str]) -> Ended {
    let all = ["evaluate", "--pack", "./mine", "-s", "vegas"];
    accord(at, &[&all[..], more].concat())
}

#[test]
fn an_evaluation_of_other_runs_gets_a_directory_of_its_own() {
    let dir = with_pack();
    let at = dir.path();
    let page = |name: &str| fs::read_to_string(at.join(name).join("index.html")).expect("written");
    evaluate(at, &["--reps", "2"]).with(0);
    let first = page("runs/evaluate-vegas");
    // Another case, seed, tier or rival.
    for (n, more) in
        [["--case", "one"], ["--seed", "7"], ["--tier", "whole"], ["--against", "cubic"]]
            .iter()
            .enumerate()
    {
        let other = evaluate(at, &[&["--reps", "2"], &more[..]].concat()).with(0);
        let place = format!("runs/evaluate-vegas-{}", n + 2);
        assert!(other.stderr.contains(&format!("this one is written to {place}")), "{other:?}");
        assert!(other.stderr.contains("keeps another evaluation (./mine"), "{other:?}");
        assert!(!page(&place).is_empty());
    }
    assert_eq!(page("runs/evaluate-vegas"), first);
    // The same one, and the same one with more seeds, have all that was there.
    for reps in ["2", "3"] {
        let same = evaluate(at, &["--reps", reps]).with(0);
        assert!(same.stderr.contains("runs are known; resuming"), "{same:?}");
        assert!(same.stderr.contains("runs/evaluate-vegas/index.html"), "{same:?}");
    }
    // A directory that the user names is used, with a warning.
    evaluate(at, &["--reps", "2", "-o", "out"]).with(0);
    let replaced = evaluate(at, &["--reps", "2", "--case", "two", "-o", "out"]).with(0);
    let says =
        "replacing an earlier evaluation in out (./mine, quick tier, packet engine, seeds 1 to 2)";
    assert!(replaced.stderr.contains(says), "{replaced:?}");
    let again = evaluate(at, &["--reps", "2", "--case", "two", "-o", "out"]).with(0);
    assert!(!again.stderr.contains("replacing"), "{again:?}");
}

#[test]
fn a_baseline_of_other_measures_is_refused() {
    let dir = with_pack();
    let at = dir.path();
    evaluate(at, &["--reps", "2", "--case", "one", "-o", "base"]).with(0);
    let compared = |more: &[&str]| {
        let with = ["--reps", "2", "--baseline", "base", "-o", "new"];
        evaluate(at, &[&with[..], more].concat())
    };
    let none = compared(&["--case", "two"]).with(2);
    assert!(none.stderr.contains("has no measure of this evaluation"), "{none:?}");
    assert!(none.stderr.contains("it has mine/one"), "{none:?}");
    assert!(!at.join("new").exists());
    let part = compared(&[]).with(0);
    let says =
        "1 measure compared, 0 worse, 0 better; 1 not compared, since only one of the two has them";
    assert!(part.stdout.contains(says), "{part:?}");
    assert_eq!(compared(&["--json"]).with(0).json()["unmatched"], 1);
}

/// The last line is FAIL where the exit code is 1.
#[test]
fn a_regression_is_the_last_line() {
    let dir = with_pack();
    let at = dir.path();
    evaluate(at, &["--reps", "3", "--case", "one", "-o", "base"]).with(0);
    let slow = ["evaluate", "--pack", "./mine", "-s", "newreno"];
    let since = ["--reps", "3", "--case", "one", "--baseline", "base", "-o", "new"];
    let worse = accord(at, &[&slow[..], &since].concat()).with(1);
    let last = worse.stdout.lines().last().expect("a line");
    assert_eq!(last, "FAIL: 1 measure worse than the baseline.", "{worse:?}");
}
