//! The program's files can be trusted: damage is detected, files are not replaced silently, and the
//! remains of a killed program are removed.
#![cfg(target_os = "linux")]

use crate::common::*;
use std::path::Path;

/// Adds web users, so there are transfers.
fn with_transfers() -> String {
    let users = "[flow.web]\nfrom = \"left\"\nto = \"right\"\ncount = 20\ncontroller = \"newreno\"\n\
                 demand = { web = {} }\n";
    SMALL.replace("[[expect]]", &format!("{users}\n[[expect]]"))
}

fn run(dir: &Path, more: &[&str]) -> Ended {
    accord(dir, &[&["run", "small.toml"], more].concat())
}

/// One bit anywhere in a data file is enough.
#[test]
fn damage_of_data_shows() {
    let dir = folder(&[("small.toml", &with_transfers())]);
    run(dir.path(), &["-q", "-o", "out"]);
    let compare = || accord(dir.path(), &["compare", "out"]);
    compare().with(0);
    let mut dice = Dice(7);
    for name in ["series.parquet", "transfers.parquet"] {
        let path = dir.path().join("out").join(name);
        let whole = std::fs::read(&path).expect("it was written");
        for _ in 0..40 {
            let mut bytes = whole.clone();
            let at = dice.below(bytes.len());
            bytes[at] ^= 1 << dice.below(8);
            std::fs::write(&path, bytes).unwrap();
            let ended = compare().with(2);
            assert_eq!(ended.stdout, "", "byte {at} of {name}");
            let text = ended.stderr.replace("\n  │ ", " ");
            assert!(text.contains(name), "byte {at}: {text}");
            assert!(text.contains("checksum"), "byte {at}: {text}");
        }
        std::fs::remove_file(&path).unwrap();
        let ended = compare().with(2);
        assert!(ended.stderr.contains(name), "{ended:#?}");
        std::fs::write(&path, whole).unwrap();
    }
    compare().with(0);
}

/// The transfers of another run are not taken for those of this one.
#[test]
fn a_file_of_another_run_shows() {
    let dir = folder(&[("small.toml", SMALL), ("web.toml", &with_transfers())]);
    run(dir.path(), &["-q", "-o", "out"]).with(0);
    accord(dir.path(), &["run", "web.toml", "-q", "-o", "web"]);
    let path = |of: &str| dir.path().join(of).join("transfers.parquet");
    std::fs::copy(path("web"), path("out")).expect("there are transfers");
    let ended = accord(dir.path(), &["compare", "out"]).with(2);
    assert!(ended.stderr.contains("no checksum"), "{ended:#?}");
}

/// A run with other options has a directory of its own. One that the user names is replaced, with a
/// warning.
#[test]
fn nothing_is_replaced_in_silence() {
    let dir = folder(&[("small.toml", SMALL)]);
    let says = |word: &str, more: &[&str]| {
        let ended = run(dir.path(), more);
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
        let line = ended.stderr.lines().find(|l| l.contains(word));
        line.map(str::to_string)
    };
    assert_eq!(says("keeps", &[]), None, "there was nothing");
    assert_eq!(says("keeps", &[]), None, "it is the same");
    let line = says("keeps", &["--seed", "9"]).expect("another seed");
    for words in ["runs/small keeps another run", "seed 1, ", "written to runs/small-2"] {
        assert!(line.contains(words), "{line}");
    }
    let again = says("keeps", &["--seed", "9"]).expect("another seed than the first");
    assert!(again.contains("written to runs/small-2"), "{again}");
    let line = says("keeps", &["--set", "topology.dumbbell.rate=6 Mbps"]).expect("another rate");
    assert!(line.contains("written to runs/small-3"), "{line}");
    let line = says("keeps", &["-e", "theory"]).expect("packets stay");
    assert!(line.contains("written to runs/small-4"), "{line}");
    assert_eq!(says("keeps", &["--reps", "3"]), None, "all of the first run is in it");
    assert_eq!(names(&dir.path().join("runs")), ["small", "small-2", "small-3", "small-4"]);
    let named = |more: &[&str]| says("replacing", &[&["-o", "out"][..], more].concat());
    assert_eq!(named(&[]), None, "there was nothing");
    assert_eq!(named(&[]), None, "it is the same");
    let line = named(&["--seed", "9"]).expect("another seed");
    for words in ["replacing an earlier run in out", "seed 1, ", "-o DIR"] {
        assert!(line.contains(words), "{line}");
    }
    assert_eq!(named(&["--seed", "1", "-q"]), None, "it is to be quiet");
}

