//! The settings of a laboratory on localhost.

use accord::Catalogue;
use std::path::PathBuf;

/// The settings of a laboratory.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The controllers and queue disciplines available to scenarios.
    pub catalogue: Catalogue,
    /// The scenario file that the page opens, and that it may save.
    pub file: Option<PathBuf>,
    /// The folder in which the page may create files.
    pub folder: PathBuf,
    /// The directory below which runs are exported.
    pub runs: PathBuf,
    /// The port to listen on, or 0 for [`PORT`] or, if that is taken, any free one.
    pub port: u16,
}

/// The preferred port. Browsers keep texts per address, so a text outlives the server only at
/// the same port.
pub const PORT: u16 = 4670;

impl Settings {
    /// Returns settings without a file. Files are created in the working directory, and runs are
    /// exported below `runs` there.
    pub fn new(catalogue: Catalogue) -> Settings {
        Settings { catalogue, file: None, folder: ".".into(), runs: "runs".into(), port: 0 }
    }
}
