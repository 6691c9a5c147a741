//! `accord attack` finds settings that break a property, and the file that it writes reproduces the
//! failure.

use crate::common::*;
use std::fs;

const SCENARIO: &str = r#"
duration = "20 s"
[link.bottleneck]
from = "left"
to = "right"
rate = "10 Mbps"
delay = "20 ms"
queue = { discipline = "droptail", limit = "50 pkt" }
[flow.all]
from = "left"
to = "right"
controller = "newreno"
"#;

/// A queue of 50 packets is 40 ms at 10 Mbps, and 100 ms at 4 Mbps. Constant traffic keeps it full, so the
/// delay follows the rate without jumps.
#[test]
fn what_it_finds_fails_when_it_is_run() {
    let constant = "controller = \"none\"\ndemand = { constant = \"25 Mbps\" }";
    let scenario = SCENARIO.replace("controller = \"newreno\"", constant);
    let dir = folder(&[("mine.toml", &scenario)]);
    let rate = "link.bottleneck.rate=2 Mbps..20 Mbps";
    let property = "queuing_delay of bottleneck < 50 ms";
    let range = ["--vary", rate, "--vary", "link.bottleneck.delay=10 ms..40 ms"];
    let attack = ["attack", "mine.toml", "--property", property, "--runs", "24"];
    let found = accord(dir.path(), &[&attack[..], &range].concat()).with(1);
    assert!(found.stdout.contains("is broken"), "{}", found.stdout);
    // The delay of the path alone does not break it, so it is unchanged.
    assert!(!found.stdout.contains("delay="), "{}", found.stdout);
    let first = fs::read_to_string(dir.path().join("attack-mine.toml")).expect("written");
    let run = ["run", "attack-mine.toml", "-e", "packet", "-q"];
    let ended = accord(dir.path(), &run).with(1);
    assert!(ended.stdout.contains(property), "{}", ended.stdout);
    // It was moved back to near the point at which the property begins to fail.
    let value = accord(dir.path(), &[&run[..], &["--json"]].concat()).with(1).json();
    let check = &value["checks"][0];
    let measured = check["measured"].as_f64().expect("a figure");
    assert!((0.05..0.055).contains(&measured), "just above 50 ms: {check}");
    // The same seed finds the same point.
    accord(dir.path(), &[&attack[..], &range].concat()).with(1);
    let second = fs::read_to_string(dir.path().join("attack-mine.toml")).expect("written");
    assert_eq!(first, second);
}

#[test]
fn a_property_that_holds_is_said_to_hold() {
    let dir = folder(&[("mine.toml", SCENARIO)]);
    let property = "queuing_delay < 10 s";
    let attack = ["attack", "mine.toml", "-p", property, "--runs", "4"];
    let held = accord(dir.path(), &attack).with(0);
    assert!(held.stdout.contains("holds in 4 runs"), "{}", held.stdout);
    assert!(!dir.path().join("attack-mine.toml").exists());
}

#[test]
fn only_what_an_attack_wrote_is_replaced() {
    let dir = folder(&[("mine.toml", SCENARIO)]);
    let attack = |output| {
        let property = "queuing_delay < 1 ns";
        let search = ["attack", "mine.toml", "-p", property, "--runs", "4"];
        accord(dir.path(), &[&search[..], &["-o", output]].concat())
    };
    let refused = attack("mine.toml").with(2);
    assert!(refused.stderr.contains("mine.toml exists"), "{refused:?}");
    assert_eq!(fs::read_to_string(dir.path().join("mine.toml")).expect("there"), SCENARIO);
    attack(".").with(2);
    attack("found.toml").with(1);
    attack("found.toml").with(1);
}

#[test]
fn wrong_properties_and_ranges_are_refused() {
    let dir = folder(&[("mine.toml", SCENARIO)]);
    for (property, vary, message) in [
        ("utilization > 0.8", "seed=1..2", "\"utilisation\""),
        ("utilisation", "seed=1..2", "it has no comparison"),
        ("utilisation > much", "seed=1..2", "\"much\" is not a value"),
        ("utilisation of nothing > 0.8", "seed=1..2", "nothing"),
        ("utilisation > 3 ms", "seed=1..2", "not a ratio"),
        ("utilisation > 80", "seed=1..2", "never holds: utilisation is at most 100"),
        ("utilisation > 0.8", "seed", "is not an axis"),
        ("utilisation > 0.8", "link.bottleneck.delay=1 ms..2 Mbps", "do not fit together"),
        ("utilisation > 0.8", "link.nothing.rate=1 Mbps..2 Mbps", "nothing"),
    ] {
        let args = ["attack", "mine.toml", "-p", property, "--vary", vary, "--runs", "2"];
        let ended = accord(dir.path(), &args).with(2);
        assert!(ended.stderr.contains(message), "{property}: {}", ended.stderr);
    }
}

