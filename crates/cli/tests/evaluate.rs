//! `accord evaluate` as used by people and by continuous integration.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Evaluates a case of eight flows in deep buffers, which takes a second.
fn evaluate(dir: &Path, more: &[&str]) -> Ended {
    let case = ["--pack", "buffers", "--case", "deep-many", "--against", "newreno"];
    accord(dir, &[&["evaluate"], &case[..], more].concat())
}

#[test]
fn a_regression_fails_and_another_seed_does_not() {
    let dir = folder(&[]);
    let at = dir.path();
    for (subject, worse, buffer, measure) in [
        ("vegas", "vegas,alpha=2 pkt,beta=6 pkt", "16 BDP", "queuing delay"),
        ("cubic", "cubic,beta=0.9", "1 BDP", "queuing delay"),
    ] {
        let base = format!("base-{subject}");
        evaluate(at, &["-s", subject, "-o", &base]).with(0);
        let compare = ["--baseline", &base, "-o", "new", "--junit", "junit.xml"];
        let same = evaluate(at, &[&["-s", subject, "--seed", "100"], &compare[..]].concat());
        assert!(same.with(0).stdout.contains(" 0 worse"));
        let junit = fs::read_to_string(at.join("junit.xml")).expect("written");
        assert!(junit.contains("failures=\"0\""), "{junit}");
        let github = ["-s", worse, "--annotations", "github"];
        let ended = evaluate(at, &[&github, &compare[..]].concat()).with(1);
        let says = |text: &str| assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
        says(&format!("Regression: buffers/deep-many (buffer = {buffer})"));
        says(&format!("::error title=buffers/deep-many%3A {measure}::"));
        says("95 % interval +");
        let junit = fs::read_to_string(at.join("junit.xml")).expect("written");
        assert!(junit.contains("<failure message=\"worse than the baseline"), "{junit}");
        let page = fs::read_to_string(at.join("new/index.html")).expect("written");
        assert!(page.contains("Regression: buffers/deep-many"));
    }
}

/// Rules of the pack and of the user give the last lines, the exit code, JUnit and annotations.
#[test]
fn a_rule_that_is_not_met_fails() {
    let dir = folder(&[(
        "rules.toml",
        "require = [\n  \"buffers/deep-many (buffer = 16 BDP): queuing delay < 100 ms\",\n]\nfail_on = [\"worse > 0\"]\n",
    )]);
    let at = dir.path();
    let passes = evaluate(at, &["-s", "vegas"]).with(0);
    assert!(
        passes.stderr.contains("20 runs of 2 subjects with 5 seeds: about"),
        "{}",
        passes.stderr
    );
    let last: Vec<&str> = passes.stdout.lines().rev().take(2).collect();
    assert!(last[1].starts_with("PASS buffers B: "), "{}", passes.stdout);
    assert_eq!(last[0], "PASS: of 1 section 0 failed, 0 are inconclusive and 1 passed.");
    let rules = ["--rules", "rules.toml", "--junit", "junit.xml", "--annotations", "github"];
    evaluate(at, &[&["-s", "vegas"], &rules[..]].concat()).with(0);
    let fails = evaluate(at, &[&["-s", "cubic"], &rules[..]].concat()).with(1);
    let says = |text: &str| assert!(fails.stdout.contains(text), "{text}: {}", fails.stdout);
    says("FAIL buffers B: queuing delay ");
    says(" with buffer = 16 BDP (newreno ");
    says("; below 100 ms, rules.toml)");
    says("FAIL rules.toml, worse > 0: ");
    says("FAIL: of 1 section 1 failed, 0 are inconclusive and 0 passed; 1 limit not kept.");
    says("::error title=buffers/deep-many%3A queuing delay::");
    let junit = fs::read_to_string(at.join("junit.xml")).expect("written");
    assert!(junit.contains("failures=\"2\""), "{junit}");
    let page = fs::read_to_string(at.join("runs/evaluate-cubic/index.html")).expect("written");
    assert!(page.contains("FAIL: of 1 section 1 failed"), "{page}");
    // By options, and as JSON.
    let own = ["--require", "buffers/deep-many: queuing delay < 100 ms", "--json"];
    let json = evaluate(at, &[&["-s", "cubic"], &own[..]].concat()).with(1).json();
    assert_eq!((&json["pass"], &json["sections"][0]["outcome"]), (&false.into(), &"FAIL".into()));
    let rules = json["sections"][0]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|rule| rule["source"] == "--require"), "{json}");
    // A bound in the middle of the values decides nothing.
    let mean = json["rows"][5]["figures"][0]["estimate"]["mean"].as_f64().expect("a mean");
    assert_eq!(json["rows"][5]["measure"], "queuing delay", "{json}");
    let rule = format!("buffers/deep-many (buffer = 16 BDP): queuing delay < {:.3} ms", mean * 1e3);
    let open = evaluate(at, &["-s", "cubic", "--require", &rule]).with(0);
    assert!(open.stdout.contains("INCONCLUSIVE buffers B: queuing delay "), "{}", open.stdout);
    assert!(open.stdout.contains("would"), "{}", open.stdout);
    let limit = ["--fail-on", "inconclusive > 0"];
    evaluate(at, &[&["-s", "cubic", "--require", &rule], &limit[..]].concat()).with(1);
}

