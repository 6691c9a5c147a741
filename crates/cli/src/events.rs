//! The events of engines on stderr, if the environment asks for them.

use crate::fail::Failure;
use crate::output::note;
use accord_door::log::{self, LevelFilter, Log};
use std::env::VarError;
use std::ffi::OsStr;
use std::sync::Arc;

/// The level of the log in the environment, if there is one.
pub fn level() -> Result<Option<LevelFilter>, Failure> {
    let text = match std::env::var("ACCORD_LOG") {
        Ok(text) => text,
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(text)) => text.to_string_lossy().into_owned(),
    };
    let level = log::level(&text);
    level.map(Some).map_err(|e| Failure::new(format!("the variable ACCORD_LOG: {e}")))
}

/// Prints the events of this process. A gateway has a log of its own.
pub fn print(command: Option<&OsStr>) -> Result<(), Failure> {
    if let Some(level) = level()?
        && command.is_none_or(|command| command != "gateway")
    {
        Log::new(level, Arc::new(|line| note(line))).install();
    }
    Ok(())
}
