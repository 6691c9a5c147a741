//! The program with quinn's controllers, from the feature `quic`.
//!
//! This test starts itself as that program, so that it has no harness.

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
    let tests: [(&str, fn()); 5] = [
        ("it lists them", it_lists_them),
        ("it evaluates them", it_evaluates_them),
        ("the fluid engine has NewReno", the_fluid_engine_has_newreno),
        ("it carries a flow", it_carries_a_flow),
        ("a build without it says so", a_build_without_it_says_so),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

/// Runs the program with these arguments, in a directory with a scenario `two.toml`.
fn quinn(args: &[&str]) -> Ended {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    std::fs::write(dir.path().join("two.toml"), TWO).expect("a scenario");
    std::fs::write(dir.path().join("carried.toml"), CARRIED).expect("a scenario");
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
    assert!(ended.stdout.contains("quinn-cubic against quinn-newreno"));
    assert!(ended.stdout.contains("quinn-cubic against quinn-bbr"));
}

/// quinn's NewReno uses Reno's law. The fluid's CUBIC is that of RFC 9438, so that quinn's is
/// refused.
fn the_fluid_engine_has_newreno() {
    quinn(&["run", "two.toml", "--engine", "fluid,packet"]).with(0);
    let set = "flow.a.controller=quinn-cubic";
    let refused = quinn(&["run", "two.toml", "--engine", "fluid", "--set", set]).with(2);
    assert!(refused.stderr.contains("RFC 9438"), "{}", refused.stderr);
}

const CARRIED: &str = r#"
duration = "1 s"
[topology.dumbbell]
rate = "2 Mbps"
delay = "5 ms"
[flow.a]
from = "left"
to = "right"
packet = "1500 B"
quic = "quinn"
controller = "quinn-cubic"
"#;

/// A live run on a busy machine has no verdict. Then the exit code is 3.
fn it_carries_a_flow() {
    let run = [
        "run",
        "carried.toml",
        "--engine",
        "packet,live",
        "--live",
        "loopback",
    ];
    let ended = quinn(&run);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:#?}");
    assert!(ended.stdout.contains("throughput"), "{ended:#?}");
    let said = "QUIC connections of quinn with quinn-cubic";
    assert!(ended.stderr.contains(said), "{ended:#?}");

    let set = "flow.a.controller=bbr3";
    let refused = quinn(&["run", "carried.toml", "--engine", "packet", "--set", set]).with(2);
    assert!(
        refused.stderr.contains("bbr3 cannot run in quinn"),
        "{refused:#?}"
    );
}

fn a_build_without_it_says_so() {
    if cfg!(feature = "quic") {
        return;
    }
    let dir = common::folder(&[("carried.toml", CARRIED)]);
    let run = ["run", "carried.toml"];
    let cubic = ["--set", "flow.a.controller=cubic"];
    for (args, lacking) in [
        (run.to_vec(), "no controller \"quinn-cubic\""),
        ([run, cubic].concat(), "no QUIC stack \"quinn\""),
    ] {
        let ended = common::accord(dir.path(), &args).with(2);
        let said = ended.stderr.contains(lacking) && ended.stderr.contains("--features quic");
        assert!(
            said && ended.stderr.contains("carried.toml:1"),
            "{ended:#?}"
        );
    }
}
