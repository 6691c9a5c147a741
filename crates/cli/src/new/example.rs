//! `accord new --example`: the files used by pages of the book.

use crate::fail::Failure;
use crate::output::note;
use accord::EXAMPLES;
use accord::language::suggest;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
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
        let failure = Failure::new(format!("unknown example \"{name}\""));
        return Err(suggest(name, names).into_iter().fold(failure, Failure::hint));
    }
    let to = to.unwrap_or(Path::new(FOLDER));
    let paths: Vec<_> = files.iter().map(|(file, _)| to.join(file)).collect();
    if let Some(path) = paths.iter().find(|path| path.exists() && !force) {
        let failure = Failure::new(format!("{} already exists", path.display()));
        return Err(failure.hint("choose another directory with -o, or replace it with --force"));
    }
    for ((_, bytes), path) in files.iter().zip(&paths) {
        let failed = |e: std::io::Error| {
            Failure::io(format!("{} cannot be written: {e}", path.display()), &e)
        };
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.map_err(failed)?;
        let mut options = OpenOptions::new();
        if force {
            options.create(true).truncate(true)
        } else {
            options.create_new(true)
        };
        match options.write(true).open(path).and_then(|mut file| file.write_all(bytes)) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                return Err(Failure::new(format!("{} already exists", path.display())));
            }
            done => done.map_err(failed)?,
        }
        note(path.display());
    }
    Ok(true)
}
