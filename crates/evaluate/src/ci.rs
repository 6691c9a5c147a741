//! Verdicts for systems of continuous integration: JUnit XML, and annotations.

use crate::baseline::{Changes, is_regression, sentence};
use crate::dossier::beside;
use crate::evaluation::{Compared, Evaluation, Key};
use crate::judge::{Judged, LimitVerdict, Outcome};
use accord::report::{Check, Class, Point, show};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;

/// The verdict on a measure, or on a run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The subject of the check.
    pub key: Key,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Why it was skipped, if it was.
    pub skipped: Option<String>,
    /// The measured value, or "".
    pub says: String,
}

/// Returns the verdicts of an evaluation: on every measure of the subject, on runs that failed, and on
/// limits of counts. A rule that is not met is a failure. A rule that no data decides is skipped, as is a
/// measure without a value and without a rule.
pub fn verdicts(evaluation: &Evaluation, changes: Option<&Changes>) -> Vec<Verdict> {
    let mut ruled: BTreeMap<&Key, Vec<Judged>> = BTreeMap::new();
    for judged in evaluation.judged() {
        ruled.entry(&judged.requirement.key).or_default().push(judged);
    }
    let all = changes.iter().flat_map(|changes| &changes.all);
    let changed: BTreeMap<&Key, _> = all.map(|c| (&c.key, c)).collect();
    let mut verdicts = Vec::new();
    let rivals = evaluation.order.subjects.iter().enumerate().skip(1);
    let rivals = rivals.map(|(i, rival)| {
        let pairs = evaluation.against(i).into_iter().map(|c| (c.key.clone(), c));
        (&rival.label, pairs.collect::<BTreeMap<Key, Compared>>())
    });
    let rivals: Vec<_> = rivals.collect();
    for (result, case, row) in evaluation.rows() {
        let key = result.key(case, row);
        let compared = changed.get(&key);
        let regression = compared.filter(|c| is_regression(c)).map(|c| sentence(c));
        let failure = regression.map(|r| format!("worse than the baseline: {r}"));
        let mut says = match (row.estimate(0), compared) {
            (Some(_), Some(compared)) => sentence(compared),
            (Some(e), None) => accord::report::show::estimate(e, row.unit),
            (None, _) => String::new(),
        };
        let lacks = row.lacks();
        if let (Some(lacks), false) = (&lacks, says.is_empty()) {
            says += &format!("\n{lacks}");
        }
        for (rival, all) in &rivals {
            if let Some(found) = all.get(&key).filter(|c| c.finding.differs()) {
                says += &format!("\n{}: {}", found.finding.word(), beside(found, rival));
            }
        }
        let rules = ruled.get(&key).map_or(&[][..], |rules| &rules[..]);
        let first = |outcome| rules.iter().find(|judged| judged.outcome == outcome);
        let (unmet, open) = (first(Outcome::Fail), first(Outcome::Inconclusive));
        verdicts.push(Verdict {
            failure: failure.or_else(|| unmet.map(Judged::says)),
            skipped: (case.planned.impossible[0].clone())
                .or_else(|| open.map(Judged::says))
                .or_else(|| lacks.filter(|_| row.values[0].is_empty())),
            says,
            key,
        });
    }
    for (key, failure) in evaluation.failures() {
        let (subject, seed) = (&evaluation.order.subjects[0].label, failure.seed);
        verdicts.push(Verdict {
            failure: Some(format!("{subject}, {key}, seed {seed}: {}", failure.why)),
            skipped: None,
            says: String::new(),
            key: Key { measure: format!("run with seed {seed}"), ..key },
        });
    }
    let pack = evaluation.packs.first().map_or("", |p| &p.pack.name);
    verdicts.extend(evaluation.limits().iter().map(|limit| of_limit(limit, pack)));
    verdicts
}

/// Returns the verdict on a limit of counts, in the suite of a pack.
pub(crate) fn of_limit(limit: &LimitVerdict, pack: &str) -> Verdict {
    Verdict {
        failure: (!limit.passes).then(|| limit.line.clone()),
        skipped: None,
        says: limit.line.clone(),
        key: Key {
            pack: pack.into(),
            case: "limits".into(),
            point: String::new(),
            measure: limit.limit.text.clone(),
        },
    }
}

/// Returns the verdicts as JUnit XML: a suite per pack, a test per verdict. `name` is the command.
pub fn junit(name: &str, verdicts: &[Verdict]) -> String {
    let mut report = Report::new(name);
    let packs = show::once(verdicts.iter().map(|v| v.key.pack.as_str()));
    for pack in packs {
        let mut suite = TestSuite::new(pack);
        for verdict in verdicts.iter().filter(|v| v.key.pack == pack) {
            let key = &verdict.key;
            let point = match key.point.as_str() {
                "" => String::new(),
                point => format!(" ({point})"),
            };
            let mut status = match (&verdict.failure, &verdict.skipped) {
                (Some(_), _) => TestCaseStatus::non_success(NonSuccessKind::Failure),
                (None, Some(_)) => TestCaseStatus::skipped(),
                _ => TestCaseStatus::success(),
            };
            if let Some(why) = verdict.failure.as_ref().or(verdict.skipped.as_ref()) {
                status.set_message(why.as_str());
            }
            let mut case = TestCase::new(format!("{}{point}: {}", key.case, key.measure), status);
            case.set_classname(format!("{}.{}", key.pack, key.case));
            if !verdict.says.is_empty() {
                case.set_system_out(verdict.says.as_str());
            }
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.to_string().expect("it is written to memory")
}

/// Returns the checks of a scenario as JUnit XML: a suite per point, a test per check. A failure that is
/// known is skipped, with its cause.
pub fn junit_of_checks(id: &str, points: &[Point]) -> String {
    let mut report = Report::new(format!("accord run {id}"));
    for point in points {
        let label = match point.label().as_str() {
            "" => id.to_string(),
            label => format!("{id}, {label}"),
        };
        let mut suite = TestSuite::new(label);
        for check in point.checks {
            let name = format!("{}: {} ({})", check.engine, check.name, check.of);
            let mut case = TestCase::new(name, status(check));
            case.set_classname(id);
            if let Some(value) = check.measured() {
                case.set_system_out(accord::report::show::estimate(value, check.unit));
            }
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.to_string().expect("it is written to memory")
}

fn status(check: &Check) -> TestCaseStatus {
    let mut status = match check.class {
        Class::Met => return TestCaseStatus::success(),
        Class::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Class::Finding | Class::Open | Class::Ours | Class::Unjudged => TestCaseStatus::skipped(),
    };
    let because = check.fails.as_ref().map_or("", |known| &known.because);
    status.set_message(match because {
        "" => check.reason.clone(),
        because => format!("{}; {because}", check.reason),
    });
    status
}

/// Returns what failed as workflow commands of GitHub, a line each.
pub fn annotations(verdicts: &[Verdict]) -> Vec<String> {
    let failed = verdicts.iter().filter_map(|v| Some((v, v.failure.as_ref()?)));
    failed
        .map(|(verdict, why)| {
            let key = &verdict.key;
            let title = format!("{}/{}: {}", key.pack, key.case, key.measure);
            format!("::error title={}::{}", escaped(&title, true), escaped(why, false))
        })
        .collect()
}

/// Returns a text as workflow commands have it; a property has more that is special.
fn escaped(text: &str, property: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '%' => out += "%25",
            '\r' => out += "%0D",
            '\n' => out += "%0A",
            ':' if property => out += "%3A",
            ',' if property => out += "%2C",
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
