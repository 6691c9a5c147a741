//! The output of the program in successful runs.

use crate::common::*;
use serde_json::Value;

/// Checks that all promised keys are there.
fn has(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "no {key} in {value:#}");
    }
}

const CHECK: &[&str] =
    &["name", "engine", "paper", "theory", "measured", "error", "tolerance", "pass"];

#[test]
fn a_run_prints_data_on_stdout_and_the_rest_on_stderr() {
    let dir = folder(&[("small.toml", SMALL)]);
    let ended = accord(dir.path(), &["run", "small.toml"]).with(0);
    assert!(ended.stdout.starts_with("small: Two flows\n"), "{ended:#?}");
    assert!(ended.stdout.contains("1 of 1 check met"));
    assert!(ended.stdout.contains("\ntheory: optimal in each of 2 phases, to within"));
    assert!(ended.stderr.contains("runs/small/page.html"), "{ended:#?}");
    let files = ["manifest.json", "page.html", "scenario.toml", "series.parquet", "summary.json"];
    assert_eq!(names(&dir.path().join("runs/small")), files);
    // A second run over the first; quiet, with CSV.
    let ended = accord(dir.path(), &["run", "small.toml", "-q", "--csv"]).with(0);
    assert_eq!(ended.stderr, "");
    assert!(names(&dir.path().join("runs/small")).contains(&"series.csv".into()));
    assert_eq!(names(dir.path()), ["runs", "small.toml"]);
    assert_eq!(names(&dir.path().join("runs")), ["small"]);
}

#[test]
fn the_exit_code_tells_of_a_failed_expectation() {
    let strict = SMALL.replace("equals = \"theory\"\nwithin = 0.05", "at_most = 0.5");
    let dir = folder(&[("small.toml", &strict)]);
    let ended = accord(dir.path(), &["run", "small.toml"]).with(1);
    assert!(ended.stdout.contains("0 of 1 check met"), "{ended:#?}");
    // An expectation on an engine that did not run has no verdict.
    accord(dir.path(), &["run", "small.toml", "--engine", "theory"]).with(0);
}

#[test]
fn json_of_a_run() {
    let dir = folder(&[("small.toml", SMALL)]);
    let ended = accord(dir.path(), &["run", "small.toml", "--json"]).with(0);
    assert_eq!(ended.stderr, "");
    let json = ended.json();
    assert_eq!(json["id"], "small");
    assert_eq!(json["pass"], true);
    let check = &json["checks"][0];
    has(check, CHECK);
    assert_eq!(check["name"], "the link is full");
    assert_eq!((&check["engine"], &check["paper"]), (&"packet".into(), &"says so".into()));
    let number = |key: &str| check[key].as_f64().expect("a number");
    assert!((number("theory") - 1.0).abs() < 1e-9);
    assert!((number("measured") / number("theory") - 1.0 - number("error")).abs() < 1e-9);
    assert_eq!(number("tolerance"), 0.05);

    let read = |name| {
        let text = std::fs::read(dir.path().join("runs/small").join(name)).unwrap();
        serde_json::from_slice::<Value>(&text).unwrap()
    };
    let manifest = read("manifest.json");
    for run in manifest["runs"].as_array().unwrap() {
        has(run, &["engine", "version", "seed", "digest", "packet_hops"]);
        assert_eq!(run["scenario_hash"].as_str().map(str::len), Some(64));
    }
    let certificates = read("summary.json")["certificates"].clone();
    assert_eq!(certificates.as_array().map(Vec::len), Some(2), "a flow, then both");
    for key in ["stationarity", "feasibility", "complementarity", "gap"] {
        assert!(certificates[0][key].as_f64().unwrap() < 1e-11, "{certificates:#}");
    }
}

#[test]
fn json_of_experiments() {
    let dir = folder(&[]);
    let args = ["reproduce", "xia05-fig6", "xia05-fig2", "--engine", "theory", "--json"];
    let ended = accord(dir.path(), &args);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
    let json = ended.json();
    let experiments = json["experiments"].as_array().unwrap();
    let ids: Vec<_> = experiments.iter().map(|e| &e["id"]).collect();
    assert_eq!(ids, ["xia05-fig6", "xia05-fig2"]);
    for experiment in experiments {
        has(experiment, &["id", "pass", "checks"]);
        for check in experiment["checks"].as_array().unwrap() {
            has(check, CHECK);
        }
    }
    assert_eq!(names(&dir.path().join("runs")), ["xia05-fig2", "xia05-fig6"]);
}

