//! The directory of a map of stability: a table, a page, and a manifest that marks it as ours.

use super::place::Place;
use super::{
    FileError, MANIFEST, MAP_OWN as OWN, MAP_PAGE as PAGE, MAP_TABLE as TABLE, json, write,
};
use crate::stability::{Parameter, StabilityMap};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::Path;

const FORMAT: &str = "accord-map";
/// The content of `manifest.json`.
#[derive(Serialize)]
struct MapManifest<'a> {
    format: &'static str,
    format_version: u32,
    id: &'a str,
    axes: &'a [Parameter],
}

/// Writes the map into the directory `dir`. An earlier map is replaced. Anything else there is left
/// alone, and is an error.
pub fn write_map_dir(dir: &Path, map: &StabilityMap) -> Result<(), FileError> {
    let place = Place::claim_if(dir, replaceable)?;
    let manifest = MapManifest {
        format: FORMAT,
        format_version: 1,
        id: &map.id,
        axes: &map.axes,
    };
    write(place.path(), MANIFEST, |out| json(out, &manifest))?;
    write(place.path(), TABLE, |out| {
        out.write_all(map.csv().as_bytes())
    })?;
    write(place.path(), PAGE, |out| {
        out.write_all(map.page().as_bytes())
    })?;
    place.publish()
}

/// Checks whether [`write_map_dir`] could write at `dir`. Call it before the work.
pub fn check_map_place(dir: &Path) -> Result<(), FileError> {
    Place::claim_if(dir, replaceable).map(drop)
}

/// Returns an error unless the directory is empty or holds a map and nothing else.
fn replaceable(target: &Path) -> Result<(), FileError> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    let occupied = |why: String| FileError::Occupied {
        path: target.into(),
        wanted: "a map of stability",
        why,
    };
    let entries = fs::read_dir(target).map_err(|e| occupied(e.to_string()))?;
    let mut empty = true;
    for entry in entries {
        let name = entry.map_err(|e| occupied(e.to_string()))?.file_name();
        if !OWN.iter().any(|own| name == *own) {
            return Err(occupied(format!("it holds {}", name.display())));
        }
        empty = false;
    }
    if empty {
        return Ok(());
    }
    let manifest = fs::read(target.join(MANIFEST));
    let manifest = manifest.map_err(|e| occupied(format!("its {MANIFEST}: {e}")))?;
    match serde_json::from_slice::<Head>(&manifest) {
        Ok(head) if head.format == FORMAT => Ok(()),
        _ => Err(occupied(format!("its {MANIFEST} is not that of a map"))),
    }
}
