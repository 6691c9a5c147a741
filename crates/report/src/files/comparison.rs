//! The directory of a comparison: its page, its figures as JSON, and a manifest that marks it as ours.

use super::place::{Place, replaceable_as};
use super::{COMPARISON, FileError, MANIFEST, PAGE, put_json, write};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

const FORMAT: &str = "accord-comparison";

/// Writes a comparison of `directories` into the directory `dir`. An earlier comparison is replaced.
/// Anything else there is left alone, and is an error.
pub fn write_comparison_dir(
    dir: &Path,
    directories: Vec<String>,
    record: &Value,
    page: &str,
) -> Result<(), FileError> {
    let place = Place::claim_if(dir, replaceable)?;
    let manifest = json!({ "format": FORMAT, "format_version": 1, "directories": directories });
    write(place.path(), MANIFEST, |out| put_json(out, &manifest))?;
    write(place.path(), COMPARISON, |out| put_json(out, record))?;
    write(place.path(), PAGE, |out| out.write_all(page.as_bytes()))?;
    place.publish()
}

/// Checks whether [`write_comparison_dir`] could write at `dir`. Call it before the work.
pub fn check_comparison_place(dir: &Path) -> Result<(), FileError> {
    Place::claim_if(dir, replaceable).map(drop)
}

fn replaceable(target: &Path) -> Result<(), FileError> {
    replaceable_as(target, FORMAT, "a comparison", &[MANIFEST, COMPARISON, PAGE])
}
