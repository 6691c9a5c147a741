//! `accord run --watch` runs again when the file is saved, and continues after errors.
#![cfg(target_os = "linux")]

use crate::common::*;
use std::io::{BufRead, BufReader};

#[test]
fn a_saved_file_is_run_again() {
    let dir = folder(&[("small.toml", SMALL)]);
    let path = dir.path().join("small.toml");
    let args = ["run", "small.toml", "--watch", "-e", "packet"];
    let mut child = program(dir.path(), &args).spawn().expect("it starts");
    let notes = BufReader::new(child.stderr.take().expect("piped"));
    let mut notes = notes.lines().map(|line| line.expect("text"));
    let mut wait = |text: &str| {
        let found = notes.any(|line| line.contains(text));
        assert!(found, "it ended before it said: {text}");
    };
    wait("waiting for small.toml");
    std::fs::write(&path, SMALL.replace("duration", "dration")).unwrap();
    wait("unknown key \"dration\"");
    wait("waiting for small.toml");
    std::fs::write(&path, SMALL.replace("Two flows", "Mended")).unwrap();
    wait("waiting for small.toml");
    signal(&child, "-INT");
    let ended = end(child).with(130);
    assert!(ended.stdout.contains("Two flows") && ended.stdout.contains("Mended"));
}

#[test]
fn only_a_file_can_be_watched() {
    let dir = folder(&[]);
    let ended = accord(dir.path(), &["run", "xia05-fig6", "--watch"]).with(2);
    assert!(ended.stderr.contains("to watch"));
}
