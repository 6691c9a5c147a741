//! The results of an evaluation: dossier, table, JUnit; and subjects that fail.

mod common;

use accord::Options;
use accord::columns::Format;
use accord::control::{
    Acked, Allowance, AnyController, Congestion, Controller, Maker, PathView, Transport,
};
use accord::family::{Family, Objective, Role, Values};
use accord::live::Mode;
use accord::record::Quiet;
use accord::scenario::{Engine, MetricUnit};
use accord::units::{Bytes, Time};
use accord_evaluate::pack::{Better, open};
use accord_evaluate::rule::{Asked, Bound, Requirement, resolve};
use accord_evaluate::{
    Baseline, Changes, Dossier, Evaluation, Finding, Key, Measured, Order, Outcome, PackResult,
    Pair, Plan, Reasons, Row, RunFailure, Subject, Survey, Tier, annotations, attempt, compare,
    evaluate_command, html, judge, junit, run_command, sentence, tidy, verdicts,
};
use common::SCENARIO;
use std::fs;

const PACK: &str = r#"
name = "small"
title = "A small pack"
source = "Nowhere, section 1"
subject = "controller"
notes = "For tests."

[[measure]]
name = "utilisation"
metric = "utilisation"
of = "bottleneck"
better = "more"

[[measure]]
name = "queuing delay"
metric = "queuing_delay"
of = "bottleneck"
better = "less"

[[section]]
number = "1"
title = "One"
level = "MUST"
asks = "Uses the link."

[[section.rule]]
require = "queuing delay <= 1 ms"
source = "Nowhere, section 1"
because = "Queues are waits."

[[section.rule]]
require = "one: utilisation >= 80 %"
source = "ours"
because = "The link is there to be used."

[[section.case]]
name = "one"
title = "One flow | of <b>"
scenario = "one"
subject = ["flow.subject.controller"]
measures = ["utilisation", "queuing delay"]

[[section]]
number = "2"
title = "Two"
asks = "Something else."
not_measured = "there is no way"

[[left_out]]
what = "three"
why = "it is left out"
"#;

/// A controller that goes wrong when the window reaches a size: it panics, or the window is none.
#[derive(Clone, Debug)]
struct Wrong {
    window: f64,
    then: f64,
}

