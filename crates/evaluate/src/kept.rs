//! Measurements that are kept, so the same command given again does not compute them again.
//!
//! The file has a line of JSON per run, with a checksum: a line that an interruption leaves half
//! written is not read.

use crate::plan::{Plan, Trial};
use crate::trial::Measured;
use accord::files::{open_log, read};
use accord::scenario::{Engine, Scenario};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Mutex;

/// The largest file that is read.
const MOST: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    #[serde(flatten)]
    measured: Measured,
    check: String,
}

/// The runs of an evaluation that are done.
pub struct Measurements {
    known: BTreeMap<String, Measured>,
    file: Mutex<File>,
    build: String,
}

impl Measurements {
    /// The name of the file in the directory of an evaluation.
    pub const FILE: &str = "measured.jsonl";

    /// Opens a file, whose directory is there. `build` distinguishes programs: a run counts for the
    /// program that made it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn open(path: &Path, build: &str, fresh: bool) -> io::Result<Measurements> {
        let mut known = BTreeMap::new();
        if !fresh {
            let text = match read(path, MOST) {
                Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
                text => text?,
            };
            for line in text.split(|b| *b == b'\n') {
                if let Ok(line) = serde_json::from_slice::<Line>(line)
                    && line.check == check(&line.key, &line.measured)
                {
                    known.insert(line.key, line.measured);
                }
            }
        }
        let mut file = open_log(path, fresh)?;
        if !fresh {
            // A line that was cut off ends here.
            file.write_all(b"\n")?;
        }
        Ok(Measurements { known, file: Mutex::new(file), build: build.to_string() })
    }

    /// Returns how many runs were known when the file was opened.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// Returns the entry of a key of [`Measurements::key_of`].
    pub fn get(&self, key: &str) -> Option<&Measured> {
        self.known.get(key)
    }

    /// Keeps measurements by a key of [`Measurements::key_of`].
    ///
    /// # Errors
    /// Those of the file.
    pub fn put(&self, key: &str, measured: &Measured) -> io::Result<()> {
        let line =
            Line { check: check(key, measured), measured: measured.clone(), key: key.to_string() };
        let text = serde_json::to_string(&line).expect("plain data") + "\n";
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        file.write_all(text.as_bytes())
    }

    /// Flushes the measurements to the disk. Before that, a power cut may lose the last ones.
    ///
    /// # Errors
    /// Those of the file.
    pub fn sync(&self) -> io::Result<()> {
        self.file.lock().unwrap_or_else(|e| e.into_inner()).sync_all()
    }

    /// Returns the key of a trial, as [`Measurements::key_of`] does.
    pub fn key(&self, plan: &Plan, trial: &Trial, engine: Engine) -> String {
        let (_, case) = plan.cases[trial.case].within(&plan.pack);
        let figures = case.measures.iter().map(|&m| &plan.pack.measures[m].figure);
        let figures = format!("{:?}", figures.collect::<Vec<_>>());
        self.key_of(&trial.scenario, engine, &figures)
    }

    /// Returns the key of a run of which `figures` are taken. It stands for all inputs: the scenario,
    /// the seed, the engine and the program.
    pub fn key_of(&self, scenario: &Scenario, engine: Engine, figures: &str) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(scenario.hash().as_bytes());
        hash.update(figures.as_bytes());
        let (seed, build) = (scenario.seed, &self.build);
        format!("{engine}-{seed}-{}-{build}", &hash.finalize().to_hex()[..32])
    }
}

fn check(key: &str, measured: &Measured) -> String {
    let text = serde_json::to_string(measured).expect("plain data");
    let hash = blake3::hash(format!("{key}\n{text}").as_bytes());
    hash.to_hex()[..16].to_string()
}
