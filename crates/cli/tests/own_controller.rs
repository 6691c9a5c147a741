//! A controller and a queue discipline of another program, `examples/own-controller`, with all
//! features of Accord.
//!
//! The program's source is compiled here unchanged. It uses `accord` and `accord-cli` as libraries.
//! The test has no harness, because it starts itself as that program.

#![expect(clippy::print_stdout, reason = "without a harness it names its tests itself")]

mod common;
#[path = "../../../examples/own-controller/src/main.rs"]
mod program;

use common::Ended;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const SELF: &str = "ACCORD_OWN_CONTROLLER";

fn main() -> ExitCode {
    if std::env::var_os(SELF).is_some() {
        return program::main();
    }
    let tests: [(&str, fn()); 8] = [
        ("it knows nothing but the library", it_knows_nothing_but_the_library),
        ("the book shows its files", the_book_shows_its_files),
        ("its controller is in every engine", its_controller_is_in_every_engine),
        ("its discipline marks", its_discipline_marks),
        ("errors speak of its families", errors_speak_of_its_families),
        ("it reproduces experiments", it_reproduces_experiments),
        ("it measures its controller", it_measures_its_controller),
        ("it evaluates its families", it_evaluates_its_families),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn example(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/own-controller");
    let path = Path::new(root).join(path).canonicalize();
    path.expect("it is there").display().to_string()
}

/// Runs the program with these arguments, in a new directory.
fn own(args: &[&str]) -> (Ended, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    let mut command = Command::new(std::env::current_exe().expect("its own path"));
    command.args(args).current_dir(dir.path());
    command.env(SELF, "1").env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    (common::end(command.spawn().expect("it can be started")), dir)
}

fn it_knows_nothing_but_the_library() {
    let manifest = std::fs::read_to_string(example("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    assert!(manifest.contains_key("workspace"), "it is no member of ours");
    let known = manifest["dependencies"].as_table().expect("a table");
    assert_eq!(known.keys().collect::<Vec<_>>(), ["accord", "accord-cli"]);
    let there = example(known["accord-cli"]["path"].as_str().expect("a path"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize();
    assert_eq!(Path::new(&there), here.expect("this crate"));
    for file in ["src/main.rs", "src/keeper.rs", "src/marker.rs"] {
        let text = std::fs::read_to_string(example(file)).expect("a source");
        for used in text.lines().filter_map(|l| l.strip_prefix("use ")) {
            let allowed = used.starts_with("accord::") || used.starts_with("std::");
            assert!(allowed, "{file} uses {used}");
        }
    }
}

fn the_book_shows_its_files() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let page = std::fs::read_to_string(book.join("own-controller.md")).expect("the page");
    let places = page.split("{{#include ").skip(1);
    let shown: Vec<_> = places.filter_map(|p| p.split("}}").next()).collect();
    for file in ["Cargo.toml", "keeper.toml", "src/main.rs", "src/keeper.rs", "src/marker.rs"] {
        let is_it =
            |place: &&str| book.join(place).canonicalize().ok() == Some(example(file).into());
        assert!(shown.iter().any(is_it), "{file} is not on the page");
    }
    assert_eq!(shown.len(), 5, "{shown:?}");
}

/// Returns the figure of an expectation in each engine.
fn measured(json: &Value) -> Vec<(&str, f64)> {
    let checks = json["checks"].as_array().expect("checks");
    let of = |check| {
        let check: &Value = check;
        let engine = check["engine"].as_str().expect("an engine");
        (engine, check["measured"].as_f64().expect("a number"))
    };
    checks.iter().map(of).collect()
}

fn its_controller_is_in_every_engine() {
    let engines = "theory,fluid,packet";
    let (ended, dir) = own(&["run", &example("keeper.toml"), "-e", engines, "--json", "-q"]);
    let json = ended.with(0).json();
    let rates = measured(&json);
    let names: Vec<_> = rates.iter().map(|(engine, _)| *engine).collect();
    assert_eq!(names, ["theory", "fluid", "packet"]);
    // Half of 20 Mbit/s: twice the target of the other two.
    for (engine, rate) in rates {
        assert!((rate / 10e6 - 1.0).abs() < 0.05, "{engine}: {rate}");
    }
    let page = std::fs::read_to_string(dir.path().join("runs/keeper/page.html"));
    assert!(page.expect("a page").contains("keeper"));
    let (ended, _) = own(&["stability", &example("keeper.toml")]);
    assert!(ended.with(0).stdout.contains("gain margin"));
}

fn its_discipline_marks() {
    let (ended, _) = own(&["run", &example("marker.toml"), "--json", "-q"]);
    ended.with(0);
    let (ended, _) = own(&["run", &example("marker.toml"), "-e", "fluid", "-q"]);
    let said = ended.with(2).stderr.replace("\n  │ ", " ");
    assert!(said.contains("no law for marker: its answer jumps"), "{said}");
}

fn errors_speak_of_its_families() {
    let set = ["check", &example("keeper.toml"), "--set", "flow.light.controller=kepeer"];
    let (ended, _) = own(&set);
    assert!(ended.with(2).stderr.contains("keeper"));
    let (ended, _) = own(&["list", "controllers", "keeper"]);
    assert!(ended.with(0).stdout.contains("engines:"));
    let (ended, _) = own(&["schema"]);
    let schema = ended.with(0).stdout;
    assert!(schema.contains("\"keeper\"") && schema.contains("\"marker\""));
    let missing = common::accord(Path::new("."), &["check", &example("keeper.toml")]).with(2);
    assert!(missing.stderr.contains("there is no controller"), "{}", missing.stderr);
}

fn it_reproduces_experiments() {
    let (ended, _) = own(&["reproduce", "xia05-fig2", "-e", "theory", "--json", "-q"]);
    let json = ended.with(0).json();
    assert_eq!(json["experiments"][0]["id"], "xia05-fig2", "{json}");
}

fn it_measures_its_controller() {
    let keeper = "flow.newreno.controller=keeper";
    let set = ["--set", keeper, "--set", "duration=\"1 s\""];
    let (ended, _) = own(&[&["bench", "newreno-10", "--json"], &set[..]].concat());
    let json = ended.with(0).json();
    assert!(json[0]["packet_hops"].as_u64() > Some(10_000), "{json}");
}

fn it_evaluates_its_families() {
    for (pack, case, subject) in
        [("buffers", "deep-one", "keeper,target=5 pkt"), ("rfc7928", "newreno", "marker")]
    {
        let args = ["evaluate", "--pack", pack, "--case", case, "--subject", subject];
        let (ended, _) = own(&[&args[..], &["--reps", "2", "--json"]].concat());
        let json = ended.with(0).json();
        assert_eq!(json["subject"], subject, "{json}");
        let estimate = &json["rows"][0]["figures"][0]["estimate"]["mean"];
        assert!(estimate.as_f64().is_some_and(|mean| mean > 0.0), "{json}");
    }
}