#[test]
fn what_is_known_is_not_measured_again() {
    let dir = folder(&[]);
    let first = evaluate(dir.path(), &["-s", "vegas", "--reps", "2"]).with(0);
    let table = dir.path().join("runs/evaluate-vegas/evaluation.csv");
    let before = fs::read(&table).expect("written");
    let again = evaluate(dir.path(), &["-s", "vegas", "--reps", "2"]).with(0);
    assert_eq!(first.stdout, again.stdout);
    assert!(again.stderr.contains("8 of 8 runs are known"), "{}", again.stderr);
    assert_eq!(fs::read(&table).expect("written"), before);
    // Further seeds are further runs, and damaged lines do not count.
    let measured = dir.path().join("runs/evaluate-vegas/measured.jsonl");
    let text = fs::read_to_string(&measured).expect("written");
    fs::write(&measured, text.replacen("\"values\":[", "\"values\":[1.0,", 1)).expect("written");
    let more = evaluate(dir.path(), &["-s", "vegas", "--reps", "3"]).with(0);
    assert!(more.stderr.contains("7 of 12 runs are known"), "{}", more.stderr);
    let one = evaluate(dir.path(), &["-s", "vegas", "--reps", "3", "-j", "1", "--fresh"]).with(0);
    assert_eq!(one.stdout, more.stdout);
    assert!(!one.stderr.contains("known"));
}

#[test]
fn an_interrupt_ends_it_and_the_same_command_goes_on() {
    let dir = folder(&[]);
    let args = ["evaluate", "-p", "buffers", "-s", "vegas", "--tier", "whole", "-j", "1"];
    let child = program(dir.path(), &args).spawn().expect("it starts");
    let measured = dir.path().join("runs/evaluate-vegas/measured.jsonl");
    let lines = || fs::read_to_string(&measured).map_or(0, |text| text.lines().count());
    while lines() < 3 {
        pause();
    }
    signal(&child, "-INT");
    let ended = end(child);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.contains("the measurements are kept"), "{}", ended.stderr);
    assert!(lines() >= 3);
}

