//! The recorded results of the experiments (`scenarios/results.txt`), and the tables of them in
//! README.md and the book.
//!
//! `./test` runs the experiments that are not long. EXPERIMENTS is the file with the JSON of its
//! `accord reproduce`, which is compared with the recorded results of these. Without it the pages are
//! compared with the recorded results only. `UPDATE_DOCS=1` writes the results and the pages.

use accord::report::{Class, ExperimentRow, Judged, Kind, RECORD, Readings, Results, Tally};
use accord::scenario::{Engine, Expectation, Scenario};
use accord::{BUILT_IN, load, papers};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Writes the text if that is wanted, or else compares it with `differences`.
fn settle(path: &Path, new: &str, differences: impl Fn(&str, &str) -> Vec<String>) {
    let old = read(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        if old != new {
            std::fs::write(path, new).expect("writable");
        }
        return;
    }
    let differ = differences(&old, new);
    let (path, text) = (path.display(), differ.join("\n"));
    assert!(differ.is_empty(), "{path} differs; ./test --write writes it:\n{text}");
}

/// Returns the text of the recorded results: a block per experiment and point of its sweep, with the
/// digests of its packet runs, and the verdict, the engine, the figure and the name of each check.
fn results(json: &Value) -> String {
    let array = |value: &Value| value.as_array().expect("an array").clone();
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let mut out = "# Digests of all packet runs, and their figures. Written by\n# ./test --write\n"
        .to_string();
    for experiment in array(&json["experiments"]) {
        let points = array(&experiment["points"]);
        for point in &points {
            let label = text(&point["label"]);
            _ = writeln!(out, "{} | {label}", text(&experiment["id"]));
            for run in array(&point["runs"]).iter().filter(|run| run["engine"] == "packet") {
                _ = writeln!(out, "  digest | seed {} | {}", run["seed"], text(&run["digest"]));
            }
            let checks = array(&experiment["checks"]);
            let own = checks.iter().filter(|c| c["point"] == point["point"]);
            for check in own.filter(|c| c["engine"] != "live") {
                let (class, engine) = (text(&check["class"]), text(&check["engine"]));
                let measured =
                    check["measured"].as_f64().map_or("-".into(), |v| format!("{v:.5e}"));
                let mut name = text(&check["name"]);
                if points.len() > 1 {
                    name.truncate(name.len() - format!(" [{label}]").len());
                }
                _ = writeln!(out, "  {class} | {engine} | {measured} | {name}");
            }
        }
    }
    out
}

/// Returns whether two lines of results are the same. Figures of packets are the same to the digit.
/// Those of models may differ by 0.1 %, since models iterate to a tolerance, on machines whose last
/// bits may differ.
fn same(before: &str, now: &str) -> bool {
    let parts = |line| str::splitn(line, 4, " | ").collect::<Vec<_>>();
    match (&parts(before)[..], &parts(now)[..]) {
        _ if before == now => true,
        ([class, engine, a, name], [class_now, engine_now, b, name_now]) => {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * a.abs();
            (class, engine, name) == (class_now, engine_now, name_now)
                && *engine != "packet"
                && a.parse().is_ok_and(|a| b.parse().is_ok_and(|b| near(a, b)))
        }
        _ => false,
    }
}

/// Returns the differences of two texts of results, block by block, of the experiments in the second.
fn moved(before: &str, now: &str) -> Vec<String> {
    let blocks = |text: &str| {
        let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match (line.strip_prefix("  "), blocks.last_mut()) {
                (Some(line), Some((_, lines))) => lines.push(line.into()),
                _ => blocks.push((line.into(), vec![])),
            }
        }
        blocks
    };
    let (before, now) = (blocks(before), blocks(now));
    let mut moved = Vec::new();
    for (title, lines) in &now {
        let Some((_, recorded)) = before.iter().find(|(t, _)| t == title) else {
            moved.push(format!("{title}: not recorded"));
            continue;
        };
        if recorded.len() != lines.len() {
            moved.push(format!(
                "{title}: {} lines are recorded, not {}",
                recorded.len(),
                lines.len()
            ));
        }
        let pairs = recorded.iter().zip(lines).filter(|(a, b)| !same(a, b));
        moved.extend(pairs.map(|(a, b)| format!("{title}:\n  {a}\n  {b}")));
    }
    let id = |title: &str| title.split(" | ").next().map(str::to_string);
    let ran: BTreeSet<_> = now.iter().map(|(title, _)| id(title)).collect();
    let gone = before
        .iter()
        .map(|(title, _)| title)
        .filter(|title| ran.contains(&id(title)) && now.iter().all(|(t, _)| t != *title));
    moved.extend(gone.map(|title| format!("{title}: gone")));
    moved
}

