//! The error type of the library.

use crate::built_in::BUILT_IN;
use accord_fluid::FluidError;
use accord_language::{Errors, TextError};
#[cfg(not(target_family = "wasm"))]
use accord_live::LiveError;
use accord_record::Interrupted;
use accord_theory::EquilibriumError;
use std::path::Path;

/// The reason for a missing result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong. Each error has its place.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// A program made or changed the scenario, which is unsound.
    #[error("the scenario: {0}")]
    Unsound(String),
    /// There is neither a file nor a built-in scenario of that name.
    #[error("there is no file and no scenario \"{0}\"")]
    Unknown(String),
    /// A text is not of the form PATH=VALUE.
    #[error("\"{0}\" is not a setting")]
    Setting(String),
    /// There is no equilibrium.
    #[error("theory: {0}")]
    Theory(#[source] EquilibriumError),
    /// There is no trajectory.
    #[error("fluid: {0}")]
    Fluid(#[source] FluidError),
    /// The scenario has a feature that live runs do not support.
    #[error("live: {0}")]
    Live(String),
    /// This machine or this user cannot run the scenario.
    #[error("live: {0}")]
    Unable(String),
    /// The observer stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Returns a hint at the remedy.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unknown(name) if Path::new(&format!("{name}.toml")).is_file() => {
                Some(format!("did you mean the file {name}.toml?"))
            }
            Error::Unknown(name) => {
                let list = "accord list experiments shows the scenarios that come with the program";
                let near = accord_language::suggest(name, BUILT_IN.iter().map(|(id, _)| *id));
                Some(near.map_or(list.into(), |near| format!("{near} {list}")))
            }
            Error::Setting(_) => {
                Some("write PATH=VALUE, for example link.bottleneck.rate=\"5 Mbps\"".into())
            }
            _ => None,
        }
    }
}

impl From<TextError> for Error {
    fn from(e: TextError) -> Error {
        Error::Scenario(e.into())
    }
}

impl From<EquilibriumError> for Error {
    fn from(e: EquilibriumError) -> Error {
        match e {
            EquilibriumError::Interrupted => Error::Interrupted,
            e => Error::Theory(e),
        }
    }
}

impl From<FluidError> for Error {
    fn from(e: FluidError) -> Error {
        match e {
            FluidError::Interrupted => Error::Interrupted,
            e => Error::Fluid(e),
        }
    }
}

impl From<Interrupted> for Error {
    fn from(_: Interrupted) -> Error {
        Error::Interrupted
    }
}

#[cfg(not(target_family = "wasm"))]
impl From<LiveError> for Error {
    fn from(e: LiveError) -> Error {
        match e {
            LiveError::Interrupted => Error::Interrupted,
            LiveError::Unable(why) => Error::Unable(why),
            LiveError::Scenario(why) => Error::Live(why),
        }
    }
}
