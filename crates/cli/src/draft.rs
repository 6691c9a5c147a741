//! The destination of scenario files that the program writes.

use crate::fail::{Failure, unwritable};
use crate::output::{data, escaped, note};
use accord::report::show::count;
use accord::{Catalogue, File, files};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The destination of a draft.
pub struct Place<'a> {
    /// The file, or `None` for standard output.
    pub file: Option<&'a PathBuf>,
    /// True if an existing file may be replaced.
    pub force: bool,
}

impl Place<'_> {
    /// Fails if the file exists and may not be replaced. Call it before the work.
    pub fn check(&self) -> Result<(), Failure> {
        match self.file {
            Some(path) if path.exists() && !self.force => Err(taken(path)),
            _ => Ok(()),
        }
    }

    /// Checks that a draft is a valid scenario, writes it, and suggests commands for it.
    pub fn write(&self, text: &str, name: &str, catalogue: &Catalogue) -> Result<(), Failure> {
        let name = self.file.map_or(name.into(), |f| f.display().to_string());
        let points = File::parse(&name, text)?.points(catalogue, None)?;
        let Some(path) = self.file else {
            return Ok(data(escaped(text.trim_end()))?);
        };
        write_new(path, text.as_bytes(), self.force)?;
        let s = &points[0];
        note(format_args!(
            "{name}: {}, {}, {}\nnext: accord run {name}",
            count(s.nodes.len(), "node"),
            count(s.links.len() / 2, "link"),
            count(s.flows.len(), "flow"),
        ));
        Ok(())
    }
}

/// Writes a file, in place of an existing one only by `force`.
pub fn write_new(path: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    let written = if force { files::write(path, bytes) } else { files::write_new(path, bytes) };
    written.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => taken(path),
        _ => unwritable(path)(e),
    })
}

fn taken(path: &Path) -> Failure {
    let message = format!("{} already exists", path.display());
    Failure::new(message).hint("choose another name with -o, or replace it with --force")
}
