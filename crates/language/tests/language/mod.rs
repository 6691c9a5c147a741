//! The meaning of the scenario language: a module for each part of it.

mod experiment;
mod flows;
mod network;
mod parts;
mod sweep;
mod verdict;

use crate::common::{CATALOGUE, points};
use accord_language::File;
use accord_scenario::{
    Across, Change, Engine, Limit, Link, Over, Scenario, Subject, Target, print,
};
use accord_traffic::{Demand, Draw, Sizer, Web};
use accord_units::{Bytes, Duration, Rate, Size, Time};

/// A printed scenario is parsed to the same scenario, and printed the same.
fn assert_prints_to_itself(scenario: &Scenario) {
    let text = print(scenario);
    let file = File::parse("print", &text).unwrap_or_else(|e| panic!("{e}"));
    let again = file.points(&CATALOGUE, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again, std::slice::from_ref(scenario), "{text}");
    assert_eq!(print(&again[0]), text);
    assert_eq!(again[0].hash(), scenario.hash());
}

/// The only point of a text, which prints to itself.
fn scenario(text: &str) -> Scenario {
    let mut points = points(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(points.len(), 1);
    let scenario = points.remove(0);
    assert_prints_to_itself(&scenario);
    scenario
}

fn ms(n: u64) -> Duration {
    Duration::from_ms(n)
}

fn link<'a>(scenario: &'a Scenario, name: &str) -> &'a Link {
    let found = scenario.links.iter().find(|l| l.name == name);
    found.unwrap_or_else(|| panic!("there is no link {name}"))
}

/// The names of the links of a path.
fn names<'a>(scenario: &'a Scenario, path: &[usize]) -> Vec<&'a str> {
    path.iter().map(|&l| scenario.links[l].name.as_str()).collect()
}

const HEAD: &str = "duration = \"10 s\"\n";
const DUMBBELL: &str = "topology.dumbbell = { rate = \"10 Mbps\", delay = \"5 ms\" }\n";
const FLOW: &str = "[flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"reno\"\n";