impl Controller for Wrong {
    fn on_ack(&mut self, ack: &Acked, _: &PathView, now: Time) {
        self.window += ack.bytes.as_f64();
        if now.as_secs_f64() > 1.0 {
            assert!(self.then.is_finite() || self.then.is_nan(), "the end of the rope");
            self.window = self.then;
        }
    }

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {
        self.window = 2000.0;
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::from_f64(self.window), pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

fn objective(_: &Values) -> Objective {
    Objective::Loss
}

const fn wrong(name: &'static str, maker: &'static Maker) -> Family {
    Family { doc: "Goes wrong.", maker, ..Family::new(name, Role::Controller(objective)) }
}

macro_rules! maker {
    ($then:expr) => {
        &Maker {
            build: |_, _| AnyController::foreign(Wrong { window: 2000.0, then: $then }),
            transport: Transport::Stream,
        }
    };
}

static PANICS: Family = wrong("panics", maker!(f64::INFINITY));
static NOTHING: Family = wrong("nothing", maker!(0.0));
static HUGE: Family = wrong("huge", maker!(9.3e18));
static NAN: Family = wrong("nan", maker!(f64::NAN));

/// Evaluates these subjects in the small pack.
fn evaluation(subjects: &[&str], seed: u64) -> Evaluation {
    evaluation_of(PACK, Engine::Packet, subjects, seed)
}

/// Evaluates these subjects in a pack by an engine.
fn evaluation_of(pack: &str, engine: Engine, subjects: &[&str], seed: u64) -> Evaluation {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    fs::write(dir.path().join("pack.toml"), pack).expect("written");
    fs::write(dir.path().join("one.toml"), SCENARIO).expect("written");
    let catalogue = accord::catalogue_with(&[&PANICS, &NOTHING, &HUGE, &NAN], &[]);
    let mut pack = open(&dir.path().display().to_string()).expect("a pack");
    // The name of the directory is another in each run.
    pack.directory = Some("small".into());
    let subject = |name: &&str| Subject::parse(name, &catalogue).expect("a subject");
    let order = Order {
        subjects: subjects.iter().map(subject).collect(),
        tier: Tier::Quick,
        engine,
        seed,
        reps: 3,
        cases: Vec::new(),
        live: None,
        server: None,
    };
    let plan = Plan::of(pack, &order, &catalogue).expect("it fits");
    let plans = std::slice::from_ref(&plan);
    let requirements = resolve(plans, &[], order.tier, 1).expect("the rules are about something");
    let attempt = |trial| attempt(&plan, trial, engine, &Options::default(), None, &mut Quiet);
    let measured: Vec<Measured> =
        (plan.trials.iter()).map(|trial| attempt(trial).expect("no interruption")).collect();
    let packs = vec![PackResult::of(plan, order.subjects.len(), &measured)];
    Evaluation { order, packs, requirements, limits: Vec::new() }
}

#[test]
fn a_dossier_says_what_was_asked_and_measured() {
    let evaluation = evaluation(&["vegas", "newreno"], 1);
    let dossier = Dossier::of(&evaluation, None);
    let page = html(&dossier);
    assert!(page.contains("One flow | of &lt;b&gt;") && !page.contains("of <b>"));
    let (from, to) = (page.find("<header>"), page.find("</main>"));
    let body = &page[from.expect("a header")..to.expect("a body") + "</main>".len()];
    let body = format!("<body>{body}</body>");
    let document = roxmltree::Document::parse(&body).expect("well-formed");
    assert_eq!(document.descendants().filter(|n| n.has_tag_name("svg")).count(), 2);
    let shown = |n: &roxmltree::Node| n.is_text() && !n.ancestors().any(|a| a.has_tag_name("svg"));
    let texts = document.descendants().filter(shown).filter_map(|n| n.text());
    let lines: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn junit_is_well_formed_and_counts() {
    let evaluation = evaluation(&["newreno", "vegas"], 1);
    let verdicts = verdicts(&evaluation, None);
    let text = junit("accord evaluate", &verdicts);
    let document = roxmltree::Document::parse(&text).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let count = |name: &str| document.descendants().filter(|n| n.has_tag_name(name)).count();
    assert_eq!((count("testsuite"), count("testcase"), count("failure")), (1, 2, 1));
    assert_eq!(root.attribute("tests"), Some("2"));
    assert_eq!(root.attribute("failures"), Some("1"));
    let failure = document.descendants().find(|n| n.has_tag_name("failure"));
    let message = failure.and_then(|f| f.attribute("message")).expect("a message");
    assert!(message.contains("(at most 1 ms, Nowhere, section 1)"), "{message}");
    let lines = annotations(&verdicts);
    assert_eq!(lines.len(), 1);
    let title = "::error title=small/one%3A queuing delay::";
    assert!(lines[0].starts_with(title), "{lines:?}");
}

/// A recorded reason explains a failure by a rule of the pack, and none by a rule of the user.
#[test]
fn a_survey_excuses_no_rule_of_the_user() {
    let mut evaluation = evaluation(&["newreno"], 1);
    let reasons = Reasons::read("newreno | small | 1 | it fills the queue\n");
    let survey = |evaluation: &Evaluation| {
        let mut survey = Survey::default();
        survey.add(evaluation, &reasons);
        survey
    };
    let known = survey(&evaluation);
    assert_eq!(known.unexplained().count(), 0);
    assert!(known.html().contains("Each case ran with 3 seeds."));
    let checks = known.checks(&[]);
    let [check] = &checks[..] else { panic!("{checks:?}") };
    assert_eq!((check.key.case.as_str(), check.key.measure.as_str()), ("small §1", "newreno"));
    assert_eq!(check.failure, None);
    let skipped = check.skipped.as_deref().expect("it is known");
    assert!(skipped.ends_with("; it fills the queue"), "{skipped}");
    for requirement in &mut evaluation.requirements {
        requirement.asked = true;
    }
    let theirs = survey(&evaluation);
    assert_eq!(theirs.unexplained().count(), 1);
    let checks = theirs.checks(&[]);
    let failure = checks[0].failure.as_deref().expect("it fails");
    assert!(failure.starts_with("FAIL small §1: queuing delay "), "{failure}");
}

/// Returns an evaluation as a baseline, by way of its file.
fn baseline_of(evaluation: &Evaluation) -> Baseline {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    let path = dir.path().join("evaluation.parquet");
    let mut bytes = Vec::new();
    tidy(evaluation).write(&mut bytes, Format::Parquet, "evaluation").expect("written");
    fs::write(&path, &bytes).expect("written");
    Baseline::read(fs::File::open(&path).expect("there")).expect("a baseline")
}

/// Takes the values of the last seeds away from the subject: of runs without a value, or of those that
/// this machine did not keep up with.
fn take_away(evaluation: &mut Evaluation, without: usize, unfit: usize) {
    for row in &mut evaluation.packs[0].cases[0].rows {
        let left = row.values[0].len() - without - unfit;
        row.values[0].truncate(left);
        (row.without[0], row.unfit) = (without, unfit);
    }
}

/// Values of some seeds say nothing of the others.
#[test]
fn a_run_without_a_value_fails_its_rules() {
    let mut evaluation = evaluation(&["vegas", "newreno"], 1);
    take_away(&mut evaluation, 2, 0);
    let sections = evaluation.sections();
    assert!(sections[0].rules.iter().all(|judged| judged.outcome == Outcome::Fail));
    let line = &sections[0].line;
    assert!(line.starts_with("FAIL ") && line.contains("no value in 2 of 3 runs"), "{line}");
    let failed = verdicts(&evaluation, None);
    assert_eq!(failed.iter().filter(|v| v.failure.is_some()).count(), 2);
    assert!(html(&Dossier::of(&evaluation, None)).contains(", no value in 2 of 3 runs"));
}

/// One value of three seeds has no interval, and another seed does not help on a busy machine.
#[test]
fn one_value_of_several_seeds_is_not_one_seed() {
    let mut evaluation = evaluation(&["vegas", "newreno"], 1);
    take_away(&mut evaluation, 0, 2);
    let sections = evaluation.sections();
    let line = &sections[0].line;
    assert!(line.starts_with("INCONCLUSIVE "), "{line}");
    assert!(
        line.contains("did not keep up with 2 of 3 runs") && !line.contains("--reps"),
        "{line}"
    );
    let says = sections[0].rules[0].says();
    assert!(says.contains("did not keep up with 2 of 3 runs"), "{says}");
    let has = |evaluation: &Evaluation, text: &str| {
        let lines = Dossier::of(evaluation, None).verdict();
        lines.iter().any(|line| line.text.contains(text))
    };
    assert!(!has(&evaluation, "did not keep up with 2 runs"));
    for seed in [2, 3] {
        let (point, why) = (String::new(), "late".into());
        let late = RunFailure { subject: 0, point, seed, why, unfit: true };
        evaluation.packs[0].cases[0].failures.push(late);
    }
    assert!(has(&evaluation, "did not keep up with 2 runs, whose values are left out"));
}

/// A subject that loses the values of some seeds is worse than before, whatever those are that are left.
#[test]
fn lost_values_are_a_regression() {
    let whole = evaluation(&["vegas"], 1);
    let baseline = baseline_of(&whole);
    let changed = |without, unfit| {
        let mut now = whole.clone();
        take_away(&mut now, without, unfit);
        let changes = Changes::since(&baseline, &now);
        let failed = verdicts(&now, Some(&changes));
        let failed = failed.iter().filter(|v| {
            v.failure.as_ref().is_some_and(|why| why.contains("worse than the baseline"))
        });
        assert_eq!(failed.count(), changes.regressions().count());
        (changes.regressions().count(), changes)
    };
    let (count, changes) = changed(2, 0);
    assert_eq!(count, 2);
    let says = sentence(&changes.all[0]);
    assert!(says.contains("no value in 2 of 3 runs, and in 0 of 3 before"), "{says}");
    assert_eq!(changed(3, 0).0, 2);
    assert_eq!(changed(0, 0).0, 0);
    // A machine that did not keep up says nothing of the subject.
    let (count, changes) = changed(0, 3);
    assert_eq!(count, 0);
    assert!(sentence(&changes.all[0]).contains("no measurement now"), "{:?}", changes.all);
    // A run without a value as before is no news.
    let mut before = whole.clone();
    take_away(&mut before, 1, 0);
    let baseline = baseline_of(&before);
    assert_eq!(Changes::since(&baseline, &before).regressions().count(), 0);
    let mut now = whole.clone();
    take_away(&mut now, 3, 0);
    assert_eq!(Changes::since(&baseline, &now).regressions().count(), 2);
}

/// The last line agrees with the exit code.
#[test]
fn a_regression_fails_the_conclusion() {
    let mut now = evaluation(&["vegas"], 1);
    now.requirements.clear();
    let baseline = baseline_of(&now);
    take_away(&mut now, 1, 0);
    let changes = Changes::since(&baseline, &now);
    let last = |changes| Dossier::of(&now, changes).verdict().pop().expect("a line").text;
    assert_eq!(last(Some(&changes)), "FAIL: 2 measures worse than the baseline.");
    assert_eq!(last(None), "No rule of these packs is about these cases.");
    let with_rules = evaluation(&["vegas"], 1).conclusion_with(1);
    assert!(with_rules.starts_with("FAIL: ") && with_rules.contains("; 1 measure worse"));
    let page = html(&Dossier::of(&now, Some(&changes)));
    assert!(page.contains("<p class=\"verdict fail\">FAIL: 2 measures worse"));
}

/// The subject has no value where its rival has one.
#[test]
fn a_limit_of_worse_measures_counts_those_without_a_value() {
    let mut evaluation = evaluation(&["vegas", "vegas"], 1);
    let limits = |evaluation: &Evaluation| evaluation.limits().iter().all(|limit| limit.passes);
    let mut asked = Asked::default();
    asked.fail_on("--fail-on", "worse > 0");
    evaluation.limits = asked.limits(2, 1).expect("a limit");
    assert!(limits(&evaluation));
    take_away(&mut evaluation, 3, 0);
    assert!(!limits(&evaluation));
}

/// A measure without a value and without a rule is no success.
#[test]
fn junit_skips_what_has_no_value() {
    let mut evaluation = evaluation(&["vegas"], 1);
    evaluation.requirements.clear();
    take_away(&mut evaluation, 3, 0);
    let verdicts = verdicts(&evaluation, None);
    let skipped = verdicts.iter().filter_map(|v| v.skipped.as_deref());
    assert_eq!(skipped.collect::<Vec<_>>(), ["no value in 3 of 3 runs"; 2]);
    let text = junit("accord evaluate", &verdicts);
    assert_eq!(text.matches("<skipped").count(), 2, "{text}");
}

/// Theory has no losses, so it decides nothing of them.
#[test]
fn a_quantity_that_the_engine_does_not_record_decides_nothing() {
    let pack = PACK
        .replace("metric = \"queuing_delay\"", "metric = \"loss_ratio\"")
        .replace("queuing delay <= 1 ms", "queuing delay <= 1 %");
    let evaluation = evaluation_of(&pack, Engine::Theory, &["vegas", "vegas-rem"], 1);
    let sections = evaluation.sections();
    let line = &sections[0].line;
    assert!(line.starts_with("INCONCLUSIVE "), "{line}");
    assert!(line.contains("theory does not record loss_ratio"), "{line}");
    let verdicts = verdicts(&evaluation, None);
    assert!(verdicts.iter().all(|v| v.failure.is_none()));
}

/// The commands of a dossier name all that determines its figures.
#[test]
fn commands_name_the_engine_the_medium_and_the_server() {
    let mut evaluation = evaluation(&["vegas", "newreno"], 1);
    let commands = |evaluation: &Evaluation| {
        let (pack, order) = (&evaluation.packs[0].pack, &evaluation.order);
        let case = &pack.sections[0].cases[0];
        let run = run_command(pack, case, &order.subjects[0], order);
        [evaluate_command(pack, case, order), run]
    };
    assert_eq!(
        commands(&evaluation)[0],
        "accord evaluate --pack small --case one --subject 'vegas' --against 'newreno' --tier quick \
         --engine packet --seed 1 --reps 3 -o runs/small-one"
    );
    let order = &mut evaluation.order;
    let line = "command: ./client '{server}'";
    order.subjects = vec![Subject::parse(line, &accord::catalogue()).expect("a subject")];
    (order.engine, order.live) = (Engine::Live, Some(Mode::Namespaces));
    order.server = Some("./server".into());
    order.tier = Tier::Whole;
    evaluation.packs[0].pack.directory = Some("./my packs/small".into());
    for command in commands(&evaluation) {
        assert_eq!(
            command,
            "accord evaluate --pack './my packs/small' --case one \
             --subject 'command: ./client '\\''{server}'\\''' --against '' --tier whole --engine live \
             --live namespaces --server './server' --seed 1 --reps 3 -o runs/small-one"
        );
    }
}

/// Vegas with twice as much queued against Vegas, by way of the file that is a baseline.
#[test]
fn a_regression_is_told_from_another_seed() {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    let path = dir.path().join("evaluation.parquet");
    let before = evaluation(&["vegas"], 1);
    let mut bytes = Vec::new();
    tidy(&before).write(&mut bytes, Format::Parquet, "evaluation").expect("written");
    fs::write(&path, &bytes).expect("written");
    let baseline = Baseline::read(fs::File::open(&path).expect("there")).expect("a baseline");
    assert_eq!(baseline.subject, "vegas");
    let since = |subject, seed| Changes::since(&baseline, &evaluation(&[subject], seed));
    let same = since("vegas", 100);
    assert_eq!((same.all.len(), same.unmatched), (2, 0));
    assert_eq!(same.regressions().count(), 0, "{same:?}");
    let worse = since("vegas,alpha=6 pkt,beta=8 pkt", 1);
    let names: Vec<&str> = worse.regressions().map(|c| c.key.measure.as_str()).collect();
    assert_eq!(names, ["queuing delay"]);
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
    assert!(Baseline::read(fs::File::open(&path).expect("there")).is_err());
}

#[test]
fn subjects_that_go_wrong_are_named_with_scenario_and_time() {
    for (name, expected) in [
        ("panics", "the end of the rope"),
        ("nothing", "the window of subject is 0 B at 1."),
        ("huge", "the window is 9300000000000000000 B, and the largest is"),
        ("nan", "the window of subject is 0 B at 1."),
    ] {
        let evaluation = evaluation(&[name, "vegas"], 1);
        let failures = evaluation.failures();
        assert_eq!(failures.len(), 3, "each seed: {failures:?}");
        let (key, failure) = &failures[0];
        assert_eq!((key.case.as_str(), failure.seed), ("one", 1));
        assert!(failure.why.contains(expected), "{failure:?}");
        if name == "panics" || name == "huge" {
            assert!(failure.why.starts_with("panicked after 1."), "{failure:?}");
        }
        // The rival has its figures.
        let (_, _, row) = evaluation.rows().next().expect("a row");
        assert!(row.of(0).is_empty() && row.of(1).len() == 3);
        let failed = verdicts(&evaluation, None);
        assert!(failed.iter().any(|v| v.failure.is_some()));
    }
}

/// A share of 130 % is no better than one of 100 %, and one of 90 % is better than one of 60 %.
#[test]
fn a_measure_that_is_to_be_even_is_judged_from_both_sides() {
    let finding = |before: [f64; 4], after: [f64; 4]| {
        let pair = Pair {
            key: Key {
                pack: "p".into(),
                case: "c".into(),
                point: String::new(),
                measure: "late over first".into(),
            },
            unit: MetricUnit::Ratio,
            better: Better::Even,
            relevant: 0.05,
            before: before.to_vec().into(),
            after: after.to_vec().into(),
        };
        let compared = compare(&[pair]).remove(0);
        let moved = compared.change.expect("there are values").0;
        assert_eq!(moved > 0.0, after[0] > before[0], "the values themselves");
        compared.finding
    };
    let around = |mean: f64| [mean - 0.01, mean - 0.005, mean + 0.005, mean + 0.01];
    assert_eq!(finding(around(0.6), around(0.9)), Finding::Better);
    assert_eq!(finding(around(1.02), around(1.3)), Finding::Worse);
    assert_eq!(finding(around(1.5), around(0.9)), Finding::Better);
    assert_eq!(finding(around(0.8), around(1.2)), Finding::Same);
}

/// Few and scattered values decide nothing, and more would: 84 ± 22 % is not "as good as" 89 %.
#[test]
fn noise_is_unclear_and_says_how_many_seeds_would_decide() {
    let found = |before: &[f64], after: &[f64]| {
        let key = Key {
            pack: "p".into(),
            case: "c".into(),
            point: String::new(),
            measure: "utilisation".into(),
        };
        let (before, after) = (before.to_vec().into(), after.to_vec().into());
        let (unit, better, relevant) = (MetricUnit::Ratio, Better::More, 0.05);
        let compared = compare(&[Pair { key, unit, better, relevant, before, after }]).remove(0);
        (compared.finding, compared.seeds)
    };
    let steady = [0.893, 0.8931, 0.8929];
    assert_eq!(found(&steady, &steady), (Finding::Same, None));
    let (finding, seeds) = found(&steady, &[0.753, 0.842, 0.931]);
    assert_eq!(finding, Finding::Unclear);
    // A deviation of 0.089 and a difference of 0.051: by hand, t · 0.089 / √n < 0.051 from 14 on.
    assert!(seeds.is_some_and(|n| (12..=16).contains(&n)), "{seeds:?}");
    assert_eq!(found(&[0.9], &[0.9]), (Finding::Unclear, None), "one seed");
}

/// A machine that did not keep up says nothing of the subject.
#[test]
fn a_rule_without_a_measurement_is_open() {
    let mut evaluation = evaluation(&["newreno", "vegas"], 1);
    for row in &mut evaluation.packs[0].cases[0].rows {
        (row.values[0], row.unfit) = (Vec::new(), 3);
    }
    let sections = evaluation.sections();
    let line = &sections[0].line;
    assert!(line.starts_with("INCONCLUSIVE small §1: "), "{line}");
    assert!(line.contains("this machine did not keep up"), "{line}");
}

/// A rule is decided by the interval of the mean, and says how many seeds it needs if it is not.
#[test]
fn a_rule_passes_fails_or_is_open() {
    let judged = |values: &[f64], bound, value, quotient| {
        let key = Key {
            pack: "p".into(),
            case: "c".into(),
            point: String::new(),
            measure: "loss".into(),
        };
        let (source, because) = ("ours".to_string(), String::new());
        let requirement = Requirement { key, bound, value, source, because, asked: false };
        let values = vec![(1..).zip(values.iter().copied()).collect()];
        let (point, unit) = (String::new(), MetricUnit::Ratio);
        let (without, unrecorded) = (vec![0], None);
        let row = Row { point, measure: 0, unit, quotient, values, without, unfit: 0, unrecorded };
        let judged = judge(&requirement, &row);
        (judged.outcome, judged.seeds)
    };
    let outcome = |values: &[f64], bound, value| judged(values, bound, value, false);
    let values = [0.04, 0.05, 0.06]; // 0.05 ± 0.025
    assert_eq!(outcome(&values, Bound::AtMost, 0.08), (Outcome::Pass, None));
    assert_eq!(outcome(&values, Bound::AtMost, 0.02), (Outcome::Fail, None));
    assert_eq!(outcome(&values, Bound::AtLeast, 0.02), (Outcome::Pass, None));
    // t(n − 1) · 0.01 / √n < 0.01: n = 7.
    assert_eq!(outcome(&values, Bound::Below, 0.06), (Outcome::Inconclusive, Some(7)));
    assert_eq!(outcome(&values, Bound::AtMost, 0.05), (Outcome::Inconclusive, None));
    assert_eq!(outcome(&[0.05], Bound::AtMost, 0.5), (Outcome::Inconclusive, Some(2)));
    assert_eq!(outcome(&[], Bound::AtMost, 0.5), (Outcome::Fail, None));
    // Values that do not vary may be at the bound.
    assert_eq!(outcome(&[0.0, 0.0], Bound::AtMost, 0.0), (Outcome::Pass, None));
    assert_eq!(outcome(&[0.0, 0.0], Bound::Above, 0.0), (Outcome::Fail, None));
    // Three seeds with a factor of ten each between them: the mean is 37 ± 136, the geometric mean 10.
    let far = [1.0, 10.0, 100.0];
    let quotient = |bound, value| judged(&far, bound, value, true).0;
    assert_eq!(outcome(&far, Bound::AtLeast, 0.02).0, Outcome::Inconclusive);
    // ln 10 ± 4.303 ln 10 / √3: from 0.033 to 3050.
    assert_eq!(quotient(Bound::AtLeast, 0.03), Outcome::Pass);
    assert_eq!(quotient(Bound::AtLeast, 0.04), Outcome::Inconclusive);
    assert_eq!(quotient(Bound::AtMost, 3100.0), Outcome::Pass);
    assert_eq!(quotient(Bound::AtMost, 0.03), Outcome::Fail);
}

#[test]
fn sections_are_judged_and_the_failed_come_first() {
    let evaluation = evaluation(&["newreno", "vegas"], 1);
    let sections = evaluation.sections();
    assert_eq!(sections.len(), 1, "section 2 has no rules");
    let line = &sections[0].line;
    assert!(line.starts_with("FAIL small §1: queuing delay "), "{line}");
    assert!(line.contains(" (vegas ") && line.ends_with("; at most 1 ms, Nowhere, section 1)"));
    let outcomes: Vec<Outcome> = sections[0].rules.iter().map(|judged| judged.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Fail], "utilisation, then delay");
    let says = evaluation.conclusion();
    assert_eq!(says, "FAIL: of 1 section 1 failed, 0 are inconclusive and 0 passed.");
}
