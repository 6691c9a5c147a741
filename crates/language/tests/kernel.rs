//! Flows that are the kernel's TCP, in the language.

mod common;

use accord_scenario::print;
use common::points;

const NETWORK: &str = "duration = \"10 s\"\n\
    topology.dumbbell = { rate = \"10 Mbps\", delay = \"5 ms\" }\n\
    [flow.a]\nfrom = \"left\"\nto = \"right\"\n";

#[test]
fn a_model_stands_in_unless_another_controller_is_named() {
    let text = format!(
        "{NETWORK}packet = \"1500 B\"\neach = [\n\
             {{ kernel = \"reno\" }},\n\
             {{ kernel = \"bbr\", controller = \"vegas\" }},\n\
             {{ kernel = \"reno\", controller = \"multcp\" }},\n\
             {{ controller = \"monaco\", service = {{ weight = 2 }} }},\n\
         ]"
    );
    let s = &points(&text).unwrap_or_else(|e| panic!("{e}"))[0];
    let found: Vec<_> = (s.flows.iter())
        .map(|f| (f.kernel.as_deref(), f.controller.family().name))
        .collect();
    assert_eq!(
        found,
        [
            (Some("reno"), "newreno"),
            (Some("bbr"), "vegas"),
            (Some("reno"), "multcp"),
            (None, "monaco"),
        ]
    );
    let again = &points(&print(s)).unwrap_or_else(|e| panic!("{e}"))[0];
    assert_eq!(again.flows, s.flows);
    assert_eq!(again.hash(), s.hash());
    let plain = format!("{NETWORK}controller = \"newreno\"");
    let plain = &points(&plain).unwrap_or_else(|e| panic!("{e}"))[0];
    let kernel = format!("{NETWORK}controller = \"newreno\"\nkernel = \"reno\"");
    let kernel = &points(&kernel).unwrap_or_else(|e| panic!("{e}"))[0];
    assert_ne!(plain.hash(), kernel.hash(), "it is another scenario");
}
