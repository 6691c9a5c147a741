//! The program with quinn's controllers, from the feature `quic`, and `examples/own-quinn`, with one
//! of another crate.
//!
//! This test starts itself as these programs, so it has no harness. The example's source is
//! compiled here unchanged.

#![expect(clippy::print_stdout, reason = "without a harness it names its tests itself")]

mod common;
#[path = "../../../examples/own-quinn/src/main.rs"]
mod own;

use common::Ended;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const SELF: &str = "ACCORD_QUINN";

fn main() -> ExitCode {
    match std::env::var(SELF).as_deref() {
        Ok("own") => return own::main(),
        Ok(_) => return accord_cli::main_with(accord_quinn::FAMILIES, &[]),
        Err(_) => {}
    }
    let tests: [(&str, fn()); 10] = [
        ("it lists them", it_lists_them),
        ("it evaluates them", it_evaluates_them),
        ("the fluid engine has NewReno", the_fluid_engine_has_newreno),
        ("it carries a flow", it_carries_a_flow),
        ("its qlog is kept", its_qlog_is_kept),
        ("a build without it says so", a_build_without_it_says_so),
        ("the example is a crate", the_example_is_a_crate),
        ("the page shows the example", the_page_shows_the_example),
        ("another crate's controller is evaluated", another_controller_is_evaluated),
        ("the example's workflow runs", the_workflow_runs),
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
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
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

/// quinn's NewReno uses Reno's law. The fluid's CUBIC is that of RFC 9438, so quinn's is
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

/// Logs of quinn are files for both ends, also where no flow is a stream of ours.
fn its_qlog_is_kept() {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    for (engine, codes) in [("packet", [0, 0]), ("live", [0, 3])] {
        let logs = dir.path().join(engine);
        let path = logs.to_str().expect("text");
        let run = ["run", "carried.toml", "--engine", engine, "--live", "loopback", "--qlog", path];
        let ended = quinn(&run);
        assert!(ended.code.is_some_and(|code| codes.contains(&code)), "{ended:#?}");
        for (end, event) in [("sender", "packet_sent"), ("receiver", "packet_received")] {
            let file = logs.join(format!("a.{end}.sqlog"));
            let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file:?}: {e}"));
            assert!(text.starts_with('\u{1e}') && text.contains(event), "{end}");
        }
    }
}

/// A live run on a busy machine has no verdict. Then the exit code is 3.
fn it_carries_a_flow() {
    let run = ["run", "carried.toml", "--engine", "packet,live", "--live", "loopback"];
    let ended = quinn(&run);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:#?}");
    assert!(ended.stdout.contains("throughput"), "{ended:#?}");
    let said = "QUIC connections of quinn with quinn-cubic";
    assert!(ended.stderr.contains(said), "{ended:#?}");

    let set = "flow.a.controller=bbr3";
    let refused = quinn(&["run", "carried.toml", "--engine", "packet", "--set", set]).with(2);
    assert!(refused.stderr.contains("bbr3 cannot run in quinn"), "{refused:#?}");
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
        assert!(said && ended.stderr.contains("carried.toml:1"), "{ended:#?}");
    }
}

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("it is there")
}

fn read(path: &str) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The controller's file uses quinn and the standard library alone, as in a program without Accord.
fn the_example_is_a_crate() {
    let root = repository().join("examples/own-quinn");
    let manifest: toml::Table = read("examples/own-quinn/Cargo.toml").parse().expect("TOML");
    assert!(manifest.contains_key("workspace"), "{manifest}");
    let needs = manifest["dependencies"].as_table().expect("a table");
    let names: Vec<_> = needs.keys().collect();
    assert_eq!(names, ["accord-cli", "accord-quinn", "quinn-proto"]);
    let ours: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let version = ours["workspace"]["package"]["version"].as_str().expect("a version");
    let sources = manifest["patch"]["crates-io"].as_table().expect("a table");
    let workflow = read("examples/own-quinn/.github/workflows/verdict.yml");
    assert!(workflow.contains(&format!("ref: v{version}")), "{workflow}");
    for (name, crate_of) in [("accord-cli", "crates/cli"), ("accord-quinn", "integrations/quinn")] {
        let wanted = needs[name].as_str().expect("a version");
        assert!(version.starts_with(&format!("{wanted}.")), "{name}: {wanted}");
        let path = root.join(sources[name]["path"].as_str().expect("a path"));
        let there = path.canonicalize().expect("a directory");
        assert_eq!(there, repository().join(crate_of));
        let there = format!("patch.crates-io.{name}.path=\"accord/{crate_of}\"");
        assert!(workflow.contains(&there), "{workflow}");
    }
    let version = &ours["workspace"]["dependencies"]["quinn-proto"]["version"];
    assert_eq!(&needs["quinn-proto"]["version"], version);
    let source = read("examples/own-quinn/src/gentle.rs");
    for used in source.lines().filter_map(|l| l.strip_prefix("use ")) {
        let allowed = used.starts_with("quinn_proto::") || used.starts_with("std::");
        assert!(allowed, "{used}");
    }
}

