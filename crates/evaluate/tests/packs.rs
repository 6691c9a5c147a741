//! The packs that come with the program: they are read, their cases fit their subjects, and every
//! measure has a value in a run of a moment.

mod common;

use accord::language::Source;
use accord::record::Quiet;
use accord::scenario::{Engine, Scenario, Window};
use accord::units::{Duration, Time};
use accord::{Catalogue, Options};
use accord_evaluate::pack::{Figure, built_in, open};
use accord_evaluate::rule::{Asked, Requirement, Rule, resolve};
use accord_evaluate::{Order, Pack, Plan, Subject, Tier, attempt};
use common::SCENARIO;
use std::collections::BTreeSet;
use std::sync::Arc;

fn packs() -> Vec<Pack> {
    let pack = |name| open(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    built_in().map(pack).collect()
}

fn order(pack: &Pack, tier: Tier, catalogue: &Catalogue) -> Order {
    let subject = |name: &String| Subject::parse(name, catalogue).expect("a rival is a family");
    Order {
        subjects: pack.rivals.iter().map(subject).collect(),
        tier,
        engine: Engine::Packet,
        seed: 1,
        reps: 1,
        cases: Vec::new(),
        live: None,
        server: None,
    }
}

/// A sweep whose values set nothing has points that are the same.
#[test]
fn cases_fit_their_subjects_and_points_differ() {
    let catalogue = accord::catalogue();
    let mut points = 0;
    for pack in packs() {
        assert!(pack.rivals.len() >= 2, "{}", pack.name);
        for tier in [Tier::Quick, Tier::Whole] {
            let order = order(&pack, tier, &catalogue);
            let plan = Plan::of(pack.clone(), &order, &catalogue);
            let plan = plan.unwrap_or_else(|e| panic!("{}: {e}", pack.name));
            for planned in &plan.cases {
                let name = &planned.within(&plan.pack).1.name;
                let why = planned.impossible.iter().flatten();
                // Priorities are for controllers that take a weight.
                let weights = pack.name == "rfc8867" && name == "priority";
                let known = |why: &String| weights && why.contains("can hold no service");
                let unknown: Vec<_> = why.filter(|why| !known(why)).collect();
                assert!(unknown.is_empty(), "{}/{name}: {unknown:?}", pack.name);
            }
            let mut seen = BTreeSet::new();
            for trial in plan.trials.iter().filter(|trial| trial.subject == 0) {
                points += 1;
                let name = &plan.cases[trial.case].within(&plan.pack).1.name;
                let new = seen.insert((trial.case, trial.scenario.hash()));
                assert!(new, "{}/{name}: two points are the same", pack.name);
            }
        }
    }
    assert!(points > 300, "{points} points");
}

/// A controller that reads no weight cannot be asked for priorities.
#[test]
fn priorities_are_for_controllers_that_keep_an_accumulation() {
    let catalogue = accord::catalogue();
    let pack = open("rfc8867").expect("a pack");
    let mut order = order(&pack, Tier::Quick, &catalogue);
    let subjects = [("monaco", None), ("copa", Some("leaves its target next to others"))];
    let subject = |name| Subject::parse(name, &catalogue).expect("a family");
    order.subjects = subjects.map(|(name, _)| subject(name)).to_vec();
    let plan = Plan::of(pack, &order, &catalogue).expect("a plan");
    let case = |n: &usize| plan.cases[*n].within(&plan.pack).1.name == "priority";
    let n = (0..plan.cases.len()).find(case).expect("the case");
    for ((name, why), found) in subjects.iter().zip(&plan.cases[n].impossible) {
        let is_right = match why {
            Some(why) => found.as_ref().is_some_and(|found| found.contains(why)),
            None => found.is_none(),
        };
        assert!(is_right, "{name}: {found:?}");
    }
}

/// The scenario for a moment only.
fn brief(scenario: &Scenario) -> Scenario {
    let mut brief = scenario.clone();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let window = Window { start: at(100), end: at(200) };
    (brief.duration, brief.sample, brief.steady) =
        (Duration::from_ms(200), Duration::from_ms(1), window);
    brief.events.retain(|event| event.at < at(200));
    for wanted in &mut brief.expectations {
        wanted.during = window;
    }
    for flow in &mut brief.flows {
        (flow.start, flow.stop) = (Time::ZERO, None);
    }
    brief
}

#[test]
fn every_case_runs() {
    let catalogue = accord::catalogue();
    let mut runs = 0;
    for pack in packs() {
        let order = order(&pack, Tier::Whole, &catalogue);
        let plan = Plan::of(pack.clone(), &order, &catalogue).expect("it fits");
        let mut seen = BTreeSet::new();
        for trial in &plan.trials {
            // The first point of each case is enough.
            if trial.subject > 0 || !seen.insert(trial.case) {
                continue;
            }
            runs += 1;
            let mut trial = trial.clone();
            trial.scenario = Arc::new(brief(&trial.scenario));
            let options = Options::default();
            let measured = attempt(&plan, &trial, Engine::Packet, &options, None, &mut Quiet);
            let measured = measured.expect("it runs");
            let (_, case) = plan.cases[trial.case].within(&plan.pack);
            assert_eq!(measured.failure, "", "{}/{}", pack.name, case.name);
            for (&m, value) in case.measures.iter().zip(&measured.values) {
                let measure = &pack.measures[m];
                // Ratios, variations, ends of transfers and states of a controller may lack a value in a moment.
                let may_lack = match &measure.figure {
                    Figure::Ratio(..) => true,
                    Figure::Value(w) | Figure::Reach(w) => {
                        ["completion", "ratio", "variation", "jain", "delay", "bbr3."]
                            .iter()
                            .any(|word| w.contains(word))
                    }
                };
                let there = value.is_some_and(f64::is_finite);
                let name = &measure.name;
                assert!(there || may_lack, "{}/{}: {name}: {value:?}", pack.name, case.name);
            }
        }
    }
    assert!(runs > 60, "{runs} cases");
}

const PACK: &str = r#"
name = "mine"
title = "Mine"
source = "here"
subject = "controller"
rivals = ["cubic"]

[[measure]]
name = "utilisation"
metric = "utilisation"
of = "bottleneck"
better = "more"

[[section]]
number = "1"
title = "One"
asks = "Something."

[[section.case]]
name = "one"
title = "One flow"
scenario = "one"
subject = ["flow.subject.controller"]
measures = ["utilisation"]
"#;

/// Resolves the rules of the pack with these texts, and those of a user.
fn ruled(pack: &str, scenario: &str, rules: &[Rule]) -> Result<Vec<Requirement>, String> {
    let plan = plan(pack, scenario)?;
    resolve(&[plan], rules, Tier::Quick, 1).map_err(|e| e.to_string())
}

/// Opens and plans the pack with these texts.
fn plan(pack: &str, scenario: &str) -> Result<Plan, String> {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    std::fs::write(dir.path().join("pack.toml"), pack).expect("written");
    std::fs::write(dir.path().join("one.toml"), scenario).expect("written");
    let catalogue = accord::catalogue();
    let path = dir.path().display().to_string();
    let pack = open(&path).map_err(|e| e.to_string())?;
    let order = order(&pack, Tier::Quick, &catalogue);
    Plan::of(pack, &order, &catalogue).map_err(|e| e.to_string())
}

#[test]
fn wrong_packs_have_errors_with_their_place() {
    assert!(plan(PACK, SCENARIO).is_ok());
    for (from, to, expected) in [
        ("name = \"mine\"", "name = \"../mine\"", "pack.toml:2:8: \"../mine\" is not a name"),
        (
            "source = \"here\"",
            "sorce = \"here\"",
            "pack.toml:4:1: unknown key \"sorce\"\n  hint: did you mean \"source\"?",
        ),
        ("subject = \"controller\"\n", "", "`subject` is missing"),
        (
            "metric = \"utilisation\"",
            "metric = \"utilization\"",
            "pack.toml:10:10: \"utilization\" is not known\n  hint: did you mean \"utilisation\"?",
        ),
        (
            "better = \"more\"",
            "better = \"most\"",
            "\"most\" is not known\n  hint: there are: more, less, near 100 %, none",
        ),
        (
            "metric = \"utilisation\"\nof = \"bottleneck\"",
            "ratio = [\"a\", \"b\"]",
            "there is no measure \"a\" above",
        ),
        (
            "measures = [\"utilisation\"]",
            "measures = [\"utilization\"]",
            "pack.toml:24:13: there is no measure \"utilization\"\n  hint: did you mean \"utilisation\"?",
        ),
        ("scenario = \"one\"", "scenario = \"/etc/passwd\"", "is not a name"),
        ("scenario = \"one\"", "scenario = \"two\"", "scenario \"two.toml\": cannot be read"),
        ("of = \"bottleneck\"", "of = \"bottelneck\"", "case \"one\": "),
        (
            "title = \"One flow\"",
            "title = \"One flow\"\nset = [\"flow.subject.cuont=2\"]",
            "case \"one\": ",
        ),
        (
            "title = \"One flow\"",
            "title = \"One flow\"\nset = [\"nothing\"]",
            "case \"one\": \"nothing\" is not a setting",
        ),
        (
            "[[section.case]]\nname = \"one\"\n",
            "[[section.case]]\nname = \"one\"\nscenario = \"one\"\ntitle = \"x\"\nsubject = [\"flow.subject.controller\"]\nmeasures = [\"utilisation\"]\n\n[[section.case]]\nname = \"one\"\n",
            "there are two cases \"one\"",
        ),
        (
            "subject = [\"flow.subject.controller\"]",
            "subject = []",
            "has no subject or measures nothing",
        ),
        (
            "subject = \"controller\"",
            "subject = \"controller\"\nparameters = { rakc = true }",
            "no controller has a parameter \"rakc\"",
        ),
    ] {
        assert!(PACK.contains(from), "{from}");
        let wrong = PACK.replacen(from, to, 1);
        let error = plan(&wrong, SCENARIO).expect_err(to);
        assert!(error.contains(expected), "{to}: {error}");
    }
    // All at once: of the form, and then of names.
    let wrong = PACK.replace("title = \"One\"", "titel = \"One\"").replace("\"more\"", "\"most\"");
    let error = plan(&wrong, SCENARIO).expect_err("two");
    assert!(error.contains("did you mean \"title\"?") && error.contains("\"most\""), "{error}");
    let two = "measures = [\"a\"]\n[[section]]\nnumber = \"2\"\ntitle = \"\"\nasks = \"\"\n";
    let error =
        plan(&PACK.replace("measures = [\"utilisation\"]", two), SCENARIO).expect_err("two");
    assert!(error.contains("no measure \"a\"") && error.contains("2 has no case"), "{error}");
    let error = plan(PACK, &SCENARIO.replace("\"8 Mbps\"", "8")).expect_err("a bare number");
    assert!(error.contains("one.toml:4:8: "), "{error}");
    assert!(plan("\u{0}", SCENARIO).is_err());
}

/// A rule in a pack is about measures of its section, has a source and a reason, and agrees with others.
#[test]
fn wrong_rules_have_errors_with_their_place() {
    let error = |rules: &[(&str, &str, &str)]| {
        let mut text = PACK.to_string();
        for (require, source, because) in rules {
            text += &format!(
                "[[section.rule]]\nrequire = \"{require}\"\nsource = \"{source}\"\nbecause = \"{because}\"\n"
            );
        }
        ruled(&text, SCENARIO, &[]).err().unwrap_or_default()
    };
    assert_eq!(error(&[("utilisation >= 50 %", "ours", "so")]), "");
    for (require, expected) in [
        (
            "utilization >= 50 %",
            "pack.toml:26:12: no case here measures \"utilization\"\n  hint: did you mean \"utilisation\"?",
        ),
        (
            "two: utilisation >= 50 %",
            "pack.toml:26:12: section 1 has no case \"two\"\n  hint: there are: one",
        ),
        ("utilisation = 50 %", "has no bound"),
        ("utilisation >= 5 ms", "pack.toml:26:27: utilisation: \"5 ms\" is not a ratio"),
        ("utilisation >= -1", "is not a ratio"),
        ("utilisation >= nan", "is not a ratio"),
        ("utilisation > 100 %", "the rule never holds: utilisation is between 0 % and 100 %"),
        ("utilisation <= 1.2", "the rule always holds"),
        ("utilisation >= 0 %", "the rule always holds"),
        ("utilisation < 0 %", "the rule never holds"),
    ] {
        let found = error(&[(require, "ours", "so")]);
        assert!(found.contains(expected), "{require}: {found}");
    }
    assert!(error(&[("utilisation >= 50 %", " ", "so")]).contains("`source` of a rule is empty"));
    assert!(error(&[("utilisation >= 50 %", "ours", "")]).contains("`because` of a rule is empty"));
    let both = [("utilisation >= 50 %", "ours", "so"), ("utilisation < 50 %", "ours", "so")];
    let found = error(&both);
    assert!(found.contains("pack.toml:30:12: this contradicts another rule"), "{found}");
    assert!(found.contains("at least 50 %, ours"), "{found}");
}

/// A rule of a user that no run can decide is refused, with its place, and one of the pack stays.
#[test]
fn rules_that_no_run_decides_are_refused() {
    let error = |change: &dyn Fn(&mut Plan), judged: usize| {
        let mut plan = plan(PACK, SCENARIO).expect("it fits");
        let subjects = plan.cases[0].impossible.len();
        plan.cases[0].impossible.resize(subjects.max(2), None);
        change(&mut plan);
        let mut asked = Asked::default();
        asked.require("--require", "mine/one: utilisation > 50 %").expect("a rule");
        let found = resolve(&[plan], &asked.rules, Tier::Quick, judged);
        found.map(|found| found.len()).map_err(|e| e.to_string())
    };
    assert_eq!(error(&|_| {}, 1), Ok(1));
    let unrecorded =
        |plan: &mut Plan| plan.cases[0].unrecorded = vec![Some("live does not record it".into())];
    let found = error(&unrecorded, 1).expect_err("unrecorded");
    assert!(found.contains("--require:1:11: no run can decide the rule: live does not"), "{found}");
    assert!(found.contains("accord list metrics"), "{found}");
    let impossible = |plan: &mut Plan| plan.cases[0].impossible[0] = Some("it is too slow".into());
    let found = error(&impossible, 1).expect_err("impossible");
    assert!(found.contains("--require:1:6: no run can decide the rule: it is too slow"), "{found}");
    // Another subject can run it.
    assert_eq!(error(&impossible, 2), Ok(1));
}

/// Rules of users name packs, cases and points that are run.
#[test]
fn rules_of_users_name_what_is_run() {
    let error = |rule: &str| {
        let mut asked = Asked::default();
        asked.require("--require", rule).map_err(|e| e.to_string())?;
        ruled(PACK, SCENARIO, &asked.rules).map(|found| found.len())
    };
    assert_eq!(error("mine/one: utilisation > 50 %"), Ok(1));
    assert_eq!(error("mine: utilisation > 50 %"), Ok(1));
    for (rule, expected) in [
        (
            "mime: utilisation > 1 %",
            "--require:1:1: pack \"mime\" is not evaluated\n  hint: did you mean \"mine\"?",
        ),
        (
            "mine/two: utilisation > 1 %",
            "--require:1:6: pack mine has no case \"two\"\n  hint: there are: one",
        ),
        (
            "mine/one: loss < 1 %",
            "--require:1:11: no case here measures \"loss\"\n  hint: there are: utilisation",
        ),
        ("mine/one (buffer = 2): utilisation > 1 %", "case \"one\" has no point \"buffer = 2\""),
    ] {
        let found = error(rule).expect_err(rule);
        assert!(found.contains(expected), "{rule}: {found}");
    }
    let mut asked = Asked::default();
    let text =
        "require = [\n  \"mine/one: utilisation > 50 %\",\n  \"mine/two: utilisation > 1 %\",\n]\n";
    let origin = |text: &str| Arc::new(Source { name: "rules.toml".into(), text: text.into() });
    asked.file(&origin(text)).expect("it is read");
    let found = ruled(PACK, SCENARIO, &asked.rules).expect_err("there is no case two");
    assert!(found.starts_with("rules.toml:3:9: pack mine has no case"), "{found}");
    for (text, expected) in [
        (
            "requires = []",
            "rules.toml:1:1: unknown key \"requires\"\n  hint: did you mean \"require\"?",
        ),
        ("require = [1]", "rules.toml:1:12: "),
        ("require = [\"a\\u0020b: c < 1\"]", "rules.toml:1:12: a rule is a plain text in one line"),
        ("require = [\"no rule\"]", "rules.toml:1:13: the rule names no pack"),
    ] {
        let found = Asked::default().file(&origin(text)).expect_err(text).to_string();
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

/// Every section that the packs measure has a rule, and all rules are about something.
#[test]
fn every_pack_has_rules_for_every_section_that_it_measures() {
    let catalogue = accord::catalogue();
    for pack in packs() {
        for section in pack.sections.iter().filter(|section| !section.cases.is_empty()) {
            assert!(!section.rules.is_empty(), "{} has no rule", pack.label(section));
        }
        for tier in [Tier::Quick, Tier::Whole] {
            let order = order(&pack, tier, &catalogue);
            let plan = Plan::of(pack.clone(), &order, &catalogue);
            let plan = plan.unwrap_or_else(|e| panic!("{}: {e}", pack.name));
            let found = resolve(&[plan], &[], tier, 1).unwrap_or_else(|e| panic!("{e}"));

            assert!(!found.is_empty(), "{}", pack.name);
        }
    }
}

/// A subject that does not fit a case is a finding about the subject.
#[test]
fn a_subject_that_does_not_fit_is_no_error() {
    let lost =
        SCENARIO.replace("controller = \"newreno\"", "controller = \"newreno\"\npacing = true");
    let pack = PACK.replace("[\"cubic\"]", "[\"cubic\", \"monaco\"]");
    let plan = plan(&pack, &lost).expect("the pack is right");
    assert_eq!(plan.cases[0].impossible[0], None);
    let why = plan.cases[0].impossible[1].as_ref().expect("a tunnel has no pacing");
    assert!(why.contains("monaco does not run on a stream"), "{why}");
}
