//! A lock on a result directory, which prevents two commands from writing to it.

use super::FileError;
use super::place::{hidden, missing, remove_empty, resolved};
use accord_files::{is_same, open_log};
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The number of times that other commands may remove the file before this one locks it.
const TRIES: usize = 100;

/// The lock of one result directory. It ends when the value is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    /// The file `.lock` among the kept runs, in `.NAME.resume` next to the directory.
    path: PathBuf,
    /// The folders that did not exist before, the innermost first. Those that are still empty at the end are
    /// removed.
    made: Vec<PathBuf>,
    _file: File,
}

impl Lock {
    /// Locks the result directory `target`, which need not exist.
    ///
    /// # Errors
    /// Fails if another command holds the lock, or if its place is not writable.
    pub fn take(target: &Path) -> Result<Lock, FileError> {
        let target = resolved(target);
        let folder = hidden(&target, "resume")?;
        let path = folder.join(".lock");
        let made = missing(&folder);
        for _ in 0..TRIES {
            let failed = |e| FileError::io("write", &target, e);
            fs::create_dir_all(&folder).map_err(failed)?;
            let file = match open_log(&path, false) {
                // Another command has just removed the folder.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                file => file.map_err(failed)?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(FileError::Busy { path: target }),
                // The file system has no locks.
                Err(TryLockError::Error(_)) => {}
            }
            // Another command may have removed the file between its opening and its locking.
            if is_same(&file, &path) {
                return Ok(Lock { path, made, _file: file });
            }
        }
        Err(FileError::Busy { path: target })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // A folder stays if it holds runs.
        let _ = self.path.parent().map(fs::remove_dir);
        remove_empty(&self.made);
    }
}
