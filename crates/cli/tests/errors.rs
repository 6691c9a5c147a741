//! Bad usage, bad scenarios and bad places: exit code 2 at once, with the place and a hint,
//! and never a panic.

use crate::common::*;

/// A valid scenario, which the tests make invalid.
const GOOD: &str = "duration = \"4 s\"
[topology.dumbbell]
rate = \"5 Mbps\"
delay = \"5 ms\"
[flow.a]
from = \"left\"
to = \"right\"
controller = \"vegas\"
";

#[test]
fn bad_usage() {
    let dir = folder(&[("small.toml", SMALL)]);
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage: accord"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["rnu", "small.toml"], "a similar subcommand exists: 'run'"),
        (&["run"], "<SCENARIO>"),
        (&["run", "small"], "did you mean the file small.toml?"),
        (&["run", "small.toml", "--junit", "no/x"], "no/x cannot be written"),
        (&["evaluate", "--subject", "cubic", "--junit", "no/x"], "no/x cannot be written"),
        (&["attack", "small.toml", "-p", "nix > 0.5"], "accord list metrics shows them"),
        (&["solve", ".", "--top", "-1"], "expected a whole number of at least 0"),
        (&["explain", "small.toml", "--finer", "-3"], "for '--finer"),
        (&["new", "--seed", "-1"], "for '--seed"),
        (&["emulate", "--delay", "-1 ms", "--rate", "1 Mbps", "--", "true"], "is negative"),
        (&["emulate", "mm-onoff", "up", "1", "1"], "mm-delay, mm-loss, mm-link"),
        (&["run", "nowhere.toml"], "there is no file and no scenario \"nowhere.toml\""),
        (&["run", "."], "cannot be read"),
        (&["run", "small.toml", "--engine", "telepathy"], "there are: theory, fluid, packet"),
        (&["run", "small.toml", "--engine", ""], "there are: theory, fluid, packet"),
        (&["run", "small.toml", "--reps", "0"], "--reps"),
        (&["run", "small.toml", "--seeds", "5"], "--reps 5 makes runs with five seeds"),
        (&["run", "small.toml", "--reps", "1e9"], "--reps"),
        (&["run", "small.toml", "--seed", "1.5"], "--seed"),
        (&["run", "small.toml", "--seed", "9223372036854775808"], "0 to 9223372036854775807"),
        (&["run", "small.toml", "--seed", "-1"], "a whole number from 0"),
        (&["run", "small.toml", "--reps", "-1"], "expected a whole number"),
        (&["run", "small.toml", "--set", "rate"], "\"rate\" is not a setting"),
        (&["run", "small.toml", "--set", "="], "\"\" is not a path"),
        (&["run", "small.toml", "--set", "topology.dumbbell.rate=5"], "--set:1:24"),
        (&["run", "small.toml", "--set", "nope.x=1"], "unknown key \"nope\""),
        (&["run", "small.toml", "--set", "flow.a.count=[[["], "--set:1:"),
        (&["run", "small.toml", "--set", "event.1.at=3 s"], "the scenario has no [[event]]"),
        (&["run", "small.toml", "--set", "topology={}"], "the scenario has no nodes"),
        (&["run", "small.toml", "-o", "small.toml/x"], "small.toml is a file, not a directory"),
        (
            &["run", "small.toml", "-e", "packet", "-o", "out", "--qlog", "small.toml"],
            "small.toml is a file, not a directory",
        ),
        (&["run", "small.toml", "-o", "/dev/null"], "/dev/null is not a directory"),
        (
            &["run", "small.toml", "--set", "topology.dumbbell.queue.limit=0 BDP"],
            "more than 0 BDP and at most 1000000 BDP",
        ),
        (
            &["run", "small.toml", "--set", "flow.a.controller={name=\"cubic\",beta=5}"],
            "beta: 5 is out of range; expected a number from 0.1 to 0.95",
        ),
        (&["reproduce"], "<ID>"),
        (&["reproduce", "xia05-fig6", "nope"], "unknown experiment \"nope\""),
        (&["reproduce", "--all", "xia05-fig6"], "cannot be used with"),
        (&["reproduce", "--all", "--except", "nope"], "unknown experiment \"nope\""),
        (&["reproduce", "xia05-fig6", "--except", "xia05-fig2"], "cannot be used with"),
        (&["list", "controlers"], "similar value exists: 'controllers'"),
        (&["list", "controllers", "monoco"], "did you mean \"monaco\"?"),
        (&["bench", "nope"], "there are: newreno-10"),
        (&["compare"], "<DIR>"),
        (&["compare", "nowhere", "nowhere"], "nowhere is not a run directory"),
        (&["compare", "small.toml", "."], "manifest.json"),
    ];
    for (args, message) in cases {
        let ended = accord(dir.path(), args).with(2);
        assert!(ended.stderr.contains(message), "{args:?}: {ended:#?}");
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    assert_eq!(names(dir.path()), ["small.toml"], "nothing was written");
}

