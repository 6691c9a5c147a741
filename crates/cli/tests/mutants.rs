//! The scenario files with random damage: the parser refuses them or they run. The same on every
//! machine. The damage affects lines, numbers and words; that of `fuzz.rs` affects bytes.

use crate::common::Dice;
use accord::Catalogue;
use accord::language::File;
use accord::record::{Interrupted, Observer};
use accord::scenario::{Scenario, print};
use accord::units::Time;
use std::path::Path;

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord::control::FAMILIES, disciplines: accord::aqm::FAMILIES };

const ROUNDS: u64 = 2500;

/// Returns one of the items.
fn one_of<'a>(dice: &mut Dice, items: &[&'a str]) -> &'a str {
    items[dice.below(items.len())]
}

/// Returns all scenario files of the repository.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for dir in ["scenarios", "crates/cli/benches"] {
        let entries = std::fs::read_dir(root.join(dir)).expect("it is there");
        paths.extend(entries.map(|e| e.expect("readable").path()));
    }
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() >= 11, "{paths:?}");
    let read = |p| std::fs::read_to_string(p).expect("text");
    paths.iter().map(read).collect()
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "0.5",
    "1000000",
    "1000001",
    "9223372036854775807",
    "18446744073709551616",
    "0x7f",
    "1_0",
    "\"\"",
    "[]",
    "{}",
    "true",
];
const UNITS: &[&str] = &[
    "ps", "ns", "us", "ms", "s", "h", "bps", "Kbps", "Mbps", "Gbps", "Tbps", "B", "KB", "MB",
    "pkt", "BDP", "%", "", "x",
];
const WORDS: &[&str] = &[
    "\"theory\"",
    "\"packet\"",
    "\"mean\"",
    "\"max\"",
    "\"p50\"",
    "\"jain\"",
    "\"rtt\"",
    "\"red\"",
    "\"avd\"",
    "\"avq\"",
    "\"monaco\"",
    "\"vegas-k\"",
    "\"none\"",
    "\"greedy\"",
    "\"unlimited\"",
    "{ uniform = [\"0 s\", \"1 s\"] }",
    "{ poisson = \"1 Mbps\" }",
    "{ size = \"1 MB\" }",
    "{ on_off = { burst = \"9 KB\", pause = \"1 ms\" } }",
    "{ spread = [\"1 ms\", \"2 ms\"] }",
];

/// Returns the places of the numbers in a text.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let from = i;
        while i < bytes.len() && (bytes[i].is_ascii_digit() || bytes[i] == b'.') {
            i += 1;
        }
        if i > from {
            found.push((from, i));
        }
        i += 1;
    }
    found
}

/// Damages a text at one more place.
fn damage(text: &mut String, all: &[String], dice: &mut Dice) {
    let lines: Vec<&str> = text.lines().collect();
    let line = |dice: &mut Dice| lines[dice.below(lines.len())];
    match dice.below(9) {
        _ if lines.is_empty() => {}
        0 => *text = text.replacen(line(dice), "", 1),
        1 => {
            let (one, other) = (line(dice), line(dice));
            *text = text.replacen(one, other, 1);
        }
        2 => {
            let other: Vec<&str> = all[dice.below(all.len())].lines().collect();
            let more = format!("{}\n{}", line(dice), other[dice.below(other.len())]);
            *text = text.replacen(line(dice), &more, 1);
        }
        3 | 4 => {
            let places = numbers(text);
            if let Some(&(from, to)) = places.get(dice.below(places.len())) {
                text.replace_range(from..to, one_of(dice, NUMBERS));
            }
        }
        5 => {
            let (from, to) = (one_of(dice, UNITS), one_of(dice, UNITS));
            *text = text.replacen(&format!(" {from}\""), &format!(" {to}\""), 1);
        }
        6 => {
            let line = line(dice);
            if let Some((key, _)) = line.split_once('=') {
                *text = text.replacen(line, &format!("{key}= {}", one_of(dice, WORDS)), 1);
            }
        }
        7 => {
            let at = (0..=dice.below(text.len() + 1)).rev();
            let at = { at }.find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            text.insert_str(
                at,
                one_of(dice, &["\"", "[", "]", "{", "=", "\n", ".", "#", "\u{0}", "ü"]),
            );
        }
        _ => {
            let at = (0..=dice.below(text.len() + 1)).rev();
            let at = { at }.find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            text.truncate(at);
        }
    }
}

/// Stops a run after `0` reports of progress.
struct Patience(u32);

impl Observer for Patience {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        self.0 = self.0.checked_sub(1).ok_or(Interrupted)?;
        Ok(())
    }
}

/// A valid scenario prints as itself, and starts to run in all engines.
fn live(scenario: &Scenario) {
    let printed = print(scenario);
    let again = File::parse("printed.toml", &printed).unwrap_or_else(|e| panic!("{printed}\n{e}"));
    let again = again.points(&CATALOGUE, None);
    let again = again.unwrap_or_else(|e| panic!("{printed}\n{e}"));
    assert_eq!(&again[0], scenario, "{printed}");
    let _ = accord::theory::run(scenario, &mut Patience(3));
    let _ = accord::sim::run(scenario, &mut Patience(3));
}

#[test]
fn damaged_scenarios_are_refused_or_run() {
    let all = corpus();
    let (mut refused, mut valid) = (0, 0);
    for seed in 0..ROUNDS {
        let mut dice = Dice(seed);
        let mut text = all[dice.below(all.len())].clone();
        for _ in 0..=dice.below(2) {
            damage(&mut text, &all, &mut dice);
        }
        let result = std::panic::catch_unwind(|| match File::parse("mutant.toml", &text) {
            Ok(file) => match file.points(&CATALOGUE, None) {
                Ok(points) => {
                    if points[0].flows.len() <= 300 {
                        live(&points[0]);
                    }
                    true
                }
                Err(errors) => errors.to_string().is_empty(),
            },
            Err(error) => error.to_string().is_empty(),
        });
        match result {
            Ok(true) => valid += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("seed {seed} made it panic:\n{text}"),
        }
    }
    // The damage is neither always harmless nor always fatal.
    assert!(refused > 300 && valid > 300, "{refused} refused, {valid} valid");
}
