//! The author of a claim, and known failures.

use super::*;
use accord_scenario::{Cause, Claim, Measured};

fn expectation(keys: &str) -> Scenario {
    scenario(&format!("{HEAD}{DUMBBELL}{FLOW}\n[[expect]]\n{keys}\n"))
}

#[test]
fn a_claim_is_the_paper_s_where_it_is_quoted() {
    let claim = |keys: &str| {
        let text = format!("metric = \"goodput\"\nof = \"a\"\n{keys}");
        expectation(&text).expectations[0].claim
    };
    let least = "at_least = \"1 Mbps\"\n";
    assert_eq!(claim(least), Claim::Ours);
    assert_eq!(claim(&format!("{least}paper = \"1 Mbps\"")), Claim::Paper);
    let theory = "equals = \"theory\"\nwithin = 0.1\n";
    assert_eq!(claim(theory), Claim::Theory);
    assert_eq!(claim(&format!("{theory}paper = \"so\"")), Claim::Paper);
    let said = format!("{theory}paper = \"so\"\nclaim = \"ours\"");
    assert_eq!(claim(&said), Claim::Ours);
}

#[test]
fn a_known_failure_has_the_unit_of_the_target() {
    let s = expectation(
        "metric = \"backlog\"\nof = \"bottleneck\"\nat_most = \"3 KB\"\n\
         fails = { why = \"setting\", because = \" bursts \", measured = \"4 KB\" }",
    );
    let known = s.expectations[0].fails.clone().expect("it fails");
    assert_eq!((known.why, known.because.as_str()), (Cause::Setting, "bursts"));
    let record = known.record.expect("it was measured");
    assert_eq!((record.value, record.band), (4000.0, 0.01));
    let s = expectation(
        "metric = \"backlog\"\nof = \"bottleneck\"\nover = \"variation\"\nat_most = 0.1\n\
         fails = { why = \"ours\", because = \"x\", measured = \"40 %\", band = \"5 %\" }",
    );
    let record = s.expectations[0].fails.as_ref().and_then(|k| k.record);
    assert_eq!(record, Some(Measured { value: 0.4, band: 0.05 }));
}

#[test]
fn a_band_is_relative_and_inclusive() {
    let record = Measured { value: -4.0, band: 0.25 };
    assert!(record.holds(-5.0) && record.holds(-3.0));
    assert!(!record.holds(-5.01) && !record.holds(4.0));
    let none = Measured { value: 0.0, band: 0.25 };
    assert!(none.holds(0.0) && !none.holds(1e-9));
}

/// Two sweeps and two engines: which of the four points and eight checks fail, and with what.
#[test]
fn failures_are_chosen_by_engine_and_point() {
    let text = format!(
        r#"{HEAD}{DUMBBELL}{FLOW}
        [sweep.scheme]
        set = ["flow.a.controller"]
        values = ["reno", "monaco"]
        [sweep.n]
        set = ["flow.a.count"]
        values = [1, 2]
        [[expect]]
        metric = "goodput"
        of = "a"
        engine = ["fluid", "packet"]
        by = "n"
        at_least = {{ 1 = "1 Mbps", 2 = "2 Mbps" }}
        [[expect.fails]]
        why = "paper"
        because = "p"
        engine = "packet"
        at = {{ scheme = "monaco" }}
        measured = {{ 2 = "5 Mbps" }}
        [[expect.fails]]
        why = "ours"
        because = "o"
        at = {{ scheme = ["reno"] }}
        measured = "7 Mbps"
        "#
    );
    let points = points(&text).unwrap_or_else(|e| panic!("{e}"));
    points.iter().for_each(assert_prints_to_itself);
    let of = |s: &Scenario| -> Vec<Option<(Cause, f64)>> {
        let known = s.expectations.iter().map(|e| e.fails.as_ref());
        let known = known.map(|k| k.map(|k| (k.why, k.record.map_or(0.0, |r| r.value))));
        known.collect()
    };
    let ours = Some((Cause::Ours, 7e6));
    let found: Vec<_> = points.iter().map(of).collect();
    assert_eq!(
        found,
        [
            vec![ours, ours],
            vec![ours, ours],
            vec![None, None],
            vec![None, Some((Cause::Paper, 5e6))]
        ]
    );
}
