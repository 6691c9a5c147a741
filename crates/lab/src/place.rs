//! The file that is open: its text as last read or saved, and the rules for replacing it.

use axum::http::StatusCode;
use serde_json::{Value, json};
use std::fs;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The maximum length of a file name, in bytes.
const LONGEST_NAME: usize = 100;

/// An open file.
#[derive(Clone, Debug)]
pub struct Opened {
    path: PathBuf,
    /// The text as last read or saved.
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
    /// Reads a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is not UTF-8 text.
    pub fn read(path: PathBuf) -> std::io::Result<Opened> {
        let failed = |e: Error| Error::new(e.kind(), format!("{}: {e}", path.display()));
        let text = fs::read_to_string(&path).map_err(failed)?;
        Ok(Opened { path, text })
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
        let written = match fs::File::create_new(&path) {
            Ok(mut file) => file.write_all(text.as_bytes()),
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
                fs::write(&path, &text)
            }
            Err(e) => Err(e),
        };
        written.map_err(|e| Refusal::system(format!("{name} cannot be written: {e}")))?;
        Ok(Opened { path, text })
    }

    /// Saves a text in this file, unless another program has changed the file and `replace` is false.
    ///
    /// # Errors
    /// Fails if the file has changed, and if the system fails.
    pub fn save(&mut self, text: String, replace: bool) -> Result<(), Refusal> {
        let name = self.path.display();
        let there = fs::read(&self.path).unwrap_or_default();
        if there != self.text.as_bytes() && !replace {
            let why = format!("{name} was changed or removed by another program");
            return Err(Refusal(StatusCode::CONFLICT, why));
        }
        let failed = |e| Refusal::system(format!("{name} cannot be written: {e}"));
        fs::write(&self.path, &text).map_err(failed)?;
        self.text = text;
        Ok(())
    }

    /// Returns the path as it was given.
    pub fn file(&self) -> String {
        self.path.strip_prefix(".").unwrap_or(&self.path).display().to_string()
    }

    /// Returns the names of the file. The key is the same from every working directory.
    pub fn place(&self) -> Value {
        let whole = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        json!({ "file": self.file(), "key": whole.display().to_string() })
    }
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
