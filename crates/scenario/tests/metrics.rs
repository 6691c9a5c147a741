//! The page about the tables lists every metric, as the code describes it.

use accord_scenario::{Engine, Fold, Metric, Of};
use std::fs;

const BEGIN: &str = "<!-- metrics -->";
const END: &str = "<!-- end of metrics -->";

fn row(metric: Metric) -> String {
    let of = match metric.of() {
        Of::Flow if metric.adds() => "flow, group",
        Of::Flow => "flow",
        Of::Group => "group",
        Of::Link => "link",
        Of::Aggregate => "aggregate",
        Of::Transfer => "transfer",
    };
    let fold = match metric.fold() {
        Fold::Mean => "mean".to_string(),
        Fold::Sum => "sum".to_string(),
        Fold::Max => "max".to_string(),
        Fold::Ratio(over, under) => format!("`{over}` / `{under}`"),
    };
    let engines = match metric.engines() {
        all if all.len() == Engine::ALL.len() => "all".to_string(),
        some => {
            let names: Vec<&str> = some.iter().map(|e| e.name()).collect();
            names.join(", ")
        }
    };
    let (unit, doc) = (metric.unit().symbol(), metric.doc());
    format!("| `{metric}` | {of} | {unit} | {fold} | {engines} | {doc} |\n")
}

/// Run with UPDATE_DOCS=1 to write it.
#[test]
fn the_page_lists_every_metric() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/tables.md");
    let old = fs::read_to_string(path).expect("the documentation is there");
    let (head, rest) = old.split_once(BEGIN).expect("the page has a place for it");
    let (_, tail) = rest.split_once(END).expect("the place has an end");
    let rows: String = Metric::ALL.iter().map(|m| row(*m)).collect();
    let heading =
        "| metric | of | unit | over a window | engines | meaning |\n|---|---|---|---|---|---|\n";
    let new = format!("{head}{BEGIN}\n\n{heading}{rows}\n{END}{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, new).expect("writable");
    } else {
        assert!(
            old == new,
            "out of date; UPDATE_DOCS=1 cargo test -p accord-scenario --test metrics"
        );
    }
}
