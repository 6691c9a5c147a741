//! The dashboard for Grafana shows series that exist.

#[path = "common/dice.rs"]
mod dice;
#[path = "common/world.rs"]
#[allow(dead_code, reason = "each test uses its own part")]
mod world;

use accord_door::State;
use accord_gateway::config::parse;
use accord_gateway::status::{ConfigStatus, status};
use accord_units::{Duration, Rate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use world::{Link, World};

const PREFIX: &str = "accord_gateway_";

/// The names of series in a text, with the labels that stand behind each: the part before `=`.
fn series(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(PREFIX) {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        let labels = rest[end..]
            .strip_prefix('{')
            .map_or("", |inside| inside.split('}').next().unwrap_or(""));
        let names = labels.split(',').filter_map(|part| part.split(['=', '!']).next());
        let names = names.filter(|name| !name.is_empty()).map(str::to_string);
        found.push((rest[..end].to_string(), names.collect()));
    }
    found
}

#[test]
fn the_dashboard_asks_for_series_and_labels_that_there_are() {
    let link = Link {
        rate: Rate::from_bps(20_000_000),
        buffer: 50_000,
        delay: Duration::from_ms(10),
        expedites: true,
    };
    // Two gateways that have sent and measured, so no series is missing.
    let mut world = World::new(1, link);
    for _ in 0..4000 {
        // More than the link carries, so data waits.
        (0..3).for_each(|_| world.host_sends(0, 1000, 0));
        world.run(world.now + Duration::from_ms(1));
    }
    let site = "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:51820\"\n";
    let site = parse("", site).expect("a site");
    let status = status(&world.gateways[0], &site, &ConfigStatus::default(), Vec::new(), 4.0);
    let mut there: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, labels) in status.metrics().lines().filter(|l| !l.starts_with('#')).flat_map(series)
    {
        there.entry(name).or_default().extend(labels);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/grafana.json");
    let text = std::fs::read_to_string(path).expect("the dashboard");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    // The promise comes first.
    let first = panels[0]["targets"][0]["expr"].as_str().expect("an expression");
    assert!(first.starts_with("accord_gateway_contract_kept_ratio"), "{first}");
    let mut shown = BTreeSet::new();
    for target in panels.iter().flat_map(|p| p["targets"].as_array().expect("targets")) {
        let expression = target["expr"].as_str().expect("an expression");
        let asked = series(expression);
        assert!(!asked.is_empty(), "{expression} asks for nothing");
        for (name, labels) in asked {
            let has = there.get(&name);
            let has = has.unwrap_or_else(|| panic!("{expression}: there is no {name}"));
            // The scraper adds the instance.
            let missing = labels.iter().find(|l| *l != "instance" && !has.contains(*l));
            assert_eq!(missing, None, "{expression}");
            shown.insert(name);
        }
    }
    // Each series is shown somewhere, except for those that variables are made of.
    for name in there.keys().filter(|n| !n.ends_with("_info")) {
        let left_out = ["mode", "tx_packets_total", "config_last_reload_success_timestamp_seconds"];
        let short = name.trim_start_matches(PREFIX);
        assert!(shown.contains(name) || left_out.contains(&short), "{name} is not shown");
    }
}
