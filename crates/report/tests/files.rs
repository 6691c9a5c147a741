//! Run directories: written whole, read back as they were, careful with existing files.

use crate::support;

use crate::support::{expectation, run, scenario, window};
use accord_record::{Certificate, Run};
use accord_report::{
    FileError, Point, RunDir, Style, check_place, checks, comparison, experiment_record,
    load_run_dir, load_stored, versus, write_run_dir, write_sweep_dir,
};
use accord_scenario::{Engine, Entity, Metric, Scenario, Target};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory that is removed at the end of its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("accord-{}-{test}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn example() -> (Scenario, Vec<Run>) {
    let mut s = scenario(&[("short", 2), ("=long, \"<é>", 1)], &["b1"], 4);
    s.point = vec![("reverse".into(), "5 Mbps".into())];
    s.expectations = vec![expectation(Target::Value { value: 2e6, tolerance: 0.1 })];
    let flows = |scale: f64| {
        let each = (0..3).map(move |i| {
            let values = vec![f64::NAN, 1e6 * scale, 0.1 + 0.2, 2e6 * (i + 1) as f64];
            (Metric::Throughput, Entity::Flow(i), values)
        });
        each.collect::<Vec<_>>()
    };
    let mut packet = flows(1.01);
    packet.push((Metric::Drops, Entity::Link(0), vec![0.0, 1.0, f64::NAN, 2.0]));
    let mut theory = run(Engine::Theory, 0, flows(1.0));
    let window = window(0, 4);
    theory.certificates = vec![Certificate {
        start: window.start,
        end: window.end,
        stationarity: 3e-14,
        feasibility: 0.0,
        complementarity: 1e-15,
        gap: 2e-13,
    }];
    let runs =
        vec![theory, run(Engine::Packet, 1, packet.clone()), run(Engine::Packet, u64::MAX, packet)];
    (s, runs)
}

fn write(dir: &Path, scenario: &Scenario, runs: &[Run]) -> Result<(), FileError> {
    let all: Vec<&Run> = runs.iter().collect();
    let contents = RunDir {
        scenario_toml: "id = \"by-hand\"\n",
        point: Point { scenario, runs, checks: &checks(scenario, &all) },
        page: Some("<!doctype html>"),
        csv: true,
    };
    write_run_dir(dir, &contents)
}

/// NaN is not equal to itself; its text is.
fn same(a: &[Run], b: &[Run]) {
    assert_eq!(format!("{a:#?}"), format!("{b:#?}"));
}

