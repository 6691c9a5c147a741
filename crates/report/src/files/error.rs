//! Errors of run directories.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a run directory could not be written or read.
#[derive(Debug, Error)]
pub enum FileError {
    /// The operating system refused an operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation: "read", "write", ...
        action: &'static str,
        /// The path of the operation.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The place for one of our directories holds something else.
    #[error("{} exists and is not {wanted} ({why}); choose another place", path.display())]
    Occupied {
        /// The place.
        path: PathBuf,
        /// The only content that can be replaced: "a run directory".
        wanted: &'static str,
        /// The sign that the place holds something else.
        why: String,
    },
    /// Another command writes to a place.
    #[error("another run is being written to {}; wait for its end, or give this one another place with -o", path.display())]
    Busy {
        /// The place.
        path: PathBuf,
    },
    /// There is no run at a place.
    #[error("{} is not a run directory: {why}; accord run FILE makes one, runs/ID by default", path.display())]
    NoRun {
        /// The place.
        path: PathBuf,
        /// The missing part.
        why: &'static str,
    },
    /// A file is damaged or of another kind.
    #[error("{} is not a readable part of a run: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The fault of the file.
        why: String,
    },
}

impl FileError {
    pub(super) fn io(action: &'static str, path: &Path, source: std::io::Error) -> FileError {
        FileError::Io { action, path: path.into(), source }
    }

    pub(super) fn broken(path: &Path, why: impl ToString) -> FileError {
        FileError::Broken { path: path.into(), why: why.to_string() }
    }
}

/// Returns whether an error means that the file system is full, or that this user may not write
/// there or may not write a file of this size.
pub fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    use std::io::{Error, ErrorKind::*};
    let kind = error.downcast_ref::<Error>().map(Error::kind);
    matches!(
        kind,
        Some(StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem | PermissionDenied)
    ) || error.source().is_some_and(is_refused)
}
