//! The reader of the results of a command: a run directory, or the directory of a sweep.

use super::manifest::{RunRecord, StoredManifest};
use super::place::points_of;
use super::{FileError, LoadedRun, MANIFEST, load_run_dir};
use crate::compare::Outline;
use crate::json::Point;
use accord_scenario::{Engine, Scenario};
use std::path::{Path, PathBuf};

/// The runs of a scenario in memory: one point, or all points of a sweep.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The directory.
    pub path: PathBuf,
    /// The points, in their order. There is at least one.
    pub points: Vec<LoadedRun>,
}

impl Stored {
    /// Returns the runs of a point outside any directory.
    pub fn of(point: &Point) -> Stored {
        let outline = Outline::of(point.scenario);
        let loaded = LoadedRun {
            path: PathBuf::new(),
            manifest: StoredManifest::of(&outline, &point.runs()),
            runs: point.runs.to_vec(),
        };
        Stored { path: PathBuf::new(), points: vec![loaded] }
    }

    /// Returns the last part of the directory's path.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.display().to_string()
    }
}

/// Reads the run directory `path`, or the run directories of the sweep `path`.
pub fn load_stored(path: &Path) -> Result<Stored, FileError> {
    let mut dirs = Vec::new();
    if !path.join(MANIFEST).exists() {
        dirs = points_of(path);
    }
    // A directory that is neither is rejected as a run directory.
    if dirs.is_empty() {
        dirs.push(path.into());
    }
    let points = dirs.iter().map(|dir| load_run_dir(dir));
    Ok(Stored { path: path.into(), points: points.collect::<Result<_, _>>()? })
}

/// Returns a run of the run directory or sweep at `dir` that none of these scenarios produces with one of
/// these engines, as text: "scenario 0a1b2c3d, seed 1, packet". Returns `None` if there is no such run.
pub fn replaced(dir: &Path, scenarios: &[&Scenario], engines: &[Engine]) -> Option<String> {
    let new: Vec<(String, u64)> = scenarios.iter().map(|s| (s.hash(), s.seed)).collect();
    let mut places = vec![dir.to_path_buf()];
    places.extend(points_of(dir));
    let there = places.iter().filter(|place| place.join(MANIFEST).is_file());
    let old = there.filter_map(|place| StoredManifest::read(place).ok());
    let mut other = old.flat_map(|manifest| {
        let point = manifest.scenario.point.clone();
        (manifest.runs.into_iter()).map(move |run| (run, point.clone()))
    });
    let made = |run: &RunRecord| {
        new.iter().any(|(hash, seed)| (hash, seed) == (&run.scenario_hash, &run.seed))
            && engines.iter().any(|engine| engine.name() == run.engine)
    };
    let (RunRecord { scenario_hash: hash, seed, engine, .. }, point) =
        other.find(|(run, _)| !made(run))?;
    let short: String = hash.chars().take(8).collect();
    let point = point.iter().map(|(name, value)| format!(", {name} = {value}"));
    Some(format!("scenario {short}, seed {seed}, {engine}{}", point.collect::<String>()))
}