#[test]
fn wrong_input_is_refused_with_a_hint() {
    let dir = folder(&[]);
    fs::create_dir(dir.path().join("full")).expect("made");
    fs::write(dir.path().join("full/mine.txt"), "x").expect("written");
    let refused = |args: &[&str], message: &str, hint: &str| {
        let ended = accord(dir.path(), &[&["evaluate"], args].concat()).with(2);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
        assert!(ended.stderr.contains(hint), "{}", ended.stderr);
    };
    refused(&["-s", "vegs"], "no controller and no discipline \"vegs\"", "\"vegas\"");
    refused(&["-s", "kernel:bbr,x=1"], "not the name of a congestion control", "kernel:bbr");
    refused(&["-s", "kernel:bbr", "-e", "packet"], "kernel:bbr runs in real time", "--engine live");
    refused(&["-s", "vegas,alpa=1"], "no parameter \"alpa\"", "\"alpha\"");
    refused(
        &["-s", "vegas,alpha=2", "-p", "buffers"],
        "no case can run with \"vegas,alpha=2\": alpha: a bare number has no unit",
        "accord list controllers vegas",
    );
    refused(
        &["-s", "vegas", "-p", "buffers", "-a", "cubic,beta=7"],
        "no case can run with \"cubic,beta=7\"",
        "accord list controllers cubic",
    );
    refused(&["-s", "vegas", "-p", "bufers"], "no pack and no directory", "\"buffers\"");
    refused(&["-s", "codel", "-p", "buffers"], "codel is a queue discipline", "rfc7928");
    refused(&["-s", "vegas", "-a", "codel"], "codel is a queue discipline", "rivals of its kind");
    let one = ["-s", "vegas", "-p", "buffers"];
    let with = |more: &[&'static str]| [&one[..], more].concat();
    refused(&with(&["--case", "deep-mny"]), "unknown case \"deep-mny\"", "\"deep-many\"");
    refused(&with(&["-o", "full"]), "full contains other files", "-o");
    refused(&with(&["--baseline", "full"]), "evaluation.parquet cannot be read", "-o");
    refused(&with(&["--baseline", "full", "--reps", "1"]), "a single run per case", "--reps 5");
    for (rule, message, hint) in [
        ("buffers/deep-mny: loss < 1 %", "no case \"deep-mny\"", "\"deep-many\""),
        ("bufers: loss < 1 %", "pack \"bufers\" is not evaluated", "\"buffers\""),
        ("buffers: los < 1 %", "no case here measures \"los\"", "\"loss\""),
        ("buffers: loss < 1 ms", "loss: \"1 ms\" is not a ratio", "--require"),
        ("buffers: loss > 5 %", "this contradicts another rule", "leave one out"),
        ("buffers: loss < 0 %", "the rule never holds", "--require"),
        ("buffers: loss", "the rule has no bound", "rfc9743/wired"),
    ] {
        refused(&[&one[..], &["--require", rule]].concat(), message, hint);
    }
    refused(
        &with(&["--case", "deep-one", "--require", "buffers/deep-many: loss < 1 %"]),
        "is not run",
        "--case",
    );
    refused(&with(&["--reps", "1", "--require", "buffers: loss < 1 %"]), "one seed", "--reps 5");
    refused(&with(&["--reps", "1", "--fail-on", "worse > 0"]), "one seed", "--reps 5");
    refused(&with(&["--fail-on", "worse > 100000"]), "this can never fail", "name at most");
    refused(&with(&["--against", "", "--fail-on", "worse > 0"]), "can never fail", "--against");
    refused(&with(&["--fail-on", "wrose > 0"]), "no count \"wrose\"", "\"worse\"");
    refused(&with(&["--rules", "no.toml"]), "no.toml cannot be read", "");
    fs::write(dir.path().join("full/evaluation.parquet"), "PAR1").expect("written");
    refused(&with(&["--baseline", "full"]), "is not a baseline", "");
}

#[test]
fn cases_can_be_run_alone_and_packs_are_listed() {
    let dir = folder(&[]);
    let run = ["run", "rfc9743/voice", "--set", "duration=\"2 s\"", "-e", "packet", "-q"];
    accord(dir.path(), &run).with(0);
    let list = accord(dir.path(), &["list", "packs", "rfc9743"]).with(0).stdout;
    for text in ["rfc9743/voice", "varying-delay", "RFC 9743 (BCP 133)"] {
        assert!(list.contains(text), "{text}: {list}");
    }
    let json = accord(dir.path(), &["list", "packs", "--json"]).with(0).json();
    assert!(json.as_array().map(Vec::len) >= Some(6), "{json}");
    let json = evaluate(dir.path(), &["-s", "vegas", "--reps", "2", "--json"]).with(0).json();
    assert_eq!(json["rows"][0]["figures"][0]["of"], "vegas", "{json}");
    assert_eq!(json["pass"], true);
}

/// The dossier's command reprints a case.
#[test]
fn the_commands_of_a_dossier_work() {
    let dir = folder(&[]);
    evaluate(dir.path(), &["-s", "vegas,alpha=2 pkt", "--reps", "2", "-o", "out"]).with(0);
    let dossier = fs::read_to_string(dir.path().join("out/index.html")).expect("written");
    let dossier = dossier
        .replace("<pre>", "\n")
        .replace("</pre>", "\n")
        .replace("&#x27;", "'")
        .replace("&quot;", "\"");
    let commands = dossier.lines().filter(|line| line.starts_with("accord "));
    let mut ran = 0;
    for command in commands {
        let program = env!("CARGO_BIN_EXE_accord");
        let command = command.replacen("accord", &format!("'{program}'"), 1);
        let mut shell = Command::new("sh");
        let ended = shell.args(["-c", &command]).current_dir(dir.path()).output();
        let ended = ended.expect("it runs");
        assert!(ended.status.success(), "{command}: {ended:?}");
        ran += 1;
    }
    assert_eq!(ran, 2);
}

/// A pack of one short case.
const SHORT: &str = r#"
name = "mine"
title = "Mine"
source = "here"
subject = "controller"
rivals = ["cubic"]

[[measure]]
name = "utilisation"
metric = "utilisation"
of = "bottleneck"
better = "more"

[[section]]
number = "1"
title = "Use of the link"
asks = "Uses the link."

[[section.rule]]
require = "utilisation >= 99.9 %"
source = "ours"
because = "few do"

[[section.case]]
name = "one"
title = "One flow"
scenario = "one"
subject = ["flow.subject.controller"]
measures = ["utilisation"]
"#;

const ONE: &str = r#"
duration = "2 s"
[topology.dumbbell]
rate = "8 Mbps"
delay = "10 ms"
[flow.subject]
from = "left"
to = "right"
controller = "cubic"
start = { uniform = ["0 s", "0.1 s"] }
"#;

/// All families on one page, the same bytes in two runs, and without a total. A failure without a recorded
/// reason fails the command.
#[test]
fn all_families_are_on_one_page() {
    let dir = folder(&[]);
    let at = dir.path();
    fs::create_dir(at.join("mine")).expect("made");
    for (name, text) in [("pack", SHORT), ("one", ONE)] {
        fs::write(at.join(format!("mine/{name}.toml")), text).expect("written");
    }
    let all = |out: &str| {
        accord(at, &["evaluate", "--all", "--pack", "./mine", "--reps", "2", "-o", out])
    };
    let first = all("a").with(1);
    let families = accord::catalogue().controllers.iter().filter(|f| f.name != "none").count();
    let says = format!("{} runs of", 2 * families);
    assert!(first.stderr.contains(&says), "{says}: {}", first.stderr);
    assert!(first.stderr.contains("of one core"), "{}", first.stderr);
    assert!(first.stdout.contains("  mine §1: FAIL "), "{}", first.stdout);
    assert!(first.stdout.contains("no reason is recorded: copa, mine 1: "), "{}", first.stdout);
    let second = all("b").with(1);
    assert_eq!(first.stdout, second.stdout);
    let page = |out: &str| fs::read_to_string(at.join(out).join("index.html")).expect("written");
    assert_eq!(page("a"), page("b"));
    let page = page("a");
    for name in ["bbr3", "vegas-k", "ledbat-pp", "monaco"] {
        assert!(page.contains(&format!("<th>{name}</th>")), "{name}");
    }
    assert!(!page.contains("<th>none</th>"));
    assert!(page.contains("Each case ran with 2 seeds."));
    // The reports and the limits of one subject's evaluation.
    let with = |more: &[&str]| {
        let all = ["evaluate", "--all", "--pack", "./mine", "--reps", "2", "-o", "a"];
        accord(at, &[&all[..], more].concat())
    };
    let rule = ["--require", "mine/one: utilisation > 99.99 %", "--fail-on", "inconclusive > 0"];
    let reports = ["--junit", "junit.xml", "--annotations", "github"];
    let ended = with(&[&rule[..], &reports].concat()).with(1);
    let says = |text: &str| assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    says(" --fail-on, inconclusive > 0: ");
    says("::error title=mine/mine §1%3A copa::");
    let junit = fs::read_to_string(at.join("junit.xml")).expect("written");
    assert!(junit.contains("<testsuites name=\"accord evaluate --all\""), "{junit}");
    assert!(junit.contains(": copa\" classname=\"mine.mine §1\""), "{junit}");
    let json = with(&[&rule[..], &["--json"]].concat()).with(1).json();
    assert_eq!((&json["pass"], &json["limits"][0]["pass"]), (&false.into(), &false.into()));
    assert!(json["limits"][0]["says"].as_str().expect("a line").contains("inconclusive > 0"));
    assert!(json["verdicts"].as_array().expect("verdicts").len() >= families, "{json}");
    for (more, message) in [
        (["--against", "cubic"], "--against is not for --all: it has no rivals"),
        (["--baseline", "a"], "--baseline is not for --all: it writes no table"),
        (["--details", "-q"], "--details is not for --all"),
        (["--fail-on", "worse > 0"], "there are 0 comparisons with rivals"),
        (["--require", "mine: los < 1 %"], "no case here measures \"los\""),
    ] {
        let ended = with(&more).with(2);
        assert!(ended.stderr.contains(message) && ended.stderr.contains("= help: "), "{ended:?}");
    }
    accord(at, &["evaluate"]).with(2);
    accord(at, &["evaluate", "--all", "--subject", "cubic"]).with(2);
    let typo = accord(at, &["evaluate", "--all", "--pack", "./mine", "--case", "on"]).with(2);
    assert!(typo.stderr.contains("did you mean \"one\""), "{}", typo.stderr);
}
