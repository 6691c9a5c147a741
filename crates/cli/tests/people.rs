//! The first minute of a new user, and common mistakes.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../README.md");

const SMALL: &str = r#"
duration = "1 s"
topology.dumbbell = { rate = "3 Mbps", delay = "5 ms" }
flow.a = { from = "left", to = "right", controller = "vegas" }
"#;

/// Runs the program in a terminal of this size, if there is `script`, which provides one.
fn on_terminal(dir: &Path, columns: u32, args: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_accord");
    let command = format!("stty cols {columns} rows 40; NO_COLOR=1 {program} {args}");
    let mut script = Command::new("script");
    let script = script.args(["-qec", &command, "/dev/null"]).current_dir(dir);
    let done = script.output().ok()?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{text}");
    Some(text)
}

/// Returns the lines that a terminal shows in the end, after overwrites.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| {
        let line = line.trim_end_matches('\r');
        let drawn = line.rfind("\u{1b}[2K").map_or(line, |i| &line[i + 4..]);
        drawn.rfind("\u{1b}[1A").map_or(drawn, |i| &drawn[i + 4..])
    });
    lines.collect()
}

/// README begins with one line, the picture and the two commands, and is short.
#[test]
fn the_readme_is_read_in_a_minute() {
    assert!(README.lines().count() < 100);
    let (_, rest) = README.split_once("```sh\n").expect("commands");
    let (commands, _) = rest.split_once("```").expect("an end");
    let commands: Vec<&str> = commands.lines().collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert!(commands[0].starts_with("cargo run --release -- reproduce xia05-fig6"));
    assert!(commands[1].starts_with("./test"));
    let picture = README.find("![").expect("a picture");
    assert!(picture < README.find("```sh").expect("commands"));
}

/// The first command: no line wider than 80 columns, all sets and the queue, and at the end a
/// sentence with the result. The page begins with the figure.
#[test]
fn the_first_command_ends_in_a_sentence() {
    let dir = tempfile::tempdir().expect("a directory");
    let sentence =
        "Packets are within 6 % of theory in all phases; page: runs/xia05-fig6/page.html";
    let ended = accord(dir.path(), &["reproduce", "xia05-fig6"]).with(0);
    assert_eq!(ended.stderr.lines().last(), Some(sentence));
    assert!(ended.stdout.contains("132 of 132 checks met"), "{ended:#?}");
    let page = fs::read_to_string(dir.path().join("runs/xia05-fig6/page.html")).expect("written");
    let body = page.split_once("<main").expect("a body").1;
    let places = ["id=\"figure\"", "class=\"verdict", "<table", "id=\"plots\""];
    let places = places.map(|place| body.find(place).expect(place));
    assert!(places.is_sorted(), "{places:?}");
    assert!(body.contains("Packets are within 6 % of theory in all phases."));
    if let Some(text) = on_terminal(dir.path(), 80, "reproduce xia05-fig6") {
        let lines = lines(&text);
        let widest = lines.iter().map(|l| l.chars().count()).max();
        assert!(widest.is_some_and(|w| w <= 80), "{lines:#?}");
        for name in ["set1", "set2", "set3", "bottleneck"] {
            assert!(lines.iter().any(|l| l.contains(name)), "{name}: {lines:#?}");
        }
    }
}

/// On a narrow terminal no figure is split and no line is too long.
#[test]
fn narrow_terminals_have_rows_as_paragraphs() {
    let dir = folder(&[("small.toml", SMALL)]);
    for columns in [40, 50, 60, 70] {
        let Some(text) = on_terminal(dir.path(), columns, "run small.toml -q") else {
            return;
        };
        let lines = lines(&text);
        let widest = lines.iter().map(|l| l.chars().count()).max();
        assert!(widest.is_some_and(|w| w <= columns as usize), "{lines:#?}");
        assert!(text.contains("throughput") && text.contains("utilisation"), "{text}");
    }
}

/// `run`, `reproduce` of several and JSON count the same checks.
#[test]
fn counts_are_the_same_everywhere() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = dir.path();
    let count = "132 of 132 checks met";
    let run = accord(at, &["run", "xia05-fig6", "-q"]).with(0);
    assert!(run.stdout.contains(count), "{run:#?}");
    let ids = ["reproduce", "xia05-fig6", "bat-rates", "-q"];
    let several = accord(at, &ids);
    let line = several.stdout.lines().find(|l| l.starts_with("xia05-fig6  "));
    assert!(line.is_some_and(|l| l.ends_with(count)), "{several:#?}");
    let json = accord(at, &["run", "xia05-fig6", "--json", "-q"]).with(0).json();
    assert_eq!(json["checks"].as_array().map(Vec::len), Some(132));
}

