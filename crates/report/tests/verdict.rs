//! The texts of verdicts, recorded results, and tables of them.

use crate::support::{expectation, run, scenario};
use accord_record::Run;
use accord_report::{
    Check, Class, ExperimentRow, Kind, Point, Results, Style, Tally, checks, checks_table,
    experiment_record, totals,
};
use accord_scenario::{
    Cause, Claim, Engine, Entity, Expectation, KnownFailure, Measured, Metric, Scenario, Target,
};

/// A flow with this throughput, in Mbps.
fn packets(mbps: f64) -> Run {
    let series = vec![(Metric::Throughput, Entity::Flow(0), vec![mbps * 1e6; 4])];
    run(Engine::Packet, 1, series)
}

fn known(why: Cause, mbps: f64, band: f64) -> Option<KnownFailure> {
    Some(KnownFailure {
        why,
        because: "of the weather".into(),
        record: Some(Measured { value: mbps * 1e6, band }),
    })
}

/// The flow should have 2 Mbps, give or take 5 %.
fn world(fails: Option<KnownFailure>) -> Scenario {
    let mut s = scenario(&[("one", 1)], &["b1"], 4);
    s.expectations = vec![Expectation {
        claim: Claim::Paper,
        fails,
        ..expectation(Target::Value { value: 2e6, tolerance: 0.05 })
    }];
    s
}

fn judge(fails: Option<KnownFailure>, mbps: f64) -> Check {
    checks(&world(fails), &[&packets(mbps)]).remove(0)
}

#[test]
fn a_failure_is_of_the_class_that_the_file_says_while_its_figure_stays() {
    for (why, class) in
        [(Cause::Paper, Class::Finding), (Cause::Setting, Class::Open), (Cause::Ours, Class::Ours)]
    {
        let check = judge(known(why, 3.0, 0.1), 3.2);
        assert_eq!((check.class, check.pass), (class, false));
    }
    assert_eq!(judge(None, 2.0).class, Class::Met);
    assert_eq!(judge(None, 3.0).class, Class::Failed);
}

#[test]
fn a_record_that_does_not_hold_says_what_to_write() {
    let moved = judge(known(Cause::Ours, 3.0, 0.1), 3.4);
    assert_eq!(moved.class, Class::Failed);
    assert!(
        moved.reason.ends_with(
            "`fails` has 3.00 Mbps ± 10 %: find the cause of the move, then write measured = \"3.4 Mbps\""
        ),
        "{}",
        moved.reason
    );
    let met = judge(known(Cause::Ours, 3.0, 0.1), 2.0);
    assert_eq!((met.class, met.pass), (Class::Failed, true));
    assert!(met.reason.ends_with("remove that entry"), "{}", met.reason);
    let s = world(known(Cause::Ours, 3.0, 0.1));
    let gone = checks(&s, &[]).remove(0);
    assert_eq!(gone.class, Class::Failed);
    assert!(gone.reason.ends_with("now there is no value"), "{}", gone.reason);
}

/// Other seeds have other figures: there the cause is known, and the failure may be gone.
#[test]
fn without_a_record_any_figure_will_do() {
    let mut fails = known(Cause::Setting, 3.0, 0.1);
    if let Some(known) = &mut fails {
        known.record = None;
    }
    assert_eq!(judge(fails.clone(), 9.0).class, Class::Open);
    assert_eq!(judge(fails, 2.0).class, Class::Met);
}

#[test]
fn tables_explain_their_words_and_reasons() {
    let all = [judge(None, 2.0), judge(known(Cause::Paper, 3.0, 0.1), 3.0)];
    let text = checks_table(&all, Style::default());
    for line in [
        "finding: not met, a finding on the paper",
        "  because: of the weather",
        "1 of 2 checks met; not met: 1 finding on the paper",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("\nmet       an expectation"), "{text}");
    assert!(text.contains("\nfinding   an expectation"), "{text}");
    let colour = Style { colour: true, ..Style::default() };
    let ours = [judge(known(Cause::Ours, 3.0, 0.1), 3.0)];
    assert!(checks_table(&ours, colour).contains("\x1b[31mours\x1b[0m"));
}

