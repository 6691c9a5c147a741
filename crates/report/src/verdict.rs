//! Counts of verdicts, by class and by the two sides that are compared.

use crate::check::Check;
use crate::class::Class;
use crate::style::Style;
use accord_scenario::{Claim, Engine};

/// The number of verdicts of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; 5]);

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

    /// Returns the verdicts that are not met, each with its mark: "◇ 2, ✗ 1". It is empty without
    /// any.
    pub fn failures(&self, style: Style) -> String {
        let failures = Class::ALL
            .into_iter()
            .skip(1)
            .filter(|c| self.count(*c) > 0);
        let texts = failures.map(|c| format!("{} {}", style.mark(c), self.count(c)));
        texts.collect::<Vec<_>>().join(", ")
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

/// Returns the counts of several experiments, in lines. Each experiment is given by the kinds and
/// classes of its checks.
pub fn totals<'a>(experiments: impl IntoIterator<Item = &'a [(Kind, Class)]>) -> Vec<String> {
    let experiments: Vec<_> = experiments.into_iter().collect();
    let of = |e: &&[(Kind, Class)]| Tally::of(e.iter().map(|(_, class)| *class)).worst();
    let tally = Tally::of(experiments.iter().map(of));
    let mut first = format!(
        "{} experiments: {} as the paper says, {} with findings on it, {} where Accord falls \
         short, {} with open settings",
        experiments.len(),
        tally.count(Class::Met),
        tally.count(Class::Finding),
        tally.count(Class::Ours),
        tally.count(Class::Open),
    );
    if tally.count(Class::Unknown) > 0 {
        first += &format!(
            "; {} with failures that are not known",
            tally.count(Class::Unknown)
        );
    }
    let all = || experiments.iter().copied().flatten();
    let kinds: Vec<String> = Kind::ALL
        .into_iter()
        .map(|kind| {
            let classes = all().filter(|(k, _)| *k == kind).map(|(_, class)| *class);
            let tally = Tally::of(classes);
            let (met, of) = (tally.count(Class::Met), tally.total());
            format!("{of} {} ({met} met)", kind.text())
        })
        .collect();
    vec![
        first,
        format!("{} checks: {}", all().count(), kinds.join(", ")),
    ]
}

/// Returns the kinds and classes of checks, for [`totals`].
pub fn kinds(checks: &[Check]) -> impl Iterator<Item = (Kind, Class)> {
    let of = |c: &Check| (Kind::of(c.engine, c.claim), c.class);
    checks.iter().map(of)
}
