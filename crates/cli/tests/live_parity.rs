//! What packets do in simulation they do live: the scenarios of `parity/`, each with its tolerances
//! in what it expects. One after the other, as a live run wants the machine for itself.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use std::path::Path;

/// Says so past what the test harness captures.
fn say(name: &str, what: &str, ended: &Ended) {
    let reasons = (ended.stdout.lines().filter(|l| l.starts_with('✗'))).chain(
        ended
            .stderr
            .lines()
            .skip_while(|l| !l.contains("no verdict")),
    );
    let reasons: Vec<_> = reasons.map(str::trim).collect();
    skipped(&format!("{name}, {what}: {}", reasons.join(" ")));
}

/// Runs it; once more if the machine was too busy for a verdict, and if live differed: that is
/// also what a pause of the machine does that is too short to refuse a verdict for, and it does
/// not come twice.
fn run(dir: &Path, name: &str, file: &Path) -> Ended {
    let file = file.to_str().expect("a name of ours");
    let once = || {
        let args = ["run", file, "--engine", "packet,live", "--live", "loopback"];
        accord(dir, &args)
    };
    let ended = once();
    if ended.code == Some(0) {
        return ended;
    }
    say(name, "the first attempt", &ended);
    once()
}

#[test]
fn live_is_as_packets_are() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity");
    let names = names(&all);
    assert!(names.len() >= 5, "{names:?}");
    let dir = folder(&[]);
    let mut failed = Vec::new();
    for name in names {
        let ended = run(dir.path(), &name, &all.join(&name));
        match ended.code {
            Some(0) => {
                let judged = ended.stdout.lines().any(|l| {
                    let words: Vec<_> = l.split(' ').collect();
                    matches!(words[..], ["✓", n, "of", all, "expectations", "met"] if n == all)
                });
                assert!(judged, "{name}: nothing was judged: {ended:#?}");
            }
            Some(3) if ended.stderr.contains("too busy") => {
                say(&name, "live against packets", &ended);
            }
            _ => failed.push(format!("{name}\n{}{}", ended.stdout, ended.stderr)),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
