//! The error of readers.

/// The reason why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(.line))]
pub struct ImportError {
    /// The line, from 1, if the error is at one place.
    pub line: Option<usize>,
    /// The problem.
    pub message: String,
    /// A hint for the user.
    pub hint: Option<String>,
}

fn place(line: &Option<usize>) -> String {
    line.map_or(String::new(), |line| format!("line {line}: "))
}

impl ImportError {
    /// Returns an error at a line.
    pub(crate) fn at(line: usize, message: impl Into<String>) -> ImportError {
        ImportError { line: Some(line), message: message.into(), hint: None }
    }

    /// Returns an error of the whole text.
    pub(crate) fn whole(message: impl Into<String>) -> ImportError {
        ImportError { line: None, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> ImportError {
        ImportError { hint: Some(hint.into()), ..self }
    }
}

/// Quotes a part of a text for a message: shortened, without control characters.
pub(crate) fn quote(text: &str) -> String {
    let clipped: String = text.chars().take(40).collect();
    let more = if clipped.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", clipped.escape_debug())
}
