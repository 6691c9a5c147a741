//! The figures and tables of papers: the file that names their experiments, and their summary.

use crate::common::*;
use accord::report::{Class, ExperimentRow, LAW_AXIS, OUR_LAW, Papers, Results};
use accord::scenario::{Claim, Engine, Scenario};
use accord::{BUILT_IN, RECORDED, load, papers};
use std::collections::BTreeMap;
use std::path::Path;

/// The points of all experiments, by id.
fn experiments() -> BTreeMap<&'static str, Vec<Scenario>> {
    let catalogue = accord::catalogue();
    let points = |id: &str| load(id).and_then(|file| Ok(file.points(&catalogue, None)?));
    let all = BUILT_IN.iter().map(|&(id, _)| (id, points(id)));
    all.map(|(id, points)| (id, points.unwrap_or_else(|e| panic!("{id}: {e}")))).collect()
}

/// Returns the names of a scenario's packet checks against a paper.
fn against_paper(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let checks = scenario.expectations.iter();
    let checks = checks.filter(|e| e.claim == Claim::Paper && e.engine == Engine::Packet);
    checks.map(|e| e.name.as_str())
}

/// Returns the errors of the entries, one per line.
fn problems(papers: &Papers, experiments: &BTreeMap<&str, Vec<Scenario>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for figure in &papers.figures {
        let title = format!("{} {}", figure.paper, figure.name);
        let mut points: Vec<&Scenario> = Vec::new();
        for id in &figure.experiments {
            match experiments.get(id.as_str()) {
                Some(more) => points.extend(more),
                None => wrong.push(format!("{title}: no experiment {id}")),
            }
        }
        let law = figure.law.as_deref().map(|law| (LAW_AXIS, law));
        let ours = law.map(|_| (LAW_AXIS, OUR_LAW));
        let permitted = figure.open.iter().flat_map(|open| &open.values).flat_map(|v| &v.at);
        let at = figure.at.iter().chain(permitted).map(|(k, v)| (k.as_str(), v.as_str()));
        for (axis, value) in law.into_iter().chain(ours).chain(at) {
            let is = |p: &&Scenario| p.point.iter().any(|(k, v)| k == axis && v == value);
            if !points.iter().any(is) {
                wrong.push(format!("{title}: no point with {axis} = {value}"));
            }
        }
        if figure.law.is_none() && points.iter().any(|p| p.point.iter().any(|(k, _)| k == LAW_AXIS))
        {
            wrong.push(format!("{title}: it has laws"));
        }
        for begin in figure.checks.iter().chain(&figure.except) {
            let mut names = points.iter().flat_map(|p| against_paper(p));
            if !names.any(|name| name.starts_with(begin)) {
                wrong.push(format!("{title}: no check {begin}"));
            }
        }
    }
    for id in &papers.rivals {
        if !experiments.contains_key(id.as_str()) {
            wrong.push(format!("rivals: no experiment {id}"));
        }
    }
    let keys: Vec<String> = (papers.figures.iter()).map(|f| f.paper.to_lowercase() + "-").collect();
    for (id, points) in experiments {
        let named = papers.figures.iter().any(|f| f.experiments.iter().any(|e| e == id));
        let rival = papers.rivals.iter().any(|r| r == id);
        let of_paper = keys.iter().any(|key| id.starts_with(key))
            || points.iter().any(|p| against_paper(p).next().is_some());
        if named && rival {
            wrong.push(format!("{id} is of a figure and a rival"));
        }
        if of_paper && !named && !rival {
            wrong.push(format!("{id} is of no figure and no rival"));
        }
    }
    wrong
}

#[test]
fn all_entries_name_what_is_there_and_all_experiments_of_papers_are_named() {
    let (papers, experiments) = (papers(), experiments());
    assert_eq!(problems(&papers, &experiments), Vec::<String>::new());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for figure in &papers.figures {
        *counts.entry(&figure.paper).or_default() += 1;
    }
    // The figures and tables with results that the papers print: Xia05 2 and 4 to 11, Xia03 3 and 4
    // (its section IV-B), Har02 4 to 7, Low02 tables I to VII and figures 2, 3, 5 to 8, Ple03 1, 3, 4,
    // 6 to 9 and table I.
    let printed = [("Har02", 4), ("Low02", 13), ("Ple03", 8), ("Xia03", 2), ("Xia05", 9)];
    assert_eq!(counts, BTreeMap::from(printed));
}

