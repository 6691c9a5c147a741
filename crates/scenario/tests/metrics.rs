//! The book lists the metrics as their rows describe them.

use accord_scenario::{Engine, Fold, Metric, Of, Row, Table};
use std::collections::BTreeSet;
use std::fs;

/// Compares the text between two marks of a page of the book, or writes it with UPDATE_DOCS=1.
fn compare(page: &str, begin: &str, end: &str, new: &str) {
    let path = format!("{}/../../docs/src/{page}", env!("CARGO_MANIFEST_DIR"));
    let old = fs::read_to_string(&path).expect("the documentation is there");
    let (head, rest) = old.split_once(begin).expect("the page has a place for it");
    let (_, tail) = rest.split_once(end).expect("the place has an end");
    let new = format!("{head}{begin}{new}{end}{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, new).expect("writable");
    } else {
        assert!(
            old == new,
            "{page} is out of date; UPDATE_DOCS=1 cargo test -p accord-scenario --test metrics"
        );
    }
}

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
        Fold::Last => "last".to_string(),
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

#[test]
fn the_page_lists_every_metric() {
    let rows: String = Metric::ALL.iter().map(|m| row(*m)).collect();
    let heading =
        "| metric | of | unit | over a window | engines | meaning |\n|---|---|---|---|---|---|\n";
    let new = format!("\n\n{heading}{rows}\n");
    compare("tables.md", "<!-- metrics -->", "<!-- end of metrics -->", &new);
}

fn in_words(metrics: impl IntoIterator<Item = Metric>) -> String {
    let names: Vec<String> = metrics.into_iter().map(|m| format!("`{m}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[test]
fn the_page_names_the_metrics_with_quantiles_and_those_of_sweeps() {
    let quantiles = in_words(Metric::WITH_QUANTILES);
    let begin = "<!-- metrics with quantiles -->";
    compare("output.md", begin, "<!-- end -->", &quantiles);
    let of = |kinds: &[Of], name: &str| {
        let place = |row: &Row| match row.table? {
            Table::Sweeps(place) if kinds.contains(&row.of) => Some(place),
            Table::Every(_) | Table::Sweeps(_) => None,
        };
        format!("{} of {name}", in_words(Metric::placed(place)))
    };
    let sweeps = [of(&[Of::Flow, Of::Group], "groups"), of(&[Of::Link], "links")];
    let begin = "<!-- metrics of sweeps -->";
    compare("output.md", begin, "<!-- end -->", &sweeps.join(", "));
}

/// A place of a list that two metrics have would leave their order to chance.
#[test]
fn every_place_of_a_list_has_one_metric() {
    type Place = fn(&Row) -> Option<(&'static str, u8)>;
    let places: [Place; 4] = [
        |row| Some(("panel", row.panel?.0)),
        |row| Some(("distribution", row.distribution?.0)),
        |row| Some(("figure of a comparison", row.compared?)),
        |row| {
            let of = match row.of {
                Of::Flow | Of::Group => "table of groups",
                Of::Link => "table of links",
                Of::Aggregate => "table of aggregates",
                Of::Transfer => "table of transfers",
            };
            match row.table? {
                Table::Every(place) => Some((of, place)),
                // The rows of tables of sweeps come after the others.
                Table::Sweeps(place) => Some((of, 100 + place)),
            }
        },
    ];
    for place in places {
        let mut taken = BTreeSet::new();
        for metric in Metric::ALL {
            if let Some((list, place)) = place(&metric.row()) {
                let free = taken.insert((list, place));
                assert!(free, "{metric} shares place {place} of the {list}");
            }
        }
    }
}

#[test]
fn rows_are_consistent() {
    let mut names = BTreeSet::new();
    for metric in Metric::ALL {
        let row = metric.row();
        assert!(names.insert(row.name), "{metric} is there twice");
        assert!(row.doc.ends_with('.') && !row.doc.contains("  "), "{metric}: {}", row.doc);
        assert!(!row.engines.is_empty(), "{metric} is recorded by no engine");
        if let Fold::Ratio(over, under) = row.fold {
            let of = |metric: Metric| metric.of() == row.of && !metric.is_ratio();
            assert!(of(over) && of(under), "{metric} is a ratio of other entities");
            let recorded = |e: &&Engine| over.engines().contains(e) && under.engines().contains(e);
            let engines: Vec<_> = Engine::ALL.iter().filter(recorded).copied().collect();
            assert_eq!(row.engines, engines, "{metric} is recorded where its two metrics are");
        }
        let sums = row.of == Of::Flow && !metric.is_ratio();
        assert!(!row.adds || sums, "{metric} does not add up over flows");
        assert!(!row.quantiles || sums, "{metric} has no quantiles over flows");
    }
}
