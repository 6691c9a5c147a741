//! Files and directories that appear complete or not at all.

use super::manifest::StoredManifest;
use super::{
    COMPARISON_OWN, CSV, FileError, MANIFEST, MAP_OWN, PAGE, PARQUET, SCENARIO, SUMMARY,
    SUMMARY_CSV, SUMMARY_PARQUET, TRANSFERS, TRANSFERS_CSV,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The names of everything that a run directory may hold, except for the run directories of a
/// sweep. A directory with another file is not replaced, so no files of other origin are lost.
const OWN: [&str; 10] = [
    SCENARIO,
    MANIFEST,
    SUMMARY,
    SUMMARY_CSV,
    SUMMARY_PARQUET,
    PARQUET,
    CSV,
    TRANSFERS,
    TRANSFERS_CSV,
    PAGE,
];

/// The name of a run directory in messages.
const RUN_DIR: &str = "a run directory";

/// A directory that is being written.
pub(super) struct Place {
    target: PathBuf,
    partial: Partial,
}

impl Place {
    /// Makes an empty directory next to `target`, if `target` is free or holds a run that can be
    /// replaced.
    pub fn claim(target: &Path) -> Result<Place, FileError> {
        Place::claim_if(target, replaceable)
    }

    /// Does the same for a directory that `replaceable` knows.
    pub fn claim_if(
        target: &Path,
        replaceable: impl Fn(&Path) -> Result<(), FileError>,
    ) -> Result<Place, FileError> {
        let target = resolved(target);
        if fs::symlink_metadata(&target).is_ok() {
            replaceable(&target)?;
        }
        sweep_away(&target);
        let partial = Partial::beside(&target)?;
        fs::create_dir_all(&partial.0).map_err(|e| FileError::io("create", &target, e))?;
        Ok(Place { target, partial })
    }

    /// The path to write to.
    pub fn path(&self) -> &Path {
        &self.partial.0
    }

    /// Moves the directory to its place.
    pub fn publish(self) -> Result<(), FileError> {
        let failed = |e| FileError::io("replace", &self.target, e);
        let old = Partial::named(&self.target, "old")?;
        let replaced = fs::rename(&self.target, &old.0).is_ok();
        let done = fs::rename(&self.partial.0, &self.target);
        if done.is_err() && replaced {
            fs::rename(&old.0, &self.target).map_err(failed)?;
        }
        done.map_err(failed)
    }
}

/// Returns the place that a link points to, so that this place is replaced, and not the link.
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
            StoredManifest::read(&entry.path()).map_err(|e| occupied(e.to_string()))?;
            sweep = true;
        } else if !OWN.iter().any(|own| name == *own) {
            return Err(occupied(format!("it holds {}", name.display())));
        }
        empty = false;
    }
    if empty || sweep {
        Ok(())
    } else {
        StoredManifest::read(target).map(drop).map_err(|e| occupied(e.to_string()))
    }
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
    // By number: 1000 comes after 999.
    points.sort_by_key(|dir| (dir.as_os_str().len(), dir.clone()));
    points
}

/// A path with a temporary name. A file or directory that is there at the end is removed.
pub(super) struct Partial(pub PathBuf);

impl Partial {
    pub fn beside(target: &Path) -> Result<Partial, FileError> {
        Partial::named(target, "partial")
    }

    /// The path is in the folder of the target, because a rename cannot leave its file system.
    fn named(target: &Path, what: &str) -> Result<Partial, FileError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let what = format!("{}-{n}.{what}", std::process::id());
        Ok(Partial(hidden(target, &what)?))
    }
}

/// Removes the directories that a killed program has left next to `target` while it was writing
/// there. A directory stays if its process is alive, or if it holds anything that is not ours. It
/// stays, too, if the system does not say whether a process is alive.
fn sweep_away(target: &Path) {
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return;
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let prefix = format!(".{}.", name.display());
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let left = entry.file_name();
        let left = left.to_str().and_then(|left| left.strip_prefix(&prefix));
        if left.and_then(writer).is_some_and(is_gone) && is_ours(&entry.path()) {
            remove(&entry.path());
        }
    }
}

/// Returns the process in "1234-0.partial". An old directory, ".old", may be the only copy.
fn writer(name: &str) -> Option<u32> {
    let (process, count) = name.strip_suffix(".partial")?.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits(process) && digits(count)).then(|| process.parse().ok())?
}

fn is_gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// Returns whether a directory holds only files of ours, or points of a sweep with such.
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

/// Returns the path ".NAME.what" next to the target NAME.
pub(super) fn hidden(target: &Path, what: &str) -> Result<PathBuf, FileError> {
    let name = target.file_name().ok_or_else(|| FileError::Occupied {
        path: target.into(),
        wanted: "a directory to write to",
        why: "it has no name of its own".into(),
    })?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{what}"));
    Ok(target.with_file_name(hidden))
}

impl Drop for Partial {
    fn drop(&mut self) {
        // The path exists only after an error, or as the old run.
        remove(&self.0);
    }
}

/// Removes the file or directory at a path, if there is one. A failure is ignored, because nothing
/// can be done about a file system that refuses.
pub(super) fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}
