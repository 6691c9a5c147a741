//! `accord list` has everything that a scenario can use, in short, in full and as JSON.

use crate::common::*;
use accord::family::Family;
use accord::report::DERIVED;
use accord::scenario::Metric;

fn list(args: &[&str]) -> Ended {
    let dir = folder(&[]);
    accord(dir.path(), &[&["list"], args].concat()).with(0)
}

#[test]
fn families_are_whole() {
    let catalogue = accord::catalogue();
    for (kind, families) in
        [("controllers", catalogue.controllers), ("disciplines", catalogue.disciplines)]
    {
        let brief = list(&[kind]).stdout;
        let json = list(&[kind, "--json"]).json();
        let json = json.as_array().expect("a list").clone();
        assert_eq!(json.len(), families.len());
        for (family, entry) in families.iter().zip(json) {
            let Family { name, doc, .. } = family;
            assert_eq!(entry["name"], *name);
            assert!(brief.contains(doc), "{name}");
            let fluid = entry["engines"].to_string().contains("fluid");
            let runs = family.window_dynamics().is_ok() || family.queue_dynamics().is_ok();
            assert_eq!(fluid, runs, "{name}");
            let full = list(&[kind, name]).stdout;
            for p in family.params {
                let parameters = entry["parameters"].as_array().expect("a list");
                let found = parameters.iter().find(|e| e["name"] == p.name);
                let found = found.unwrap_or_else(|| panic!("{name} lacks {}", p.name));
                assert_eq!(found["default"].as_str().unwrap_or_default(), p.default);
                assert!(full.contains(p.doc), "{name}: {}\n{full}", p.doc);
            }
        }
    }
}

#[test]
fn metrics_have_units_and_engines() {
    let json = list(&["metrics", "--json"]).json();
    accord::catalogue();
    assert_eq!(json.as_array().map(Vec::len), Some(Metric::known().len() + DERIVED.len()));
    let state = list(&["metrics", "bbr3.state"]).stdout;
    assert!(state.contains("per flow") && state.contains("packet, live"), "{state}");
    let text = list(&["metrics", "goodput"]).stdout;
    assert!(text.contains("bit/s, per flow") && text.contains("fluid"), "{text}");
}

#[test]
fn without_a_kind_it_names_everything() {
    let text = list(&[]).stdout;
    for name in ["monaco", "codel", "goodput", "xia05-fig6", "fat-tree"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let json = list(&["--json"]).json();
    for kind in ["controllers", "disciplines", "metrics", "experiments", "templates"] {
        assert!(json[kind].as_array().is_some_and(|all| all.len() > 2), "{kind}");
    }
}
