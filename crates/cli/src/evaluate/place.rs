//! The directory of an evaluation, in which an earlier one of other runs is not lost unnoticed.

use super::options::Args;
use super::put_at;
use crate::fail::Failure;
use crate::output::note;
use accord::files::{create_dirs, read};
use accord_evaluate::{Measurements, Order, Pack};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The file with the settings of a finished evaluation.
const FILE: &str = "settings.json";
/// The largest such file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// The largest number of directories of one name.
const MOST_NUMBERED: usize = 1000;

/// The settings of an evaluation that determine its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The subject, and then its rivals.
    subjects: Vec<String>,
    packs: Vec<String>,
    /// The names of the only cases, or nothing for all.
    cases: Vec<String>,
    tier: String,
    engine: String,
    live: Option<String>,
    server: Option<String>,
    seed: u64,
    reps: u64,
}

impl Settings {
    pub fn of<'a>(order: &Order, packs: impl IntoIterator<Item = &'a Pack>) -> Settings {
        let named = |pack: &Pack| pack.directory.as_ref().unwrap_or(&pack.name).clone();
        Settings {
            subjects: order
                .subjects
                .iter()
                .map(|s| s.command().unwrap_or(&s.label).to_string())
                .collect(),
            packs: packs.into_iter().map(named).collect(),
            cases: order.cases.clone(),
            tier: order.tier.name().into(),
            engine: order.engine.name().into(),
            live: order.live.map(|live| live.to_string()),
            server: order.server.clone(),
            seed: order.seed,
            reps: order.reps,
        }
    }

    /// Writes the settings into the directory of their evaluation.
    pub fn write(&self, directory: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).expect("plain data") + "\n";
        put_at(&directory.join(FILE), text.as_bytes())
    }

    /// Returns the finished evaluation in a directory, in words, if these settings do not make all of its
    /// runs. More seeds include those of the earlier evaluation.
    fn other(&self, directory: &Path) -> Option<String> {
        let text = read(&directory.join(FILE), LARGEST).ok()?;
        let old: Settings = serde_json::from_slice(&text).ok()?;
        let end = |s: &Settings| s.seed.saturating_add(s.reps);
        let within = self.seed <= old.seed && end(&old) <= end(self);
        let same_seeds = Settings { seed: self.seed, reps: self.reps, ..old.clone() };
        (!within || same_seeds != *self).then(|| old.says())
    }

    fn says(&self) -> String {
        let Settings { packs, cases, tier, engine, seed, reps, .. } = self;
        let rivals = match &self.subjects[..] {
            [_, rivals @ ..] if (1..=3).contains(&rivals.len()) => {
                format!("against {}, ", rivals.join(", "))
            }
            _ => String::new(),
        };
        let cases = match &cases[..] {
            [] => String::new(),
            cases => format!(", only {}", cases.join(", ")),
        };
        let packs = packs.join(", ");
        let last = seed.saturating_add(reps.saturating_sub(1));
        format!("{rivals}{packs}{cases}, {tier} tier, {engine} engine, seeds {seed} to {last}")
    }
}

/// Creates and returns the directory of an evaluation: the one of the command, or `runs/evaluate-NAME`, or
/// with a number where another evaluation has that. A directory with other files is refused.
pub fn claim(args: &Args, name: &str, settings: &Settings) -> Result<PathBuf, Failure> {
    let says = |text: String| {
        if !(args.quiet || args.json) {
            note(text);
        }
    };
    if let Some(asked) = &args.output {
        let directory = claim_at(asked)?;
        if let Some(old) = settings.other(&directory) {
            let shown = directory.display();
            says(format!(
                "replacing an earlier evaluation in {shown} ({old}); use `-o DIR` to keep both"
            ));
        }
        return Ok(directory);
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).take(60).collect();
    let usual = Path::new("runs").join(format!("evaluate-{name}"));
    let Some(old) = settings.other(&usual) else {
        return claim_at(&usual);
    };
    let numbered = (2..).map(|n| PathBuf::from(format!("{}-{n}", usual.display())));
    let free = |place: &PathBuf| settings.other(place).is_none();
    let Some(place) = numbered.take(MOST_NUMBERED).find(free) else {
        let message = format!("{0}, {0}-2 and so on have other evaluations", usual.display());
        return Err(Failure::new(message).hint("choose a directory with -o"));
    };
    says(format!(
        "{} keeps another evaluation ({old}); this one is written to {}",
        usual.display(),
        place.display()
    ));
    claim_at(&place)
}

/// Creates the directory and returns its path. A directory with other files is refused.
fn claim_at(directory: &Path) -> Result<PathBuf, Failure> {
    let shown = directory.display();
    let ours = directory.join(Measurements::FILE).exists();
    let filled = fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    if filled && !ours {
        let hint = "choose another directory with -o, or remove it";
        return Err(Failure::new(format!("{shown} contains other files")).hint(hint));
    }
    create_dirs(directory)
        .map_err(|e| Failure::io(format!("{shown} cannot be created: {e}"), &e))?;
    Ok(directory.to_path_buf())
}
