//! The figures and tables of papers: the file that names their experiments and open settings, the
//! record of their readings, and their summary.

use crate::common::*;
use accord::report::{
    Class, ExperimentRow, LAW_AXIS, OUR_LAW, Open, Papers, Permitted, Reading, Readings, Results,
};
use accord::scenario::{Claim, Engine, Scenario};
use accord::{BUILT_IN, RECORDED, RECORDED_READINGS, load, papers, set};
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

/// Returns the errors of declarations of open settings.
fn errors_of_open(open: &[Open]) -> Vec<String> {
    let mut wrong = Vec::new();
    for Open { name, values } in open {
        if open.iter().filter(|other| other.name == *name).count() > 1 {
            wrong.push(format!("{name} is declared twice"));
        }
        if values.len() < 2 {
            wrong.push(format!("{name} has one value, and is not open"));
        }
        for Permitted { value, from, set, at } in values {
            let is_first = *value == values[0].value;
            if values.iter().filter(|other| other.value == *value).count() > 1 {
                wrong.push(format!("{name}: {value} is there twice"));
            }
            if value.contains("; ") || value.contains(" | ") || value == "-" || value.is_empty() {
                wrong.push(format!("{name}: \"{value}\" cannot be recorded"));
            }
            if from.is_empty() {
                wrong.push(format!("{name}: {value} has no source"));
            }
            if is_first && !set.is_empty() {
                wrong.push(format!("{name}: {value} is first, and has settings"));
            }
            if !is_first && set.is_empty() && at.is_empty() {
                wrong.push(format!("{name}: {value} changes nothing"));
            }
            if !at.keys().eq(values[0].at.keys()) {
                wrong.push(format!("{name}: {value} has other axes than {}", values[0].value));
            }
        }
    }
    wrong
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
        wrong.extend(errors_of_open(&figure.open).iter().map(|e| format!("{title}: {e}")));
        let open = figure.open.iter().flat_map(|open| &open.values).flat_map(|v| v.at.keys());
        for axis in open.filter(|axis| figure.at.contains_key(*axis)) {
            wrong.push(format!("{title}: {axis} is open, and `at` fixes it"));
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
    for law in &papers.laws {
        wrong.extend(errors_of_open(&law.open).iter().map(|e| format!("law {}: {e}", law.name)));
        for paper in &law.papers {
            let mut figures = papers.figures.iter();
            if !figures.any(|f| f.paper == *paper && f.law.as_ref() == Some(&law.name)) {
                wrong.push(format!("law {}: {paper} has no figure of it", law.name));
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
        (wrong(|p| p.laws[0].papers.push("Low02".into())), "law xia05: Low02 has no figure of it"),
        (
            wrong(|p| {
                p.laws[0].open[0].values[1].set.clear();
            }),
            "law xia05: egress weight: 0.25 changes nothing",
        ),
        (
            wrong(|p| p.laws[0].open[0].values[1].from.clear()),
            "law xia05: egress weight: 0.25 has no source",
        ),
    ] {
        assert_eq!(found, problem);
    }
}

/// Every declared value fits the scenarios of its figure, by itself.
#[test]
fn each_declared_value_can_be_run() {
    let (papers, catalogue) = (papers(), accord::catalogue());
    for figure in &papers.figures {
        let scheme = figure.law.clone().unwrap_or_default();
        let switches = papers.switches(figure);
        let own = Reading {
            scheme,
            switches: vec![0; switches.len()],
            settings: vec![0; figure.open.len()],
        };
        let mut readings = vec![];
        for (i, open) in switches.iter().enumerate() {
            for pick in 1..open.values.len() {
                readings.push(own.clone());
                readings.last_mut().expect("it was put there").switches[i] = pick;
            }
        }
        for (i, open) in figure.open.iter().enumerate() {
            for pick in 1..open.values.len() {
                readings.push(own.clone());
                readings.last_mut().expect("it was put there").settings[i] = pick;
            }
        }
        let points = |reading: &Reading, id: &String| {
            let mut file = load(id).expect("a test above");
            let (settings, at) = figure.settings(&papers, reading);
            let title = || format!("{}: {}", figure.full_name(), papers.in_words(figure, reading));
            set(&mut file, &settings).unwrap_or_else(|e| panic!("{}: {e}", title()));
            let points = file.points(&catalogue, Some(2));
            let mut points = points.unwrap_or_else(|e| panic!("{}: {e:?}", title()));
            points.retain(|p| {
                p.point
                    .iter()
                    .all(|(axis, v)| at.iter().all(|(own, value)| own != axis || v == value))
            });
            assert!(!points.is_empty(), "{}", title());
            points.iter().map(Scenario::hash).collect::<Vec<_>>()
        };
        let of =
            |reading| figure.experiments.iter().map(|id| points(reading, id)).collect::<Vec<_>>();
        let shipped = of(&own);
        for reading in &readings {
            let name = papers.in_words(figure, reading);
            assert_ne!(of(reading), shipped, "{}: {name} changes nothing", figure.full_name());
        }
    }
}

/// The recorded rows of all experiments.
fn rows() -> Vec<ExperimentRow> {
    let recorded = Results::parse(RECORDED).expect("the results that come with the program");
    let experiments = experiments();
    let rows = BUILT_IN.iter().map(|(id, _)| recorded.row(id, &experiments[id]));
    rows.collect::<Result<_, _>>().unwrap_or_else(|e| panic!("{e}"))
}

/// The record has the declared readings. With the settings of the scenario files and seed 1 it meets
/// the same checks as the results of the experiments.
#[test]
fn the_record_of_readings_is_of_these_figures_and_agrees_with_the_results() {
    let (papers, rows) = (papers(), rows());
    let readings = Readings::parse(RECORDED_READINGS, &papers).unwrap_or_else(|e| panic!("{e}"));
    let hint = "accord reproduce --all --readings records them";
    readings.check(&papers).unwrap_or_else(|e| panic!("{e}; {hint}"));
    assert_eq!(readings.text(&papers), RECORDED_READINGS, "{hint}");
    for figure in &papers.figures {
        let scheme = figure.law.clone().unwrap_or_default();
        for scheme in
            [Some(scheme), figure.law.as_ref().map(|_| OUR_LAW.into())].into_iter().flatten()
        {
            let results = papers.as_shipped(figure, &rows, &scheme);
            let recorded = readings.of(figure).expect("it was checked");
            let row = recorded.rows.iter().find(|row| {
                let picks = row.reading.switches.iter().chain(&row.reading.settings);
                row.reading.scheme == scheme && picks.into_iter().all(|pick| *pick == 0)
            });
            let row = row.map(|row| (row.met[0], row.of));
            assert_eq!(row, Some((results.met, results.of)), "{} {scheme}", figure.full_name());
        }
    }
}

/// A finding on a paper is a failure under each reading and seed.
#[test]
fn each_finding_on_a_paper_has_its_row_in_the_record() {
    let papers = papers();
    let readings = Readings::parse(RECORDED_READINGS, &papers).unwrap_or_else(|e| panic!("{e}"));
    let unproven = papers.unproven(&rows(), &readings);
    assert!(
        unproven.is_empty(),
        "`fails` call these findings on the paper:\n{}",
        unproven.join("\n")
    );
}

#[test]
fn readings_are_of_figures_and_never_replace_another_file() {
    let new = |text: &str| folder(&[("r.txt", text)]);
    let other = "readings 9 | seeds 1\n";
    for (text, args, message) in [
        ("", &["sites"][..], "sites shows no figure or table of a paper, and has no readings"),
        ("", &["no-such"], "unknown experiment \"no-such\""),
        (other, &["xia05-fig11"], "r.txt: it is of another version: \"readings 9 | seeds 1\""),
        ("of mine\n", &["--all"], "r.txt: it is not a record of readings"),
        (
            "readings 1 | seeds 1 2 3 4 5\nXia05 | figure 8 | 1 of 4 readings\n  accord | - | 99 B | 1 1 1 1 1 of 1\n",
            &["xia05-fig11"],
            "r.txt: line 3: Xia05 figure 8: \"99 B\" is not declared for control packets; declared are 40 B, 64 B",
        ),
    ] {
        let dir = new(text);
        let args = [&["reproduce", "--readings=r.txt"], args].concat();
        let ended = accord(dir.path(), &args).with(2);
        assert!(ended.stderr.contains(message), "{ended:#?}");
        assert!(ended.stderr.contains("help"), "{ended:#?}");
        assert_eq!(std::fs::read_to_string(dir.path().join("r.txt")).expect("it is there"), text);
        assert_eq!(names(dir.path()), ["r.txt"]);
    }
    let dir = new("");
    let ended = accord(dir.path(), &["reproduce", "xia05-fig11", "--readings"]).with(2);
    assert!(ended.stderr.contains("scenarios/readings.txt: "), "{ended:#?}");
    assert!(ended.stderr.contains("--readings=FILE"), "{ended:#?}");
}

/// A killed command goes on where it was, and a line that was cut off is computed again.
#[test]
fn interrupted_readings_are_resumed() {
    let args = ["reproduce", "xia05-fig11", "--readings=r.txt"];
    let whole = tempfile::tempdir().expect("a directory");
    let printed = accord(whole.path(), &args).with(0).stdout;
    let expected = files(whole.path());
    assert_eq!(names(whole.path()), ["r.txt"]);
    for with in ["-INT", "-KILL"] {
        let dir = tempfile::tempdir().expect("a directory");
        let cells = dir.path().join(".r.txt.resume/cells");
        let lines = || std::fs::read_to_string(&cells).map_or(0, |text| text.lines().count());
        let mut child = program(dir.path(), &args).spawn().expect("it can be started");
        while lines() < 3 {
            assert_eq!(child.try_wait().expect("it is ours"), None, "it ended on its own");
            pause();
        }
        signal(&child, with);
        let ended = end(child);
        assert_eq!(ended.code, if with == "-INT" { Some(130) } else { None }, "{ended:#?}");
        assert!(!dir.path().join("r.txt").exists());
        let text = std::fs::read_to_string(&cells).expect("they are kept");
        std::fs::write(&cells, &text[..text.len() - 5]).expect("it is ours");
        let ended = accord(dir.path(), &args).with(0);
        assert!(ended.stderr.contains("were done before the interruption; resuming"), "{ended:#?}");
        assert_eq!(ended.stdout, printed);
        assert_eq!(files(dir.path()), expected);
        assert_eq!(names(dir.path()), ["r.txt"]);
    }
}

/// The summary states the counts of the recorded results, as README and the page of experiments do.
#[test]
fn the_summary_says_what_the_pages_say() {
    let (papers, rows) = (papers(), rows());
    let readings = Readings::parse(RECORDED_READINGS, &papers).unwrap_or_else(|e| panic!("{e}"));
    let counts = papers.summary(&rows, &readings).counts();
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
    assert!(classes.all(|(_, class)| class != Class::Failed));
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
    let findings = RECORDED.lines().filter(|l| l.starts_with("  finding | "));
    let shown = json["findings"].as_array().expect("an array");
    assert_eq!(shown.len(), findings.count());
    for finding in shown {
        let row = finding["row"].as_str().expect("a place");
        let line = row.strip_prefix("scenarios/readings.txt:").expect("the record");
        let line = RECORDED_READINGS.lines().nth(line.parse::<usize>().expect("a line") - 1);
        let check = finding["check"].as_str().expect("a name");
        let line = line.expect("it has so many");
        assert!(line.starts_with("  never | ") && line.ends_with(check), "{line}, {check}");
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
        &["reproduce", "--all", "--readings", "--seed", "2"],
        &["reproduce", "--all", "--readings", "--summary"],
    ] {
        accord(dir.path(), wrong).with(2);
    }
}
