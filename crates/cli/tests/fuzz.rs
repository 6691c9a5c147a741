//! The checks of the fuzz targets in `fuzz/`, over their seeds and some thousands of mutations: the
//! same on every machine, without cargo-fuzz. `FUZZ=100000 cargo test -p accord-cli --test all fuzz`
//! runs longer.

#[path = "../../../fuzz/bodies/measured.rs"]
mod measured;
#[path = "../../../fuzz/bodies/run_dir.rs"]
mod run_dir;
#[path = "../../../fuzz/bodies/scenario.rs"]
mod scenario;
#[path = "../../../fuzz/bodies/topology.rs"]
mod topology;
#[path = "../../../fuzz/bodies/trace.rs"]
mod trace;
#[path = "../../../fuzz/bodies/wire.rs"]
mod wire;

use crate::common::{Dice, damage, files, folder};
use accord_import::measured::Format;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const ROUNDS: u64 = 3000;

/// Returns true if a body accepts `bytes`; a panic reports them.
fn accepted(body: &impl Fn(&[u8]) -> bool, bytes: &[u8], what: &str) -> bool {
    let result = catch_unwind(AssertUnwindSafe(|| body(bytes)));
    result.unwrap_or_else(|_| panic!("{what}: {}", bytes.escape_ascii()))
}

/// Returns the seeds of a target, by name.
fn seeds(target: &str) -> BTreeMap<String, Vec<u8>> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    files(&all.join(target))
}

/// Changes a digit, often to a valid input, or damages any byte, which is seldom valid.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = |i: &usize| bytes[*i].is_ascii_digit();
    let digits: Vec<usize> = (0..bytes.len()).filter(at).collect();
    match digits.len() {
        n if n > 0 && dice.below(2) == 0 => {
            bytes[digits[dice.below(n)]] = b'0' + dice.below(10) as u8;
        }
        _ => damage(bytes, dice),
    }
}

/// Passes a body its seeds, all accepted, and mutations of them. It refuses some of these.
fn look(target: &str, seeds: BTreeMap<String, Vec<u8>>, body: impl Fn(&[u8]) -> bool) {
    for (name, seed) in &seeds {
        assert!(accepted(&body, seed, name), "{name} is refused");
    }
    let seeds: Vec<_> = seeds.into_values().collect();
    assert!(seeds.len() > 5, "{} seeds", seeds.len());
    let rounds = std::env::var("FUZZ").ok().and_then(|n| n.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let (mut refused, mut fine) = (0, 0);
    for round in 0..rounds {
        let mut dice = Dice(round);
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        for _ in 0..=dice.below(3) {
            mutate(&mut bytes, &mut dice);
        }
        if accepted(&body, &bytes, &format!("{target}, round {round}")) {
            fine += 1
        } else {
            refused += 1
        }
    }
    // The damage is neither always harmless nor always fatal.
    let least = rounds / 50;
    assert!(refused > least && fine > least, "{target}: {refused} refused, {fine} fine");
}

#[test]
fn traces() {
    look("trace", seeds("trace"), trace::check);
}

#[test]
fn measurements() {
    for format in Format::ALL {
        look(format.name(), seeds(format.name()), |bytes| measured::check(format, bytes));
    }
}

#[test]
fn topologies() {
    for format in accord_import::Format::ALL {
        let target = format!("topology_{}", format.name().replace('-', "_"));
        look(&target, seeds(&target), |bytes| topology::check(format, bytes));
    }
}

#[test]
fn datagrams() {
    look("wire", seeds("wire"), wire::check);
}

#[test]
fn scenarios() {
    look("scenario", seeds("scenario"), scenario::check);
}

#[test]
fn run_directories() {
    let dir = folder(&[]);
    let whole = run_dir::Whole::new(dir.path());
    // Not in the repository: the tables are large, and the report defines their form.
    let mut seeds = seeds("run_dir");
    for (which, bytes) in (0..).zip(&whole.files) {
        seeds.insert(format!("file {which}"), [&[which], &bytes[..]].concat());
    }
    look("run_dir", seeds, |bytes| whole.check(bytes));
}
