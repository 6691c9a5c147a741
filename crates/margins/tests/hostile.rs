//! Scenarios without margins give a clear error.

use crate::common::scenario;
use accord_margins::stability;
use accord_units::Time;

fn text(head: &str, link: &str, flow: &str) -> String {
    format!(
        "{head}\n[topology.dumbbell]\n{link}\n[flow.f]\nfrom = \"left\"\nto = \"right\"\n{flow}\n"
    )
}

const HEAD: &str = "duration = \"20 s\"";
const LINK: &str = "rate = \"10 Mbps\"\ndelay = \"10 ms\"";

#[test]
fn a_controller_or_a_discipline_without_a_law_is_refused() {
    let refused = |link: &str, flow: &str| {
        let s = scenario(&text(HEAD, link, flow));
        stability(&s, Time::ZERO).expect_err("no law").to_string()
    };
    for controller in ["dctcp", "multcp"] {
        let said = refused(LINK, &format!("controller = \"{controller}\""));
        assert!(said.contains(&format!("no law for {controller}")), "{said}");
    }
    for discipline in ["pie", "fq-codel", "bat"] {
        let link = format!("{LINK}\nqueue = \"{discipline}\"");
        let said = refused(&link, "controller = \"reno\"");
        let why = format!("bottleneck: the fluid engine has no law for {discipline}");
        assert!(said.contains(&why), "{said}");
    }
}

#[test]
fn no_margins_without_an_equilibrium() {
    let with = |limit: &str| {
        format!("{LINK}\nqueue = {{ discipline = \"droptail\", limit = \"{limit}\" }}")
    };
    let (endless, short) = (with("unlimited"), with("50 pkt"));
    let monaco = "{ name = \"monaco\", target = \"60 pkt\" }";
    let codel = format!("{LINK}\nqueue = {{ discipline = \"codel\", limit = \"unlimited\" }}");
    for (link, controller, expected) in [
        (LINK, "\"vegas\"", "sign"),
        (LINK, "{ name = \"monaco\", policy = \"aiad\" }", "no margins"),
        (&endless[..], "\"reno\"", "grows for ever"),
        (&short, monaco, "more than its buffer"),
        (&codel, monaco, "codel drops or marks some"),
        (&codel, "\"newreno\"", "ever more often or not at all"),
        (LINK, "\"cubic\"", "follows the time since its last loss"),
    ] {
        let s = scenario(&text(HEAD, link, &format!("controller = {controller}")));
        let error = stability(&s, Time::ZERO).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
