//! Errors as Python exceptions.

use accord::Error;
use accord::language::TextError as ScenarioProblem;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(accord._errors, AccordError);
import_exception!(accord._errors, ScenarioError);

/// Returns the exception for an error of the library.
pub fn exception(error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Scenario(errors) => {
            let problems: Vec<_> =
                (errors.iter()).map(|e| (e.message.clone(), e.hint.clone(), place(e))).collect();
            ScenarioError::new_err((problems,))
        }
        other => {
            let hint = other.hint();
            AccordError::new_err((other.to_string(), hint))
        }
    }
}

/// Returns file, line and column of a problem; for a setting its path, without line and column, since
/// its text is not the user's.
fn place(e: &ScenarioProblem) -> (String, Option<usize>, Option<usize>) {
    match e.origin.text.split_once('=') {
        Some((path, _)) if e.origin.name == "--set" => (path.to_string(), None, None),
        _ => (e.origin.name.clone(), Some(e.line), Some(e.column)),
    }
}

/// Returns an exception with a message.
pub fn failed(message: impl Into<String>) -> PyErr {
    AccordError::new_err((message.into(), None::<String>))
}