#[test]
fn the_list_of_experiments_names_those_of_the_papers() {
    let dir = folder(&[]);
    let list = accord(dir.path(), &["list", "experiments"]).with(0).stdout;
    let ids: Vec<_> = list.lines().filter_map(|l| l.split(' ').next()).collect();
    for id in [
        "xia05-fig2",
        "xia05-fig4",
        "xia05-fig5",
        "xia05-fig6",
        "xia05-fig7",
        "xia05-fig8",
        "xia05-fig9",
        "xia03-fig4",
    ] {
        assert!(ids.contains(&id), "{id} is not in {ids:?}");
    }
    assert_eq!(names(dir.path()).len(), 0);
}

#[test]
fn json_of_the_benchmark() {
    let dir = folder(&[]);
    let json = accord(dir.path(), &["bench", "newreno-10", "--json"]).with(0).json();
    let work = &json[0];
    assert_eq!(work["name"], "newreno-10");
    let number = |key: &str| work[key].as_f64().unwrap_or_else(|| panic!("{key} in {work}"));
    assert!(number("packet_hops") > 1e6);
    let speed = number("packet_hops") / number("cpu_seconds");
    assert!((number("hops_per_cpu_second") / speed - 1.0).abs() < 1e-9);
    assert!(number("peak_rss_bytes") > 1e6);
}

#[test]
fn the_schema_is_json() {
    let dir = folder(&[]);
    let json = accord(dir.path(), &["schema"]).with(0).json();
    has(&json, &["$schema", "$defs"]);
    let keys = &json["$defs"]["The_file"]["properties"];
    has(keys, &["duration", "flow", "link", "expect"]);
}

/// Printed with its defaults, a scenario is the same scenario: same hash, same run.
#[test]
fn defaults_are_printed() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    let short = accord(at, &["check", "small.toml"]).with(0).stdout;
    assert!(short.starts_with("small: valid; 2 nodes, 2 links, 2 flows"), "{short}");
    let printed = accord(at, &["check", "small.toml", "--print"]).with(0).stdout;
    for default in ["seed = 1", "packet = \"1 KB\"", "gamma = \"1 pkt\"", "loss = 0.0"] {
        assert!(printed.contains(default), "{default} is not in {printed}");
    }
    std::fs::write(at.join("printed.toml"), &printed).unwrap();
    accord(at, &["run", "small.toml", "-q", "-o", "one"]).with(0);
    accord(at, &["run", "printed.toml", "-q", "-o", "two"]).with(0);
    assert_eq!(files(&at.join("one")), files(&at.join("two")));
    assert_eq!(
        std::fs::read_to_string(at.join("one/scenario.toml")).unwrap().trim(),
        printed.trim()
    );
}

