//! A lock on a result directory, so that two commands do not write to it.

use super::FileError;
use super::place::{hidden, resolved};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The lock of one result directory. It ends with the value, or with the process.
#[derive(Debug)]
pub struct Lock {
    /// The file `.lock` among the runs that are kept, in `.NAME.resume` next to the directory.
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks the result directory `target`, which need not exist.
    ///
    /// # Errors
    /// Fails if another command has it, or if its place cannot be written to.
    pub fn take(target: &Path) -> Result<Lock, FileError> {
        let target = resolved(target);
        let folder = hidden(&target, "resume")?;
        let path = folder.join(".lock");
        loop {
            let failed = |e| FileError::io("write", &target, e);
            fs::create_dir_all(&folder).map_err(failed)?;
            let mut options = fs::OpenOptions::new();
            let file = options.create(true).truncate(false).write(true).open(&path);
            let file = match file {
                // Another command has just removed the folder.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                file => file.map_err(failed)?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(FileError::Busy { path: target }),
                // A file system without locks.
                Err(TryLockError::Error(_)) => {}
            }
            // Another command may have removed the file between its opening and its locking.
            if is_at(&file, &path) {
                return Ok(Lock { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // It stays if it holds runs.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

/// Returns whether a locked file is the one at a path, so that data written to it can be read
/// there.
fn is_at(mut file: &File, path: &Path) -> bool {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("{}-{n}\n", std::process::id());
    let written = file.set_len(0).and_then(|()| file.write_all(mark.as_bytes()));
    // A full disk takes nothing, and is reported when the result is written.
    written.is_err() || fs::read_to_string(path).is_ok_and(|text| text == mark)
}
