//! The sources of a scenario.

use accord::{Error, File};

/// Reads a scenario file, one that comes with the program, or with "-" standard input.
pub fn load(name: &str) -> Result<File, Error> {
    match name {
        "-" => Ok(File::read("stdin.toml", std::io::stdin())?),
        name => accord::load(name),
    }
}
