//! Errors as Python exceptions.

use accord::Error;
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
            let problems: Vec<_> = (errors.iter())
                .map(|e| {
                    let place = (e.origin.name.clone(), e.line, e.column);
                    (e.message.clone(), e.hint.clone(), place)
                })
                .collect();
            ScenarioError::new_err((problems,))
        }
        other => {
            let hint = other.hint();
            AccordError::new_err((other.to_string(), hint))
        }
    }
}

/// Returns an exception with a message.
pub fn failed(message: impl Into<String>) -> PyErr {
    AccordError::new_err((message.into(), None::<String>))
}
