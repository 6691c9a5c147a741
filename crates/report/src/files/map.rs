//! The directory of a map of stability: a table, a page, and a manifest that marks it as ours.

use super::place::{Place, replaceable_as};
use super::{
    FileError, MANIFEST, MAP_OWN as OWN, MAP_PAGE as PAGE, MAP_TABLE as TABLE, put_json, write,
};
use crate::stability::StabilityMap;
use serde_json::json;
use std::io::Write;
use std::path::Path;

const FORMAT: &str = "accord-map";

/// Writes the map into the directory `dir`. An earlier map is replaced. Anything else there is left
/// alone, and is an error.
pub fn write_map_dir(dir: &Path, map: &StabilityMap) -> Result<(), FileError> {
    let place = Place::claim_if(dir, replaceable)?;
    let manifest = json!({ "format": FORMAT, "format_version": 1, "id": map.id, "axes": map.axes });
    write(place.path(), MANIFEST, |out| put_json(out, &manifest))?;
    write(place.path(), TABLE, |out| out.write_all(map.csv().as_bytes()))?;
    write(place.path(), PAGE, |out| out.write_all(map.page().as_bytes()))?;
    place.publish()
}

/// Checks whether [`write_map_dir`] could write at `dir`. Call it before the work.
pub fn check_map_place(dir: &Path) -> Result<(), FileError> {
    Place::claim_if(dir, replaceable).map(drop)
}

fn replaceable(target: &Path) -> Result<(), FileError> {
    replaceable_as(target, FORMAT, "a map of stability", &OWN)
}
