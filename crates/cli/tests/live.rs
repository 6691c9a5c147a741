//! The live engine from the command line. On a busy machine a run is unfit for a verdict, and
//! reports it: exit code 3 in place of 0.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use std::process::Stdio;

/// A second of real packets.
const BRIEF: &str = r#"
id = "brief"
duration = "1 s"
sample = "50 ms"

[topology.dumbbell]
rate = "2 Mbps"
delay = "5 ms"

[flow.a]
from = "left"
to = "right"
controller = "monaco"

[[expect]]
name = "no more than fits"
metric = "utilisation"
of = "bottleneck"
engine = ["live"]
at_most = 1.001
"#;

/// Checks that it ended well, or reported a busy machine.
fn well(ended: Ended) -> Ended {
    if ended.code == Some(3) {
        assert!(ended.stderr.contains("too busy"), "{ended:#?}");
        return ended.with(3);
    }
    ended.with(0)
}

#[test]
fn a_live_run_is_a_run_like_others() {
    let dir = folder(&[("brief.toml", BRIEF)]);
    let args = ["run", "brief.toml", "--engine", "packet,live", "--live", "loopback", "--json"];
    let ended = well(accord(dir.path(), &args));
    assert_eq!(ended.json()["id"], "brief");
    let args = ["compare", "runs/brief", "--json"];
    let table = accord(dir.path(), &args).with(0).json();
    assert!(table.to_string().contains("live"), "{table}");
    // Its live expectations make it run without --engine live.
    let ended = well(accord(dir.path(), &["run", "brief.toml", "--live", "loopback"]));
    assert!(ended.stdout.contains("live"), "{ended:#?}");
    for words in ["UDP sockets", "handed to the kernel", "2 Mbps and 5 ms configured"] {
        assert!(ended.stderr.contains(words), "{words}: {ended:#?}");
    }
}

#[test]
fn what_cannot_be_is_said() {
    let dir = folder(&[("brief.toml", BRIEF)]);
    let ended = accord(dir.path(), &["run", "brief.toml", "--live", "moon"]).with(2);
    assert!(ended.stderr.contains("loopback, namespaces"), "{ended:#?}");
    // Without iproute2 there are no namespaces: if requested, that is an error; otherwise it is
    // reported.
    let run = |engine: &[&str]| {
        let mut args = vec!["run", "brief.toml", "--live", "namespaces"];
        args.extend(engine);
        let mut command = program(dir.path(), &args);
        end(command.env("PATH", dir.path()).spawn().expect("it can be started"))
    };
    let ended = run(&["--engine", "live"]).with(3);
    assert!(ended.stderr.contains("ip") || ended.stderr.contains("not allowed"), "{ended:#?}");
    let ended = run(&[]).with(0);
    assert!(ended.stderr.contains("NO LIVE RUN"), "{ended:#?}");
}

#[test]
fn connections_of_the_kernel_need_more() {
    let kernel = |name: &str| {
        let controller = format!("kernel = \"{name}\"\ncontroller = \"newreno\"");
        BRIEF.replace("controller = \"monaco\"", &controller)
    };
    let dir = folder(&[("kernel.toml", &kernel("reno")), ("unknown.toml", &kernel("nosuch"))]);
    let loopback = ["--engine", "live", "--live", "loopback"];
    let args = |file, more: &[&'static str]| [&["run", file], more].concat();
    let ended = accord(dir.path(), &args("kernel.toml", &loopback)).with(3);
    assert!(ended.stderr.contains("--live namespaces"), "{ended:#?}");
    // Not requested by name, it is left out, and reported.
    let ended = accord(dir.path(), &args("kernel.toml", &["--live", "loopback"])).with(0);
    assert!(ended.stderr.contains("NO LIVE RUN"), "{ended:#?}");
    let ended = accord(dir.path(), &args("unknown.toml", &["--engine", "live"])).with(3);
    let known = ["has no congestion control \"nosuch\"", "not allowed", "cannot"];
    assert!(known.iter().any(|k| ended.stderr.contains(k)), "{ended:#?}");
    // A model runs where the kernel has no such controller.
    let ended = accord(dir.path(), &args("unknown.toml", &["--engine", "packet"])).with(0);
    assert!(ended.stdout.contains("throughput"), "{ended:#?}");
}

/// Returns the devices of the tests' own namespace.
fn devices() -> Vec<String> {
    names(std::path::Path::new("/sys/class/net"))
}

#[test]
fn an_interrupt_or_a_kill_leaves_nothing() {
    let long = BRIEF.replace("\"1 s\"", "\"1000 s\"");
    let dir = folder(&[("long.toml", &long)]);
    let before = devices();
    for mode in ["loopback", "namespaces"] {
        for (name, code) in [("-INT", Some(130)), ("-KILL", None)] {
            let args = ["run", "long.toml", "--engine", "live", "--live", mode, "-q"];
            let child = program(dir.path(), &args).spawn().expect("it can be started");
            ready(&child);
            // Long enough that packets flow, on most machines; the assertions hold in any case.
            #[allow(clippy::disallowed_methods, reason = "it waits for another process")]
            std::thread::sleep(std::time::Duration::from_millis(500));
            assert_eq!(devices(), before, "{mode}: nothing is made in this namespace");
            signal(&child, name);
            let ended = end(child);
            if ended.code == Some(3) {
                skipped(&format!("no live run with {mode}: {}", ended.with(3).stderr));
                continue;
            }
            assert_eq!(ended.code, code, "{mode} {name}: {ended:#?}");
            assert_eq!(devices(), before);
        }
    }
}

#[test]
fn too_few_open_files_are_said() {
    let (network, _) = BRIEF.split_once("[[expect]]").expect("it expects something");
    let many = network.replace(
        "controller",
        "count = 30\naccess = { rate = \"10 Mbps\", delay = \"1 ms\" }\ncontroller",
    );
    let dir = folder(&[("many.toml", &many)]);
    let run = |limit: &str| {
        let shell =
            format!("ulimit {limit} && exec \"$0\" run many.toml -e live --live loopback -q");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_accord")]);
        command.current_dir(dir.path()).stdout(Stdio::piped());
        end(command.stderr(Stdio::piped()).spawn().expect("a shell"))
    };
    let ended = run("-n 40").with(3);
    assert!(ended.stderr.contains("32 nodes need 96 open files"), "{ended:#?}");
    // Limits that may be raised are raised.
    well(run("-S -n 40"));
}
