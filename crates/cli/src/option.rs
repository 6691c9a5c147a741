//! Errors of texts that the program makes from options: they name the option and its value.

use accord::form::{Source, TextError};
use std::sync::Arc;

/// Returns an error at the value of an option. It marks the part of the value that the error is about, if that
/// part is a part of the made text or is quoted in the message.
pub fn at(option: &str, value: &str, error: &TextError) -> TextError {
    let source = Arc::new(Source { name: option.into(), text: value.into() });
    let part = error.origin.text.get(error.span.clone()).unwrap_or_default().trim_matches('"');
    let quoted = error.message.split('"').nth(1).unwrap_or_default();
    let place = |part: &str| Some((value.find(part).filter(|_| !part.is_empty())?, part.len()));
    let (start, length) = place(part).or_else(|| place(quoted)).unwrap_or((0, value.len()));
    TextError::at(&source, start..start + length, error.message.clone(), error.hint.clone())
}
