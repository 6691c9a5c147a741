//! The sources of packs: built in, or a directory.

use super::Pack;
use super::read::read;
use accord::PACK_FILES;
use accord::form::{Errors, Source, TextError, suggest};
use std::path::Path;
use std::sync::Arc;

/// The largest file of a pack.
const MOST: u64 = 1 << 20;

/// Returns the names of the packs that come with the program.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    PACK_FILES.iter().filter_map(|(path, _)| path.strip_suffix("/pack"))
}

/// Reads the pack in the directory of that name, or else the built-in one.
///
/// # Errors
/// Fails if there is none, or if it is wrong; each error has its place.
pub fn open(name: &str) -> Result<Pack, Errors> {
    let directory = Path::new(name);
    if directory.is_dir() {
        return from_directory(directory);
    }
    let text_of = |file: &str| {
        let path = format!("{name}/{file}");
        let found = PACK_FILES.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| text.to_string()).ok_or("the pack has no such file".to_string())
    };
    if let Ok(text) = text_of("pack") {
        let source = Source { name: format!("{name}/pack.toml"), text };
        return read(Arc::new(source), None, &text_of);
    }
    let source = Arc::new(Source { name: name.to_string(), text: String::new() });
    let hint = suggest(name, built_in());
    let message = format!("there is no pack and no directory \"{name}\"");
    Err(TextError::at(&source, 0..0, message, hint).into())
}

fn from_directory(directory: &Path) -> Result<Pack, Errors> {
    let path = directory.join("pack.toml");
    let name = path.display().to_string();
    let text = text_of(&path).map_err(|why| {
        let source = Arc::new(Source { name: name.clone(), text: String::new() });
        let hint = "a pack is a directory with the file pack.toml and the scenarios that it names";
        TextError::at(&source, 0..0, format!("\"{name}\" {why}"), Some(hint.into()))
    })?;
    let shown = directory.display().to_string();
    let shown = shown.trim_end_matches('/').to_string();
    read(Arc::new(Source { name, text }), Some(shown), &|file| {
        // Cases name files of their own directory only.
        text_of(&directory.join(format!("{file}.toml")))
    })
}

fn text_of(path: &Path) -> Result<String, String> {
    accord::files::read_text(path, MOST).map_err(|e| format!("cannot be read: {e}"))
}