/// Each error has its place in the file, and a message in plain words.
#[test]
fn bad_scenarios_are_refused_with_their_place() {
    let with = |more: &str| format!("{GOOD}{more}");
    let instead = |of: &str, is: &str| {
        assert!(GOOD.contains(of));
        GOOD.replace(of, is)
    };
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    let node = "duration = \"1 s\"\nnodes = [\"a\", \"b\", \"c\"]\n";
    let line = "rate = \"1 Mbps\"\ndelay = \"1 ms\"\n";
    let cases: &[(String, &str, &str)] = &[
        (String::new(), "bad.toml:1:1", "`duration` is missing"),
        (with("count = 1000000000000000000\n"), "bad.toml:9:9", "out of range"),
        (with("count = 1e18\n"), "bad.toml:9:9", "a whole number from 1 to 1000000"),
        (with("count = -1\n"), "bad.toml:9:9", "out of range"),
        (with("count = nan\n"), "bad.toml:9:9", "whole number"),
        (with("controler = \"reno\"\n"), "bad.toml:9:1", "controller"),
        (instead("vegas", "vgas"), "bad.toml:8:14", "vegas"),
        (instead("\"right\"", "\"rigth\""), "bad.toml:7:6", "right"),
        (instead("5 Mbps", "5"), "bad.toml:3:8", "30 Mbps"),
        (instead("5 Mbps", "5 ms"), "bad.toml:3:8", "Mbps"),
        (instead("5 Mbps", "NaN Mbps"), "bad.toml:3:8", "number"),
        (instead("5 Mbps", "inf Mbps"), "bad.toml:3:8", "number"),
        (instead("5 Mbps", "0 Mbps"), "bad.toml:3:8", "more than zero"),
        (instead("5 Mbps", "1e30 Tbps"), "bad.toml:3:8", "too"),
        (instead("5 ms", "-5 ms"), "bad.toml:4:9", "negative"),
        (instead("4 s", "1e300 s"), "bad.toml:1:12", "too large"),
        (instead("4 s", "0 s"), "bad.toml:1:12", "zero"),
        (format!("sample = \"1 ps\"\n{GOOD}"), "bad.toml:1:10", "samples"),
        (format!("{node}[link.x]\nfrom = \"a\"\nto = \"a\"\n{line}"), "bad.toml:3:7", "itself"),
        (
            format!(
                "{node}[link.x]\nfrom = \"a\"\nto = \"b\"\n{line}[flow.f]\nfrom = \"a\"\nto = \"c\"\ncontroller = \"reno\"\n"
            ),
            "bad.toml:10:",
            "no way from \"a\" to \"c\"",
        ),
        (
            format!(
                "{node}[link.x]\nfrom = \"a\"\nto = \"b\"\n{line}[flow.f]\npath = [\"a\", \"b\", \"a\"]\ncontroller = \"reno\"\n"
            ),
            "bad.toml:9:19",
            "comes back to \"a\"",
        ),
        (
            with("[[event]]\nat = \"1 s\"\nlink = \"bottleneck\"\nrate = \"-5 Mbps\"\n"),
            "bad.toml:12:8",
            "negative",
        ),
        (format!("a = {open}{close}"), "bad.toml:1:", "recurs"),
        (with("packet = \"2 MB\"\n"), "bad.toml:9:10", "too much"),
        ("\u{feff}\u{0}\u{1b}[31m".into(), "bad.toml:1:", ""),
        ("x".repeat(10_000_000), "bad.toml:1:1", "larger than 8 MiB"),
        (with(&"[[event]]\n".repeat(200_000)), "bad.toml:9:1", "missing"),
    ];
    for (text, place, message) in cases {
        let dir = folder(&[("bad.toml", text)]);
        for command in ["check", "run"] {
            let ended = accord(dir.path(), &[command, "bad.toml"]).with(2);
            let case = text.chars().take(300).collect::<String>();
            assert!(ended.stderr.contains(place), "{case}: {ended:#?}");
            assert!(ended.stderr.contains(message), "{case}: {ended:#?}");
            assert!(!ended.stderr.contains('\u{1b}'), "{case}: {ended:#?}");
            assert_eq!(ended.stdout, "", "{case}");
        }
        assert_eq!(names(dir.path()), ["bad.toml"]);
    }
}

