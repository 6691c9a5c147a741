//! The counts of failing checks in pages are those of the recorded results.

use accord::aqm::FAMILIES as DISCIPLINES;
use accord::control::FAMILIES as CONTROLLERS;
use accord::{Catalogue, File};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CATALOGUE: Catalogue = Catalogue { controllers: CONTROLLERS, disciplines: DISCIPLINES };

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A point of an experiment: its checks of packets, by name, and their results.
type Checks = Vec<(String, bool)>;

/// Returns the recorded checks of packets, by experiment and point.
fn recorded() -> BTreeMap<String, Vec<Checks>> {
    let mut all: BTreeMap<String, Vec<Checks>> = BTreeMap::new();
    let mut last = String::new();
    for line in text("scenarios/results.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        let Some(inner) = line.strip_prefix("  ") else {
            last = line.split(" | ").next().expect("an id").to_string();
            all.entry(last.clone()).or_default().push(Vec::new());
            continue;
        };
        let parts: Vec<&str> = inner.splitn(4, " | ").collect();
        if let [class, "packet", _, name] = parts[..] {
            let points = all.get_mut(&last).expect("it began");
            let point = points.last_mut().expect("it began");
            point.push((name.to_string(), class == "met"));
        }
    }
    all
}

/// Returns the number of failing checks of packets and their total, for a `query`.
fn count(query: &str, recorded: &BTreeMap<String, Vec<Checks>>) -> String {
    let (id, terms) = query.split_once("; ").unwrap_or((query, ""));
    let file = File::open(&root().join(format!("scenarios/{id}.toml"))).expect("a scenario");
    let points = file.points(&CATALOGUE, None).expect("valid");
    let checks = recorded.get(id).unwrap_or_else(|| panic!("no {id}"));
    assert_eq!(points.len(), checks.len(), "{id}");
    let (mut failing, mut all) = (0, 0);
    for (point, checks) in points.iter().zip(checks) {
        let terms = || terms.split("; ").filter(|t| !t.is_empty());
        let here = terms().filter(|t| !t.starts_with("check ")).all(|term| {
            let is = |(k, v): &(String, String)| format!("{k} = {v}") == term;
            point.point.iter().any(is)
        });
        let of = |name: &str| {
            let mut names = terms().filter_map(|t| t.strip_prefix("check "));
            names.all(|begin| name.starts_with(begin))
        };
        for (_, met) in checks.iter().filter(|(name, _)| here && of(name)) {
            all += 1;
            failing += usize::from(!met);
        }
    }
    format!("{failing} of {all}")
}

#[test]
fn counts_in_the_page_of_experiments_are_those_of_the_results() {
    let (page, recorded) = (text("docs/src/experiments.md"), recorded());
    let mut seen = 0;
    for marked in page.split("<!-- failing: ").skip(1) {
        let (query, rest) = marked.split_once(" -->").expect("an end of the marker");
        let (found, _) = rest.split_once("<!-- end -->").expect("an end");
        assert_eq!(found, count(query, &recorded), "{query}");
        assert!(!found.ends_with(" 0"), "{query}: there are no such checks");
        seen += 1;
    }
    assert!(seen >= 30, "{seen} counts");
}