/// The search ends with the same scenario and the same output after any number of interruptions.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_search_goes_on_where_it_was() {
    let dir = folder(&[("mine.toml", SCENARIO)]);
    let unfinished = dir.path().join("found.unfinished");
    let lines = || fs::read_to_string(&unfinished).map_or(0, |text| text.lines().count());
    let attack = ["attack", "mine.toml", "-p", "queuing_delay < 60 ms", "--runs", "400"];
    let whole = accord(dir.path(), &[&attack[..], &["-o", "whole.toml"]].concat()).with(1);
    let command = [&attack[..], &["-o", "found.toml"]].concat();
    let mut before = 0;
    for _ in 0..2 {
        let child = program(dir.path(), &command).spawn().expect("it can be started");
        while lines() <= before + 10 {
            pause();
        }
        signal(&child, "-INT");
        let ended = end(child).with(130);
        assert!(ended.stderr.contains("resumes"), "{ended:#?}");
        assert!(!dir.path().join("found.toml").exists());
        before = lines();
    }
    // A truncated line is not read.
    let text = fs::read_to_string(&unfinished).expect("kept");
    fs::write(&unfinished, &text[..text.len() - 7]).expect("written");
    let ended = accord(dir.path(), &command).with(1);
    assert!(ended.stderr.contains("runs are known; resuming"), "{ended:#?}");
    assert_eq!(ended.stdout.replace("found", "whole"), whole.stdout);
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("written");
    assert_eq!(read("found.toml"), read("whole.toml"));
    assert!(!unfinished.exists(), "nothing is left");
}

/// Nothing is dropped in a buffer without limit: "more than 0 drops" is broken by 0, and "at least 0" is
/// not.
#[test]
fn a_value_at_the_bound_breaks_a_strict_property() {
    let scenario = SCENARIO.replace("50 pkt", "unlimited").replace("20 s", "2 s");
    let dir = folder(&[("mine.toml", &scenario)]);
    let attack = |property| {
        let vary = "link.bottleneck.delay=10 ms..40 ms";
        accord(dir.path(), &["attack", "mine.toml", "-p", property, "--vary", vary, "--runs", "2"])
    };
    let held = attack("drops >= 0").with(0);
    let says = "drops >= 0 holds in 2 runs; at its closest, drops of bottleneck is 0 pkt\n";
    assert_eq!(held.stdout, says);
    let broken = attack("drops > 0").with(1);
    assert!(broken.stdout.contains("is broken: drops of bottleneck is 0 pkt"), "{broken:?}");
    // The scenario that is written fails, too.
    accord(dir.path(), &["run", "attack-mine.toml", "-e", "packet", "-q"]).with(1);
    attack("backlog_max < 1 GB").with(0);
}

/// A transfer that does not end by the end of the run takes longer than any bound.
#[test]
fn a_transfer_that_does_not_end_breaks_a_property_of_its_time() {
    let transfer = "controller = \"newreno\"\ndemand = { size = \"100 MB\" }";
    let scenario = SCENARIO.replace("controller = \"newreno\"", transfer).replace("20 s", "2 s");
    let dir = folder(&[("mine.toml", &scenario)]);
    let property = "completion_time < 10 s";
    let vary = "link.bottleneck.delay=10 ms..40 ms";
    let attack = ["attack", "mine.toml", "-p", property, "--vary", vary, "--runs", "2"];
    let broken = accord(dir.path(), &attack).with(1);
    assert!(broken.stdout.contains("is broken: no transfer of all ended"), "{broken:?}");
    accord(dir.path(), &["run", "attack-mine.toml", "-e", "packet", "-q"]).with(1);
}

/// A flow that starts after the part that counts has no round-trip time, which is not counted as one that
/// holds.
#[test]
fn runs_without_a_value_are_counted() {
    let late = "controller = \"newreno\"\nstart = \"0.5 s\"";
    let scenario = SCENARIO
        .replace("controller = \"newreno\"", late)
        .replace("duration = \"20 s\"", "duration = \"4 s\"\nsteady = [\"1 s\", \"2 s\"]");
    let dir = folder(&[("mine.toml", &scenario)]);
    let vary = "flow.all.start=0 s..3.9 s";
    let attack = ["attack", "mine.toml", "-p", "rtt < 100 s", "--vary", vary, "--runs", "16"];
    let held = accord(dir.path(), &attack).with(0);
    let lines: Vec<&str> = held.stdout.lines().collect();
    let [first, second] = lines[..] else { panic!("{held:?}") };
    let none: u64 = second.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!((1..16).contains(&none), "{held:?}");
    assert_eq!(second, format!("{none} of 16 runs had no value"));
    assert!(first.contains(&format!("holds in {} of 16 runs; ", 16 - none)), "{held:?}");
}

#[test]
fn a_search_without_a_value_has_the_reason_of_the_engine() {
    let dir = folder(&[("mine.toml", SCENARIO)]);
    let attack =
        ["attack", "mine.toml", "-e", "theory", "-p", "queuing_delay < 1 s", "--runs", "2"];
    let none = accord(dir.path(), &attack).with(2);
    assert!(none.stderr.contains("theory has no equilibrium for it"), "{none:?}");
}

/// The runs of a search are in a file next to its result.
#[test]
fn a_result_is_not_named_as_the_runs_of_the_search() {
    let dir = folder(&[("mine.toml", SCENARIO)]);
    let attack = ["attack", "mine.toml", "-p", "rtt < 1 ns", "--runs", "2", "-o", "r.unfinished"];
    let refused = accord(dir.path(), &attack).with(2);
    assert!(refused.stderr.contains("another extension"), "{refused:?}");
}
