//! Each mistake is reported with its place, and with a hint where one helps.
//!
//! The files in `errors` hold cases: a heading `=== what`, a scenario, a line `---`, and the messages.
//! UPDATE_ERRORS=1 rewrites the messages.

use crate::common::refused;
use std::path::Path;

/// Checks or rewrites the cases of one file.
fn check(name: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let path = directory.join(name).with_extension("txt");
    let cases = std::fs::read_to_string(&path).expect("the cases can be read");
    let update = std::env::var_os("UPDATE_ERRORS").is_some();
    let mut updated = Vec::new();
    for case in cases.split("=== ").skip(1) {
        let (heading, rest) = case.split_once('\n').expect("a case has a heading");
        let (text, expected) = rest.split_once("\n---\n").expect("a case has a line ---");
        let found = refused(text);
        assert!(
            update || found == expected.trim_end(),
            "{name}: {heading}\nexpected\n{}\nfound\n{found}",
            expected.trim_end()
        );
        updated.push(format!("=== {heading}\n{text}\n---\n{found}\n"));
    }
    if update {
        std::fs::write(&path, updated.join("\n")).expect("the cases can be written");
    }
}

#[test]
fn form() {
    check("form");
}

#[test]
fn network() {
    check("network");
}

#[test]
fn flow() {
    check("flow");
}

#[test]
fn run() {
    check("run");
}
