//! Flows that the kernel's TCP or a QUIC stack carries, in the language.

use crate::common::{points, refused};
use accord_scenario::print;
use accord_scenario::{Carrier, Congestion};

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
             {{ kernel = \"accord\", controller = \"vegas\" }},\n\
             {{ controller = \"monaco\", service = {{ weight = 2 }} }},\n\
         ]"
    );
    let s = &points(&text).unwrap_or_else(|e| panic!("{e}"))[0];
    let kernel = |congestion: &str| Carrier::Kernel(Congestion::Named(congestion.into()));
    let found: Vec<_> =
        (s.flows.iter()).map(|f| (f.carrier.clone(), f.controller.family().name)).collect();
    assert_eq!(
        found,
        [
            (kernel("reno"), "newreno"),
            (kernel("bbr"), "vegas"),
            (kernel("reno"), "multcp"),
            (Carrier::Kernel(Congestion::Accord), "vegas"),
            (Carrier::Ours, "monaco"),
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

#[test]
fn a_stack_runs_the_controller_of_the_flow() {
    let text = format!("{NETWORK}packet = \"1500 B\"\ncontroller = \"vegas\"\nquic = \"stack\"");
    let s = &points(&text).unwrap_or_else(|e| panic!("{e}"))[0];
    let flow = &s.flows[0];
    let Carrier::Quic(stack) = &flow.carrier else {
        panic!("{:?}", flow.carrier);
    };
    assert_eq!((stack.name, flow.controller.family().name), ("stack", "vegas"));
    let again = &points(&print(s)).unwrap_or_else(|e| panic!("{e}"))[0];
    assert_eq!((&again.flows, again.hash()), (&s.flows, s.hash()));
    let plain = &points(&text.replace("quic = \"stack\"", "")).expect("valid")[0];
    assert_ne!(plain.hash(), s.hash(), "it is another scenario");
}

#[test]
fn what_no_stack_can_do_is_refused_with_its_place() {
    let flow = |keys: &str| format!("{NETWORK}{keys}");
    let quic = "packet = \"1500 B\"\ncontroller = \"reno\"\nquic = \"stack\"\n";
    for (keys, place, said) in [
        ("controller = \"reno\"\nquic = \"stakc\"", 7, "did you mean \"stack\"?"),
        ("controller = \"reno\"\nquic = 1", 7, "expected a name in quotes"),
        ("controller = \"reno\"\nkernel = \"reno\"\nquic = \"stack\"", 8, "asks for both"),
        ("controller = \"reno\"\nquic = \"stack\"", 3, "packets of 1.228 KB to 65 KB"),
        (
            "packet = \"1500 B\"\ncontroller = \"multcp\"\nquic = \"stack\"",
            7,
            "multcp cannot run in it",
        ),
        (&format!("{quic}service = {{ weight = 2 }}"), 9, "stack can hold no service"),
        (&format!("{quic}demand = {{ media = {{}} }}"), 9, "an allowed rate"),
        (&format!("{quic}min_rto = \"1 s\""), 9, "cannot set this in"),
    ] {
        let e = refused(&flow(keys));
        assert!(e.contains(said) && e.starts_with(&format!("{place}:")), "{place} {said}: {e}");
    }
    let e = refused(&flow("packet = \"1500 B\"\ncontroller = \"multcp\"\nquic = \"stack\""));
    assert!(e.contains("stack runs: ") && e.contains("vegas"), "{e}");
}