/// Verdicts for continuous integration: a failure without a recorded reason fails, and a known one
/// is skipped with its cause.
#[test]
fn a_run_has_junit() {
    let expect = |fails: &str| {
        format!(
            "{SMALL}\nexpect = [{{ name = \"full <b>\", metric = \"utilisation\", of = \
             \"bottleneck\", at_least = 1.5{fails} }}]\n"
        )
    };
    let dir = folder(&[
        ("new.toml", &expect("")),
        (
            "known.toml",
            &expect(", fails = { why = \"ours\", because = \"of the moon\", measured = 1.0 }"),
        ),
    ]);
    let junit = |file: &str, code: i32, more: &[&str]| {
        let args = [&["run", file, "--junit", "j.xml", "-q"], more].concat();
        accord(dir.path(), &args).with(code);
        fs::read_to_string(dir.path().join("j.xml")).expect("written")
    };
    let new = junit("new.toml", 1, &[]);
    assert!(new.contains("tests=\"1\"") && new.contains("failures=\"1\""), "{new}");
    assert!(new.contains("full &lt;b>") || new.contains("full &lt;b&gt;"), "{new}");
    let known = junit("known.toml", 0, &["--seed", "2"]);
    assert!(known.contains("<skipped") && known.contains("of the moon"), "{known}");
    assert!(known.contains("failures=\"0\""), "{known}");
}

/// A second run into the same directory ends at once.
#[test]
fn two_runs_do_not_share_a_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = dir.path();
    let lock = at.join("runs/.small.resume/.lock");
    fs::create_dir_all(at.join("runs/.small.resume")).expect("a directory");
    fs::write(at.join("small.toml"), SMALL).expect("written");
    // Another program has the lock.
    let file = fs::File::create(&lock).expect("a file");
    file.lock().expect("free");
    let ended = accord(at, &["run", "small.toml", "-q"]).with(2);
    assert!(ended.stderr.contains("another run is being written to"), "{ended:#?}");
    drop(file);
    accord(at, &["run", "small.toml", "-q"]).with(0);
    assert_eq!(names(&at.join("runs")), ["small"], "a lock ends with its run");
}

/// A scenario in a run directory is the one that ran.
#[test]
fn an_edited_scenario_of_a_run_is_found_out() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    accord(at, &["run", "small.toml", "-q"]).with(0);
    accord(at, &["compare", "runs/small"]).with(0);
    let path = at.join("runs/small/scenario.toml");
    let text = fs::read_to_string(&path).expect("written");
    fs::write(&path, text.replace("3 Mbps", "4 Mbps")).expect("written");
    let ended = accord(at, &["compare", "runs/small"]).with(2);
    assert!(ended.stderr.contains("scenario.toml"), "{ended:#?}");
    assert!(ended.stderr.contains("changed or damaged"), "{ended:#?}");
}

#[test]
fn a_place_that_may_not_be_written_is_no_mistake() {
    let dir = folder(&[("small.toml", SMALL)]);
    // Not even root can create a directory there.
    if !Path::new("/sys/kernel").is_dir() {
        return;
    }
    let ended = accord(dir.path(), &["run", "small.toml", "-o", "/sys/kernel/accord"]).with(3);
    assert!(ended.stderr.contains("/sys/kernel/accord"), "{ended:#?}");
}

/// Errors name the mistaken word and the probable intention.
#[test]
fn slips_have_hints() {
    let dir = folder(&[("small.toml", SMALL)]);
    let says = |args: &[&str], text: &str| {
        let ended = accord(dir.path(), args).with(2);
        assert!(ended.stderr.contains(text), "{text}: {ended:#?}");
    };
    let set = "flow.a.controller=bbr";
    says(&["check", "small.toml", "--set", set], "\"bbr1\" or \"bbr3\"");
    let rate = "topology.dumbbell.rate=3 mbps";
    says(&["check", "small.toml", "--set", rate], "did you mean \"Mbps\"?");
    says(&["check", "small.toml", "--set", rate], "Mbit/s");
    says(&["run", "small.toml", "--seed", "abc"], "expected a whole number");
    says(&["new", "--example", "lots"], "did you mean \"lot\"?");
}

#[test]
fn a_scenario_comes_from_standard_input() {
    use std::io::Write;
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = program(dir.path(), &["run", "-", "-q"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().expect("started");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(SMALL.as_bytes()).expect("taken");
    drop(input);
    assert!(end(child).with(0).stdout.contains("throughput"));
    assert!(dir.path().join("runs/stdin/manifest.json").is_file());
}

/// Files named in the book come with the program.
#[test]
fn examples_of_the_book_come_with_the_program() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = dir.path();
    accord(at, &["new", "--example", "lot"]).with(0);
    for file in ["lot.toml", "lot/links.csv", "lot/flows.csv"] {
        assert!(at.join("docs/examples").join(file).is_file(), "{file}");
    }
    accord(at, &["check", "docs/examples/lot.toml"]).with(0);
    accord(at, &["new", "--example", "lot"]).with(2);
    accord(at, &["new", "--example", "lot", "--force"]).with(0);
    accord(at, &["new", "--example", "mobile", "-o", "here"]).with(0);
    accord(at, &["check", "here/mobile.toml"]).with(0);
}

/// Hints name packages and places that exist.
#[test]
fn hints_name_no_package_that_is_not_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = ["crates", "gateway", "integrations", "bindings/python/python"]
        .map(|name| root.join(name))
        .to_vec();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && name != "node_modules" && name != "tests" && name != "target" {
                open.push(path);
                continue;
            }
            let source = path.extension().is_some_and(|e| e == "rs" || e == "py");
            let text = fs::read_to_string(&path).unwrap_or_default();
            let wrong =
                source && (text.contains("install 'accord") || text.contains("install accord"));
            assert!(!wrong, "{}: accord is on no registry", path.display());
        }
    }
}

