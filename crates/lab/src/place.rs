//! The files that are open in tabs of the page, and the rules for replacing them.

use accord::files::{read_text, write, write_new};
use accord::language::LONGEST_TEXT;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The maximum length of a file name, in bytes.
const LONGEST_NAME: usize = 100;

/// A file that the page may save, and a text of it.
#[derive(Clone, Debug)]
pub struct Opened {
    path: PathBuf,
    /// The name that is the same from every working directory.
    pub key: String,
    /// The text when it was last read or saved.
    pub text: String,
}

/// The status and the reason of a request without an answer.
#[derive(Debug)]
pub struct Refusal(pub StatusCode, pub String);

impl Refusal {
    /// Creates the refusal of the system.
    pub fn system(why: impl ToString) -> Refusal {
        Refusal(StatusCode::INTERNAL_SERVER_ERROR, why.to_string())
    }

    /// Creates the refusal of a request that is wrong.
    pub fn wrong(why: impl ToString) -> Refusal {
        Refusal(StatusCode::BAD_REQUEST, why.to_string())
    }
}

impl Opened {
    fn new(path: PathBuf, text: String) -> Opened {
        let whole = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        Opened { key: whole.display().to_string(), path, text }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is too large for a scenario, or is not UTF-8 text.
    pub fn read(path: PathBuf) -> std::io::Result<Opened> {
        let failed = |e: Error| Error::new(e.kind(), format!("{}: {e}", path.display()));
        let text = read_text(&path, LONGEST_TEXT as u64).map_err(failed)?;
        Ok(Opened::new(path, text))
    }

    /// Creates a file in `folder`. Replaces one that exists only if `replace` is true.
    ///
    /// # Errors
    /// Fails if the name leads out of the folder or is not that of a scenario file, if the file exists
    /// and is not to be replaced, and if the system fails.
    pub fn create(
        folder: &Path,
        name: &str,
        text: String,
        replace: bool,
    ) -> Result<Opened, Refusal> {
        check(name)?;
        let path = folder.join(name);
        let written = match write_new(&path, text.as_bytes()) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                // Links are not followed, since they may lead out of the folder.
                let plain = fs::symlink_metadata(&path).is_ok_and(|m| m.is_file());
                if !plain {
                    let why = format!("{name} exists and is not a plain file; choose another name");
                    return Err(Refusal::wrong(why));
                }
                if !replace {
                    return Err(Refusal(StatusCode::CONFLICT, format!("{name} exists")));
                }
                write(&path, text.as_bytes())
            }
            written => written,
        };
        written.map_err(|e| Refusal::system(format!("{name} cannot be written: {e}")))?;
        Ok(Opened::new(path, text))
    }

    /// Saves a text in this file, in place of the one whose [`mark`] is `base`. Replaces any other text only if
    /// `replace` is true.
    ///
    /// # Errors
    /// Fails if the file has another text, and if the system fails.
    pub fn save(&mut self, text: String, base: &str, replace: bool) -> Result<(), Refusal> {
        let name = self.path.display();
        let there = read_text(&self.path, LONGEST_TEXT as u64);
        let known = there.is_ok_and(|there| there == text || mark(&there) == base);
        if !known && !replace {
            let why = format!("{name} was changed or removed by another tab or program");
            return Err(Refusal(StatusCode::CONFLICT, why));
        }
        let failed = |e| Refusal::system(format!("{name} cannot be written: {e}"));
        write(&self.path, text.as_bytes()).map_err(failed)?;
        self.text = text;
        Ok(())
    }

    /// Reads the file again, if that is possible.
    pub fn refresh(&mut self) {
        if let Ok(text) = read_text(&self.path, LONGEST_TEXT as u64) {
            self.text = text;
        }
    }

    /// Returns the path as it was given.
    pub fn file(&self) -> String {
        self.path.strip_prefix(".").unwrap_or(&self.path).display().to_string()
    }

    /// Returns the names of the file, and the mark of its text.
    pub fn place(&self) -> Value {
        json!({ "file": self.file(), "key": self.key, "mark": mark(&self.text) })
    }
}

/// Returns the mark of a text, with which a tab names the text that it knows.
fn mark(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Checks the name of a new file: one name without folders, which every file system takes.
fn check(name: &str) -> Result<(), Refusal> {
    let stem = name.strip_suffix(".toml").unwrap_or_default();
    let allowed = |c: char| c.is_alphanumeric() || " -_.".contains(c);
    let first = stem.chars().next();
    let good = first.is_some_and(char::is_alphanumeric)
        && name.chars().all(allowed)
        && name.len() <= LONGEST_NAME;
    if good {
        Ok(())
    } else {
        let why = format!(
            "\"{}\" is no name for a scenario file; use letters, digits, spaces, -, _ and ., begin \
             with a letter or digit, and end with .toml, in at most {LONGEST_NAME} bytes",
            name.escape_debug()
        );
        Err(Refusal::wrong(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_or_hide_are_refused() {
        let long = format!("{}.toml", "a".repeat(LONGEST_NAME));
        for name in [
            "",
            ".toml",
            "..toml",
            "../up.toml",
            "/etc/a.toml",
            "a/b.toml",
            "a\\b.toml",
            "C:a.toml",
            "a.sh",
            "a",
            "a.toml\0",
            "a\n.toml",
            "-rf.toml",
            " a.toml",
            ".hidden.toml",
            "a.toml/",
            "a\u{202e}b.toml",
            "~a.toml",
            "$(a).toml",
            &long,
        ] {
            assert!(matches!(check(name), Err(Refusal(StatusCode::BAD_REQUEST, _))), "{name:?}");
        }
        for name in ["a.toml", "Übung 2.toml", "reno-vs_cubic.v2.toml"] {
            assert!(check(name).is_ok(), "{name:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_folder_is_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let outside = tempfile::NamedTempFile::new().expect("a file");
        std::os::unix::fs::symlink(outside.path(), dir.path().join("a.toml")).expect("a link");
        for replace in [false, true] {
            let made = Opened::create(dir.path(), "a.toml", "new".into(), replace);
            assert!(matches!(made, Err(Refusal(StatusCode::BAD_REQUEST, _))));
        }
        assert_eq!(fs::read(outside.path()).expect("readable"), b"");
    }
}
