//! An interrupt from the keyboard ends the program in order, and so does SIGTERM.
#![cfg(target_os = "linux")]

use crate::common::*;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts the program, interrupts it, and returns its result.
fn interrupted(dir: &Path, args: &[&str]) -> Ended {
    ended_by("-INT", dir, args)
}

/// As [`interrupted`], with another signal.
fn ended_by(name: &str, dir: &Path, args: &[&str]) -> Ended {
    let child = program(dir, args).spawn().expect("it can be started");
    ready(&child);
    signal(&child, name);
    end(child)
}

#[test]
fn to_be_terminated_is_to_be_interrupted() {
    let dir = folder(&[("long.toml", LONG)]);
    for name in ["-TERM", "-HUP"] {
        let ended = ended_by(name, dir.path(), &["run", "long.toml", "-o", "out"]).with(130);
        assert!(ended.stderr.contains("interrupted"), "{ended:#?}");
    }
}

#[test]
fn a_run_that_is_interrupted_leaves_no_result() {
    let sweep = format!(
        "{LONG}\n[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"9 Mbps\", \"99 Mbps\"]\n"
    );
    let dir = folder(&[("long.toml", LONG), ("sweep.toml", &sweep)]);
    for args in [
        &["run", "long.toml", "-o", "out"][..],
        &["run", "sweep.toml", "-o", "out"],
        &["run", "long.toml", "-o", "out", "--reps", "5", "--json"],
        &["bench"],
    ] {
        let ended = interrupted(dir.path(), args).with(130);
        assert!(ended.stderr.contains("interrupted"), "{ended:#?}");
        assert_eq!(ended.stdout, "");
        // Theory may have finished by then, and is kept.
        let mut names = names(dir.path());
        names.retain(|name| name != ".out.resume");
        assert_eq!(names, ["long.toml", "sweep.toml"]);
    }
}

/// Existing files stay unchanged.
#[test]
fn an_earlier_run_survives() {
    let long = LONG.replace("\"long\"", "\"small\"");
    let dir = folder(&[("small.toml", SMALL), ("long.toml", &long)]);
    accord(dir.path(), &["run", "small.toml", "-q"]).with(0);
    let path = dir.path().join("runs/small/manifest.json");
    let before = std::fs::read(&path).unwrap();
    interrupted(dir.path(), &["run", "long.toml"]).with(130);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let mut names = names(&dir.path().join("runs"));
    names.retain(|name| name != ".small-2.resume");
    assert_eq!(names, ["small"]);
}

/// Waits until the program has used this many seconds of a processor, or has ended.
fn await_work(child: &Child, seconds: f64) {
    // Linux counts for programs in hundredths of a second.
    const TICK: f64 = 0.01;
    loop {
        let path = format!("/proc/{}/stat", child.id());
        let stat = std::fs::read_to_string(path).expect("it was started");
        // The fields after its name, which may have spaces.
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let fields: Vec<_> = fields.split(' ').collect();
        let ticks = |field: usize| fields[field].parse::<f64>().expect("a number");
        if fields[0] == "Z" || (ticks(11) + ticks(12)) * TICK >= seconds {
            return;
        }
        pause();
    }
}

/// Flows of so various properties that the linearisation of one point takes seconds
/// without a check for interrupts.
fn slow_loop() -> String {
    let flows = (0..40).map(|i| {
        format!(
            "[flow.f{i}]\nfrom = \"left\"\nto = \"right\"\n\
             controller = {{ name = \"monaco\", gain = 0.{}, estimator = \"ideal\" }}\n",
            10 + i
        )
    });
    let flows: String = flows.collect();
    format!(
        "id = \"slow\"\nduration = \"20 s\"\nsteady = [\"10 s\", \"20 s\"]\n[topology.dumbbell]\n\
         rate = \"300 Mbps\"\ndelay = \"10 ms\"\n\
         queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n{flows}"
    )
}

#[test]
fn margins_are_interrupted_at_once() {
    let dir = folder(&[("slow.toml", &slow_loop())]);
    let x = ["--x", "flow.f0.controller.gain=0.1..1", "--points", "200"];
    for more in [&[][..], &x] {
        let args = [&["stability", "slow.toml"], more].concat();
        let child = program(dir.path(), &args).spawn().expect("it can be started");
        ready(&child);
        // The first points take seconds of a processor, and the map minutes: it is unfinished at this time.
        await_work(&child, 0.3);
        signal(&child, "-INT");
        let ended = end(child).with(130);
        assert!(ended.stderr.contains("interrupted"), "{ended:#?}");
        assert_eq!(ended.stdout, "");
        assert!(!dir.path().join("runs/slow-stability").exists());
    }
}

/// `script` provides a terminal.
#[test]
fn margins_that_take_long_show_progress() {
    let dir = folder(&[("slow.toml", &slow_loop())]);
    let program = env!("CARGO_BIN_EXE_accord");
    let terminal = |command: &str| {
        let mut script = Command::new("script");
        script.args(["-qec", command, "/dev/null"]).env("TERM", "xterm").current_dir(dir.path());
        script.stdin(Stdio::null()).stdout(Stdio::piped());
        script
    };
    let Ok(mut child) = terminal(&format!("exec {program} stability slow.toml")).spawn() else {
        skipped("there is no `script` here");
        return;
    };
    let (mut out, mut loud) = (child.stdout.take().expect("a pipe"), Vec::new());
    let mut part = [0; 1024];
    let is_shown = |loud: &[u8]| String::from_utf8_lossy(loud).contains("0 of 1 points");
    while !is_shown(&loud) {
        match out.read(&mut part).expect("a pipe") {
            0 => panic!("it has ended: {}", String::from_utf8_lossy(&loud)),
            length => loud.extend(&part[..length]),
        }
    }
    // The program ends with its terminal.
    child.kill().expect("it runs");
    child.wait().expect("it is ours");
    let command = format!("timeout -s INT 3 {program} stability slow.toml --quiet");
    let quiet = terminal(&command).output().expect("there was one before");
    let quiet = String::from_utf8_lossy(&quiet.stdout);
    assert!(!quiet.contains("points"), "{quiet}");
}
