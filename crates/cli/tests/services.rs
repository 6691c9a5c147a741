//! Services from the file to the messages of the check, the run and the page.

use crate::common::*;

/// Two sites with contracts of 60 and 70 Mbps on a link of 100.
const SITES: &str = r#"
title = "Two sites on one link"
duration = "4 s"
steady = ["2 s", "4 s"]
sample = "100 ms"

[topology.dumbbell]
rate = "100 Mbps"
delay = "5 ms"
queue = { discipline = "droptail", limit = "250 KB" }

[flow.north]
from = "left"
to = "right"
controller = "monaco"
service = { contract = "60 Mbps", limit = "30 KB" }

[flow.south]
from = "left"
to = "right"
controller = "monaco"
service = { contract = "70 Mbps", limit = "60 KB" }

[flow.rest]
from = "left"
to = "right"
controller = "monaco"
"#;

/// Weights of 30, 60 and 3 KB share 100 Mbps, of which control packets take 0.2 %: 3000/93 and 6000/93.
const WORDS: &str = "contracts on bottleneck add up to 130 Mbps of 100 Mbps; floors are not met: equilibrium would be: ";
const NORTH: &str = "north is held at its accumulation limit of 30 KB and gets 32.2 Mbps of 63.22 Mbps, less than its contract of 60 Mbps";

#[test]
fn a_check_warns_of_oversubscription() {
    let dir = folder(&[("sites.toml", SITES)]);
    let ended = accord(dir.path(), &["check", "sites.toml"]).with(0);
    assert!(ended.stdout.starts_with("sites: valid; "), "{ended:#?}");
    let warning = format!("warning: 0 s to 4 s: {WORDS}");
    assert!(ended.stderr.starts_with(&warning), "{ended:#?}");
    assert!(ended.stderr.contains(NORTH), "{ended:#?}");

    let json = accord(dir.path(), &["check", "sites.toml", "--json"]).with(0);
    assert_eq!(json.stderr, "");
    let json = json.json();
    assert_eq!(json["id"], "sites");
    let warnings = json["warnings"].as_array().expect("a list");
    assert_eq!(warnings.len(), 1);
    let warning = &warnings[0];
    assert_eq!(warning["outcome"], "equilibrium");
    let link = &warning["oversubscribed"][0];
    assert_eq!(link["link"], "bottleneck");
    assert_eq!(
        (link["contracts_bps"].as_f64(), link["capacity_bps"].as_f64()),
        (Some(130e6), Some(100e6))
    );
    let held = warning["held"].as_array().expect("a list");
    let rate = |name: &str| {
        let of = held.iter().find(|h| h["flows"][0] == name).expect("held");
        of["rate_bps"].as_f64().expect("a number")
    };
    let near = |name, share: f64| (rate(name) / (100e6 * share) - 0.998).abs() < 0.001;
    assert!(near("north", 30.0 / 93.0) && near("south", 60.0 / 93.0), "{held:?}");

    // Contracts that fit cause no message.
    let fits = [
        "--set",
        "flow.south.service.contract=\"10 Mbps\"",
        "--set",
        "flow.north.service.limit=\"90 KB\"",
    ];
    let ended = accord(dir.path(), &[&["check", "sites.toml"][..], &fits].concat()).with(0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_run_says_what_binds_for_whom() {
    let dir = folder(&[("sites.toml", SITES)]);
    let ended = accord(dir.path(), &["run", "sites.toml", "--engine", "theory", "-q"]).with(0);
    let line = format!("\ntheory: 0 s-4 s: {WORDS}");
    assert!(ended.stdout.contains(&line), "{ended:#?}");
    assert!(ended.stdout.contains(NORTH), "{ended:#?}");
    let page = std::fs::read_to_string(dir.path().join("runs/sites/page.html")).expect("there");
    assert!(page.contains(NORTH));
}

/// A check of any services ends, and reports them.
#[test]
fn wild_services_are_checked() {
    for service in [
        r#"{ contract = "0 bps" }"#,
        r#"{ contract = "1 Tbps" }"#,
        r#"{ contract = "1 bps", weight = 1e-6, limit = "1 B" }"#,
        r#"{ contract = "1000 Tbps", weight = 1e6, limit = "1 TB" }"#,
        r#"{ weight = 1e-6 }"#,
    ] {
        let wild = SITES.replacen(r#"{ contract = "60 Mbps", limit = "30 KB" }"#, service, 1);
        assert_ne!(wild, SITES);
        let dir = folder(&[("sites.toml", &wild)]);
        let ended = accord(dir.path(), &["check", "sites.toml", "--json"]);
        if ended.code == Some(0) {
            assert!(ended.json()["warnings"].is_array());
        } else {
            let ended = ended.with(2);
            assert!(ended.stderr.contains("sites.toml:"), "{service}: {ended:#?}");
        }
        accord(dir.path(), &["run", "sites.toml", "--engine", "theory", "-q"]);
    }
}

/// 9 of 10 Mbps that cannot be marked, behind REM: as little as a tenth of the link.
#[test]
fn a_check_warns_of_prices_that_count_drops() {
    let unmarkable = |rate: &str, counts: bool| {
        format!(
            "duration = \"60 s\"\ntopology.dumbbell = {{ rate = \"10 Mbps\", delay = \"20 ms\", \
             queue = {{ discipline = \"rem\", limit = \"1000 pkt\", count_dropped = {counts} }} }}\n\
             [flow.t]\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"newreno\", ecn = true }}\n\
             [flow.u]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\n\
             demand = {{ constant = \"{rate}\" }}\n"
        )
    };
    for (rate, counts, warns) in
        [("9 Mbps", true, true), ("9 Mbps", false, false), ("1 Mbps", true, false)]
    {
        let dir = folder(&[("rem.toml", &unmarkable(rate, counts))]);
        let ended = accord(dir.path(), &["check", "rem.toml"]).with(0);
        let said = ended.stderr.contains(
            "rem counts 9 Mbps of unmarkable, unresponsive traffic on bottleneck even where it drops it: as little \
             as 10 % of 10 Mbps may be used",
        );
        assert_eq!(said, warns, "{ended:#?}");
    }
}