fn the_page_shows_the_example() {
    for (page, file) in
        [("quinn.md", "src/main.rs"), ("quinn.md", "src/gentle.rs"), ("quinn.md", "Cargo.toml")]
    {
        let include = format!("{{{{#include ../../examples/own-quinn/{file}}}}}");
        let text = read(&format!("docs/src/{page}"));
        assert!(text.contains(&include), "{page} without {file}");
    }
}

/// Runs the example's program.
fn example(args: &str) -> Ended {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    let mut command = Command::new(std::env::current_exe().expect("its own path"));
    command.args(args.split_whitespace()).current_dir(dir.path());
    command.env(SELF, "own").env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    common::end(command.spawn().expect("it can be started"))
}

/// The page has the command and its output.
fn another_controller_is_evaluated() {
    let page = read("docs/src/quinn.md");
    let (_, rest) =
        page.split_once("cargo run --release -- evaluate --pack buffers").expect("a command");
    let (args, rest) = rest.split_once('\n').expect("an end");
    let (_, rest) = rest.split_once("```text\n").expect("an output");
    let (output, _) = rest.split_once("```").expect("an end");
    let ended = example(&format!("evaluate --pack buffers{args}")).with(0);
    assert_eq!(ended.stdout, output);

    let one = example("list controllers gentle").with(0);
    assert!(one.stdout.contains("ecn"), "{one:#?}");
    let at = common::folder(&[("carried.toml", &CARRIED.replace("quinn-cubic", "gentle"))]);
    let file = at.path().join("carried.toml").display().to_string();
    let refused = example(&format!("run {file} --engine fluid")).with(2);
    let said = "no law for gentle: a controller by quinn's trait declares none";
    let unfolded = refused.stderr.replace("\n  │ ", " ");
    assert!(unfolded.contains(said), "{refused:#?}");
    let ended = example(&format!("run {file} --engine packet,live --live loopback"));
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:#?}");
    let said = "QUIC connections of quinn with gentle";
    assert!(ended.stderr.contains(said), "{ended:#?}");
}

/// The commands of the workflow, in a shell. `cargo run` starts this program, and one case is
/// evaluated in place of the packs.
fn the_workflow_runs() {
    let workflow = read("examples/own-quinn/.github/workflows/verdict.yml");
    let setting = |name: &str| {
        let start = format!("      {name}: ");
        let line = workflow.lines().find_map(|l| l.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("no {name}")).to_owned()
    };
    for pack in setting("PACKS").split(',') {
        example(&format!("list packs {pack}")).with(0);
    }
    let (_, script) = workflow.split_once("- run: |\n").expect("commands");
    let script: Vec<_> = script.lines().take_while(|l| l.starts_with("          ")).collect();
    let script = script.join("\n");

    let dir = tempfile::tempdir().expect("a place for temporary files");
    let at = dir.path();
    std::fs::write(at.join("Cargo.toml"), read("examples/own-quinn/Cargo.toml")).expect("written");
    for words in [
        "init --quiet",
        "add Cargo.toml",
        "-c user.name=x -c user.email=x@localhost commit --quiet --message=x",
        "update-ref refs/remotes/origin/main HEAD",
    ] {
        let git = Command::new("git").args(words.split(' ')).current_dir(at).status();
        assert!(git.is_ok_and(|git| git.success()), "git {words}");
    }
    let program = std::env::current_exe().expect("its own path");
    let cargo = format!(
        "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --manifest-path' ] && [ -f \"$4\" ] || exit 9\n\
         [ \"$5 $7 $9\" = '--config --config --' ] || exit 9\n\
         shift 9\nexec '{}' \"$@\" --case shallow-one --reps 2\n",
        program.display()
    );
    std::fs::create_dir(at.join("bin")).expect("a directory");
    std::fs::write(at.join("bin/cargo"), cargo).expect("written");
    let mode = Command::new("chmod").args(["+x", "bin/cargo"]).current_dir(at).status();
    assert!(mode.is_ok_and(|m| m.success()));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    // As GitHub starts it.
    shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]);
    shell.current_dir(at).env(SELF, "own");
    shell.env("PATH", format!("{}:{path}", at.join("bin").display()));
    shell.env("PACKS", "buffers").env("GITHUB_BASE_REF", "main");
    for name in ["SUBJECT", "RIVALS"] {
        shell.env(name, setting(name));
    }
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = common::end(shell.spawn().expect("there is bash")).with(0);
    assert!(ended.stdout.contains("gentle against quinn-cubic"), "{ended:#?}");
    for file in ["verdict/index.html", "verdict.xml"] {
        assert!(at.join(file).is_file(), "{file}: {ended:#?}");
    }
}
