//! Results for other uses: figures, comparisons, points of a sweep, definitions, JSON with its
//! schema.

use crate::common::*;
use serde_json::Value;
use std::path::Path;

/// Two flows at three rates.
fn sweep() -> String {
    format!(
        "{SMALL}\n[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"5 Mbps\", \"3 Mbps\", \"2 Mbps\"]\n"
    )
}

/// The output satisfies the program's schema, and the schema is strict: a missing or an extra key
/// is refused.
fn holds(dir: &Path, command: &str, output: &Value) {
    let schema = accord(dir, &["schema", "--output", command]).with(0).json();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(output).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{command}: {errors:#?}");
    let mut less = output.clone();
    less.as_object_mut().expect("an object").remove("format_version");
    assert!(!validator.is_valid(&less), "{command}");
    let mut more = output.clone();
    more["surprise"] = 1.into();
    assert!(!validator.is_valid(&more), "{command}");
}

/// Changes to a scenario after which the program and its schema refuse it, by text.
const WRONG: [(&str, &str); 36] = [
    ("duration = \"4 s\"", ""),
    ("\"4 s\"", "4"),
    ("\"4 s\"", "\"4 parsecs\""),
    ("\"4 s\"", "\"-4 s\""),
    ("\"4 s\"", "\"0 s\""),
    ("\"4 s\"", "\"\""),
    ("\"20 ms\"", "\"0 ms\""),
    ("\"Two flows\"", "3"),
    ("id = ", "colour = "),
    ("id = \"small\"", "seed = -1"),
    ("id = \"small\"", "seed = \"x\""),
    ("topology.dumbbell", "topology.dumbell"),
    ("rate = \"5 Mbps\"", ""),
    ("\"5 Mbps\"", "\"0 Mbps\""),
    ("\"5 Mbps\"", "\"0.0 Mbps\""),
    ("\"5 Mbps\"", "5"),
    ("\"5 Mbps\"", "\"5 MBps\""),
    ("\"5 Mbps\"", "{ trace = [-3, 2] }"),
    ("\"5 ms\"", "true"),
    ("\"5 ms\"", "[\"5 ms\"]"),
    ("delay", "delai"),
    ("droptail", "droptale"),
    ("\"100 pkt\"", "\"-100 pkt\""),
    ("\"100 pkt\"", "\"100 k\""),
    ("limit", "limits"),
    ("flow.a", "flow.\"a b\""),
    ("flow.a", "flow.\"\""),
    ("\"left\"", "1"),
    ("count = 2", "count = 0"),
    ("count = 2", "count = 1.5"),
    ("count = 2", "count = \"2\""),
    ("\"vegas\"", "\"vegaz\""),
    ("\"vegas\"", "{ name = \"vegas\", alfa = \"2 pkt\" }"),
    ("[\"0 s\", \"0.1 s\"]", "[\"0 s\"]"),
    ("\"utilisation\"", "\"utilization\""),
    ("\"packet\"", "\"paket\""),
];

#[test]
fn the_schema_refuses_what_the_program_refuses() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    let schema = accord(at, &["schema"]).with(0).json();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let json = |text: &str| -> Value { toml::from_str(text).expect("TOML") };
    accord(at, &["check", "small.toml"]).with(0);
    assert!(validator.is_valid(&json(SMALL)));
    for (right, wrong) in WRONG {
        let text = SMALL.replacen(right, wrong, 1);
        assert_ne!(text, SMALL, "{right}");
        std::fs::write(at.join("small.toml"), &text).expect("written");
        accord(at, &["check", "small.toml"]).with(2);
        assert!(!validator.is_valid(&json(&text)), "{right}: {wrong}");
    }
}