#[test]
fn settings_seeds_and_repetitions() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    let hash = |name: &str| {
        let text = std::fs::read(at.join(name).join("manifest.json")).unwrap();
        let json: Value = serde_json::from_slice(&text).unwrap();
        json["runs"][0]["scenario_hash"].as_str().unwrap().to_string()
    };
    let run = |more: &[&str]| {
        let args = [&["run", "small.toml", "-q", "--engine", "packet"], more].concat();
        let ended = accord(at, &args);
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
        ended.stdout
    };
    run(&["-o", "plain"]);
    run(&["-o", "same", "--set", "topology.dumbbell.rate=\"5000 Kbps\"", "--seed", "1"]);
    run(&["-o", "slow", "--set", "topology.dumbbell.rate=4 Mbps"]);
    run(&["-o", "other", "--seed", "2"]);
    assert_eq!(hash("plain"), hash("same"), "the same meaning, written differently");
    assert_ne!(hash("plain"), hash("slow"));
    assert_ne!(hash("plain"), hash("other"));
    let text = run(&["-o", "many", "--reps", "3"]);
    assert!(text.contains("confidence interval over 3 runs"), "{text}");
    let text = std::fs::read_to_string(at.join("many/manifest.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let seeds: Vec<_> = json["runs"].as_array().unwrap().iter().map(|r| &r["seed"]).collect();
    assert_eq!(seeds, [1, 2, 3]);
}

#[test]
fn directories_and_engines_are_compared() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    accord(at, &["run", "small.toml", "-q", "-o", "five"]).with(0);
    let set = ["run", "small.toml", "-q", "-o", "four", "--set", "topology.dumbbell.rate=4 Mbps"];
    accord(at, &set).with(0);
    let text = accord(at, &["compare", "five", "four"]).with(0).stdout;
    assert!(text.starts_with("Means over 2–4 s"), "{text}");
    let json = accord(at, &["compare", "five", "four", "--json"]).with(0).json();
    let rows = json["points"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|r| r["quantity"] == "throughput").unwrap();
    let columns: Vec<_> = (0..4).map(|i| &row["values"][i]["column"]).collect();
    let expected = ["five: theory", "five: packet", "four: theory", "four: packet"];
    assert_eq!(columns, expected);
    let mean = |i: usize| row["values"][i]["mean"].as_f64().unwrap();
    assert!((mean(2) / mean(0) - 0.8).abs() < 1e-9, "theory shares what there is: {row:#}");
    // The means of flows that end earlier are not over the whole window.
    let text = accord(at, &["run", "small.toml", "--set", "flow.a.stop=3 s"]).stdout;
    assert!(text.contains("Means over 2–4 s (a over 2–3 s)\n"), "{text}");
    // The same table in files, in which each row has its name.
    for (file, expected) in [
        ("t.md", "|---|---|---:|---:|---:|---:|---:|---:|\n"),
        (
            "t.tex",
            "\\begin{tabular}{llrrrrrr}\n  \\hline\n  flow or link & metric & five: theory &",
        ),
        (
            "t.csv",
            "flow or link,metric,five: theory,five: packet,four: theory,four: packet,error,verdict\n",
        ),
    ] {
        let ended = accord(at, &["compare", "five", "four", "--table", file]).with(0);
        assert!(ended.stderr.contains(&format!("table: {file}")), "{}", ended.stderr);
        let text = std::fs::read_to_string(at.join(file)).unwrap();
        assert!(text.contains(expected), "{file}: {text}");
        assert!(text.lines().count() > 5 && !text.contains("\n,"), "{file}: {text}");
    }
    let wrong = accord(at, &["compare", "five", "nowhere", "--table", "t.pdf"]).with(2).stderr;
    assert!(wrong.contains("the format of t.pdf is unknown"), "{wrong}");
    assert!(wrong.contains("ends in .md, .tex, .csv"), "{wrong}");
    // The engines of one run.
    let json = accord(at, &["compare", "five", "--json"]).with(0).json();
    let rows = &json["points"][0]["rows"];
    assert_eq!(rows[0]["values"].as_array().map(Vec::len), Some(2));
    accord(at, &["run", "small.toml", "-q", "-o", "one", "-e", "theory"]).with(0);
    let ended = accord(at, &["compare", "one"]).with(2);
    assert!(ended.stderr.contains("nothing to compare"), "{ended:#?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let sweep = format!(
        "{SMALL}\n[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"5 Mbps\", \"3 Mbps\", \"2 Mbps\"]\n"
    );
    let dir = folder(&[("sweep.toml", &sweep)]);
    let at = dir.path();
    let run = |threads: &str| {
        let args = ["run", "sweep.toml", "--reps", "2", "--csv", "-o", threads];
        let child = program(at, &args).env("RAYON_NUM_THREADS", threads).spawn();
        let ended = end(child.unwrap());
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
        (ended.stdout, files(&at.join(threads)))
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!(one.0, two.0);
    let list: Vec<_> = one.1.keys().collect();
    assert_eq!(list.len(), 3 * 5 + 3, "{list:?}");
    for (name, bytes) in &one.1 {
        assert!(Some(bytes) == two.1.get(name), "{name} differs");
    }
    assert_eq!(one.1.len(), two.1.len());
}

/// A reader that closes the pipe is not an error, and does not cause a panic.
#[test]
fn a_closed_pipe_is_no_error() {
    let dir = folder(&[("small.toml", SMALL)]);
    for args in [
        &["schema"][..],
        &["list", "experiments"],
        &["list"],
        &["new", "fat-tree"],
        &["check", "small.toml", "--print"],
        &["run", "small.toml"],
        &["run", "small.toml", "--json"],
        &["stability", "small.toml"],
        &["stability", "small.toml", "--json"],
        &["stability", "small.toml", "--x", "topology.dumbbell.delay=1 ms..9 ms"],
    ] {
        let mut child = program(dir.path(), args).spawn().unwrap();
        drop(child.stdout.take());
        end(child).with(0);
    }
    // Nor is a closed stderr.
    for args in [
        &["run", "small.toml"][..],
        &["stability", "small.toml", "--x", "topology.dumbbell.delay=1 ms..9 ms"],
    ] {
        let mut child = program(dir.path(), args).spawn().unwrap();
        drop(child.stderr.take());
        end(child).with(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let dir = folder(&[]);
    for arguments in [&["schema"][..], &["--help"], &["run", "--help"], &["--version"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = program(dir.path(), arguments).stdout(full).spawn().unwrap();
        let ended = end(child).with(3);
        assert!(ended.stderr.contains("cannot write to stdout"), "{ended:#?}");
    }
}

/// The page about the output lists exactly the engines that have a metric.
#[test]
fn each_engine_records_what_the_page_says() {
    use accord::scenario::{Engine, Metric, Of};
    use std::collections::BTreeSet;

    let red = SMALL.replace("discipline = \"droptail\"", "discipline = \"red\"");
    let red = red.replace("\"vegas\"", "\"newreno\"");
    let dir = folder(&[("small.toml", SMALL), ("red.toml", &red)]);
    let mut seen = BTreeSet::new();
    for id in ["small", "red"] {
        let file = format!("{id}.toml");
        let engines = "theory,fluid,packet";
        let args = ["run", &file, "--engine", engines, "--csv", "-o", id];
        accord(dir.path(), &args);
        let text = std::fs::read_to_string(dir.path().join(id).join("series.csv"));
        for line in text.expect("series").lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            seen.insert((cells[1].to_string(), cells[4].to_string()));
        }
    }
    for engine in [Engine::Theory, Engine::Fluid, Engine::Packet] {
        for metric in Metric::ALL {
            let there = seen.contains(&(engine.to_string(), metric.to_string()));
            let said = metric.engines().contains(&engine);
            // There are no aggregates, no transfers and no tunnels here.
            let none = matches!(metric.of(), Of::Aggregate | Of::Transfer)
                || matches!(metric, Metric::AggregateFairness | Metric::ExcessBandwidth)
                || matches!(metric, Metric::EdgeBacklog | Metric::EdgeDrops)
                // The scenario does not ask for inner state.
                || metric.is_inner();
            assert!(there == said || none && !there, "{metric} of {engine}: {there}");
        }
    }
}

/// Vegas flows that start together draw nothing: repetitions are the same run.
#[test]
fn repetitions_without_chance_say_so() {
    let start = "start = { uniform = [\"0 s\", \"0.1 s\"] }\n";
    let fixed = SMALL.replace(start, "processing = \"0 s\"\n");
    assert!(fixed != SMALL);
    let dir = folder(&[("fixed.toml", &fixed), ("small.toml", SMALL)]);
    let said = |file: &str, reps: &str| {
        let ended = accord(dir.path(), &["run", file, "-o", "out", "--reps", reps]);
        ended.stdout.contains("draws nothing at random")
    };
    assert!(said("fixed.toml", "3"));
    assert!(!said("fixed.toml", "1"));
    assert!(!said("small.toml", "3"));
}

/// A pipe has no width: the longest names are complete, with a line per row.
#[test]
fn a_pipe_gets_whole_lines() {
    let name = "the link between the left and the right router carries as much as theory says";
    let long = SMALL.replace("the link is full", name);
    let dir = folder(&[("long.toml", &long)]);
    let ended = accord(dir.path(), &["run", "long.toml", "-o", "out"]).with(0);
    let line = ended.stdout.lines().find(|l| l.contains(name));
    assert!(line.is_some_and(|l| l.contains("theory ± 5 %")), "{ended:#?}");
}

#[test]
fn the_version_names_the_commit() {
    let dir = folder(&[]);
    let version = accord(dir.path(), &["--version"]).with(0).stdout;
    let (_, commit) = version.trim().split_once(" (").expect("a commit");
    let commit = commit.strip_suffix(')').expect("in brackets");
    let hash = commit.len() == 12 && commit.chars().all(|c| c.is_ascii_hexdigit());
    assert!(hash || commit == "unknown", "{version}");
}

/// A loss-based flow has no equilibrium in theory. When it has stopped, the link is idle, which says nothing about the
/// time before: theory has no value, so it is not a column, and errors are relative to the fluid.
#[test]
fn theory_without_an_equilibrium_has_no_value() {
    let text = SMALL.replace("vegas", "reno").replace("[[expect]]", "stop = \"3.9 s\"\n[[expect]]");
    let text = text.replace("start = { uniform = [\"0 s\", \"0.1 s\"] }", "");
    let dir = folder(&[("small.toml", &text)]);
    let args = ["run", "small.toml", "-e", "theory,fluid,packet", "--json"];
    let json = accord(dir.path(), &args).with(1).json();
    assert_eq!(json["checks"][0]["theory"], Value::Null);
    let rows = json["points"][0]["means"].as_array().expect("rows");
    let of = |quantity: &str, name: &str| {
        let found = rows.iter().find(|r| r["quantity"] == quantity && r.to_string().contains(name));
        found.unwrap_or_else(|| panic!("no {quantity}: {json:#}"))
    };
    let row = of("backlog", "bottleneck");
    let values = row["values"].as_array().expect("values");
    let value = |i: usize| values[i]["mean"].as_f64().expect("a number");
    assert_eq!((&values[0]["column"], values.len()), (&"fluid".into(), 2));
    let error = row["error"].as_f64().expect("relative to the fluid");
    assert!((value(1) / value(0) - 1.0 - error).abs() < 1e-9, "{row}");
}

/// A phase without an equilibrium within the window: theory has no mean of a flow that is active in it, and that of one
/// that has stopped.
#[test]
fn theory_has_no_means_over_a_gap() {
    let text = r#"
        duration = "20 s"
        steady = ["10 s", "20 s"]
        [link]
        ab = { from = "a", to = "b", rate = "10 Mbps", delay = "10 ms" }
        [flow]
        stops = { from = "a", to = "b", controller = "none", demand = { constant = "2 Mbps" }, stop = "14 s" }
        stays = { from = "a", to = "b", controller = "monaco" }
        fills = { from = "a", to = "b", controller = "cubic", start = "16 s", stop = "17 s" }
    "#;
    let users = "h = { from = \"a\", to = \"b\", controller = \"newreno\", count = 2, start = \"15 s\", record = \"group\" }";
    let dir = folder(&[("gap.toml", text), ("group.toml", &(text.to_owned() + users))]);
    let mean = |file: &str, name: &str| {
        let args = ["run", file, "-e", "theory,packet", "--json"];
        let json = accord(dir.path(), &args).with(0).json();
        let rows = json["points"][0]["means"].as_array().expect("rows").clone();
        let is = |row: &&Value| row["quantity"] == "throughput" && row["group"] == name;
        let row = rows.iter().find(is).unwrap_or_else(|| panic!("no {name}: {json:#}"));
        let values = row["values"].as_array().expect("values");
        values.iter().find(|v| v["column"] == "theory").and_then(|v| v["mean"].as_f64())
    };
    assert_eq!(mean("gap.toml", "stops"), Some(2e6));
    assert_eq!(mean("gap.toml", "stays"), None);
    assert_eq!(mean("group.toml", "h"), None);
}

/// Means are over whole samples, and the heading says over which.
#[test]
fn the_heading_has_the_samples_of_the_means() {
    let text = r#"
        duration = "10 s"
        sample = "3 s"
        steady = ["5 s", "10 s"]
        [link]
        ab = { from = "a", to = "b", rate = "100 Mbps", delay = "1 ms" }
        [flow]
        x = { from = "a", to = "b", controller = "none", demand = { constant = "5 Mbps" } }
    "#;
    let short = text
        .replace("10 s", "1 ms")
        .replace("3 s", "100 us")
        .replace("5 s", "500 us")
        .replace("rate = \"100 Mbps\", delay = \"1 ms\"", "rate = \"10 Gbps\", delay = \"1 us\"")
        .replace("5 Mbps", "5 Gbps");
    let dir = folder(&[("long.toml", text), ("short.toml", &short)]);
    for (file, heading) in
        [("long.toml", "Means over 6–9 s"), ("short.toml", "Means over 0.0005–0.001 s")]
    {
        let ended = accord(dir.path(), &["run", file, "-e", "packet"]).with(0);
        assert!(ended.stdout.contains(heading), "{}", ended.stdout);
    }
}
