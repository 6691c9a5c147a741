//! `accord new`: every template is a valid scenario, at any size and with any controller, and no
//! file is lost.

use crate::common::*;
use std::fs;

const TEMPLATES: [&str; 3] = ["dumbbell", "parking-lot", "fat-tree"];

#[test]
fn templates_are_checked_and_run() {
    let dir = folder(&[]);
    for template in TEMPLATES {
        let file = format!("{template}.toml");
        let args = ["new", template, "-o", &file, "--rate", "10 Mbps", "--duration", "8 s"];
        let made = accord(dir.path(), &args).with(0);
        assert!(made.stdout.is_empty() && made.stderr.contains("accord run"), "{made:#?}");
        let text = fs::read_to_string(dir.path().join(&file)).expect("it is written");
        assert!(text.starts_with("# ") && text.contains("10 Mbps"), "{text}");
        let json = accord(dir.path(), &["check", &file, "--json"]).with(0).json();
        assert_eq!(json["warnings"].as_array().map(Vec::len), Some(0), "{json}");
        let ran = accord(dir.path(), &["run", &file, "-q"]).with(0);
        assert!(ran.stdout.contains("throughput"), "{ran:#?}");
    }
}

/// Scenarios are written back as read.
#[test]
fn every_controller_and_discipline_has_its_scenario() {
    let dir = folder(&[]);
    let catalogue = accord::catalogue();
    let check = |args: &[&str]| {
        accord(dir.path(), &[&["new"], args].concat()).with(0);
    };
    for (i, family) in catalogue.controllers.iter().enumerate() {
        for template in [TEMPLATES[i % 3], TEMPLATES[(i + 1) % 3]] {
            check(&[template, "--controller", family.name]);
        }
    }
    for (i, family) in catalogue.disciplines.iter().enumerate() {
        for template in [TEMPLATES[i % 3], TEMPLATES[(i + 1) % 3]] {
            check(&[template, "--queue", family.name]);
        }
    }
}

#[test]
fn sizes_are_those_asked_for() {
    let dir = folder(&[]);
    // Nodes, directed links and flows.
    let cases: &[(&[&str], [u64; 3])] = &[
        (&["dumbbell", "--flows", "3"], [5, 8, 3]),
        (&["parking-lot", "--hops", "4", "--flows", "2"], [5 + 10, 8 + 20, 10]),
        (&["fat-tree", "--pods", "6"], [54 + 45, 2 * 3 * 54, 16]),
    ];
    for (args, expected) in cases {
        let args = [&["new", "-o", "x.toml", "--force"], *args].concat();
        accord(dir.path(), &args).with(0);
        let json = accord(dir.path(), &["check", "x.toml", "--json"]).with(0).json();
        let sizes = ["nodes", "links", "flows"].map(|key| json[key].as_u64().expect("a number"));
        assert_eq!(sizes, *expected, "{args:?}");
    }
}

