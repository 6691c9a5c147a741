//! The program with quinn's controllers, which the feature `quic` brings.
//!
//! This test starts itself as that program, so it has no harness.

#![expect(
    clippy::print_stdout,
    reason = "without a harness it names its tests itself"
)]

mod common;

use common::Ended;
use std::process::{Command, ExitCode, Stdio};

const SELF: &str = "ACCORD_QUINN";

fn main() -> ExitCode {
    if std::env::var_os(SELF).is_some() {
        return accord_cli::main_with(accord_quinn::FAMILIES, &[]);
    }
    let tests: [(&str, fn()); 3] = [
        ("it lists them", it_lists_them),
        ("it evaluates them", it_evaluates_them),
        ("the fluid engine has NewReno", the_fluid_engine_has_newreno),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

/// The program with these arguments, in a directory with a scenario `two.toml`.
fn quinn(args: &[&str]) -> Ended {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    std::fs::write(dir.path().join("two.toml"), TWO).expect("a scenario");
    let mut command = Command::new(std::env::current_exe().expect("its own path"));
    command.args(args).current_dir(dir.path());
    command.env(SELF, "1").env("NO_COLOR", "1");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    common::end(command.spawn().expect("it can be started"))
}

const TWO: &str = r#"
duration = "60 s"
[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
queue = { discipline = "droptail", limit = "50 kB" }
[flow.a]
from = "left"
to = "right"
controller = "quinn-newreno"
[flow.b]
from = "left"
to = "right"
controller = "newreno"
"#;

fn it_lists_them() {
    let listed = quinn(&["list", "controllers"]).with(0);
    for name in ["quinn-newreno", "quinn-cubic", "quinn-bbr"] {
        assert!(listed.stdout.contains(name), "{}", listed.stdout);
    }
    let one = quinn(&["list", "controllers", "quinn-bbr"]).with(0);
    assert!(one.stdout.contains("initial_window"), "{}", one.stdout);
}

fn it_evaluates_them() {
    let command = "evaluate --pack buffers --case shallow-one --subject quinn-cubic \
                   --against quinn-newreno,quinn-bbr --reps 2";
    let ended = quinn(&command.split_whitespace().collect::<Vec<_>>()).with(0);
    assert!(ended.stdout.contains("quinn-cubic beside quinn-newreno"));
    assert!(ended.stdout.contains("quinn-cubic beside quinn-bbr"));
}

/// Reno's law does for quinn's NewReno. A fluid has no single losses, so that CUBIC is refused.
fn the_fluid_engine_has_newreno() {
    quinn(&["run", "two.toml", "--engine", "fluid,packet"]).with(0);
    let set = "flow.a.controller=quinn-cubic";
    let refused = quinn(&["run", "two.toml", "--engine", "fluid", "--set", set]).with(2);
    assert!(refused.stderr.contains("single"), "{}", refused.stderr);
}
