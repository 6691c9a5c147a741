//! Known failures and recorded results, for people and programs.

use crate::common::*;
use std::path::Path;

/// Returns `SMALL` with an expected value that is half of the actual one, and this `fails`.
fn half(fails: &str) -> String {
    let known = "equals = 0.5\nwithin = 0.05\n";
    let text = SMALL.replace("equals = \"theory\"\nwithin = 0.05\n", known);
    assert!(text.contains(known));
    format!("{text}{fails}\n")
}

fn write(dir: &Path, fails: &str) {
    std::fs::write(dir.join("half.toml"), half(fails)).expect("writable");
}

fn run(dir: &Path, more: &[&str]) -> Ended {
    let args = [&["run", "half.toml", "--engine", "packet", "-q"], more].concat();
    accord(dir, &args)
}

/// Returns the goodput of the link of `half.toml`.
fn measured(dir: &Path) -> f64 {
    write(dir, "");
    let json = run(dir, &["--json"]).with(1).json();
    json["checks"][0]["measured"].as_f64().expect("a number")
}

#[test]
fn only_what_is_not_known_is_a_failure_of_the_command() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = dir.path();
    let x = measured(at);
    let fails = |value: f64| {
        format!("fails = {{ why = \"setting\", because = \"of half\", measured = {value} }}")
    };
    write(at, &fails(x));
    let ended = run(at, &[]).with(0);
    assert!(ended.stdout.contains("0 of 1 check met; not met: 1 open setting"), "{ended:#?}");
    assert!(ended.stdout.contains("because: of half"), "{ended:#?}");
    let json = run(at, &["--json"]).with(0).json();
    assert_eq!(json["class"], "open");
    assert_eq!(json["checks"][0]["class"], "open");
    assert_eq!(json["checks"][0]["claim"], "paper");
    assert_eq!(json["checks"][0]["why"], "setting");
    assert_eq!(json["checks"][0]["because"], "of half");

    // It has changed by more than the band.
    write(at, &fails(0.98 * x));
    let ended = run(at, &[]).with(1);
    assert!(ended.stdout.contains("find the cause of the move, then write measured = "));
    // With another seed nothing is recorded.
    run(at, &["--seed", "2"]).with(0);

    // It is met.
    let met = half(&fails(x)).replace("equals = 0.5", &format!("equals = {x}"));
    std::fs::write(at.join("half.toml"), met).expect("writable");
    let ended = run(at, &[]).with(1);
    assert!(ended.stdout.contains("although `fails` lists it: remove that entry"), "{ended:#?}");
}

/// The printed entry can be pasted, and does not parse before it has a reason.
#[test]
fn failures_are_recorded_without_their_reasons() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = dir.path();
    let sweep = "[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"4 Mbps\", \"5 Mbps\"]\n\
                 [sweep.n]\nset = [\"flow.a.count\"]\nvalues = [1, 2, 3]\n";
    write(at, sweep);
    let lines = run(at, &["--record"]).with(1).stdout;
    assert!(lines.starts_with("# small, \"the link is full\"\nfails = [\n    { why = \"\", because = \"\", engine = \"packet\", at = { \"rate\" = \"4 Mbps\" }, measured = { \"1\" = "), "{lines}");
    assert_eq!(lines.matches("by = \"n\"").count(), 2, "{lines}");
    write(at, &format!("{lines}\n{sweep}"));
    let refused = run(at, &[]).with(2);
    assert!(refused.stderr.contains("there are: paper, setting, ours"), "{refused:#?}");
    let given = lines
        .replace("why = \"\"", "why = \"ours\"")
        .replace("because = \"\"", "because = \"of us\"");
    write(at, &format!("{given}\n{sweep}"));
    run(at, &[]).with(0);
    assert_eq!(run(at, &["--record"]).with(0).stdout, "");

    // One figure changes: the others and all reasons stay.
    let value = given.split("\"1\" = ").nth(1).expect("a figure");
    let value = value.split(',').next().expect("a figure");
    let moved = given.replacen(&format!("\"1\" = {value}"), "\"1\" = 0.7", 1);
    write(at, &format!("{moved}\n{sweep}"));
    assert_eq!(run(at, &["--record"]).with(1).stdout, given);
}

#[test]
fn several_experiments_end_with_their_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["reproduce", "xia05-fig6", "low02-table7", "--engine", "theory", "-q"];
    let ended = accord(dir.path(), &args);
    let last = ended.stdout.lines().last().expect("the counts");
    assert!(last.contains(" are met: 0 compare packets with a paper (0 met), "), "{ended:#?}");
    assert!(!last.contains("figures and tables"), "{ended:#?}");
}