#[test]
fn an_entry_that_names_what_is_not_there_is_refused() {
    let (right, experiments) = (papers(), experiments());
    let wrong = |change: fn(&mut Papers)| {
        let mut changed = right.clone();
        change(&mut changed);
        problems(&changed, &experiments).join("; ")
    };
    for (found, problem) in [
        (
            wrong(|p| p.figures[0].experiments.push("xia05-fig99".into())),
            "Xia05 figure 2: no experiment xia05-fig99",
        ),
        (
            wrong(|p| p.figures[0].law = Some("vegas".into())),
            "Xia05 figure 2: no point with law = vegas",
        ),
        (wrong(|p| p.figures[0].law = None), "Xia05 figure 2: it has laws"),
        (
            wrong(|p| {
                p.figures[0].at.insert("policy".into(), "none".into());
            }),
            "Xia05 figure 2: no point with policy = none",
        ),
        (wrong(|p| p.figures[0].checks.push("no such".into())), "Xia05 figure 2: no check no such"),
        (wrong(|p| p.figures[0].except.push("no such".into())), "Xia05 figure 2: no check no such"),
        (
            wrong(|p| {
                p.figures.remove(0);
            }),
            "xia05-fig2 is of no figure and no rival",
        ),
        (
            wrong(|p| p.rivals.retain(|id| id != "unresponsive-comparison")),
            "unresponsive-comparison is of no figure and no rival",
        ),
        (wrong(|p| p.rivals.push("xia05-fig2".into())), "xia05-fig2 is of a figure and a rival"),
        (wrong(|p| p.rivals.push("nope".into())), "rivals: no experiment nope"),
    ] {
        assert_eq!(found, problem);
    }
}

/// The summary states the counts of the recorded results, as README and the page of experiments do.
#[test]
fn the_summary_says_what_the_pages_say() {
    let recorded = Results::parse(RECORDED).expect("the results that come with the program");
    let experiments = experiments();
    let rows: Vec<ExperimentRow> = (BUILT_IN.iter())
        .map(|(id, _)| recorded.row(id, &experiments[id]))
        .collect::<Result<_, _>>()
        .unwrap_or_else(|e| panic!("{e}"));
    let counts = papers().summary(&rows).counts();
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["reproduce", "--all", "--summary", "--recorded"];
    let printed = accord(dir.path(), &args).with(0).stdout;
    assert!(printed.trim_end().ends_with(&counts.join("\n")), "{printed}");
    let lines = format!("- {}\n- {}\n", counts[0], counts[1]);
    for page in ["README.md", "docs/src/experiments.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let text = std::fs::read_to_string(&path).expect("a page");
        assert_eq!(text.matches(&lines).count(), 1, "{page}");
    }
    // A failure without a reason would make the exit code 1.
    let mut classes = rows.iter().flat_map(ExperimentRow::checks);
    assert!(classes.all(|(_, class)| class != Class::Unknown));
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn the_summary_as_json_is_what_the_schema_says() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["reproduce", "--all", "--summary", "--recorded", "--json"];
    let json = accord(dir.path(), &args).with(0).json();
    let schema = ["schema", "--output", "reproduce"];
    let schema = accord(dir.path(), &schema).with(0).json();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&json), "{json:#}");
    let figures = json["figures"].as_array().expect("an array");
    assert_eq!(figures.len(), 36);
    for (counts, by) in [("by_papers_schemes", "by_papers_scheme"), ("by_our_law", "by_our_law")] {
        for verdict in ["reproduced", "qualitatively", "not"] {
            let has = figures.iter().filter(|f| f[by]["verdict"] == verdict);
            assert_eq!(json[counts][verdict], has.count(), "{counts}, {verdict}");
        }
    }
    let ours = RECORDED.lines().filter(|l| l.starts_with("  ours | "));
    assert_eq!(json["ours_at_fault"], ours.count());
    let mut less = json.clone();
    less.as_object_mut().expect("an object").remove("figures");
    assert!(!validator.is_valid(&less));
}

#[test]
fn a_summary_is_of_all_experiments_as_they_are_written() {
    let dir = tempfile::tempdir().expect("a directory");
    for wrong in [
        &["reproduce", "xia05-fig6", "--summary"][..],
        &["reproduce", "--all", "--recorded"],
        &["reproduce", "--all", "--summary", "--seed", "2"],
        &["reproduce", "--all", "--summary", "--engine", "theory"],
        &["reproduce", "--all", "--summary", "--recorded", "--output", "runs"],
    ] {
        accord(dir.path(), wrong).with(2);
    }
}
