//! Sources of scenarios: files, and the scenarios that come with the program.

use crate::fail::Failure;
use accord_language::File;
use std::path::Path;

/// Id and text of the scenarios that come with the program.
pub const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// The scenario of that file name or id, with `PATH=VALUE` settings applied.
pub fn load(name: &str, settings: &[String]) -> Result<File, Failure> {
    let path = Path::new(name);
    let built_in = BUILT_IN.iter().find(|(id, _)| *id == name);
    let mut file = if let (Some((id, text)), false) = (built_in, path.is_file()) {
        File::parse(&format!("{id}.toml"), text)?
    } else if path.exists() {
        File::open(path)?
    } else {
        let hint = "accord reproduce --list shows the scenarios that come with the program";
        return Err(
            Failure::new(format!("there is no file and no scenario \"{name}\"")).hint(hint),
        );
    };
    set(&mut file, settings)?;
    Ok(file)
}

/// Applies `PATH=VALUE` settings.
pub fn set(file: &mut File, settings: &[String]) -> Result<(), Failure> {
    for setting in settings {
        let Some((path, value)) = setting.split_once('=') else {
            let hint = "write --set PATH=VALUE, for example --set link.bottleneck.rate=\"5 Mbps\"";
            return Err(Failure::new(format!("\"{setting}\" is not a setting")).hint(hint));
        };
        file.set(path.trim(), value.trim())?;
    }
    Ok(())
}
