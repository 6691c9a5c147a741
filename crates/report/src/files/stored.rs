//! The reader of the results of a command: a run directory, or the directory of a sweep.

use super::manifest::StoredManifest;
use super::place::points_of;
use super::{FileError, LoadedRun, MANIFEST, load_run_dir};
use crate::compare::Outline;
use crate::json::Point;
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
    /// Returns the runs of a point that is in no directory.
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
    // A directory that is neither is refused as a run directory.
    if dirs.is_empty() {
        dirs.push(path.into());
    }
    let points = dirs.iter().map(|dir| load_run_dir(dir));
    Ok(Stored { path: path.into(), points: points.collect::<Result<_, _>>()? })
}
