//! The directories of a comparison and of a map of stability: the data, a page, and a manifest that
//! marks them as ours.

use super::manifest::LARGEST as LARGEST_MANIFEST;
use super::place::{Place, is_remains};
use super::{COMPARISON_OWN, FileError, MANIFEST, MAP_OWN, put_json, write};
use crate::stability::StabilityMap;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A kind of such directories.
struct Marked {
    format: &'static str,
    /// The name in messages.
    wanted: &'static str,
    /// The names of all files: the manifest, the data and the page.
    own: [&'static str; 3],
}

const COMPARISON: Marked =
    Marked { format: "accord-comparison", wanted: "a comparison", own: COMPARISON_OWN };
const MAP: Marked = Marked { format: "accord-map", wanted: "a map of stability", own: MAP_OWN };

/// Writes a comparison of `directories` into the directory `dir`. Replaces an earlier comparison. Anything
/// else there is left alone, and is an error.
pub fn write_comparison_dir(
    dir: &Path,
    directories: Vec<String>,
    record: &Value,
    page: &str,
) -> Result<(), FileError> {
    let mut data = Vec::new();
    put_json(&mut data, record).expect("nothing fails in memory");
    COMPARISON.write(dir, json!({ "directories": directories }), &data, page)
}

/// Checks whether [`write_comparison_dir`] could write at `dir`. Call this before the work.
pub fn check_comparison_place(dir: &Path) -> Result<(), FileError> {
    COMPARISON.claim(dir).map(drop)
}

/// Writes the map into the directory `dir`. Replaces an earlier map. Anything else there is left alone, and
/// is an error.
pub fn write_map_dir(dir: &Path, map: &StabilityMap) -> Result<(), FileError> {
    let manifest = json!({ "id": map.id, "axes": map.axes });
    MAP.write(dir, manifest, map.csv().as_bytes(), &map.page())
}

/// Checks whether [`write_map_dir`] could write at `dir`. Call it before the work.
pub fn check_map_place(dir: &Path) -> Result<(), FileError> {
    MAP.claim(dir).map(drop)
}

impl Marked {
    fn write(&self, dir: &Path, more: Value, data: &[u8], page: &str) -> Result<(), FileError> {
        let place = self.claim(dir)?;
        let mark = json!({ "format": self.format, "format_version": 1 });
        let manifest = crate::json::joined(mark, more);
        write(place.path(), self.own[0], |out| put_json(out, &manifest))?;
        write(place.path(), self.own[1], |out| out.write_all(data))?;
        write(place.path(), self.own[2], |out| out.write_all(page.as_bytes()))?;
        place.publish()
    }

    fn claim(&self, dir: &Path) -> Result<Place, FileError> {
        Place::claim_if(dir, |target| self.replaceable(target))
    }

    /// Returns an error unless the directory is empty, or holds files of this kind and nothing else.
    fn replaceable(&self, target: &Path) -> Result<(), FileError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        let occupied = |why| FileError::Occupied { path: target.into(), wanted: self.wanted, why };
        let mut empty = true;
        for entry in fs::read_dir(target).map_err(|e| occupied(e.to_string()))? {
            let name = entry.map_err(|e| occupied(e.to_string()))?.file_name();
            if !self.own.iter().any(|own| name == *own) {
                return Err(occupied(format!("it holds {}", name.display())));
            }
            empty = false;
        }
        if empty || is_remains(target) {
            return Ok(());
        }
        let manifest = accord_files::read(&target.join(MANIFEST), LARGEST_MANIFEST);
        let manifest = manifest.map_err(|e| occupied(format!("its {MANIFEST}: {e}")))?;
        match serde_json::from_slice::<Head>(&manifest) {
            Ok(head) if head.format == self.format => Ok(()),
            _ => Err(occupied(format!("its {MANIFEST} is not that of {}", self.wanted))),
        }
    }
}