/// An engine without figures has a sentence with the reason, and no empty table.
#[test]
fn an_engine_without_figures_has_no_table() {
    let dir = folder(&[("cubic.toml", &SMALL.replace("vegas", "cubic"))]);
    let run = |engines: &str| accord(dir.path(), &["run", "cubic.toml", "-q", "-e", engines]);
    let reason = "a (cubic) reacts to loss: theory has no equilibrium for it";
    let alone = run("theory").with(0).stdout;
    assert!(alone.contains("No values of theory.") && alone.contains(reason), "{alone}");
    assert!(!alone.contains('─'), "{alone}");
    let both = run("theory,packet").with(0).stdout;
    assert!(both.contains("throughput") && both.contains(reason), "{both}");
    assert!(!both.contains("No figures"), "{both}");
}

/// The overview of a sweep has the quantities that are asked for.
#[test]
fn a_sweep_shows_the_quantities_that_are_named() {
    let sweep = format!(
        "{SMALL}\nsweep.queue = {{ set = [\"topology.dumbbell.rate\"], values = [\"2 Mbps\", \"3 Mbps\"] }}\n"
    );
    let dir = folder(&[("rates.toml", &sweep)]);
    let run = |more: &[&str], code: i32| {
        let args = [&["run", "rates.toml", "-e", "packet", "-q"], more].concat();
        accord(dir.path(), &args).with(code)
    };
    let usual = run(&[], 0).stdout;
    assert!(usual.contains("utilisation") && !usual.contains("queuing delay"), "{usual}");
    let shown = run(&["--show", "queuing_delay,backlog,completion_time"], 0).stdout;
    let places = ["queuing delay", "backlog"].map(|name| shown.find(name).expect(name));
    assert!(places.is_sorted() && !shown.contains("utilisation"), "{shown}");
    assert!(shown.contains("No point has a value of completion time."), "{shown}");
    let wrong = run(&["--show", "queueing-delay"], 2);
    assert!(wrong.stderr.contains("did you mean \"queuing_delay\"?"), "{wrong:#?}");
}

/// Figures: limits, other names, a plot per engine; points side by side.
#[test]
fn figures_take_limits_labels_and_facets() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    accord(at, &["run", "small.toml", "-q"]).with(0);
    let plot = |more: &[&str], code: i32| {
        let args = [&["plot", "runs/small", "--metric", "throughput", "-o", "-"], more].concat();
        accord(at, &args).with(code)
    };
    let one = plot(&[], 0).stdout;
    let two = plot(&["--facet", "engine"], 0).stdout;
    assert_eq!(one.matches("Throughput (Mbps)").count(), 1);
    assert_eq!(two.matches("Throughput (Mbps)").count(), 2);
    // A sweep has a plot per value of a variable.
    let sweep = "[sweep.users]\nset = [\"flow.a.count\"]\nvalues = [1, 2]\n\
                 [sweep.cc]\nset = [\"flow.a.controller\"]\nvalues = [\"cubic\", \"newreno\"]\n";
    fs::write(at.join("swept.toml"), format!("{SMALL}{sweep}")).expect("written");
    accord(at, &["run", "swept.toml", "-q", "-e", "packet"]).with(0);
    let swept = |facet: &str, code: i32| {
        let args =
            ["plot", "runs/swept", "-m", "throughput", "--of", "a", "-o", "-", "--facet", facet];
        accord(at, &args).with(code)
    };
    let two = swept("cc", 0).stdout;
    assert!(two.contains("cc = cubic") && two.contains("cc = newreno"), "{two}");
    assert_eq!(two.matches("Throughput of a flow (Mbps)").count(), 2, "{two}");
    let wrong = swept("colour", 2).stderr;
    assert!(wrong.contains("engine, of, cc"), "{wrong}");
    let high = plot(&["--ylim", "0..8"], 0).stdout;
    assert!(high.contains("\n8\n") && !one.contains("\n8\n"), "{high}");
    for (wrong, text) in [
        (["--ylim", "8..0"], "the smaller first"),
        (["--label", "b=Ours"], "there is no line"),
        (["--facet", "colour"], "engine"),
    ] {
        let ended = plot(&wrong, 2);
        assert!(ended.stderr.contains(text), "{text}: {ended:#?}");
    }
}
