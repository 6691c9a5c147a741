//! Files and directories that appear complete or not at all.

use super::manifest::{LARGEST as LARGEST_MANIFEST, StoredManifest};
use super::{
    COMPARISON_OWN, CONNECTIONS, CONNECTIONS_CSV, CSV, FileError, MANIFEST, MAP_OWN, PAGE, PARQUET,
    SCENARIO, SUMMARY, SUMMARY_CSV, SUMMARY_PARQUET, TRANSFERS, TRANSFERS_CSV,
};
use accord_files::{create_dirs, publish, remove, sweep_away, temporary};
use std::fs;
use std::path::{Path, PathBuf};

/// The names of everything that a run directory may hold, except for the run directories of a
/// sweep. A directory with any other file is not replaced, so files of other origin are never lost.
const OWN: [&str; 12] = [
    SCENARIO,
    MANIFEST,
    SUMMARY,
    SUMMARY_CSV,
    SUMMARY_PARQUET,
    PARQUET,
    CSV,
    TRANSFERS,
    TRANSFERS_CSV,
    CONNECTIONS,
    CONNECTIONS_CSV,
    PAGE,
];

/// The name of a run directory in messages.
const RUN_DIR: &str = "a run directory";

/// A directory under construction.
pub(super) struct Place {
    target: PathBuf,
    partial: Partial,
}

impl Place {
    /// Creates an empty directory next to `target`, if `target` is free or holds a run that can be
    /// replaced.
    pub fn claim(target: &Path) -> Result<Place, FileError> {
        Place::claim_if(target, replaceable)
    }

    /// Does the same for a directory that `replaceable` recognises.
    pub fn claim_if(
        target: &Path,
        replaceable: impl Fn(&Path) -> Result<(), FileError>,
    ) -> Result<Place, FileError> {
        let target = resolved(target);
        if fs::symlink_metadata(&target).is_ok() {
            replaceable(&target)?;
        }
        sweep_away(&target, is_ours);
        let partial = Partial::beside(&target)?;
        let made = create_dirs(target.parent().unwrap_or(Path::new("")));
        let made = made.and_then(|()| fs::create_dir(&partial.0));
        made.map_err(|e| FileError::io("create", &target, e))?;
        Ok(Place { target, partial })
    }

    /// The path at which to write.
    pub fn path(&self) -> &Path {
        &self.partial.0
    }

    /// Moves the directory to its place.
    pub fn publish(self) -> Result<(), FileError> {
        publish(&self.partial.0, &self.target)
            .map_err(|e| FileError::io("replace", &self.target, e))
    }
}

/// Returns the place to which a link points, so this place is replaced and not the link.
pub(super) fn resolved(target: &Path) -> PathBuf {
    target.canonicalize().unwrap_or_else(|_| target.into())
}

fn replaceable(target: &Path) -> Result<(), FileError> {
    let occupied = |why: String| FileError::Occupied { path: target.into(), wanted: RUN_DIR, why };
    let entries = fs::read_dir(target).map_err(|e| occupied(e.to_string()))?;
    let (mut empty, mut sweep) = (true, false);
    for entry in entries {
        let entry = entry.map_err(|e| occupied(e.to_string()))?;
        let name = entry.file_name();
        if is_point(&name) {
            replaceable(&entry.path())?;
            if !is_remains(&entry.path()) {
                StoredManifest::read(&entry.path()).map_err(|e| occupied(e.to_string()))?;
            }
            sweep = true;
        } else if !OWN.iter().any(|own| name == *own) {
            return Err(occupied(format!("it holds {}", name.display())));
        }
        empty = false;
    }
    if empty || sweep || is_remains(target) {
        Ok(())
    } else {
        StoredManifest::read(target).map(drop).map_err(|e| occupied(e.to_string()))
    }
}

/// Returns whether the manifest in a directory has lost its contents: after a power cut some file
/// systems leave an empty file, or one full of zeros, if the data had not reached the disk.
pub(super) fn is_remains(target: &Path) -> bool {
    let manifest = accord_files::read(&target.join(MANIFEST), LARGEST_MANIFEST);
    manifest.is_ok_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

/// Returns whether this is the name of a point in the directory of a sweep: "001".
pub(crate) fn is_point(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() >= 3 && name.iter().all(u8::is_ascii_digit)
}

/// Returns the directories of the points of a sweep, in their order.
pub(super) fn points_of(sweep: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(sweep).into_iter().flatten().flatten();
    let mut points: Vec<PathBuf> =
        entries.filter(|e| is_point(&e.file_name())).map(|e| e.path()).collect();
    // Sorts by number: 1000 comes after 999.
    points.sort_by_key(|dir| (dir.as_os_str().len(), dir.clone()));
    points
}

/// A directory with a temporary name. It is removed if it still exists at the end.
pub(super) struct Partial(pub PathBuf);

impl Partial {
    /// The path is in the folder of the target, because a rename cannot leave its file system.
    pub fn beside(target: &Path) -> Result<Partial, FileError> {
        let path = temporary(target, "partial");
        Ok(Partial(path.map_err(|e| nameless(target, &e))?))
    }
}

/// Returns whether a directory holds only our files, or points of a sweep with only our files.
fn is_ours(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    entries.into_iter().all(|entry| {
        entry.is_ok_and(|entry| {
            let (name, kind) = (entry.file_name(), entry.file_type());
            if kind.is_ok_and(|kind| kind.is_dir()) {
                is_point(&name) && is_ours(&entry.path())
            } else {
                OWN.iter().chain(&MAP_OWN).chain(&COMPARISON_OWN).any(|own| name == *own)
            }
        })
    })
}

/// Returns a path and the folders above it that do not exist, the innermost first.
pub(super) fn missing(path: &Path) -> Vec<PathBuf> {
    let there = |path: &Path| path.as_os_str().is_empty() || path.exists();
    path.ancestors().take_while(|path| !there(path)).map(Path::to_owned).collect()
}

/// Removes folders as long as they are empty, the innermost first.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = std::fs::remove_dir(folder);
    }
}

/// Returns the path ".NAME.what" next to the target NAME.
pub(super) fn hidden(target: &Path, what: &str) -> Result<PathBuf, FileError> {
    accord_files::hidden(target, what).map_err(|e| nameless(target, &e))
}

fn nameless(target: &Path, e: &std::io::Error) -> FileError {
    let wanted = "a directory to write to";
    FileError::Occupied { path: target.into(), wanted, why: e.to_string() }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // The path exists only after an error.
        remove(&self.0);
    }
}
