//! Points of a sweep that cannot differ.

use accord::scenario::{Scenario, print};
use std::collections::BTreeMap;

/// The maximum number of flows and links of compared points: larger ones would take seconds.
const MOST: usize = 50_000;

/// Returns pairs of points that are equal except for their labels and expectations.
pub fn twins(points: &[Scenario]) -> Vec<(usize, usize)> {
    let size: usize = points.iter().map(|s| s.flows.len() + s.links.len()).sum();
    if points.len() < 2 || size > MOST {
        return Vec::new();
    }
    let mut first: BTreeMap<[u8; 32], usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let bare = Scenario {
            point: Vec::new(),
            expectations: Vec::new(),
            title: String::new(),
            ..point.clone()
        };
        let hash = *blake3::hash(print(&bare).as_bytes()).as_bytes();
        let twin = *first.entry(hash).or_insert(i);
        if twin != i {
            pairs.push((twin, i));
        }
    }
    pairs
}
