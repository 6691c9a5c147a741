//! Why a gateway does not run.

use crate::config::LoadError;

/// The reason why a gateway does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The site file is not right.
    #[error(transparent)]
    Config(LoadError),
    /// Something that the site file names is not right.
    #[error("{0}")]
    Wrong(String),
    /// The machine or the user cannot do it.
    #[error("{0}")]
    Unable(String),
}

impl From<accord_door::Error> for RunError {
    fn from(e: accord_door::Error) -> RunError {
        match e {
            accord_door::Error::Wrong(why) => RunError::Wrong(why),
            accord_door::Error::Unable(why) => RunError::Unable(why),
        }
    }
}