/// Returns the page with `new` in the place of each text between `<!-- MARKER: QUERY -->` and `end`.
fn replaced(page: &str, marker: &str, end: &str, new: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, marked)) = rest.split_once(marker) {
        let (query, old) = marked.split_once(" -->").expect("the marker ends");
        let after = old.split_once(end).unwrap_or_else(|| panic!("{marker}{query} has no {end}")).1;
        out += &format!("{before}{marker}{query} -->{}{end}", new(query));
        rest = after;
    }
    out + rest
}

/// Returns the number of checks of packets that fail, of those that the query chooses: an experiment,
/// `parameter = value` for points of its sweep, and `check` with the beginning of a name.
fn failing(rows: &[ExperimentRow], query: &str) -> String {
    let mut terms = query.split("; ");
    let row = rows.iter().find(|row| Some(row.id.as_str()) == terms.clone().next());
    let judged = &row.unwrap_or_else(|| panic!("no experiment: {query}")).judged;
    let mut judged: Vec<&Judged> = judged.iter().filter(|j| j.engine == Engine::Packet).collect();
    for term in terms.by_ref().skip(1) {
        match (term.strip_prefix("check "), term.split_once(" = ")) {
            (Some(name), _) => judged.retain(|j| j.name.starts_with(name)),
            (None, Some((key, value))) => judged.retain(|j| j.setting(key) == Some(value)),
            (None, None) => panic!("a term is `parameter = value` or `check NAME`: {query}"),
        }
    }
    assert!(!judged.is_empty(), "no check of packets is so: {query}");
    let failing = judged.iter().filter(|j| j.class != Class::Met).count();
    format!("{failing} of {}", judged.len())
}

/// Returns the table with a row per experiment.
fn table(experiments: &[(ExperimentRow, Vec<Scenario>)]) -> String {
    // No live run is recorded.
    let classes = Class::ALL.into_iter().filter(|c| *c != Class::Unjudged);
    let signs: Vec<_> = classes.map(|c| format!("{}: {}", c.word(), c.meaning())).collect();
    let mut out = format!(
        "Checks that are met, of how many, and the worst verdict; {}.\n\n\
         | worst | experiment | packets against the paper | packets against models and ourselves | models against models | what fails, and why |\n\
         |---|---|---|---|---|---|\n",
        signs.join("; ")
    );
    for (row, scenarios) in experiments {
        let tally = |kinds: &[Kind]| {
            Tally::of(row.checks().filter(|(kind, _)| kinds.contains(kind)).map(|(_, class)| class))
        };
        let met = |kinds: &[Kind]| match tally(kinds) {
            t if t.total() == 0 => "–".to_string(),
            t => format!("{} of {}", t.count(Class::Met), t.total()),
        };
        let (worst, id) = (tally(&Kind::ALL).worst().word(), &row.id);
        let [paper, ours, models] =
            [&[Kind::Paper][..], &[Kind::Theory, Kind::Ours], &[Kind::Models]].map(met);
        let reasons = reasons(row, scenarios);
        _ = writeln!(out, "| {worst} | {id} | {paper} | {ours} | {models} | {reasons} |");
    }
    out
}

/// Returns each reason of known failures once, with the number of checks that it explains.
fn reasons(row: &ExperimentRow, scenarios: &[Scenario]) -> String {
    let known = |e: &Expectation| {
        let known = e.fails.as_ref()?;
        Some((Class::of(known.why), known.because.clone(), e.engine == Engine::Live))
    };
    let all: Vec<_> = scenarios.iter().flat_map(|s| &s.expectations).filter_map(known).collect();
    let mut texts = Vec::new();
    for (i, known) in all.iter().enumerate().filter(|(i, known)| !all[..*i].contains(known)) {
        let count = all[i..].iter().filter(|k| *k == known).count();
        let (class, because, live) = known;
        let because = because.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        let live = if *live { ", live" } else { "" };
        texts.push(format!("{}{live}: {because}", class.counted(count)));
    }
    match row.checks().filter(|(_, class)| *class == Class::Failed).count() {
        0 => {}
        n => texts.push(Class::Failed.counted(n)),
    }
    texts.join("<br>")
}

