//! `accord new --example`: the files used by pages of the book.

use crate::draft::write_new;
use crate::fail::{Failure, unwritable};
use crate::output::note;
use accord::EXAMPLES;
use accord::files::create_dirs;
use std::path::Path;

/// The path of examples in the book's commands.
const FOLDER: &str = "docs/examples";

/// Returns the name of the example that a file belongs to: `lot` of `lot.toml` and `lot/links.csv`.
fn example(file: &str) -> &str {
    let end = file.find(['/', '.']).unwrap_or(file.len());
    &file[..end]
}

/// Writes the files of an example.
pub fn write(name: &str, to: Option<&Path>, force: bool) -> Result<bool, Failure> {
    let files: Vec<_> = EXAMPLES.iter().filter(|(file, _)| example(file) == name).collect();
    if files.is_empty() {
        let mut names: Vec<&str> = EXAMPLES.iter().map(|(file, _)| example(file)).collect();
        names.dedup();
        return Err(Failure::unknown("example", name, names));
    }
    let to = to.unwrap_or(Path::new(FOLDER));
    let paths: Vec<_> = files.iter().map(|(file, _)| to.join(file)).collect();
    if let Some(path) = paths.iter().find(|path| path.exists() && !force) {
        let failure = Failure::new(format!("{} already exists", path.display()));
        return Err(failure.hint("choose another directory with -o, or replace it with --force"));
    }
    for ((_, bytes), path) in files.iter().zip(&paths) {
        path.parent().map_or(Ok(()), create_dirs).map_err(unwritable(path))?;
        write_new(path, bytes, force)?;
        note(path.display());
    }
    Ok(true)
}
