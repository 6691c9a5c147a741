//! Runs the program as a user does.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The result of a process.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Returns stdout parsed as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }

    /// Checks the exit code, and that there was no panic.
    pub fn with(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }
}

/// Returns the command of the program in the directory `dir`, without colours.
pub fn program(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accord"));
    command
        .args(args)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Pauses between two looks at the state of another process.
#[expect(clippy::disallowed_methods, reason = "it waits for another process")]
pub fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Waits until the program has its signal handler, as reported by the kernel, or has ended.
pub fn ready(child: &Child) {
    // SIGHUP, SIGINT and SIGTERM.
    const HANDLED: u64 = 1 | 1 << 1 | 1 << 14;
    let path = format!("/proc/{}/status", child.id());
    loop {
        // There is a file until the process is waited for.
        let status = std::fs::read_to_string(&path).expect("it was started");
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let mask = field("SigCgt:").map_or(Ok(0), |text| u64::from_str_radix(text.trim(), 16));
        let has_ended = field("State:").is_some_and(|text| text.trim().starts_with('Z'));
        if has_ended || mask.expect("a mask") & HANDLED == HANDLED {
            return;
        }
        pause();
    }
}

/// Waits for the end; a process that runs for more than ten minutes is killed, and has no code.
pub fn end(child: Child) -> Ended {
    end_within(child, Duration::from_secs(600))
}

/// Waits for the end; a process that runs for longer than `limit` is killed, and has no code.
pub fn end_within(mut child: Child, limit: Duration) -> Ended {
    let (done, wait) = mpsc::channel::<()>();
    let id = child.id();
    let watchdog = std::thread::spawn(move || {
        if wait.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
            send(id, "-KILL");
        }
    });
    let errors = child.stderr.take();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        match errors {
            Some(mut errors) => errors.read_to_string(&mut text).map(|_| text),
            None => Ok(text),
        }
    });
    let mut stdout = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut stdout).expect("text");
    }
    let code = child.wait().expect("it was started").code();
    drop(done);
    watchdog.join().expect("the watchdog does not panic");
    Ended { code, stdout, stderr: errors.join().expect("no panic").expect("text") }
}

/// Sends a signal, such as "-INT".
pub fn signal(child: &Child, signal: &str) {
    assert!(send(child.id(), signal));
}

/// Returns true if the signal was sent. `kill` is part of the shell: minimal systems have no such program.
fn send(process: u32, signal: &str) -> bool {
    let sent = Command::new("sh").args(["-c", &format!("kill {signal} {process}")]).status();
    sent.expect("there is a shell").success()
}

/// Runs the program to its end.
pub fn accord(dir: &Path, args: &[&str]) -> Ended {
    end(program(dir, args).spawn().expect("it can be started"))
}

/// Reports a skipped test on standard error itself, which the test harness does not capture.
#[expect(clippy::disallowed_methods, reason = "it has to get past what the harness captures")]
pub fn skipped(why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Two Vegas flows on a dumbbell: a second of simulated time. Meets its expectation.
pub const SMALL: &str = r#"
id = "small"
title = "Two flows"
duration = "4 s"
sample = "20 ms"

[topology.dumbbell]
rate = "5 Mbps"
delay = "5 ms"
queue = { discipline = "droptail", limit = "100 pkt" }

[flow.a]
from = "left"
to = "right"
count = 2
controller = "vegas"
start = { uniform = ["0 s", "0.1 s"] }

[[expect]]
name = "the link is full"
metric = "utilisation"
of = "bottleneck"
engine = ["packet"]
equals = "theory"
within = 0.05
paper = "says so"
"#;

/// A scenario that takes minutes.
pub const LONG: &str = r#"
id = "long"
duration = "100000 s"

[topology.dumbbell]
rate = "100 Mbps"
delay = "5 ms"
queue = { discipline = "droptail", limit = "100 pkt" }

[flow.a]
from = "left"
to = "right"
controller = "newreno"
"#;

/// Creates a directory with these files.
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).expect("it is ours");
    }
    dir
}

/// Returns the names in a directory, including hidden ones.
pub fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .expect("a directory")
        .map(|e| e.expect("readable").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

/// Returns all files of a directory with their contents.
pub fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for name in names(dir) {
        let path = dir.join(&name);
        if path.is_dir() {
            let inner = files(&path).into_iter();
            all.extend(inner.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            all.insert(name, std::fs::read(path).expect("readable"));
        }
    }
    all
}

/// A random number generator (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    /// Returns any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Words with a meaning to a reader of numbers, tables or JSON.
const WORDS: [&str; 14] = [
    "NaN",
    "inf",
    "-1",
    "1e400",
    "1e308",
    "1e-320",
    "0",
    "-0",
    "99999999999999999999",
    "\"",
    ",",
    "null",
    "[]",
    "{}",
];

/// Damages a file at one more place.
pub fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(bytes.len());
    let to = (at + 1 + dice.below(40)).min(bytes.len());
    match dice.below(6) {
        _ if bytes.is_empty() => {}
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = [0, 255, 127, 128][dice.below(4)],
        2 => drop(bytes.drain(at..to)),
        3 => {
            let copy = bytes[at..to].to_vec();
            let place = dice.below(bytes.len());
            bytes.splice(place..place, copy);
        }
        4 => bytes.truncate(at),
        _ => {
            let word = WORDS[dice.below(WORDS.len())];
            let to = (at + dice.below(6)).min(bytes.len());
            bytes.splice(at..to, word.bytes());
        }
    }
}