#[test]
fn experiments_are_as_recorded_and_pages_have_their_tables() {
    let path = root().join("scenarios/results.txt");
    if let Some(json) = std::env::var_os("EXPERIMENTS") {
        let json = serde_json::from_str(&read(json.as_ref())).expect("the JSON of a run");
        settle(&path, &results(&json), moved);
    }
    let text = read(&path);
    let recorded = Results::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let known = |line: &str| BUILT_IN.iter().any(|(id, _)| line.split(" | ").next() == Some(id));
    let titles = text.lines().filter(|line| !line.starts_with(['#', ' ']));
    let gone: Vec<&str> = titles.filter(|line| !known(line)).collect();
    assert!(
        gone.is_empty(),
        "{} has results of experiments that are gone: {gone:?}",
        path.display()
    );
    let catalogue = accord::catalogue();
    let experiments = BUILT_IN.iter().map(|(id, _)| {
        let scenarios = load(id).and_then(|file| Ok(file.points(&catalogue, None)?));
        let scenarios = scenarios.unwrap_or_else(|e| panic!("{id}: {e}"));
        (recorded.row(id, &scenarios).unwrap_or_else(|e| panic!("{e}")), scenarios)
    });
    let experiments: Vec<(ExperimentRow, Vec<Scenario>)> = experiments.collect();
    let rows: Vec<ExperimentRow> = experiments.iter().map(|(row, _)| row.clone()).collect();
    let papers = papers();
    let readings = Readings::parse(&read(&root().join(RECORD)), &papers);
    let counts = papers.summary(&rows, &readings.unwrap_or_else(|e| panic!("{e}"))).counts();
    let lines = |kind: &str| match kind {
        "experiments" => table(&experiments),
        "counts" => counts.clone().map(|line| format!("- {line}\n")).concat(),
        _ => panic!("the kinds are experiments and counts: {kind}"),
    };
    for (page, tables) in [("README.md", 1), ("docs/src/experiments.md", 2)] {
        let (path, marker) = (root().join(page), "<!-- results: ");
        let text = read(&path);
        assert_eq!(text.matches(marker).count(), tables, "{page}");
        let text = replaced(&text, marker, "<!-- end of results -->", |kind| {
            format!("\n\n{}\n", lines(kind))
        });
        let text = replaced(&text, "<!-- failing: ", "<!-- end -->", |query| failing(&rows, query));
        settle(&path, &text, |old, new| {
            if old == new {
                return vec![];
            }
            let old: Vec<&str> = old.lines().collect();
            let lines = new.lines().filter(|line| !old.contains(line)).map(String::from);
            std::iter::once("these lines are new:".into()).chain(lines).collect()
        });
    }
}

/// The last bits of a model may differ from machine to machine; those of packets may not.
#[test]
fn figures_of_models_have_room_those_of_packets_none() {
    let of = |engine: &str, class: &str, figure: &str| {
        format!("# x\ne | \n  digest | seed 1 | abc\n  {class} | {engine} | {figure} | x\n")
    };
    let differ = |engine: &str, a: &str, b: &str| {
        !moved(&of(engine, "met", a), &of(engine, "met", b)).is_empty()
    };
    assert!(!differ("theory", "2.00000e6", "2.00100e6"));
    assert!(differ("theory", "2.00000e6", "2.01000e6"));
    assert!(differ("packet", "2.00000e6", "2.00001e6"));
    assert!(differ("theory", "2.00000e6", "-"));
    let before = of("theory", "met", "1");
    assert_eq!(moved(&before, &before), Vec::<String>::new());
    assert_eq!(moved(&before, &of("theory", "open", "1")).len(), 1);
    assert_eq!(moved(&before, &before.replace("abc", "abd")).len(), 1);
    assert_eq!(moved(&before, &format!("{before}f | \n  digest | seed 1 | abc\n")).len(), 1);
    assert_eq!(moved(&before, "# x\n"), Vec::<String>::new(), "e did not run");
    let swept = before.replace("e | ", "e | a") + &before.replace("e | ", "e | b");
    assert_eq!(moved(&swept, &before.replace("e | ", "e | b")), ["e | a: gone"]);
}
