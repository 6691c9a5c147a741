//! An interrupted command resumes when it is repeated, and leaves the same bytes as without the
//! interruption.
#![cfg(target_os = "linux")]

use crate::common::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Eight points, each a tenth of a second of work; both engines: sixteen runs.
fn sweep() -> String {
    let long = SMALL.replace("duration = \"4 s\"", "duration = \"12 s\"");
    format!(
        "{long}\n[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\n\
         values = [\"20 Mbps\", \"21 Mbps\", \"22 Mbps\", \"23 Mbps\", \
         \"24 Mbps\", \"25 Mbps\", \"26 Mbps\", \"27 Mbps\"]\n"
    )
}

const RUN: &[&str] = &["run", "sweep.toml", "--csv", "-o", "out"];

/// Returns the program on `threads` threads.
fn on(threads: &str, dir: &Path, args: &[&str]) -> Command {
    let mut command = program(dir, args);
    command.env("RAYON_NUM_THREADS", threads);
    command
}

/// Returns the runs of the packet engine that are kept in `.out.resume`.
fn kept(dir: &Path) -> Vec<PathBuf> {
    let kept = dir.join(".out.resume");
    if !kept.is_dir() {
        return vec![];
    }
    let names = names(&kept).into_iter();
    let runs = names.filter(|name| name.starts_with("packet-"));
    runs.map(|name| kept.join(name)).collect()
}

/// Starts the program, and sends the signal once `n` runs of the packet engine are kept.
fn stopped(mut command: Command, dir: &Path, n: usize, with: &str) -> Ended {
    let mut child = command.spawn().expect("it can be started");
    while kept(dir).len() < n {
        assert_eq!(child.try_wait().unwrap(), None, "it ended on its own");
        pause();
    }
    signal(&child, with);
    end(child)
}

/// Returns the reported number of resumed runs; `None` if it reported none.
fn said(ended: &Ended) -> Option<usize> {
    let lines = ended.stderr.lines();
    let mut lines = lines.filter(|l| l.ends_with("were done before the interruption; resuming"));
    let line = lines.next()?;
    assert_eq!(lines.next(), None, "{ended:#?}");
    let n = line.strip_prefix("small: ")?.split(' ').next()?;
    Some(n.parse().expect("a number"))
}

type Result = (String, BTreeMap<String, Vec<u8>>);

/// Returns its data and files; nothing else remains in the directory.
fn result(ended: &Ended, dir: &Path) -> Result {
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
    assert_eq!(names(dir), ["out", "sweep.toml"]);
    (ended.stdout.clone(), files(&dir.join("out")))
}

/// Returns the result without an interruption.
fn uninterrupted(text: &str, args: &[&str]) -> Result {
    let dir = folder(&[("sweep.toml", text)]);
    let ended = accord(dir.path(), args);
    assert_eq!(said(&ended), None, "{ended:#?}");
    result(&ended, dir.path())
}

fn same(a: &Result, b: &Result) {
    assert_eq!(a.0, b.0);
    assert!(a.1.keys().eq(b.1.keys()));
    for (name, bytes) in &a.1 {
        assert!(Some(bytes) == b.1.get(name), "{name} differs");
    }
}

#[test]
fn interrupted_and_resumed_is_uninterrupted() {
    let text = sweep();
    let expected = uninterrupted(&text, RUN);
    for (threads, with) in [("1", "-INT"), ("2", "-INT"), ("1", "-KILL"), ("2", "-KILL")] {
        let dir = folder(&[("sweep.toml", &text)]);
        let at = dir.path();
        let ended = stopped(on(threads, at, RUN), at, 2, with);
        match with {
            "-INT" => {
                let ended = ended.with(130);
                assert!(ended.stderr.contains(" of 16 runs are done"), "{ended:#?}");
            }
            _ => assert_eq!(ended.code, None, "{ended:#?}"),
        }
        assert_eq!(names(at), [".out.resume", "sweep.toml"], "no result");
        // A second interruption, later.
        let further = kept(at).len() + 1;
        stopped(on(threads, at, RUN), at, further, with);
        let ended = accord(at, RUN);
        assert!(said(&ended) > Some(further), "{ended:#?}");
        same(&result(&ended, at), &expected);
    }
}