#[test]
fn what_was_written_is_read_back() {
    let scratch = Scratch::new("round-trip");
    let dir = scratch.0.join("run");
    let (scenario, runs) = example();
    write(&dir, &scenario, &runs).unwrap();
    let loaded = load_run_dir(&dir).unwrap();
    same(&loaded.runs, &runs);
    assert_eq!(loaded.manifest.runs[2].seed, u64::MAX);
    assert_eq!(loaded.manifest.scenario.point, scenario.point);
    let text = fs::read_to_string(dir.join("scenario.toml")).unwrap();
    assert_eq!(text, "id = \"by-hand\"\n");

    let summary = fs::read(dir.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["checks"][0]["unit"], "bit/s");
    assert_eq!(summary["comparison"][0]["group"], "short");
    assert_eq!(summary["comparison"][0]["values"][1]["column"], "packet");
    assert_eq!(summary["comparison"][0]["values"][1]["runs"], 2);

    let csv = fs::read_to_string(dir.join("series.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 4 * (3 + 4 + 4));
    assert_eq!(lines[0], "run,engine,entity_kind,entity,metric,unit,time_s,value");
    assert_eq!(lines[1], "0,theory,flow,short.0,throughput,bit/s,1,");
    assert_eq!(lines[3], "0,theory,flow,short.0,throughput,bit/s,3,0.30000000000000004");
}

#[test]
fn certificates_are_in_summary_table_and_page() {
    let scratch = Scratch::new("certificates");
    let dir = scratch.0.join("run");
    let (scenario, runs) = example();
    write(&dir, &scenario, &runs).unwrap();
    let summary = fs::read(dir.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    let expected = serde_json::json!([{
        "phase_ps": [0, 4_000_000_000_000u64],
        "stationarity": 3e-14, "feasibility": 0.0, "complementarity": 1e-15, "gap": 2e-13,
    }]);
    assert_eq!(summary["certificates"], expected);
    let all: Vec<&Run> = runs.iter().collect();
    let text = accord_report::table(&scenario, &all, Style::default());
    let line = "theory: optimal, to within stationarity 3e-14, feasibility 0, complementarity 1e-15, gap 2e-13\n";
    assert!(text.contains(line), "{text}");
    let point = Point { scenario: &scenario, runs: &runs, checks: &[] };
    let page = accord_report::page(&[point]);
    let row = "<tr><td>0–4 s</td><td class=\"n\">3e-14</td>";
    assert!(page.contains(row), "no certificate on the page");
}

#[test]
fn directories_are_compared_by_name() {
    let scratch = Scratch::new("compare");
    let (scenario, runs) = example();
    let (a, b) = (scratch.0.join("a"), scratch.0.join("b"));
    write(&a, &scenario, &runs).unwrap();
    let mut other = support::scenario(&[("extra", 1), ("short", 2)], &["b1"], 4);
    other.id = "other".into();
    write(&b, &other, &runs[..1]).unwrap();
    let stored = [a, b].map(|dir| load_stored(&dir).unwrap());
    let compared = versus(&stored, &[], None).unwrap();
    let text = comparison(&compared[0].columns, Style::default());
    let line =
        |i: usize| -> Vec<&str> { text.lines().nth(i).unwrap().split_whitespace().collect() };
    let of = ["flow", "or", "link", "metric", "a", "a", "b", "error"];
    assert_eq!(line(2)[..8], of, "{text}");
    assert_eq!(line(3), ["theory", "packet", "theory"], "{text}");
    // Named in one of them only.
    let extra = text.lines().find(|l| l.starts_with("extra")).unwrap();
    assert_eq!(extra.matches('–').count(), 3, "{text}");
}

#[test]
fn a_run_without_series_is_still_a_run() {
    let scratch = Scratch::new("empty");
    let dir = scratch.0.join("run");
    let runs = vec![run(Engine::Packet, 1, vec![])];
    write(&dir, &scenario(&[("g", 1)], &["b1"], 4), &runs).unwrap();
    same(&load_run_dir(&dir).unwrap().runs, &runs);
}

#[test]
fn a_run_is_replaced_and_nothing_else_is() {
    let scratch = Scratch::new("replace");
    let (scenario, runs) = example();
    let dir = scratch.0.join("run");
    fs::create_dir(&dir).unwrap();
    write(&dir, &scenario, &runs).unwrap(); // Into an empty directory ...
    write(&dir, &scenario, &runs[..1]).unwrap(); // ... and over a run.
    assert_eq!(load_run_dir(&dir).unwrap().runs.len(), 1);

    // A run directory with a foreign file.
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    let error = write(&dir, &scenario, &runs).unwrap_err();
    assert!(error.to_string().contains("it holds notes.txt"), "{error}");
    assert_eq!(load_run_dir(&dir).unwrap().runs.len(), 1);

    // A manifest of something else.
    let foreign = scratch.0.join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("manifest.json"), "{}").unwrap();
    let error = write(&foreign, &scenario, &runs).unwrap_err();
    assert!(matches!(error, FileError::Occupied { .. }), "{error}");

    // A file.
    let file = scratch.0.join("file");
    fs::write(&file, "mine").unwrap();
    assert!(write(&file, &scenario, &runs).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");

    let mut names: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["file", "foreign", "run"], "nothing half done is left");
}

#[test]
fn a_sweep_is_replaced_as_a_whole() {
    let scratch = Scratch::new("sweep");
    let (scenario, runs) = example();
    let dir = scratch.0.join("sweep");
    let point = Point { scenario: &scenario, runs: &runs, checks: &[] };
    let contents = RunDir { scenario_toml: "", point, page: None, csv: false };
    let names = |dir: &Path| {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    write(&dir, &scenario, &runs).unwrap(); // A single run is replaced by a sweep ...
    write_sweep_dir(&dir, &[contents; 3], "plots").unwrap();
    assert_eq!(names(&dir), ["001", "002", "003", "page.html", "summary.csv", "summary.parquet"]);
    write_sweep_dir(&dir, &[contents; 2], "plots").unwrap(); // ... it by a shorter one ...
    assert_eq!(names(&dir), ["001", "002", "page.html", "summary.csv", "summary.parquet"]);
    assert_eq!(fs::read_to_string(dir.join("page.html")).unwrap(), "plots");
    same(&load_run_dir(&dir.join("002")).unwrap().runs, &runs);
    write(&dir, &scenario, &runs).unwrap(); // ... and that by a single run.
    same(&load_run_dir(&dir).unwrap().runs, &runs);

    // Somebody's numbered folders are none of ours.
    let mine = scratch.0.join("mine");
    fs::create_dir_all(mine.join("001")).unwrap();
    assert!(check_place(&mine).is_err());
    fs::write(mine.join("001/manifest.json"), "{}").unwrap();
    assert!(write_sweep_dir(&mine, &[contents], "plots").is_err());
    assert_eq!(names(&mine), ["001"]);
    check_place(&dir).unwrap();
    check_place(&scratch.0.join("new")).unwrap();
    assert_eq!(names(&scratch.0), ["mine", "sweep"], "nothing is left of asking");
}

#[test]
fn broken_files_are_named() {
    let scratch = Scratch::new("broken");
    let (scenario, runs) = example();
    let dir = scratch.0.join("run");
    let fresh = || write(&dir, &scenario, &runs).unwrap();
    let error = || load_run_dir(&dir).unwrap_err().to_string();

    let missing = "run is not a run directory: it does not exist";
    assert!(error().contains(missing), "{}", error());
    fs::create_dir(&dir).unwrap();
    assert!(error().contains("it has no manifest.json"), "{}", error());
    fs::remove_dir(&dir).unwrap();
    fresh();
    let parquet = dir.join("series.parquet");
    let whole = fs::read(&parquet).unwrap();
    for broken in [&whole[..whole.len() / 2], &[0; 100], b""] {
        fs::write(&parquet, broken).unwrap();
        assert!(error().contains("series.parquet is not a readable"), "{}", error());
    }
    fs::remove_file(&parquet).unwrap();
    assert!(error().contains("cannot read"), "{}", error());

    fs::remove_dir_all(&dir).unwrap();
    fresh();
    let manifest = dir.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    // Manifests of earlier programs had no checksum of their own.
    let old = text.replace("\"format_version\": 2", "\"format_version\": 1");
    let broken = [
        (&text[..text.len() / 2], "EOF"),
        ("[1]", "invalid"),
        (&text.replace("accord-run", "other"), "not the manifest of a run"),
        (&text.replace("\"format_version\": 2", "\"format_version\": 3"), "format version 3"),
        (&text.replace("short.1", "elsewhere"), "checksum does not hold"),
        (&text.replace("\"checksum\"", "\"checksun\""), "checksum does not hold"),
        (&old.replace("short.1", "elsewhere"), "no flow \"short.1\""),
        (&old.replace("\"engine\": \"theory\"", "\"engine\": \"tea leaves\""), "tea leaves"),
    ];
    for (text, message) in broken {
        fs::write(&manifest, text).unwrap();
        assert!(error().contains(message), "{}", error());
    }
}

#[test]
fn the_record_of_an_experiment() {
    let (scenario, runs) = example();
    let all: Vec<&Run> = runs.iter().collect();
    let checks = checks(&scenario, &all);
    let point = Point { scenario: &scenario, runs: &runs, checks: &checks };
    let json = experiment_record("by-hand", &[point, point], None);
    assert_eq!((&json["id"], &json["pass"]), (&"by-hand".into(), &false.into()));
    assert_eq!(json["checks"][1]["name"], "an expectation [reverse = 5 Mbps]");
    let check = json["checks"][0].as_object().unwrap();
    for key in ["name", "engine", "paper", "theory", "measured", "error", "tolerance", "pass"] {
        assert!(check.contains_key(key), "{key}");
    }
    assert_eq!(check["engine"], "packet");
}
