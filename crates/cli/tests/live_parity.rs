//! Live runs agree with simulation: the scenarios of `parity/`, each with its tolerances as
//! expectations. They run one at a time, since a live run needs the machine.
//!
//! On a busy machine there is no verdict, which is not a failure, unless ACCORD_REQUIRE_LIVE=1
//! requires a verdict on each scenario.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use std::path::Path;

/// Reports the result, not captured by the test harness.
fn say(name: &str, what: &str, ended: &Ended) {
    let reasons = (ended.stdout.lines().filter(|l| l.starts_with("unknown ") && l.contains("): ")))
        .chain(ended.stderr.lines().skip_while(|l| !l.contains("no verdict")));
    let reasons: Vec<_> = reasons.map(str::trim).collect();
    skipped(&format!("{name}, {what}: {}", reasons.join(" ")));
}

/// The pause in milliseconds from which a live run counts as disturbed: less than makes a run unfit
/// for a verdict, and enough to empty or fill a queue.
const PAUSE: f64 = 3.0;
/// The maximum number of runs of a scenario: effects of a disturbance do not recur each time.
const ATTEMPTS: usize = 3;

/// Returns true if the machine paused the live run at some point.
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

/// The result of a scenario.
enum Found {
    /// The live run agrees with packets.
    Same,
    /// The machine was disturbed each time.
    NotJudged,
    /// The differences on an undisturbed machine.
    Differs(String),
}

/// Runs a scenario until the live run agrees with packets, up to a maximum.
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