#[test]
fn random_paths_follow_from_the_seed() {
    let dir = folder(&[]);
    let text = |seed: &str| accord(dir.path(), &["new", "fat-tree", "--seed", seed]).with(0).stdout;
    assert_eq!(text("1"), text("1"));
    let paths = |text: &str| {
        text.lines().filter(|l| l.contains("path =")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(paths(&text("1")).len(), 16);
    assert_ne!(paths(&text("1")), paths(&text("2")));
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let dir = folder(&[("mine.toml", "precious")]);
    let refused = accord(dir.path(), &["new", "fat-tree", "-o", "mine.toml"]).with(2);
    assert!(refused.stderr.contains("--force"), "{refused:#?}");
    let read = || fs::read_to_string(dir.path().join("mine.toml")).expect("it is there");
    assert_eq!(read(), "precious");
    accord(dir.path(), &["new", "fat-tree", "-o", "mine.toml", "--force"]).with(0);
    assert!(read().contains("[link]"));
    // An invalid scenario is not written, even with --force.
    let bad = ["new", "fat-tree", "-o", "mine.toml", "--force", "--duration", "1000 h"];
    let refused = accord(dir.path(), &bad).with(2);
    assert!(refused.stderr.contains("a span of time is at most"), "{refused:#?}");
    assert!(read().contains("[link]"));
}

#[test]
fn mistakes_have_hints() {
    let dir = folder(&[]);
    let cases: &[(&[&str], &str)] = &[
        (&["dumbel"], "did you mean \"dumbbell\"?"),
        (&["dumbbell", "--hops", "3"], "it has flows"),
        (&["parking-lot", "--hops", "0"], "expected 1 to 1000"),
        (&["fat-tree", "--pods", "5"], "even"),
        (&["dumbbell", "--controller", "monoco"], "did you mean \"monaco\"?"),
        (&["dumbbell", "--queue", "codell"], "did you mean \"codel\"?"),
        (&["dumbbell", "--rate", "10"], "Mbps"),
        (&["dumbbell", "--rate", "0 bps"], "more than zero"),
        (&["--example", "web", "--flows", "3"], "cannot be used with"),
    ];
    for (args, message) in cases {
        let ended = accord(dir.path(), &[&["new"], *args].concat()).with(2);
        assert!(ended.stderr.contains(message), "{args:?}: {ended:#?}");
        assert!(!ended.stderr.contains("--template"), "{args:?}: {ended:#?}");
    }
}

/// Returns the directed links of a scenario's text: ends, bit/s and picoseconds.
fn links(text: &str) -> Vec<(String, String, u64, u64)> {
    let file = accord::File::parse("x.toml", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let points = file.points(&accord::catalogue(), None);
    let scenario = points.unwrap_or_else(|e| panic!("{e}\n{text}")).remove(0);
    let name = |node: usize| scenario.nodes[node].name.clone();
    let mut links: Vec<_> = (scenario.links.iter())
        .map(|l| (name(l.from), name(l.to), l.rate.as_bps(), l.delay.as_ps()))
        .collect();
    links.sort();
    links
}

/// Networks with random names, rates and delays are the same after they went through the draft of an
/// import, in both directions, and again after they were printed.
#[test]
fn a_network_is_read_as_it_was_drafted() {
    let dir = folder(&[]);
    let mut dice = Dice(11);
    for _ in 0..40 {
        // Without a hyphen at an end, which the importer removes.
        let letters = ["a", "B", "7", "x-y", "_", "é", "Ω", "c-d", "true", "1e5"];
        let mut nodes: Vec<String> = (0..2 + dice.below(6))
            .map(|i| (0..dice.below(4)).fold(format!("n{i}"), |n, _| n + letters[dice.below(10)]))
            .collect();
        nodes.dedup();
        let (mut csv, mut expected) = ("from,to,rate,delay\n".to_string(), Vec::new());
        for to in 1..nodes.len() {
            let (from, to) = (&nodes[dice.below(to)], &nodes[to]);
            // Whole bits per second and microseconds, which the draft keeps.
            let bps = 1000 + dice.next() % [10_000, 10_000_000, 100_000_000_000][dice.below(3)];
            let us = dice.next() % [10, 100_000, 3_000_000][dice.below(3)];
            csv += &format!("{from},{to},{bps} bps,{us} us\n");
            let link = |a: &String, b: &String| (a.clone(), b.clone(), bps, us * 1_000_000);
            expected.extend([link(from, to), link(to, from)]);
        }
        expected.sort();
        let path = dir.path().join("network.csv");
        fs::write(&path, &csv).expect("written");
        let path = path.to_str().expect("text");
        let drafted =
            accord_cli::imported(["accord", path]).unwrap_or_else(|e| panic!("{e:?}\n{csv}"));
        assert_eq!(links(&drafted), expected, "{csv}\n{drafted}");
        let file = accord::File::parse("x.toml", &drafted).expect("it is valid");
        let scenario = file.points(&accord::catalogue(), None).expect("it is valid").remove(0);
        assert_eq!(links(&accord::scenario::print(&scenario)), expected, "{csv}");
    }
}
