//! The environment of a live run.

use crate::Mode;
use std::path::PathBuf;

/// The environment of a live run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The medium that joins the nodes.
    pub mode: Mode,
    /// The program whose gateways are at the ends of tunnels, if there is one.
    pub gateway: Option<Program>,
}

impl From<Mode> for Setting {
    /// Returns the setting without gateways.
    fn from(mode: Mode) -> Setting {
        Setting { mode, gateway: None }
    }
}

/// A program with the commands `gateway keys` and `gateway run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The path of the program.
    pub path: PathBuf,
    /// The controller that steers its tunnels. Its site files set the parameters `target` and `loss`.
    pub controller: &'static str,
}
