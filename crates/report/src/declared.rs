//! The declaration of the figures and tables of papers (`docs/figures.toml`): the experiments and checks that
//! show each of them, and the open settings of its paper.

use crate::verdict::Judged;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the axis of a sweep over laws.
pub const LAW_AXIS: &str = "law";

/// The value of that axis that names our law.
pub const OUR_LAW: &str = "accord";

/// The figures and tables of papers, and the experiments that show them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Papers {
    /// Experiments that bear the name of a paper or have checks against one, but show no figure or
    /// table of it: other settings, and claims of the text.
    pub rivals: Vec<String>,
    /// The laws of papers whose switches are partly open.
    #[serde(rename = "law", default)]
    pub laws: Vec<PaperLaw>,
    /// The figures and tables.
    #[serde(rename = "figure")]
    pub figures: Vec<PaperFigure>,
}

/// A law of papers, and the switches that the text leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperLaw {
    /// The value of the axis [`LAW_AXIS`].
    pub name: String,
    /// The keys of the papers whose figures share one reading of the law.
    pub papers: Vec<String>,
    /// The open switches.
    #[serde(default)]
    pub open: Vec<Open>,
}

/// A setting or switch that a paper leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The name, for people: "control packets".
    pub name: String,
    /// The values that the text permits. The first is that of the scenario files.
    pub values: Vec<Permitted>,
}

/// A value that the text of a paper permits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permitted {
    /// The value, for people: "40 B".
    pub value: String,
    /// The source: the text, another paper of these authors, a default of that time.
    pub from: String,
    /// The settings PATH=VALUE that produce it: settings of the scenario files, or of the law's controller
    /// for a switch of a law.
    #[serde(default)]
    pub set: Vec<String>,
    /// The points of the experiments' own sweeps with this value, by axis.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
}

/// A figure or table of a paper, and the checks that show it: those of packets against the paper,
/// in its experiments, at its setting.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperFigure {
    /// The key of the paper: "Xia05".
    pub paper: String,
    /// The name in the paper: "figure 6" or "table 1".
    pub name: String,
    /// The subject, in a few words.
    pub title: String,
    /// The ids of the experiments.
    pub experiments: Vec<String>,
    /// The value of the axis [`LAW_AXIS`] that is the paper's scheme. The verdict by our law takes
    /// [`OUR_LAW`] in its place. Without this value all checks count for both verdicts.
    pub law: Option<String>,
    /// The setting of the paper's own case, by axis, for sweeps that also have other settings.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// The settings that the paper leaves open.
    #[serde(default)]
    pub open: Vec<Open>,
    /// The number of settings that are run, for a figure with long runs. All readings of its law are run at
    /// its first setting.
    pub most: Option<usize>,
    /// The beginnings of the names of the checks. Without any, all checks count.
    #[serde(default)]
    pub checks: Vec<String>,
    /// The beginnings of the names of checks that do not count.
    #[serde(default)]
    pub except: Vec<String>,
}

impl PaperFigure {
    /// Returns the setting of the paper's own case with the first value of each open setting.
    pub fn own_case(&self) -> BTreeMap<&str, &str> {
        let first = self.open.iter().filter_map(|open| open.values.first());
        let at = first.flat_map(|value| &value.at).chain(&self.at);
        at.map(|(axis, value)| (axis.as_str(), value.as_str())).collect()
    }

    /// Returns whether the name of a check is among those that count.
    pub fn has_name(&self, name: &str) -> bool {
        let begins = |beginnings: &[String]| beginnings.iter().any(|b| name.starts_with(b));
        (self.checks.is_empty() || begins(&self.checks)) && !begins(&self.except)
    }

    /// Returns the reason why a check of one of its experiments does not belong to the figure: the
    /// settings in which its point differs from the paper's own case, or else the beginning of its
    /// name. It is `None` for a check of the figure.
    pub(crate) fn difference(&self, check: &Judged, laws: &BTreeSet<&str>) -> Option<String> {
        let law = check.setting(LAW_AXIS);
        let other_law = |law: &&str| laws.contains(law) && Some(*law) != self.law.as_deref();
        let law = law.filter(other_law).map(|law| (LAW_AXIS, law));
        let axes = self.own_case().into_iter().filter_map(|(axis, own)| {
            let value = check.setting(axis)?;
            (value != own).then_some((axis, value))
        });
        let settings: Vec<String> = (law.into_iter().chain(axes))
            .map(|(axis, value)| format!("{axis} = {value}"))
            .collect();
        if !settings.is_empty() {
            return Some(settings.join(", "));
        }
        if self.has_name(&check.name) {
            return None;
        }
        let excepted = self.except.iter().find(|b| check.name.starts_with(*b));
        Some(excepted.cloned().unwrap_or_default())
    }
}