#[test]
fn repetitions_are_resumed() {
    let text = sweep().split("[sweep.rate]").next().unwrap().to_string();
    let args = &[
        "run",
        "sweep.toml",
        "--reps",
        "8",
        "--set",
        "topology.dumbbell.rate=\"20 Mbps\"",
        "--json",
        "-o",
        "out",
    ];
    let expected = uninterrupted(&text, args);
    let dir = folder(&[("sweep.toml", &text)]);
    stopped(on("2", dir.path(), args), dir.path(), 2, "-INT").with(130);
    let ended = accord(dir.path(), args);
    assert!(said(&ended) >= Some(3), "{ended:#?}");
    same(&result(&ended, dir.path()), &expected);
}

/// Damaged files, and files of other origin, are computed again.
#[test]
fn only_whole_runs_of_this_command_are_used() {
    let text = sweep();
    let expected = uninterrupted(&text, RUN);
    let dir = folder(&[("sweep.toml", &text)]);
    let at = dir.path();
    stopped(on("1", at, RUN), at, 4, "-KILL");
    let runs = kept(at);
    let whole = names(&at.join(".out.resume")).iter().filter(|name| !name.starts_with('.')).count();
    // Truncated; one bit of a value inverted; a run under the name of another; no checksum.
    let series = runs[0].join("series.parquet");
    let bytes = std::fs::read(&series).unwrap();
    std::fs::write(&series, &bytes[..bytes.len() / 2]).unwrap();
    let series = runs[1].join("series.parquet");
    let mut bytes = std::fs::read(&series).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&series, bytes).unwrap();
    for (name, bytes) in files(&runs[3]) {
        std::fs::write(runs[2].join(name), bytes).unwrap();
    }
    std::fs::remove_file(runs[3].join("checksum")).unwrap();
    // An incomplete run of a killed program, and an unrelated file.
    std::fs::create_dir(at.join(".out.resume/.packet-half")).unwrap();
    let notes = at.join(".out.resume/notes.txt");
    std::fs::write(&notes, "mine").unwrap();

    let ended = accord(at, RUN);
    assert_eq!(said(&ended), Some(whole - 4), "{ended:#?}");
    assert_eq!(names(&at.join(".out.resume")), ["notes.txt"]);
    std::fs::remove_dir_all(at.join(".out.resume")).unwrap();
    same(&result(&ended, at), &expected);
}

#[test]
fn another_command_takes_nothing() {
    let text = sweep();
    let set = [RUN, &["--set", "topology.dumbbell.delay=\"6 ms\""]].concat();
    let seed = [RUN, &["--seed", "7"]].concat();
    let fresh = [RUN, &["--fresh"]].concat();
    for args in [&set, &seed, &fresh] {
        let dir = folder(&[("sweep.toml", &text)]);
        stopped(on("2", dir.path(), RUN), dir.path(), 2, "-INT").with(130);
        let ended = accord(dir.path(), args);
        assert_eq!(said(&ended), None, "{ended:#?}");
        same(&result(&ended, dir.path()), &uninterrupted(&text, args));
    }
}

/// Experiments written before the interruption are not computed again. They run concurrently, and
/// are shown in the order of the command.
#[test]
fn experiments_are_resumed() {
    let (long, short) = ("xia03-fig4", "ple03-fig6");
    let dir = folder(&[]);
    let args = ["reproduce", long, short, "-o", "all"];
    let child = on("2", dir.path(), &args).spawn().unwrap();
    while !dir.path().join("all").join(short).exists() {
        pause();
    }
    signal(&child, "-INT");
    let ended = end(child).with(130);
    assert_eq!(ended.stdout, "", "the first has no verdict yet");
    let before = files(&dir.path().join("all").join(short));
    let ended = accord(dir.path(), &args);
    let line = format!("{short}: 4 of 4 runs were done before the interruption; resuming");
    assert!(ended.stderr.lines().any(|l| l == line), "{ended:#?}");
    assert_eq!(names(&dir.path().join("all")), [short, long]);
    assert!(files(&dir.path().join("all").join(short)) == before);
    let at = |id| ended.stdout.find(&format!("{id}: "));
    assert!(at(long) < at(short), "{ended:#?}");
}

/// A duplicate experiment has one place, and runs once.
#[test]
fn an_experiment_named_twice_is_made_once() {
    let dir = folder(&[]);
    let args = ["reproduce", "ple03-fig6", "ple03-fig6", "-o", "all"];
    let twice = accord(dir.path(), &args).with(0);
    let once = accord(dir.path(), &[args[0], args[1], "-o", "again"]).with(0);
    assert_eq!(twice.stdout, once.stdout);
}
