//! Texts of scenario files, and their names, never reach the terminal with control characters.

use crate::common::*;

/// Escape sequences in all texts of a file's author.
const EVIL: &str = r#"
title = "evil \u001b[31m red \u009b2J"
notes = "evil \u001b[31m red"
source = "evil \u001b]0;title\u0007 red"
duration = "2 s"

[topology.dumbbell]
rate = "5 Mbps"
delay = "5 ms"

[flow.a]
from = "left"
to = "right"
controller = "vegas"
start = { uniform = ["0 s", "0.1 s"] }

[[expect]]
name = "evil \u001b[31m red"
metric = "utilisation"
of = "bottleneck"
at_least = 0.999
paper = "evil \u001b[31m red"
fails = { why = "ours", because = "evil \u001b[31m red", measured = 0.5, at = { x = "b\u001b[31m" } }

[sweep.x]
set = ["flow.a.start"]

[sweep.x.values]
"a" = "0 s"
"b\u001b[31m" = "0.5 s"
"#;

const NAME: &str = "x\u{1b}[31m.toml";

fn harmless(what: &[&str], ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(odd), "{what:?}: {text:?}");
    }
}

#[test]
fn whatever_the_command() {
    let net = "from,to\n\"\u{1b}[31m\",b\nb,\n";
    let dir = folder(&[(NAME, EVIL), ("\u{1b}[31m.csv", net)]);
    let commands: &[&[&str]] = &[
        &["check", NAME],
        &["check", NAME, "--print"],
        &["check", NAME, "--json"],
        &["check", NAME, "--set", "flow.a\u{1b}[31m.count=2"],
        &["check", NAME, "--set", "title=\u{1b}[31m"],
        &["check", "nowhere\u{1b}[31m"],
        &["run", NAME, "-o", "\u{1b}[31m-out"],
        &["run", NAME, "-o", "\u{1b}[31m-out", "--seed", "3"],
        &["run", NAME, "--reps", "2"],
        &["run", NAME, "--record"],
        &["explain", NAME, "--reps", "2"],
        &["stability", NAME],
        &["compare", "\u{1b}[31m-out/x=a", "\u{1b}[31m-out"],
        &["reproduce", "\u{1b}[31m"],
        &["list", "controllers", "\u{1b}[31m"],
        &["new", "\u{1b}[31m"],
        &["new", "fat-tree", "-o", NAME],
        &["new", "fat-tree", "--queue", "\u{1b}[31m"],
        &["import", "\u{1b}[31m.csv"],
        &["solve", "\u{1b}[31m"],
        &["bench", "\u{1b}[31m"],
    ];
    for args in commands {
        let ended = accord(dir.path(), args);
        assert!(matches!(ended.code, Some(0..=3)), "{args:?}: {ended:#?}");
        harmless(args, &ended);
    }
    let dirs = names(dir.path());
    assert!(dirs.iter().any(|n| n.contains("-out")), "{dirs:?}");
}
