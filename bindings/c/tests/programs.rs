//! Programs in C with the library: the example, and stacks that break the rules. Where there is no
//! compiler the tests say so.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of the libraries that cargo has built with this test.
fn built() -> PathBuf {
    let program = std::env::current_exe().expect("its own path");
    program.parent().expect("a folder").to_path_buf()
}

/// Returns true if these programs are installed. Says so if not.
#[expect(clippy::disallowed_methods, reason = "it has to get past what the harness captures")]
fn are_there(programs: &[&str]) -> bool {
    let is_missing = |name: &&&str| Command::new(name).arg("--version").output().is_err();
    let missing: Vec<_> = programs.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: no {missing:?}");
    }
    missing.is_empty()
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Runs a command that is to succeed. Returns its standard output.
fn done(command: &mut Command) -> String {
    let output = run(command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// The page's way: install, make, a test that passes, and one that fails; then with the static library.
#[test]
fn the_example_runs() {
    if !are_there(&["cc", "make", "pkg-config"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let (prefix, work) = (dir.path().join("prefix"), dir.path().join("work"));
    done(Command::new(root().join("install")).arg(&prefix).env("BUILT", built()));
    std::fs::create_dir(&work).expect("a folder");
    for file in std::fs::read_dir(root().join("../../examples/c-protocol")).expect("the example") {
        let file = file.expect("readable");
        std::fs::copy(file.path(), work.join(file.file_name())).expect("copied");
    }
    let within = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(&work);
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        command.env("LD_LIBRARY_PATH", prefix.join("lib"));
        command
    };
    let strict = "CFLAGS=-std=c11 -O1 -Wall -Wextra -Wpedantic -Werror $(shell pkg-config --cflags accord-net)";
    let said = done(within("make").args(["--silent", "test", strict]));
    assert!(said.starts_with("goodput: ") && said.contains("digest: "), "{said}");

    // A goodput that the link does not have for it.
    let scenario = std::fs::read_to_string(work.join("duel.toml")).expect("text");
    std::fs::write(work.join("duel.toml"), scenario.replace("2 Mbps", "19.9 Mbps"))
        .expect("written");
    let output = run(within("./duel").arg("duel.toml"));
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8_lossy(&output.stderr);
    for part in [
        "scenario duel failed",
        "\"it gets a tenth of the link\", ",
        "; first outside of it from ",
        "(packet ",
        "packets: target/accord-net/duel.",
        "log: target/accord-net/duel.",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(!why.contains("a second run differs"), "{why}");
    let mut lines = why.lines();
    let path = lines.find_map(|line| line.trim().strip_prefix("log: ")).expect("a path");
    assert!(path.ends_with(".mine.sender.log"), "{path}");
    let log = std::fs::read_to_string(work.join(path));
    assert!(log.expect("a log").contains(" s: a loss, window "));

    // A scenario that is not there.
    let output = run(within("./duel").arg("absent.toml"));
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && why.contains("absent.toml"), "{why}");

    // Without the shared library the linker takes the static one.
    std::fs::remove_file(prefix.join("lib/libaccordnet.so")).expect("removed");
    let libraries = "LDLIBS=$(shell pkg-config --static --libs accord-net)";
    done(within("make").args(["--silent", "--always-make", "duel", strict, libraries]));
    let alone = run(within("./duel").arg("duel.toml"));
    assert_eq!(String::from_utf8_lossy(&alone.stdout), said);
}

/// Returns a program for bad stacks.
fn bad(dir: &Path) -> PathBuf {
    let program = dir.join("bad");
    let include = dir.join("accord_net.h");
    std::fs::copy(root().join("accord_net.h"), include).expect("the header");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-I"]).arg(dir).arg("-o");
    cc.arg(&program).arg(root().join("tests/bad.c")).arg("-L").arg(built());
    done(cc.arg("-laccordnet").arg("-Wl,-rpath").arg(format!("-Wl,{}", built().display())));
    program
}

/// Each rule that is broken is a sentence with flow, time and reason; the other flow goes on, and both ends are
/// closed once per run.
#[test]
fn bad_stacks_end_their_flows() {
    if !are_there(&["cc"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let program = bad(dir.path());
    for (deed, status, why, closed) in [
        ("good", 0, "", 2),
        ("view", 0, "", 2),
        ("far", 0, "", 2),
        ("spin", 1, "asks to be woken at once, after 1000 wake-ups at one time", 4),
        ("past", 1, "asks to be woken in the past, at 0.500000 s", 4),
        ("flood", 1, "sent more than 20000 datagrams within 1 ms", 4),
        ("mute", 1, "sent nothing, though it has had data since 0.000000 s", 4),
        ("empty", 1, "sent a datagram of 0 bytes", 4),
        ("large", 1, "`poll` returned a length of 1473, where there is room for 1472", 4),
        (
            "huge",
            1,
            "`poll` returned a length of 9223372036854775807, where there is room for 1472",
            4,
        ),
        ("negative", 1, "`poll` returned -7, which is neither a length nor ACCORD_NOTHING", 4),
        ("overrun", 1, "`poll` wrote behind the room of 1472 bytes", 4),
        ("ecn", 1, "`poll` wrote the ECN codepoint 255, of 0 to 3", 4),
        ("broken", 1, "closed: not UTF-8: \u{fffd}", 4),
        ("no end", 1, "has no connection: `open` returned no receiving end", 2),
    ] {
        let said = done(Command::new(&program).arg(deed).current_dir(dir.path()));
        assert!(said.starts_with(&format!("status: {status} ")), "{deed}: {said}");
        assert!(said.contains(why), "{deed}: {said}");
        let at = if status == 0 { "" } else { "the connection of flow mine broke off at " };
        assert!(said.contains(at), "{deed}: {said}");
        // The packets of a flood wait before those of the other flow, which has an expectation.
        let other = u8::from(deed != "flood");
        let end = format!("the other flow: {other}\nclosed: {closed}\n");
        assert!(said.ends_with(&end), "{deed}: {said}");
        assert_eq!(said.contains("the other flow goes on"), other == 0, "{deed}: {said}");
        assert!(!said.contains("a second run"), "{deed}: {said}");
    }
}

/// Wrong arguments are statuses with a message.
#[test]
fn wrong_arguments_are_said() {
    if !are_there(&["cc"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let program = bad(dir.path());
    let said = done(Command::new(&program).arg("arguments").current_dir(dir.path()));
    for line in [
        "no scenario: 2 the net has no scenario",
        "null scenario: 5 the name of the scenario is a null pointer or not UTF-8",
        "not UTF-8: 5 the text of the scenario is a null pointer or not UTF-8",
        "null path: 5 the path or the value is a null pointer or not UTF-8",
        "null folder: 5 the folder is a null pointer or not UTF-8",
        "null stack: 5 the stack is a null pointer",
        "old stack: 5 the size of the stack is 8, where sizeof(AccordStack) is 104",
        "no poll: 5 the stack has no function `poll`",
        "run of null scenario: 5 the name of the scenario is a null pointer or not UTF-8",
        "run of null path: 5 the path or the value is a null pointer or not UTF-8",
        "run of null folder: 5 the folder is a null pointer or not UTF-8",
        "run of null stack: 5 the stack is a null pointer",
        "run of old stack: 5 the size of the stack is 8, ",
        "run of no poll: 5 the stack has no function `poll`",
        "bad scenario: 2 ",
        "no run: 5 there is no run 0 (there are 0, from 0)",
        "no flow: 3 the scenario has no flow \"theirs\" to carry (there are: mine, ours)",
        "0 1 1",
        "good: 0 ",
        "again: 0 ",
        "no metric: 5 the run has no \"goodness\" of \"mine\"",
        "null value: 5 the metric, the name or the place of the value is a null pointer or not UTF-8",
        "null net: the net is a null pointer",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}
