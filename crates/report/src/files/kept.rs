//! Finished runs that are kept, so an interrupted command can resume.
//!
//! The runs are in `.NAME.resume` next to the result directory `NAME`. There is one directory per run: a
//! manifest, the series, and a checksum. Each is written under another name and then renamed. A power cut may
//! cost the last of them, which the checksums reveal. Nothing waits for the disk, because the runs are kept
//! only to save work.

use super::manifest::LARGEST as LARGEST_MANIFEST;
use super::place::{Partial, hidden, resolved};
use super::{FileError, LARGEST_TABLE, MANIFEST, PARQUET, TRANSFERS, load_run_dir, record, write};
use crate::compare::Outline;
use accord_files::{open, read_text, remove};
use accord_record::Run;
use accord_scenario::{Engine, Scenario};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const CHECKSUM: &str = "checksum";
const LONGEST_CHECKSUM: u64 = 100;

/// The finished runs of one result directory.
#[derive(Clone, Debug)]
pub struct Kept {
    dir: PathBuf,
    build: String,
}

impl Kept {
    /// Returns the kept runs of the result directory `target`. `build` distinguishes programs of the same
    /// version. Only the program that made a run gets it back.
    pub fn beside(target: &Path, build: &str) -> Result<Kept, FileError> {
        Ok(Kept { dir: hidden(&resolved(target), "resume")?, build: build.into() })
    }

    /// Returns the run of this scenario, if it exists and is complete.
    pub fn load(&self, scenario: &Scenario, engine: Engine) -> Option<Run> {
        let (hash, seed) = (scenario.hash(), scenario.seed);
        let name = self.name(engine, &hash, seed);
        let dir = self.dir.join(&name);
        let expected = read_text(&dir.join(CHECKSUM), LONGEST_CHECKSUM).ok()?;
        if checksum(&dir, &name).ok()? != expected {
            return None;
        }
        let [run] = <[Run; 1]>::try_from(load_run_dir(&dir).ok()?.runs).ok()?;
        let m = &run.manifest;
        let same = (m.engine, &m.scenario_hash, m.seed, m.version.as_str())
            == (engine, &hash, seed, VERSION);
        // A run without series has no time axis on disk, so it is not the same as before.
        (same && !run.series.is_empty()).then_some(run)
    }

    /// Keeps a run of this scenario, and replaces one with the same name.
    pub fn keep(&self, scenario: &Scenario, run: &Run) -> Result<(), FileError> {
        let m = &run.manifest;
        let name = self.name(m.engine, &m.scenario_hash, m.seed);
        let dir = self.dir.join(&name);
        let partial = Partial::beside(&dir)?;
        fs::create_dir_all(&partial.0).map_err(|e| FileError::io("create", &self.dir, e))?;
        // A message names the directory, because the name of a run is meaningless to people.
        let here = |e: FileError| match e {
            FileError::Io { action, source, .. } => FileError::io(action, &self.dir, source),
            e => e,
        };
        record(&partial.0, &Outline::of(scenario), &[run], BTreeMap::new()).map_err(here)?;
        let sum = checksum(&partial.0, &name).map_err(|e| FileError::io("read", &self.dir, e))?;
        write(&partial.0, CHECKSUM, |out| out.write_all(sum.as_bytes())).map_err(here)?;
        remove(&dir);
        match fs::rename(&partial.0, &dir) {
            // Two points of a sweep can be the same, and another thread was faster.
            Err(e) if !dir.is_dir() => Err(FileError::io("write", &self.dir, e)),
            _ => Ok(()),
        }
    }

    /// Returns the directory of the runs if there are any.
    pub fn left(&self) -> Option<&Path> {
        let mut entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let there = entries.any(|e| is_run(&e.file_name()));
        there.then_some(&self.dir)
    }

    /// Removes the runs, including those of other scenarios. Also removes their directory, unless
    /// it holds anything else.
    pub fn discard(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        for entry in entries.filter(|e| is_run(&e.file_name())) {
            remove(&entry.path());
        }
        let _ = fs::remove_dir(&self.dir);
    }

    fn name(&self, engine: Engine, hash: &str, seed: u64) -> String {
        format!("{engine}-{hash}-{seed}-{VERSION}-{}", self.build)
    }
}

/// Returns whether this is the name of a run, or of one that was being written.
fn is_run(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = name.strip_prefix('.').unwrap_or(&name);
    Engine::ALL.iter().any(|e| {
        let rest = name.strip_prefix(e.name());
        rest.is_some_and(|rest| rest.starts_with('-'))
    })
}

/// Returns the checksum of the name and all bytes of the run `dir`, in hexadecimal.
fn checksum(dir: &Path, name: &str) -> io::Result<String> {
    let mut all = blake3::Hasher::new();
    all.update(blake3::hash(name.as_bytes()).as_bytes());
    for (file, most) in
        [(MANIFEST, LARGEST_MANIFEST), (PARQUET, LARGEST_TABLE), (TRANSFERS, LARGEST_TABLE)]
    {
        let mut hash = blake3::Hasher::new();
        match open(&dir.join(file), most) {
            Ok(opened) => drop(hash.update_reader(opened.take(most))?),
            // The run had no transfers.
            Err(e) if file == TRANSFERS && e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        all.update(hash.finalize().as_bytes());
    }
    Ok(all.finalize().to_hex().to_string())
}
