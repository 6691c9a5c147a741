//! The product's own scenario files.

use accord::Catalogue;
use accord::language::File;
use accord::scenario::{Scenario, print};
use std::path::{Path, PathBuf};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord::control::FAMILIES, disciplines: accord::aqm::FAMILIES };

/// Returns the scenario files at the root of the repository, by name.
fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(directory).expect("there is a directory of scenarios");
    let mut files: Vec<_> = entries
        .map(|e| e.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

fn points(path: &Path) -> Vec<Scenario> {
    let file = File::open(path).unwrap_or_else(|e| panic!("{e}"));
    file.points(&CATALOGUE, None).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_page_on_traffic_shows_its_example_and_that_is_met() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |name: &str| std::fs::read_to_string(docs.join(name)).expect("it is there");
    let (page, example) = (read("src/traffic.md"), read("examples/web.toml"));
    assert!(page.contains(&example), "the page shows another example");
    let scenario = &points(&docs.join("examples/web.toml"))[0];
    let run = accord::sim::run(scenario, &mut accord::record::Quiet).expect("it runs");
    for check in accord::report::checks(scenario, &[&run]) {
        assert!(check.pass, "{}: {}", check.name, check.reason);
    }
}

/// The part of the example that the reader adds to the output of `accord new`.
#[test]
fn the_tutorial_shows_its_example_and_that_is_met() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |name: &str| std::fs::read_to_string(docs.join(name)).expect("it is there");
    let (page, example) = (read("src/bottleneck.md"), read("examples/bottleneck.toml"));
    let at = example.find("[sweep.queue]").expect("the sweep");
    assert!(page.contains(&example[at..]), "the page shows another example");
    for scenario in points(&docs.join("examples/bottleneck.toml")) {
        let run = accord::sim::run(&scenario, &mut accord::record::Quiet).expect("it runs");
        for check in accord::report::checks(&scenario, &[&run]) {
            assert!(check.pass, "{}: {}", check.name, check.reason);
        }
    }
}

#[test]
fn each_resolves_and_prints_to_itself() {
    for path in files() {
        let points = points(&path);
        let expects = points.iter().any(|s| !s.expectations.is_empty());
        assert!(expects, "{}", path.display());
        for scenario in points {
            let stem = path.file_stem().and_then(|s| s.to_str());
            assert_eq!(Some(scenario.id.as_str()), stem);
            let file = File::parse("print", &print(&scenario)).unwrap_or_else(|e| panic!("{e}"));
            let again = file.points(&CATALOGUE, None).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(again, [scenario]);
        }
    }
}
