//! The reasons why a gateway does not run.

use crate::config::LoadError;

/// The reason why a gateway does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The site file has errors.
    #[error(transparent)]
    Config(LoadError),
    /// An object named in the site file is wrong.
    #[error("{0}")]
    Wrong(String),
    /// The controller does not take the parameters of the site file.
    #[error(transparent)]
    Invalid(#[from] accord_family::Invalid),
    /// The machine or the user lacks the ability.
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
