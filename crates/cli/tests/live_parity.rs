//! What packets do in simulation they do live: the scenarios of `parity/`, each with its tolerances
//! in what it expects. One after the other, as a live run wants the machine for itself.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use std::path::Path;

/// Runs it; once more, if the machine was too busy for a verdict.
fn run(dir: &Path, file: &str) -> Ended {
    let once = || {
        let args = ["run", file, "--engine", "packet,live", "--live", "loopback"];
        accord(dir, &args)
    };
    let ended = once();
    match ended.code {
        Some(3) => once(),
        _ => ended,
    }
}

#[test]
fn live_is_as_packets_are() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity");
    let names = names(&all);
    assert!(names.len() >= 5, "{names:?}");
    let dir = folder(&[]);
    let mut failed = Vec::new();
    for name in names {
        let file = all.join(&name);
        let ended = run(dir.path(), file.to_str().expect("a name of ours"));
        match ended.code {
            Some(0) => {
                let judged = ended.stdout.lines().any(|l| {
                    let words: Vec<_> = l.split(' ').collect();
                    matches!(words[..], ["✓", n, "of", all, "expectations", "met"] if n == all)
                });
                assert!(judged, "{name}: nothing was judged: {ended:#?}");
            }
            Some(3) if ended.stderr.contains("too busy") => {
                skipped(&format!("{name}, live against packets: {}", ended.stderr));
            }
            _ => failed.push(format!("{name}\n{}{}", ended.stdout, ended.stderr)),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