/// The remark on a directory comes when the run is certain. A sweep is described as a whole.
#[test]
fn a_sweep_is_replaced_with_a_remark_on_all_of_it() {
    let sweep =
        "[sweep.rate]\nset = \"topology.dumbbell.rate\"\nvalues = [\"4 Mbps\", \"5 Mbps\"]\n";
    let dir = folder(&[("small.toml", &format!("{SMALL}\n{sweep}"))]);
    run(dir.path(), &["-q", "-e", "theory,packet", "-o", "out"]);
    let refused = run(dir.path(), &["--seed", "9", "-o", "out", "--pcap", "x"]).with(2);
    assert!(!refused.stderr.contains("replacing"), "{refused:#?}");
    let ended = run(dir.path(), &["--seed", "9", "-e", "theory", "-o", "out"]);
    let words = "(a sweep of 2 points, theory and packet, seed 1)";
    assert!(ended.stderr.replace("\n  │ ", " ").contains(words), "{ended:#?}");
    let refused = accord(dir.path(), &["export", "flent", "out"]).with(2);
    for words in ["out is a sweep", "such as out/001"] {
        assert!(refused.stderr.contains(words), "{refused:#?}");
    }
}

/// Only our files, of a process that has ended.
#[test]
fn what_a_killed_program_left_is_cleared() {
    let dir = folder(&[("small.toml", SMALL)]);
    let make = |name: &str, file: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(file), "x").unwrap();
    };
    // No process has so large a number.
    let gone = ".out.4194999-0.partial";
    make(gone, "series.parquet");
    let living = format!(".out.{}-0.partial", std::process::id());
    let stays = [
        (&living[..], "series.parquet"),
        (".out.4194998-0.partial", "notes.txt"),
        (".out.4194997-0.old", "series.parquet"),
        (".other.4194996-0.partial", "series.parquet"),
        (".out.mine.partial", "series.parquet"),
    ];
    for (name, file) in stays {
        make(name, file);
    }
    run(dir.path(), &["-q", "-o", "out"]).with(0);
    let mut expected: Vec<&str> = stays.iter().map(|(name, _)| *name).collect();
    expected.extend(["out", "small.toml"]);
    expected.sort_unstable();
    assert_eq!(names(dir.path()), expected);
}

/// `/dev/full` is a full disk.
#[test]
fn a_full_disk_is_no_fault_of_the_user() {
    let dir = folder(&[("small.toml", SMALL)]);
    let full = || std::fs::File::options().write(true).open("/dev/full");
    let mut command = program(dir.path(), &["run", "small.toml", "-q", "-o", "a"]);
    command.stdout(full().expect("Linux has it"));
    let ended = end(command.spawn().expect("it can be started")).with(3);
    assert!(ended.stderr.contains("No space left"), "{ended:#?}");
    let pcap = ["-q", "-o", "b", "--engine", "packet", "--pcap", "/dev/full"];
    let ended = run(dir.path(), &pcap).with(3);
    assert!(ended.stderr.contains("/dev/full"), "{ended:#?}");
}

/// A small private file system; the files of a run do not fit.
#[test]
fn a_full_disk_under_a_run_directory() {
    let dir = folder(&[("small.toml", SMALL)]);
    let accord = env!("CARGO_BIN_EXE_accord");
    let script = format!(
        "mkdir full && mount -t tmpfs -o size=16k tmpfs full || exit 77; \
         {accord} run small.toml -q -o full/out"
    );
    let mut command = std::process::Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", &script])
        .current_dir(dir.path())
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let ended = match command.spawn() {
        Ok(child) => end(child),
        Err(_) => return skipped("there is no unshare here"),
    };
    if ended.stderr.contains("unshare:") || ended.code == Some(77) {
        return skipped("no file system may be mounted here");
    }
    let ended = ended.with(3);
    assert!(ended.stderr.contains("No space left"), "{ended:#?}");
    // Computed results are printed nevertheless.
    assert!(ended.stdout.contains("Means over"), "{ended:#?}");
}
