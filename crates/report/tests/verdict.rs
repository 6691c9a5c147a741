//! The texts of verdicts, recorded results, and tables of them.

use crate::support::{expectation, run, scenario};
use accord_record::Run;
use accord_report::{
    Check, Class, ExperimentRow, Kind, Papers, Point, Results, Style, Tally, checks, checks_table,
    experiment_record, rewrite, totals,
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
    assert_eq!(judge(None, 3.0).class, Class::Unknown);
}

#[test]
fn a_record_that_does_not_hold_says_what_to_write() {
    let moved = judge(known(Cause::Ours, 3.0, 0.1), 3.4);
    assert_eq!(moved.class, Class::Unknown);
    assert!(
        moved.reason.ends_with(
            "`fails` has 3.00 Mbps ± 10 %: find the cause of the move, then write measured = \"3.4 Mbps\""
        ),
        "{}",
        moved.reason
    );
    let met = judge(known(Cause::Ours, 3.0, 0.1), 2.0);
    assert_eq!((met.class, met.pass), (Class::Unknown, true));
    assert!(met.reason.ends_with("take that out"), "{}", met.reason);
    let s = world(known(Cause::Ours, 3.0, 0.1));
    let gone = checks(&s, &[]).remove(0);
    assert_eq!(gone.class, Class::Unknown);
    assert!(gone.reason.ends_with("now there is no figure"), "{}", gone.reason);
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
         model (0 met), 1 packets with what we expect (0 met), 2 a model with a model (2 met). Not \
         met: 3 findings on the paper, 1 open setting and 1 fault of Accord."
    );
    let unknown = totals([(Kind::Paper, Unknown)]);
    assert!(unknown.ends_with(" Not met: 1 without a recorded reason."), "{unknown}");
    let met = totals([(Kind::Paper, Met)]);
    assert!(met.starts_with("1 check, of which 1 is met: "), "{met}");
    assert!(met.ends_with("(0 met)."), "{met}");
    assert_eq!(Tally::of([Met, Open, Finding]).worst(), Open);
    assert_eq!(Kind::of(Engine::Fluid, Claim::Paper), Kind::Models);
    assert_eq!(Kind::of(Engine::Live, Claim::Paper), Kind::Paper);
}

/// No figure of a paper: then pages have the counts of checks alone.
const NO_PAPERS: Papers = Papers { rivals: vec![], figures: vec![] };

/// The lines of counts where no paper has a figure.
fn no_papers(rows: &[ExperimentRow]) -> [String; 2] {
    NO_PAPERS.summary(rows).counts()
}

fn results(s: &Scenario, runs: &[Run]) -> (Results, ExperimentRow) {
    let refs: Vec<&Run> = runs.iter().collect();
    let judged = checks(s, &refs);
    let point = Point { scenario: s, runs, checks: &judged };
    let mut results = Results::default();
    results.add("e", &[point]);
    (results, ExperimentRow::of("e", &[point]))
}

#[test]
fn results_are_read_back_and_differences_are_told() {
    let mut s = world(None);
    s.point = vec![("n".into(), "1 | 2".into())];
    let (before, _) = results(&s, &[packets(2.0)]);
    let text = before.print("the command");
    assert_eq!(
        text,
        "# Digests of all packet runs, and their figures. Written by\n# the command\n\
         e | n = 1 | 2\n  digest | seed 1 | d19e571\n  met | packet | 2.00000e6 | an expectation\n"
    );
    assert_eq!(Results::parse(&text).as_ref(), Ok(&before));
    assert_eq!(before.differences(&before, true), Vec::<String>::new());

    let mut run = packets(3.0);
    run.manifest.digest = "other".into();
    let (after, _) = results(&s, &[run]);
    assert_eq!(
        before.differences(&after, true),
        [
            "e, n = 1 | 2, seed 1: the digest of the packet run was d19e571, and is other",
            "  an expectation (packet): 2.00000e6 to 3.00000e6, met to unknown",
        ]
    );
    let text = "a | \ne | \nb | \n";
    let three = Results::parse(text).expect("three experiments");
    let again = Results::parse("e | n = 1\ne | n = 2\nnew | \n").expect("three points");
    let ids = |r: &Results| -> Vec<String> {
        let lines = r.print("").lines().map(String::from).collect::<Vec<_>>();
        lines.into_iter().filter(|l| !l.starts_with('#')).collect()
    };
    let all = ["a | ", "e | n = 1", "e | n = 2", "new | ", "b | "];
    assert_eq!(ids(&three.with(&again)), all);
    let none = Results::default();
    assert_eq!(none.differences(&before, true), ["e, n = 1 | 2: not recorded"]);
    let gone = ["e, n = 1 | 2: recorded, and not there any more"];
    assert_eq!(before.differences(&none, true), gone);
    assert_eq!(before.differences(&none, false), Vec::<String>::new());
    let wrong = Results::parse("# x\ne | \n  met | nobody | 1 | x\n");
    assert_eq!(wrong, Err("line 3: \"  met | nobody | 1 | x\"".into()));
}

