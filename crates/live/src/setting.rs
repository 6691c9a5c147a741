//! What a live run takes from its surroundings.

use crate::Mode;
use std::path::PathBuf;

/// What a live run takes from its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What joins the nodes.
    pub mode: Mode,
    /// The program whose gateways are at the ends of tunnels, if there is one.
    pub gateway: Option<Program>,
}

impl From<Mode> for Setting {
    /// Returns the setting without gateways.
    fn from(mode: Mode) -> Setting {
        Setting {
            mode,
            gateway: None,
        }
    }
}

/// A program that has `gateway keys` and `gateway run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// The controller that steers its tunnels. Its site files set the parameters `target` and `loss`.
    pub controller: &'static str,
}
