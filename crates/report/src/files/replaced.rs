//! The runs that a directory holds and that new ones would take the place of.

use super::MANIFEST;
use super::manifest::StoredManifest;
use super::place::points_of;
use accord_scenario::Scenario;
use std::path::Path;

/// Returns a run of the run directory or sweep at `dir` that none of these scenarios makes, as
/// text: "scenario 0a1b2c3d, seed 1". It is `None` if there is no such run.
pub fn replaced(dir: &Path, scenarios: &[&Scenario]) -> Option<String> {
    let new: Vec<(String, u64)> = scenarios.iter().map(|s| (s.hash(), s.seed)).collect();
    let mut places = vec![dir.to_path_buf()];
    places.extend(points_of(dir));
    let there = places.iter().filter(|place| place.join(MANIFEST).is_file());
    let old = there.filter_map(|place| StoredManifest::read(place).ok());
    let mut other = old.flat_map(|manifest| {
        let point = manifest.scenario.point.clone();
        (manifest.runs.into_iter()).map(move |run| (run.scenario_hash, run.seed, point.clone()))
    });
    let (hash, seed, point) =
        other.find(|(hash, seed, _)| !new.iter().any(|(h, s)| (h, s) == (hash, seed)))?;
    let short: String = hash.chars().take(8).collect();
    let point = point.iter().map(|(name, value)| format!(", {name} = {value}"));
    Some(format!("scenario {short}, seed {seed}{}", point.collect::<String>()))
}