#[test]
fn programs_get_class_claim_and_cause() {
    let s = world(known(Cause::Setting, 3.0, 0.1));
    let runs = [packets(3.0)];
    let judged = checks(&s, &[&runs[0]]);
    let point = Point { scenario: &s, runs: &runs, checks: &judged };
    let json = experiment_record("e", &[point], None);
    assert_eq!(json["class"], "open");
    assert_eq!(json["pass"], false);
    let check = &json["checks"][0];
    assert_eq!(check["class"], "open");
    assert_eq!(check["claim"], "paper");
    assert_eq!(check["why"], "setting");
    assert_eq!(check["because"], "of the weather");
    assert_eq!(check["recorded"], 3e6);
}

#[test]
fn totals_count_checks_by_what_they_compare_and_say_in_words_why_they_fail() {
    use Class::*;
    let all = [
        (Kind::Paper, Met),
        (Kind::Models, Met),
        (Kind::Paper, Finding),
        (Kind::Theory, Ours),
        (Kind::Ours, Open),
        (Kind::Paper, Finding),
        (Kind::Models, Met),
        (Kind::Paper, Finding),
    ];
    assert_eq!(
        totals(all),
        "8 checks, of which 3 are met: 4 compare packets with a paper (1 met), 1 packets with a \
         model (0 met), 1 packets with what we expect (0 met), 2 a model with a model (2 met). Of \
         the unmet checks, 3 contradict the paper, 1 depends on a setting that the paper does not give and \
         1 is a bug of Accord."
    );
    let failed = totals([(Kind::Paper, Failed)]);
    assert!(failed.ends_with(" Of the unmet checks, 1 has no valid reason."), "{failed}");
    let met = totals([(Kind::Paper, Met)]);
    assert!(met.starts_with("1 check, of which 1 is met: "), "{met}");
    assert!(met.ends_with("(0 met)."), "{met}");
    assert_eq!(Tally::of([Met, Open, Finding]).worst(), Open);
    assert_eq!(Kind::of(Engine::Fluid, Claim::Paper), Kind::Models);
    assert_eq!(Kind::of(Engine::Live, Claim::Paper), Kind::Paper);
}

/// No figure of a paper: then pages have the counts of checks alone.
#[test]
fn recorded_results_are_lines_of_verdicts() {
    for (text, wrong) in [
        ("# x\ne | \n  met | nobody | 1 | x\n", "line 3: \"  met | nobody | 1 | x\""),
        ("  met | packet | 1 | x\n", "line 1: \"  met | packet | 1 | x\""),
        ("e | \n  met | packet\n", "line 2: \"  met | packet\""),
        ("nonsense\n", "line 1: \"nonsense\""),
    ] {
        assert_eq!(Results::parse(text).err().as_deref(), Some(wrong));
    }
}

/// A row that is read back from recorded results is the row that was made.
#[test]
fn recorded_results_give_the_same_row() {
    let mut s = world(known(Cause::Paper, 3.0, 0.1));
    s.point = vec![("law".into(), "accord".into())];
    let runs = [packets(3.0)];
    let judged = checks(&s, &[&runs[0]]);
    let made = ExperimentRow::of("e", &[Point { scenario: &s, runs: &runs, checks: &judged }]);
    let text = "e | law = accord\n  digest | seed 1 | d19e571\n  finding | packet | 3e6 | an expectation\n";
    let recorded = Results::parse(text).expect("results");
    let read = |s: &Scenario| recorded.row("e", std::slice::from_ref(s));
    assert_eq!(read(&s), Ok(made));
    let renamed = |change: fn(&mut Scenario)| {
        let mut other = s.clone();
        change(&mut other);
        read(&other)
    };
    let point = renamed(|s| s.point[0].1 = "other".into());
    assert_eq!(point, Err("e, law = other: not recorded".into()));
    let wrong = Err("e, law = accord: other checks are recorded".into());
    let name = renamed(|s| s.expectations[0].name = "other".into());
    assert_eq!(name, wrong);
    assert_eq!(renamed(|s| s.expectations.clear()), wrong);
    // Live runs are not recorded.
    let mut live = s.clone();
    let mut more = live.expectations[0].clone();
    more.engine = Engine::Live;
    more.fails = None;
    live.expectations.push(more);
    assert_eq!(read(&live), read(&s));
}
