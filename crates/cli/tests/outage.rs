//! A link that sends nothing for a while, or for ever: no derived figure is infinite or NaN, in
//! tables, checks, JSON and CSV.

use accord::Catalogue;
use accord::language::File;
use accord::record::{Quiet, Run};
use accord::report::{Point, RunDir, Style, checks, checks_table, page, table, write_run_dir};
use accord::scenario::{Change, Entity, Event, Metric, Scenario};
use accord::units::{Rate, Time};
use std::path::Path;

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord::control::FAMILIES, disciplines: accord::aqm::FAMILIES };

/// Each expectation is on a quantity derived from the rate or from arrivals.
const TEXT: &str = r#"
duration = "6 s"
sample = "100 ms"
steady = ["2 s", "3 s"]
expect = [
    { name = "used", metric = "utilisation", of = "bottleneck", engine = ["packet", "fluid"], at_least = "90 %" },
    { name = "waits", metric = "queuing_delay", of = "bottleneck", engine = ["packet", "fluid"], over = "max", at_most = "1 s" },
    { name = "signal", metric = "price", of = "bottleneck", engine = ["packet", "fluid"], at_most = "1 s" },
    { name = "lost", metric = "path_loss_ratio", of = "a", engine = ["packet", "fluid"], at_most = "1 %" },
]
[topology.dumbbell]
rate = "10 Mbps"
delay = "5 ms"
queue = { discipline = "red", limit = "50 pkt" }
[flow.a]
from = "left"
to = "right"
count = 2
controller = "newreno"
[flow.b]
from = "left"
to = "right"
controller = "none"
demand = { constant = "3 Mbps" }
"#;

/// Returns the scenario with a rate of zero from `from` to `to`.
fn scenario(from: f64, to: f64) -> Scenario {
    let file = File::parse("outage.toml", TEXT).expect("it parses");
    let mut scenario = file.points(&CATALOGUE, None).expect("valid").remove(0);
    let link = bottleneck(&scenario);
    let full = scenario.links[link].rate;
    for (at, rate) in [(from, Rate::ZERO), (to, full)] {
        let at = Time::from_secs_f64(at);
        if at < scenario.end() {
            let change = Change::Rate(link, rate);
            scenario.events.push(Event { at, change });
        }
    }
    scenario
}

fn bottleneck(scenario: &Scenario) -> usize {
    let named = scenario.links.iter().position(|l| l.name == "bottleneck");
    named.expect("a dumbbell has one")
}

fn is_odd(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '∞');
    matches!(word, "inf" | "NaN" | "nan" | "∞")
}

/// Returns all outputs of the runs for people or programs.
fn texts(scenario: &Scenario, runs: &[Run], dir: &Path) -> Vec<(&'static str, String)> {
    let all: Vec<&Run> = runs.iter().collect();
    let point = Point { scenario, runs, checks: &checks(scenario, &all) };
    let contents = RunDir { scenario_toml: TEXT, point, page: Some(&page(&[point])), csv: true };
    write_run_dir(dir, &contents).expect("it can be written");
    let file = |name: &str| std::fs::read_to_string(dir.join(name)).expect("it is there");
    vec![
        ("table", table(scenario, &all, Style::default())),
        ("checks", checks_table(point.checks, Style::default())),
        ("summary", file("summary.json")),
        ("manifest", file("manifest.json")),
        ("series", file("series.csv")),
    ]
}

#[test]
fn an_outage_makes_no_odd_numbers() {
    // From before the first sample to after the last, and over whole samples in the middle.
    for (from, to) in [(0.0, 7.0), (1.95, 3.05)] {
        let scenario = scenario(from, to);
        let packet = accord::sim::run(&scenario, &mut Quiet).expect("it runs");
        let fluid = accord::fluid::run(&scenario, &mut Quiet).expect("it runs");
        let link = Entity::Link(bottleneck(&scenario));
        let runs = [packet, fluid];
        for run in &runs {
            for series in &run.series {
                let what = format!("{} of {:?}", series.metric, series.entity);
                assert!(!series.values.iter().any(|v| v.is_infinite()), "{what}");
            }
            for metric in [Metric::Utilisation, Metric::QueuingDelay] {
                assert_eq!(run.mean(metric, link, scenario.steady), None, "{metric}");
            }
            let served = run.mean(Metric::ServedRate, link, scenario.steady);
            assert_eq!(served, Some(0.0));
            let most = run.mean(Metric::BacklogPacketsMax, link, scenario.steady);
            let most = most.expect("the queue of a dead link is known");
            let engine = run.manifest.engine;
            assert!((40.0..=50.0).contains(&most), "{engine} from {from}: {most}");
        }
        let dir = tempfile::tempdir().expect("a folder");
        for (what, text) in texts(&scenario, &runs, &dir.path().join("run")) {
            let words = text.split([' ', '\n', ',', ':', '"', '[', ']', '|']);
            let odd: Vec<&str> = words.filter(|w| is_odd(w)).collect();
            assert!(odd.is_empty(), "{what} from {from} to {to}: {odd:?}\n{text}");
        }
    }
}
