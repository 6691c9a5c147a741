//! Flows of live runs whose controllers run in the kernel's TCP.

use crate::common;
use crate::host::{pause, program};
use std::path::Path;
use std::process::Command;

/// Returns the arguments of a run of this scenario, which is written into the folder.
fn run_of(dir: &Path, flow: &str, more: &[&str]) -> Command {
    let text = format!(
        "id = \"kernel\"\nduration = \"3 s\"\nsample = \"50 ms\"\n\
         topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"10 ms\" }}\n\
         [flow.f]\ncount = 2\nfrom = \"left\"\nto = \"right\"\npacket = \"1500 B\"\n\
         kernel = \"accord\"\n{flow}\n"
    );
    std::fs::write(dir.join("kernel.toml"), text).expect("it is writable");
    let mut command = program(&[&["run", "kernel.toml", "--fresh"], more].concat());
    command.current_dir(dir);
    command
}

/// The controllers of flows are refused when the file is read, and without namespaces.
pub fn flows_refuse() {
    let dir = tempfile::tempdir().expect("a folder");
    let end = |flow: &str, more: &[&str]| {
        let mut command = run_of(dir.path(), flow, more);
        common::end(command.spawn().expect("it starts"))
    };
    let ended = end("controller = \"monaco\"", &[]).with(2);
    for words in ["kernel.toml:11:14", "pairs of control packets", "leave out `kernel`"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    let ended = end("", &[]).with(2);
    assert!(ended.stderr.contains("`controller` is missing"), "{}", ended.stderr);
    let loopback = ["--engine", "live", "--live", "loopback"];
    let ended = end("controller = \"copa\"", &loopback).with(3);
    assert!(ended.stderr.contains("--live namespaces"), "{}", ended.stderr);
}

/// Returns the names of the controllers that live runs of a process have attached.
fn of_runs(process: u32) -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).expect("it is there");
    let all = text.split_whitespace().map(String::from);
    all.filter(|name| name.starts_with(&format!("a{process:x}_"))).collect()
}

pub fn flows_have_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let engines = ["--engine", "packet,live", "--live", "namespaces", "--json"];
    let mut command = run_of(dir.path(), "controller = \"copa\"", &engines);
    let child = command.spawn().expect("it starts");
    let process = child.id();
    let ended = common::end(child);
    // A busy machine gives no verdict.
    let code = if ended.stderr.contains("too busy") { 3 } else { 0 };
    let ended = ended.with(code);
    let result = ended.json();
    let means = result["points"][0]["means"].as_array().expect("means");
    let throughput =
        means.iter().find(|mean| mean["group"] == "f" && mean["quantity"] == "throughput");
    let columns = throughput.expect("it is recorded")["values"].as_array();
    let columns: Vec<_> = columns.expect("values").iter().collect();
    for engine in ["packet", "live"] {
        let value = columns.iter().find(|v| v["column"] == engine).expect(engine);
        assert!(value["mean"].as_f64() > Some(1e6), "{engine}: {value}");
    }
    assert_eq!(of_runs(process), [""; 0]);

    // Reno stands in for a controller that panics, and the run says so.
    let live = ["--engine", "live", "--live", "namespaces"];
    let mut command = run_of(dir.path(), "controller = \"bad-panics\"", &live);
    let child = command.spawn().expect("it starts");
    let process = child.id();
    let ended = common::end(child);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    for words in ["had Reno in place of bad-panics", "it was to panic"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    assert_eq!(of_runs(process), [""; 0]);

    // However the process ends, the kernel detaches them.
    let mut command = run_of(dir.path(), "controller = \"copa\"", &live);
    let mut child = command.spawn().expect("it starts");
    while of_runs(child.id()).is_empty() {
        assert!(child.try_wait().expect("a child").is_none(), "it is attached");
        pause();
    }
    child.kill().expect("it runs");
    child.wait().expect("a child");
    assert_eq!(of_runs(child.id()), [""; 0]);
}
