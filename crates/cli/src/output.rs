//! Data to stdout, everything else to stderr.

use crate::fail::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes data to stdout, and a line's end. A reader that has seen enough is no error.
pub fn data(text: impl Display) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to stdout: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes data as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    data(serde_json::to_string_pretty(value).expect("plain data"))
}

/// Prints a message to stderr. A closed stderr is no error.
pub fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
