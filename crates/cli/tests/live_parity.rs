//! What packets do in simulation they do live: the scenarios of `parity/`, each with its tolerances
//! in what it expects. One after the other, as a live run wants the machine for itself.
//!
//! On a machine that is too busy nothing can be judged, which is no failure, unless
//! ACCORD_REQUIRE_LIVE=1 asks for a verdict on each scenario.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use std::path::Path;

/// Says so past what the test harness captures.
fn say(name: &str, what: &str, ended: &Ended) {
    let reasons = (ended
        .stdout
        .lines()
        .filter(|l| l.starts_with("unknown ") && l.contains("): ")))
    .chain(
        ended
            .stderr
            .lines()
            .skip_while(|l| !l.contains("no verdict")),
    );
    let reasons: Vec<_> = reasons.map(str::trim).collect();
    skipped(&format!("{name}, {what}: {}", reasons.join(" ")));
}

/// A live run is disturbed if the machine did nothing for so long, in milliseconds: less than what
/// makes a run unfit for a verdict, and enough to empty or fill a queue.
const PAUSE: f64 = 3.0;
/// So often a scenario is run: what comes from a disturbance does not come each time.
const ATTEMPTS: usize = 3;

/// Whether the machine had no time for the live run at some point.
fn disturbed(ended: &Ended) -> bool {
    // "..., 12.06 ms (latest)"
    let latest = ended.stdout.lines().find_map(|line| {
        let (before, _) = line.split_once(" (latest)")?;
        let mut words = before.rsplit(' ');
        let (unit, number) = (words.next()?, words.next()?);
        let ms = match unit {
            "s" => 1e3,
            "ms" => 1.0,
            _ => 0.0,
        };
        Some(number.parse::<f64>().ok()? * ms)
    });
    ended.stderr.contains("too busy") || latest.is_none_or(|ms| ms > PAUSE)
}

/// What came out of a scenario.
enum Found {
    /// Live is as packets are.
    Same,
    /// The machine was disturbed each time.
    NotJudged,
    /// What differed on a machine that was not disturbed.
    Differs(String),
}

/// Runs it until live is as packets are, but not for ever.
fn run(dir: &Path, name: &str, file: &Path) -> Found {
    let file = file.to_str().expect("a name of ours");
    let args = ["run", file, "--engine", "packet,live", "--live", "loopback"];
    let mut found = Found::NotJudged;
    for _ in 0..ATTEMPTS {
        let ended = accord(dir, &args);
        match ended.code {
            Some(0) => {
                let judged = ended.stdout.lines().any(|l| {
                    let words: Vec<_> = l.split(' ').collect();
                    matches!(words[..], [n, "of", all, "checks", "met"] if n == all)
                });
                assert!(judged, "{name}: nothing was judged: {ended:#?}");
                return Found::Same;
            }
            Some(1 | 3) if disturbed(&ended) => say(name, "the machine was disturbed", &ended),
            _ => {
                say(name, "live is not as packets are", &ended);
                found = Found::Differs(format!("{name}\n{}{}", ended.stdout, ended.stderr));
            }
        }
    }
    found
}

#[test]
fn live_is_as_packets_are() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity");
    let names = names(&all);
    assert!(names.len() >= 5, "{names:?}");
    let dir = folder(&[]);
    let (mut failed, mut not_judged) = (Vec::new(), Vec::new());
    for name in &names {
        match run(dir.path(), name, &all.join(name)) {
            Found::Same => {}
            Found::NotJudged => not_judged.push(&name[..]),
            Found::Differs(how) => failed.push(how),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let required = std::env::var("ACCORD_REQUIRE_LIVE").is_ok_and(|value| value == "1");
    assert!(
        !required || not_judged.is_empty(),
        "not judged, as the machine was too busy each time: {}",
        not_judged.join(", ")
    );
}
