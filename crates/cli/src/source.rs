//! The sources of a scenario.

use accord::{Error, File, set};

/// Reads a scenario file, one that comes with the program, or with "-" standard input, and applies
/// settings.
pub fn load(name: &str, settings: &[String]) -> Result<File, Error> {
    let mut file = match name {
        "-" => File::read("stdin.toml", std::io::stdin())?,
        name => accord::load(name)?,
    };
    set(&mut file, settings)?;
    Ok(file)
}