#[test]
fn files_that_are_no_text() {
    let dir = folder(&[]);
    std::fs::write(dir.path().join("bad.toml"), [0xff, 0xfe, 0x00]).unwrap();
    let ended = accord(dir.path(), &["run", "bad.toml"]).with(2);
    assert!(ended.stderr.contains("is not UTF-8 text"), "{ended:#?}");
    if cfg!(unix) {
        let ended = accord(dir.path(), &["check", "/dev/zero"]).with(2);
        assert!(ended.stderr.contains("is a device, not a plain file"), "{ended:#?}");
    }
}

/// An invalid output is reported before minutes of work, not after them.
#[test]
fn invalid_outputs_are_reported_at_once() {
    let dir = folder(&[("long.toml", LONG), ("file", "mine")]);
    std::fs::create_dir(dir.path().join("mine")).unwrap();
    std::fs::write(dir.path().join("mine/notes.txt"), "mine").unwrap();
    for (place, message) in [
        ("file", "file is a file, not a directory"),
        ("file/below", "cannot create"),
        ("mine", "it holds notes.txt"),
        ("/", "is not a run directory"),
        ("..", ""),
    ] {
        let ended = accord(dir.path(), &["run", "long.toml", "-o", place]).with(2);
        let words: Vec<_> = ended.stderr.split_whitespace().filter(|w| *w != "│").collect();
        assert!(words.join(" ").contains(message), "{place}: {ended:#?}");
    }
    let ended = accord(dir.path(), &["reproduce", "xia05-fig6", "-o", "file"]).with(2);
    assert!(ended.stderr.contains("cannot create"), "{ended:#?}");
    assert_eq!(names(dir.path()), ["file", "long.toml", "mine"]);
    assert_eq!(names(&dir.path().join("mine")), ["notes.txt"]);
}

/// A misspelt name, a setting without effect, and a duplicate key.
#[test]
fn near_misses_are_named() {
    let sweep = SMALL.to_string()
        + "[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"5 Mbps\", \"6 Mbps\"]\n";
    let top = "title = \"a\"\nduration = \"2 s\"\ntitle = \"b\"\n";
    let table = "[flow.long]\ncount = 1\n[flow.b]\n\n[flow.long]\ncount = 2\n";
    let inner = "title = \"a\"\n[flow.a]\ncount = 1\nfrom = \"x\"\ncount = 2\n";
    let dir = folder(&[
        ("small.toml", SMALL),
        ("sweep.toml", &sweep),
        ("top.toml", top),
        ("table.toml", table),
        ("inner.toml", inner),
    ]);
    let rate = "topology.dumbbell.rate=7 Mbps";
    for (args, said) in [
        (
            &["check", "small.toml", "--set", "flow.aa.count=3"][..],
            &["there is no flow \"aa\"", "\"a\""][..],
        ),
        (
            &["check", "sweep.toml", "--set", rate],
            &["the sweep rate sets this", "sweep.rate.values"],
        ),
        (
            &["check", "sweep.toml", "--set", "sweep.rat.values=[1]"],
            &["no sweep \"rat\"", "\"rate\""],
        ),
        (&["reproduce", "xia05-fgi6"], &["\"xia05-fig6\""]),
        (&["run", "xia05-fgi6"], &["\"xia05-fig6\""]),
        (&["check", "top.toml"], &["duplicate key", "line 1"]),
        (&["check", "table.toml"], &["duplicate key", "line 1"]),
        (&["check", "inner.toml"], &["duplicate key", "line 3"]),
    ] {
        let ended = accord(dir.path(), args).with(2);
        for words in said {
            assert!(ended.stderr.contains(words), "{words}: {ended:#?}");
        }
    }
    let one = "sweep.rate.values=[\"7 Mbps\"]";
    accord(dir.path(), &["check", "sweep.toml", "--set", one]).with(0);
    let other = "topology.dumbbell.delay=6 ms";
    accord(dir.path(), &["check", "sweep.toml", "--set", other]).with(0);
}

