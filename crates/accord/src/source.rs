//! Sources of scenarios: files, and the scenarios that come with Accord.

use crate::Error;
use crate::built_in::{BUILT_IN, PACK_FILES};
use accord_language::File;
use std::path::Path;

/// Reads the scenario in the file of this name. Otherwise, reads the built-in one with this id, or the
/// scenario PACK/NAME of a built-in pack of evaluations.
///
/// # Errors
/// Fails if the scenario does not exist, or if its text is not TOML.
pub fn load(name: &str) -> Result<File, Error> {
    let path = Path::new(name);
    let known = BUILT_IN.iter().chain(PACK_FILES);
    let mut known = known.filter(|(id, _)| !id.ends_with("/pack"));
    let built_in = known.find(|(id, _)| *id == name);
    match built_in.filter(|_| !path.is_file()) {
        Some((id, text)) => Ok(File::parse(&format!("{id}.toml"), text)?),
        None if path.exists() => Ok(File::open(path)?),
        None => Err(Error::Unknown(name.to_string())),
    }
}

/// Applies settings of the form PATH=VALUE.
///
/// # Errors
/// Fails if a setting has another form or its path does not exist.
pub fn set(file: &mut File, settings: &[impl AsRef<str>]) -> Result<(), Error> {
    for setting in settings.iter().map(AsRef::as_ref) {
        let split = setting.split_once('=');
        let (path, value) = split.ok_or_else(|| Error::Setting(setting.to_string()))?;
        file.set(path.trim(), value.trim())?;
    }
    Ok(())
}