/// The schemas of packs and rules take and refuse the same files as the program.
#[test]
fn packs_and_rules_have_schemas() {
    let dir = folder(&[]);
    let validator = |kind: &str| {
        let schema = accord(dir.path(), &["schema", kind]).with(0).json();
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let json = |text: &str| -> Value { toml::from_str(text).expect("TOML") };
    let packs = validator("pack");
    let mut read = 0;
    for (path, text) in accord::PACK_FILES.iter().filter(|(path, _)| path.ends_with("/pack")) {
        assert!(packs.is_valid(&json(text)), "{path}");
        assert!(!packs.is_valid(&json(&text.replacen("title =", "titel =", 1))), "{path}");
        read += 1;
    }
    assert!(read > 5, "{read} packs");
    let rules = validator("rules");
    assert!(rules.is_valid(&json("require = [\"a: b < 1\"]\nfail_on = []")));
    assert!(!rules.is_valid(&json("require = [1]")) && !rules.is_valid(&json("requires = []")));
}

#[test]
fn json_is_what_the_schema_says() {
    let dir = folder(&[("sweep.toml", &sweep()), ("small.toml", SMALL)]);
    let at = dir.path();
    let run = accord(at, &["run", "sweep.toml", "--json", "--reps", "2"]).json();
    holds(at, "run", &run);
    let point = &run["points"][1];
    assert_eq!(point["settings"]["rate"], "3 Mbps");
    assert_eq!(point["series"], "runs/small/002/series.parquet");
    assert!(at.join("runs/small/002/series.parquet").exists());
    let row = &point["means"][0];
    assert_eq!((&row["group"], &row["quantity"]), (&"a".into(), &"throughput".into()));
    assert_eq!(row["values"][0]["mean"], 1.5e6, "theory shares 3 Mbps");
    assert_eq!(run["checks"][1]["point"], 2);
    let compare = accord(at, &["compare", "runs/small", "--json"]).with(0).json();
    holds(at, "compare", &compare);
    let stability = accord(at, &["stability", "xia05-fig6", "--json"]).json();
    holds(at, "stability", &stability);
    let map = [
        "stability",
        "small.toml",
        "--x",
        "topology.dumbbell.delay=5 ms..9 ms",
        "--points",
        "3",
        "--json",
    ];
    holds(at, "stability", &accord(at, &map).with(0).json());
    let reproduce = ["reproduce", "xia05-fig6", "-e", "theory", "--json"];
    holds(at, "reproduce", &accord(at, &reproduce).json());
}

#[test]
fn a_figure_is_drawn_with_its_data() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    accord(at, &["run", "small.toml", "-q"]).with(0);
    let plot = |args: &[&str]| accord(at, &[&["plot", "runs/small", "--metric"], args].concat());
    let ended = plot(&["throughput", "-o", "a.svg", "--csv", "a.csv", "--by", "flow"]).with(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", "plot: a.svg\n"));
    let svg = std::fs::read_to_string(at.join("a.svg")).expect("a figure");
    assert!(svg.starts_with("<svg width=\"3.500in\"") && svg.contains("Throughput (Mbps)"));
    let csv = std::fs::read_to_string(at.join("a.csv")).expect("its data");
    assert!(csv.starts_with("of,engine,time [s],throughput [bit/s]\na.1,"), "{csv}");
    let page = plot(&["queuing-delay", "-o", "-", "--width", "page", "--kind", "cdf"]).with(0);
    assert!(page.stdout.starts_with("<svg width=\"7.160in\""), "{page:#?}");
    // Errors name the valid values.
    for (args, said) in [
        (&["troughput", "-o", "-"][..], "did you mean \"throughput\"?"),
        (&["rtt", "-o", "a.gif"], ".svg, .pdf or .png"),
        (&["rtt", "-o", "-", "--by", "link"], "--by group or flow"),
        (&["rtt", "-o", "-", "--of", "b"], "there is a"),
        (&["rtt", "-o", "-", "--time", "3..2"], "--time 20..30"),
        (&["rtt", "-o", "-", "--kind", "map"], "--kind sweep"),
        (&["decrease-factor", "-o", "-"], "aggregates at links"),
    ] {
        let ended = plot(args).with(2);
        assert!(ended.stderr.replace("\n        ", " ").contains(said), "{said}: {ended:#?}");
    }
    if cfg!(feature = "figures") {
        return;
    }
    let ended = plot(&["rtt", "-o", "a.pdf"]).with(3);
    assert!(
        ended.stderr.contains("--features") || ended.stderr.contains("features figures"),
        "{ended:#?}"
    );
}

/// Returns the number after a key of a PDF, or the numbers of a list.
#[cfg(feature = "figures")]
fn numbers_after(text: &str, key: &str) -> Vec<f64> {
    let after = text.split(key).nth(1).unwrap_or_else(|| panic!("no {key}"));
    let list = after.trim_start().trim_start_matches('[');
    let list = list.split([']', '/']).next().unwrap_or_default();
    list.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// A figure of a column has the same size in each format: 3.5 in.
#[cfg(feature = "figures")]
#[test]
fn figures_as_pdf_and_png() {
    let dir = folder(&[("small.toml", SMALL)]);
    let at = dir.path();
    accord(at, &["run", "small.toml", "-q"]).with(0);
    for file in ["a.svg", "a.pdf", "a.png"] {
        let ended = accord(at, &["plot", "runs/small", "--metric", "rtt", "-o", file]);
        if ended.code == Some(3) && ended.stderr.contains("no fonts") {
            return skipped("figures as PDF and PNG need a font");
        }
        ended.with(0);
    }
    let read = |file: &str| std::fs::read(at.join(file)).expect("it is there");
    let svg = String::from_utf8(read("a.svg")).expect("text");
    assert!(svg.starts_with("<svg width=\"3.500in\""), "{svg:.80}");
    let pdf = read("a.pdf");
    assert!(pdf.starts_with(b"%PDF-") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
    let pdf = String::from_utf8_lossy(&pdf);
    let page = numbers_after(&pdf, "/MediaBox");
    assert!((page[2] - 3.5 * 72.0).abs() < 0.5, "{page:?}");
    // Each font of the text is embedded.
    let fonts = pdf.matches("/FontDescriptor ").count();
    let files = pdf.matches("/FontFile").count();
    assert!(fonts > 0 && files > 0, "{fonts} fonts, {files} files");
    assert_eq!(pdf.matches("/Type /FontDescriptor").count(), files);
    let png = read("a.png");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && &png[12..16] == b"IHDR");
    let width = u32::from_be_bytes([png[16], png[17], png[18], png[19]]);
    assert!((1048..=1052).contains(&width), "{width} pixels at 300 per inch");
}

#[test]
fn points_of_a_sweep_run_alone_and_leave_the_sweep() {
    let dir = folder(&[("sweep.toml", &sweep())]);
    let at = dir.path();
    let all = accord(at, &["run", "sweep.toml"]);
    assert!(all.stdout.contains("3 points; means over"), "{all:#?}");
    assert!(!all.stdout.contains("flow or link"), "details are asked for: {all:#?}");
    let details = accord(at, &["run", "sweep.toml", "--details"]);
    assert_eq!(details.stdout.matches("flow or link").count(), 3, "{details:#?}");
    let one = accord(at, &["run", "sweep.toml", "--point", "rate=3Mbps"]);
    assert!(one.stdout.contains("rate = 3 Mbps\n"), "{one:#?}");
    accord(at, &["run", "sweep.toml", "--point", "3", "--point", "1", "-q"]);
    assert_eq!(names(&at.join("runs")), ["small", "small-002", "small-points"]);
    let digest = |path: &str| {
        let text =
            std::fs::read_to_string(at.join(path).join("manifest.json")).expect("a manifest");
        let json: Value = serde_json::from_str(&text).expect("JSON");
        json["runs"].clone()
    };
    assert_eq!(digest("runs/small/002"), digest("runs/small-002"));
    assert_eq!(digest("runs/small/003"), digest("runs/small-points/002"));
    let wrong = accord(at, &["run", "sweep.toml", "--point", "4"]).with(2);
    assert!(wrong.stderr.contains("1 (rate = 5 Mbps)"), "{wrong:#?}");
}

/// Runs without a common group or link have no errors, and the page has the time of each mean.
#[test]
fn a_page_compares_what_is_comparable() {
    let other = "duration = \"8 s\"\n[link]\nx = \"s - r, 5 Mbps, 5 ms\"\n\
                 [flow.b]\nfrom = \"s\"\nto = \"r\"\ncontroller = \"vegas\"\n";
    let dir = folder(&[("one.toml", SMALL), ("two.toml", other)]);
    let at = dir.path();
    for name in ["one", "two"] {
        let file = format!("{name}.toml");
        accord(at, &["run", &file, "-q", "-e", "packet", "-o", name]);
    }
    accord(at, &["compare", "one", "two", "-o", "cmp"]).with(0);
    let page = std::fs::read_to_string(at.join("cmp/page.html")).expect("a page");
    assert!(page.contains("Over 2–4 s, 4–8 s</p>"), "{page}");
    assert!(page.contains("<p>Two flows</p>"), "{page}");
    assert!(!page.contains("<th>verdict</th>"), "{page}");
}

#[test]
fn sweeps_are_compared_point_by_point() {
    let dir = folder(&[("sweep.toml", &sweep())]);
    let at = dir.path();
    accord(at, &["run", "sweep.toml", "-q", "-o", "one"]);
    let other = ["run", "sweep.toml", "-q", "-o", "two", "--set", "topology.dumbbell.delay=50 ms"];
    accord(at, &other);
    let args = ["compare", "one", "two", "-e", "packet", "--reference", "two", "-o", "cmp"];
    let ended = accord(at, &args).with(0);
    assert!(
        ended.stdout.contains("relative to it") && ended.stdout.contains("two: packet"),
        "{ended:#?}"
    );
    assert_eq!(names(&at.join("cmp")), ["comparison.json", "manifest.json", "page.html"]);
    let page = std::fs::read_to_string(at.join("cmp/page.html")).expect("a page");
    assert!(page.contains("Comparison of one, two") && page.contains("<svg"));
    // A second run over the first; a run directory is not replaced.
    accord(at, &args).with(0);
    let ended = accord(at, &["compare", "one", "two", "-o", "one"]).with(2);
    assert!(ended.stderr.contains("is not a comparison"), "{ended:#?}");
    let ended = accord(at, &["compare", "one", "two", "--reference", "three"]).with(2);
    assert!(ended.stderr.contains("one: theory"), "{ended:#?}");
    // A point and a sweep have no common settings unless the point belongs to that sweep.
    let json = accord(at, &["compare", "one/002", "two", "--json"]).with(0).json();
    assert_eq!(json["points"].as_array().map(Vec::len), Some(1), "{json:#}");
}

/// Without an equilibrium theory has no values, and missing values are not compared.
#[test]
fn an_engine_without_values_is_no_reference() {
    let flood = SMALL.replace(
        "controller = \"vegas\"",
        "controller = \"none\"\ndemand = { constant = \"5 Mbps\" }",
    );
    let flood = flood.split("[[expect]]").next().expect("a scenario").to_string();
    let dir = folder(&[("flood.toml", &flood)]);
    let at = dir.path();
    let ended =
        accord(at, &["run", "flood.toml", "-e", "theory,fluid,packet", "-o", "flood"]).with(0);
    assert!(!ended.stdout.contains("within 5 % of theory"), "{ended:#?}");
    let ended = accord(at, &["compare", "flood"]).with(0);
    assert!(ended.stdout.contains("within 5 % of flood: fluid"), "{ended:#?}");
}

#[test]
fn metrics_are_defined() {
    let dir = folder(&[]);
    for row in ["throughput_spread", "estimator_bias", "accumulation_estimate"] {
        accord(dir.path(), &["list", "metrics", row]).with(0);
    }
    let one = accord(dir.path(), &["list", "metrics", "queuing_delay"]).with(0);
    for text in [
        "queuing_delay: Served backlog over link rate",
        "s, per link",
        "backlog over link_rate",
        "theory, fluid",
    ] {
        assert!(one.stdout.contains(text), "{text}: {one:#?}");
    }
    let all = accord(dir.path(), &["list", "metrics"]).with(0);
    assert!(all.stdout.lines().count() > 40, "{all:#?}");
    let json = accord(dir.path(), &["list", "metrics", "rtt", "--json"]).with(0).json();
    assert_eq!(json["unit"], "s");
    let wrong = accord(dir.path(), &["list", "metrics", "rt"]).with(2);
    assert!(wrong.stderr.contains("rtt"), "{wrong:#?}");
}

/// States are drawn as bands, a row per flow, and checked by expectations, which turn their record on.
#[test]
fn states_are_bands() {
    let text = "duration = \"4 s\"\nsample = \"10 ms\"\n\
        [topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\n\
        queue = { discipline = \"droptail\", limit = \"4 BDP\" }\n\
        [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"bbr3\"\n\
        [[expect]]\nmetric = \"bbr3.state\"\nof = \"f\"\nstate = \"drain\"\nduring = [\"0 s\", \"1.2 s\"]\n\
        [[expect]]\nmetric = \"bbr3.state\"\nof = \"f\"\nstate = \"startup\"\nduring = [\"2 s\", \"4 s\"]\nat_most = 0\n";
    let dir = folder(&[("bbr.toml", text)]);
    let ended =
        accord(dir.path(), &["run", "bbr.toml", "-e", "packet", "-o", "out", "--csv"]).with(0);
    assert!(ended.stdout.contains("2 of 2 checks met"), "{}", ended.stdout);
    let plot = ["plot", "out", "-m", "bbr3.state", "-o", "state.svg", "--csv", "state.csv"];
    accord(dir.path(), &plot).with(0);
    let svg = std::fs::read_to_string(dir.path().join("state.svg")).expect("drawn");
    for state in ["startup", "drain", "probe_bw_down"] {
        assert!(svg.contains(state), "{state}: {svg}");
    }
    let csv = std::fs::read_to_string(dir.path().join("state.csv")).expect("written");
    assert!(csv.lines().any(|line| line.ends_with(",1")), "Drain is the state 1");
    let wrong = text.replace("\"drain\"", "\"drian\"");
    std::fs::write(dir.path().join("wrong.toml"), wrong).expect("written");
    let said = accord(dir.path(), &["check", "wrong.toml"]).with(2).stderr;
    assert!(said.contains("did you mean \"drain\"?"), "{said}");
    let cubic = text.replace("\"bbr3\"", "\"cubic\"");
    std::fs::write(dir.path().join("cubic.toml"), cubic).expect("written");
    let said = accord(dir.path(), &["check", "cubic.toml"]).with(2).stderr;
    assert!(said.contains("cubic has no bbr3.state") && said.contains("cubic.w_max"), "{said}");
    let plain = text.split("[[expect]]").next().expect("the rest").to_string();
    std::fs::write(dir.path().join("plain.toml"), plain).expect("written");
    accord(dir.path(), &["run", "plain.toml", "-e", "packet", "-o", "plain"]).with(0);
    let plot = ["plot", "plain", "-m", "inflight", "-o", "x.svg"];
    let said = accord(dir.path(), &plot).with(2).stderr;
    assert!(said.contains("--set inner=true"), "{said}");
}