/// A row that is read back from recorded results is the row that was made.
#[test]
fn recorded_results_give_the_same_row() {
    let mut s = world(known(Cause::Paper, 3.0, 0.1));
    s.point = vec![("law".into(), "accord".into())];
    let (recorded, made) = results(&s, &[packets(3.0)]);
    let read = |s: &Scenario| ExperimentRow::recorded("e", std::slice::from_ref(s), &recorded);
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

/// The last bits of a model may differ from machine to machine; those of packets may not.
#[test]
fn figures_of_models_have_room_those_of_packets_none() {
    let of = |engine: &str, figure: &str| {
        let text = format!("e | \n  met | {engine} | {figure} | x\n");
        Results::parse(&text).unwrap_or_else(|e| panic!("{e}"))
    };
    let differ = |engine: &str, a: &str, b: &str| {
        !of(engine, a).differences(&of(engine, b), true).is_empty()
    };
    assert!(!differ("theory", "2.00000e6", "2.00100e6"));
    assert!(differ("theory", "2.00000e6", "2.01000e6"));
    assert!(differ("packet", "2.00000e6", "2.00001e6"));
    assert!(differ("theory", "2.00000e6", "-"));
}

#[test]
fn pages_get_their_tables() {
    let (_, row) = results(&world(known(Cause::Paper, 3.0, 0.1)), &[packets(3.0)]);
    let page = "head\n<!-- results: counts -->\nold\n<!-- end of results -->\nmiddle\n\
                <!-- results: experiments -->\n<!-- end of results -->\ntail\n";
    let new = rewrite(page, std::slice::from_ref(&row), no_papers).expect("it has markers");
    assert!(new.starts_with("head\n<!-- results: counts -->\n\n- By the papers' schemes 0 of 0"));
    assert!(
        new.contains(
            "\n| finding | e | 0 of 1 | – | – | 1 finding on the paper: of the weather |\n"
        ),
        "{new}"
    );
    assert!(new.contains("<!-- end of results -->\nmiddle\n"));
    assert!(new.ends_with("<!-- end of results -->\ntail\n") && !new.contains("old"));
    assert_eq!(rewrite(&new, &[row], no_papers).as_ref(), Ok(&new), "it stays as it is");
    assert!(rewrite("nothing", &[], no_papers).is_err());
    assert!(rewrite("<!-- results: counts -->\n", &[], no_papers).is_err());
    assert!(rewrite("<!-- results: x -->\n<!-- end of results -->\n", &[], no_papers).is_err());
}

#[test]
fn counts_stand_in_sentences() {
    let mut world = world(known(Cause::Paper, 3.0, 0.1));
    world.point = vec![("n".into(), "1".into())];
    let name = world.expectations[0].name.clone();
    let (_, row) = results(&world, &[packets(3.0)]);
    let rows = std::slice::from_ref(&row);
    let page = |query: &str, count: &str| {
        let counts = "<!-- results: counts -->\n<!-- end of results -->\n";
        format!("{counts}| chosen <!-- failing: {query} -->{count}<!-- end -->, other |\n")
    };
    let tail = |text: String| text.lines().last().unwrap_or_default().to_string();
    let (key, value) = &world.point[0];
    for (query, count) in [
        ("e".to_string(), "1 of 1"),
        (format!("e; check {name}"), "1 of 1"),
        (format!("e; {key} = {value}; check {name}"), "1 of 1"),
    ] {
        let new =
            rewrite(&page(&query, "7 of 9"), rows, no_papers).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(tail(new), tail(page(&query, count)));
    }
    // Missing records are reported, and no count becomes zero of zero.
    for query in ["f", "e; check no such", "e; n = 77", "e; n"] {
        let error = rewrite(&page(query, "0"), rows, no_papers).expect_err(query);
        assert!(error.contains(query), "{error}");
    }
    // Before there are results, markers are looked at alone.
    let stays = rewrite(&page("f", "7 of 9"), &[], no_papers).expect("its form is right");
    assert_eq!(tail(stays), tail(page("f", "7 of 9")));
    assert!(rewrite(&page("e", "7 of 9").replace("<!-- end -->", ""), &[], no_papers).is_err());
}
