//! Why a gateway does not run.

use crate::config::LoadError;
use std::fmt;

/// The reason why a gateway does not run.
#[derive(Debug)]
pub enum RunError {
    /// The site file is not right.
    Config(LoadError),
    /// Something that the site file names is not right.
    Wrong(String),
    /// The machine or the user cannot do it.
    Unable(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Config(LoadError::Unreadable(e)) => write!(f, "it cannot be read: {e}"),
            RunError::Config(LoadError::Wrong { source, error }) => {
                let (line, column) = error.position(source);
                write!(f, "line {line}, column {column}: {error}")
            }
            RunError::Wrong(why) | RunError::Unable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RunError {}

impl From<accord_door::Error> for RunError {
    fn from(e: accord_door::Error) -> RunError {
        match e {
            accord_door::Error::Wrong(why) => RunError::Wrong(why),
            accord_door::Error::Unable(why) => RunError::Unable(why),
        }
    }
}
