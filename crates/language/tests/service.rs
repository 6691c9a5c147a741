//! Contracted rates, weights and limits in the language.

use crate::common::{points, refused};
use accord_family::Service;
use accord_scenario::{Scenario, print};
use accord_units::{Bytes, Rate};

const NETWORK: &str = "duration = \"10 s\"\n\
    topology.dumbbell = { rate = \"10 Mbps\", delay = \"5 ms\" }\n\
    [flow.a]\nfrom = \"left\"\nto = \"right\"\n";
const MONACO: &str = "controller = \"monaco\"\n";

/// The points of a file with one group of flows, whose other keys are `keys`.
fn read(keys: &str) -> Vec<Scenario> {
    points(&format!("{NETWORK}{MONACO}{keys}")).unwrap_or_else(|e| panic!("{e}"))
}

fn service(contract_kbps: u64, weight: f64, limit: Option<u64>) -> Service {
    Service { contract: Rate::from_bps(1000 * contract_kbps), weight, limit: limit.map(Bytes::new) }
}

#[test]
fn a_flow_without_a_service_gets_a_fair_share() {
    let s = &read("")[0];
    assert_eq!(s.flows[0].service, service(0, 1.0, None));
    assert!(!print(s).contains("service"), "nothing to say");
    assert_eq!(read("service = {}")[0].hash(), s.hash());
}

#[test]
fn a_group_and_its_flows_say_it_together() {
    let s = &read(
        "service = { weight = 2, limit = \"60 KB\" }\n\
         each = [\n\
             {},\n\
             { service = { contract = \"3 Mbps\" } },\n\
             { service = { contract = \"500 Kbps\", weight = 0.5 } },\n\
         ]",
    )[0];
    let found: Vec<_> = s.flows.iter().map(|f| f.service).collect();
    assert_eq!(
        found,
        [
            service(0, 2.0, Some(60_000)),
            service(3000, 2.0, Some(60_000)),
            service(500, 0.5, Some(60_000)),
        ]
    );
    let text = print(s);
    let again = points(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(&again[0].flows, &s.flows, "{text}");
    assert_eq!(again[0].hash(), s.hash());
}

#[test]
fn a_sweep_varies_it() {
    let runs = read(
        "[sweep.contract]\nset = [\"flow.a.service.contract\"]\n\
         values = [\"0 bps\", \"3 Mbps\"]\n\
         [sweep.limit]\nset = [\"flow.a.service.limit\"]\nvalues = [\"15 KB\", \"30 KB\"]\n",
    );
    let found: Vec<_> = runs.iter().map(|s| s.flows[0].service).collect();
    assert_eq!(
        found,
        [
            service(0, 1.0, Some(15_000)),
            service(0, 1.0, Some(30_000)),
            service(3000, 1.0, Some(15_000)),
            service(3000, 1.0, Some(30_000)),
        ]
    );
    let mut hashes: Vec<_> = runs.iter().map(Scenario::hash).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn a_limit_holds_what_the_weight_asks_for_and_no_less() {
    // Three times 3000 bytes.
    let limit = |bytes: u64| format!("service = {{ weight = 3, limit = \"{bytes} B\" }}\n");
    assert_eq!(read(&limit(9000))[0].flows[0].service, service(0, 3.0, Some(9000)));
    let text = format!("{NETWORK}{MONACO}{}", limit(8999));
    assert!(refused(&text).contains("the flow is to keep 9 KB queued, and this is less"));
}
