//! The programs of users' commands.

use crate::fail::Failure;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The exit code that shells use for a command that does not exist.
const MISSING: u8 = 127;
/// The exit code that shells use for a command that cannot be run.
const UNFIT: u8 = 126;

/// Fails, with a message and the exit code of shells, if a program does not exist or cannot be run.
pub fn find(program: &OsStr) -> Result<(), Failure> {
    let path = Path::new(program);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = match path.components().count() {
        1 => std::env::split_paths(&paths).map(|dir| dir.join(path)).collect(),
        _ => vec![path.into()],
    };
    if places.iter().any(|place| is_program(place)) {
        return Ok(());
    }
    let (why, code) = match places.iter().find(|place| place.exists()) {
        Some(place) => (format!("{} is not a program that can be run", place.display()), UNFIT),
        None => (format!("program not found: {}", path.display()), MISSING),
    };
    Failure::new(why).report();
    Err(Failure::Exit(code))
}

/// Returns true if a path is a file that can be run.
fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    let runs = |file: &std::fs::Metadata| {
        std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0
    };
    #[cfg(not(unix))]
    let runs = |_: &std::fs::Metadata| true;
    path.metadata().is_ok_and(|file| file.is_file() && runs(&file))
}
