//! Counts of verdicts, by class and by the two sides that are compared.

use crate::class::Class;
use crate::show;
use accord_scenario::{Claim, Engine, Expectation, Metric, Scenario};

/// The number of verdicts of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; Class::ALL.len()]);

impl Tally {
    /// Counts verdicts.
    pub fn of(classes: impl IntoIterator<Item = Class>) -> Tally {
        let mut tally = Tally::default();
        classes.into_iter().for_each(|c| tally.0[c as usize] += 1);
        tally
    }

    /// The number of verdicts of `class`.
    pub const fn count(&self, class: Class) -> usize {
        self.0[class as usize]
    }

    /// The number of verdicts.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// Returns the worst class that occurs.
    pub fn worst(&self) -> Class {
        let found = Class::ALL.into_iter().rfind(|c| self.count(*c) > 0);
        found.unwrap_or(Class::Met)
    }

    /// Returns the counts in a sentence: "54 of 80 checks met; not met: 22 findings on the paper and 4
    /// open settings".
    pub fn sentence(&self) -> String {
        let met = self.count(Class::Met);
        let text = format!("{met} of {} met", show::count(self.total(), "check"));
        match self.not_met() {
            none if none.is_empty() => text,
            others => format!("{text}; not met: {others}"),
        }
    }

    /// Returns the counts of unmet verdicts as a list in words, or "".
    fn not_met(&self) -> String {
        let failures = Class::ALL.into_iter().skip(1).filter(|c| self.count(*c) > 0);
        let failures: Vec<String> = failures.map(|c| c.counted(self.count(c))).collect();
        listed(&failures)
    }
}

/// Returns a list in words: "a, b and c".
fn listed(items: &[String]) -> String {
    match items.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// The two sides of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Packets, simulated or live, against a claim of a paper.
    Paper,
    /// Packets against a model.
    Theory,
    /// Packets against our expectation.
    Ours,
    /// Theory or the fluid against a model, whether ours or the paper's.
    Models,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Paper, Kind::Theory, Kind::Ours, Kind::Models];

    /// Returns the two sides that a check of `engine` and `claim` compares.
    pub const fn of(engine: Engine, claim: Claim) -> Kind {
        match (engine, claim) {
            (Engine::Theory | Engine::Fluid, _) => Kind::Models,
            (_, Claim::Paper) => Kind::Paper,
            (_, Claim::Theory) => Kind::Theory,
            (_, Claim::Ours) => Kind::Ours,
        }
    }

    /// Returns the kind in words.
    pub const fn text(self) -> &'static str {
        match self {
            Kind::Paper => "compare packets with a paper",
            Kind::Theory => "packets with a model",
            Kind::Ours => "packets with what we expect",
            Kind::Models => "a model with a model",
        }
    }
}

/// The parts of a check that tables of results and verdicts on figures need.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The settings of its point, by the axes of the sweep.
    pub point: Vec<(String, String)>,
    /// The name.
    pub name: String,
    /// The engine.
    pub engine: Engine,
    /// The metric.
    pub metric: Metric,
    /// The two sides.
    pub kind: Kind,
    /// The verdict.
    pub class: Class,
}

impl Judged {
    pub(crate) fn of(scenario: &Scenario, e: &Expectation, class: Class) -> Judged {
        Judged {
            point: scenario.point.clone(),
            name: e.name.clone(),
            engine: e.engine,
            metric: e.metric,
            kind: Kind::of(e.engine, e.claim),
            class,
        }
    }

    /// Returns the value of an axis of the sweep at the point of the check.
    pub fn setting(&self, axis: &str) -> Option<&str> {
        let found = self.point.iter().find(|(name, _)| name == axis);
        found.map(|(_, value)| value.as_str())
    }
}

/// Returns the counts of checks in a sentence or two: by the sides that they compare, and for
/// failed ones by the reason. Each check is given by its kind and class.
pub fn totals(checks: impl IntoIterator<Item = (Kind, Class)>) -> String {
    let checks: Vec<_> = checks.into_iter().collect();
    let tally = |kinds: &[Kind]| {
        let of = checks.iter().filter(|(kind, _)| kinds.contains(kind));
        Tally::of(of.map(|(_, class)| *class))
    };
    let kinds = Kind::ALL.map(|kind| {
        let tally = tally(&[kind]);
        let (met, of) = (tally.count(Class::Met), tally.total());
        format!("{of} {} ({met} met)", kind.text())
    });
    let all = tally(&Kind::ALL);
    let mut text = format!(
        "{}, of which {} met: {}.",
        show::count(all.total(), "check"),
        is_are(all.count(Class::Met)),
        kinds.join(", ")
    );
    if let Some(reasons) = reasons(&all) {
        text += &format!(" Of the unmet checks, {reasons}.");
    }
    text
}

/// Returns the reasons of unmet checks in words, with their counts.
fn reasons(tally: &Tally) -> Option<String> {
    let reason = |class, one: &str, more: &str| match tally.count(class) {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {more}")),
    };
    let reasons = [
        reason(Class::Finding, "contradicts the paper", "contradict the paper"),
        reason(
            Class::Open,
            "depends on a setting that the paper does not give",
            "depend on settings that the paper does not give",
        ),
        reason(Class::Ours, "is a bug of Accord", "are bugs of Accord"),
        reason(Class::Failed, "has no valid reason", "have no valid reason"),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| listed(&reasons))
}

fn is_are(n: usize) -> String {
    match n {
        1 => "1 is".into(),
        n => format!("{n} are"),
    }
}