/// Escape codes in a title could write anything to a terminal, or make it send its contents.
#[test]
fn titles_cannot_command_a_terminal() {
    let evil = SMALL.replace("Two flows", "Two\\u001b[31m\\u009b\\u202e flows");
    assert!(evil != SMALL);
    let dir = folder(&[("small.toml", &evil)]);
    for args in [
        &["run", "small.toml", "-o", "out"][..],
        &["stability", "small.toml"],
        &["explain", "small.toml", "--reps", "2"],
        &["check", "small.toml"],
    ] {
        let ended = accord(dir.path(), args);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        let hidden = all.chars().find(|c| *c == '\u{202e}' || c.is_control() && *c != '\n');
        assert_eq!(hidden, None, "{args:?}: {ended:#?}");
    }
}

#[cfg(not(feature = "kernel"))]
#[test]
fn a_build_without_the_kernel_says_what_is_missing() {
    let dir = folder(&[]);
    for arguments in [&["list"][..], &["run", "--controller", "copa", "--", "ls"]] {
        let ended = accord(dir.path(), &[&["kernel"], arguments].concat()).with(3);
        assert!(ended.stderr.contains("kernel"), "{}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_text_is_named() {
    let dir = folder(&[]);
    let mut command = program(dir.path(), &["check"]);
    command.arg(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"na\xffme.toml"));
    let ended = end(command.spawn().expect("it can be started")).with(2);
    assert!(ended.stderr.contains("me.toml is not UTF-8 text"), "{ended:#?}");
}

/// The texts that the program makes from options are not known to its user: an error names the option.
#[test]
fn errors_of_options_name_the_option() {
    let star = "duration = \"4 s\"\n[link.x]\nfrom = \"a\"\nto = \"b\"\nrate = \"5 Mbps\"\ndelay = \"5 ms\"\n";
    let dir = folder(&[("star.toml", star), ("good.toml", GOOD)]);
    let path = ["emulate", "--print", "--rate", "20 Mbps"];
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--queue", "nix"], "--> --queue:1:1", "there are: droptail"),
        (&["--queue", "codel:nix=5"], "--> --queue:1:7", "has no parameter \"nix\""),
        (&["--loss", "2"], "--> --loss:1:1", "expected a probability"),
        (&["--from", "x"], "--> --from:1:1", "there are: client, server"),
        (&["--to", "x"], "--> --to:1:1", "there are: client, server"),
        (&["--at", "x", "true"], "--> --at:1:1", "there are: client, server"),
        (&["--like", "nix"], "--> --like:1:1", "there are: monaco"),
    ];
    for (options, place, words) in cases {
        let ended = accord(dir.path(), &[&path, *options].concat()).with(2);
        let errors = ended.stderr.matches("error:").count();
        assert_eq!(errors, 1, "{options:?}: {ended:#?}");
        assert!(ended.stderr.contains(place) && ended.stderr.contains(words), "{ended:#?}");
    }
    let attack = ["attack", "good.toml", "--property"];
    let unlike = ["rtt < 1 s", "--vary", "link.bottleneck.delay=1..2"];
    let cases: &[(&[&str], &[&str])] = &[
        (&["emulate", "--print", "--rate", "0 Mbps"], &["--> --rate:1:1", "more than zero"]),
        (
            &["emulate", "star.toml", "--print"],
            &["star.toml has no node \"left\"", "--from NODE", "a, b"],
        ),
        (&["emulate", "mm-link", "no", "no", "--", "true"], &["mahimahi:1:9", "cannot be read"]),
        (
            &[&attack[..], &["utilisation of nix > 0.5"]].concat(),
            &["--> --property:1:16", "bottleneck"],
        ),
        (&[&attack[..], &["rtt < 5 Mbps"]].concat(), &["--> --property:1:9", "unknown unit"]),
        (&[&attack[..], &unlike].concat(), &["--> --vary:1:23", "expected a time"]),
    ];
    for (args, words) in cases {
        let ended = accord(dir.path(), args).with(2);
        let found = words.iter().all(|words| ended.stderr.contains(words));
        let made = ["path.toml", "--set", "expect="].iter().any(|made| ended.stderr.contains(made));
        assert!(found && !made, "{args:?}: {ended:#?}");
    }
}
