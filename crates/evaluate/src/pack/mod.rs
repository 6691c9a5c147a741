//! Packs: a standard as data. A pack names the sections of a standard, the cases that answer each,
//! and the measures of the cases.

#[rustfmt::skip] // a table reads better with one row a line
mod keys;
mod read;
mod source;

use crate::rule::Rule;
use accord::units::words;
use std::sync::Arc;

pub use source::{built_in, open};

/// Returns the JSON Schema (2020-12) of `pack.toml`. It knows the form only.
pub fn schema() -> serde_json::Value {
    accord::form::schema("Accord pack", &keys::PACK)
}

/// A standard evaluation.
#[derive(Clone, Debug)]
pub struct Pack {
    /// The name on the command line.
    pub name: String,
    /// The title, one line.
    pub title: String,
    /// The standard.
    pub source: String,
    /// The short name of the standard, before "§" and the number of a section; by default the name of
    /// the pack.
    pub standard: String,
    /// Remarks on all results, or "".
    pub notes: String,
    /// The kind of subject.
    pub role: SubjectRole,
    /// The rivals of the subject, if the command names none.
    pub rivals: Vec<String>,
    /// The parameters of subjects and rivals, for families that have them and subjects that do not
    /// name them.
    pub parameters: Vec<Parameter>,
    /// The quantities that cases measure.
    pub measures: Vec<Measure>,
    /// The sections of the standard.
    pub sections: Vec<Section>,
    /// The parts of the standard that the pack leaves out.
    pub left_out: Vec<LeftOut>,
    /// The text of the pack, for errors.
    pub origin: Arc<accord::form::Source>,
    /// The directory of a pack that is not built in.
    pub directory: Option<String>,
}

/// A parameter of subjects.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The value, as TOML.
    pub value: String,
    /// The place in the pack's text.
    pub span: std::ops::Range<usize>,
}

words! {
    /// The kind of subject that a pack evaluates.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SubjectRole by key {
        /// Congestion controllers.
        Controller = "controller",
        /// Queue disciplines.
        Discipline = "discipline",
    }
}

impl SubjectRole {
    /// The word for people.
    pub const fn name(self) -> &'static str {
        match self {
            SubjectRole::Controller => "controller",
            SubjectRole::Discipline => "queue discipline",
        }
    }
}

words! {
    /// The part of a pack that is run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Tier by name {
        /// The part that takes two minutes on two cores.
        #[default]
        Quick = "quick",
        /// Everything.
        Whole = "whole",
    }
}

/// A part of the standard that the pack leaves out.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The part.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// A section of the standard.
#[derive(Clone, Debug)]
pub struct Section {
    /// The number or letter in the standard.
    pub number: String,
    /// The title.
    pub title: String,
    /// "MUST", "SHOULD" or "".
    pub level: String,
    /// The question, in our words.
    pub asks: String,
    /// The reason why nothing is measured, or the question that the measurements leave open.
    pub not_measured: String,
    /// The cases that answer it.
    pub cases: Vec<Case>,
    /// The floors and ceilings of measures of its cases.
    pub rules: Vec<Rule>,
}

/// A scenario that answers a section.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name, unique in the pack.
    pub name: String,
    /// The title, one line.
    pub title: String,
    /// Remarks for its reader, or "".
    pub notes: String,
    /// The name of the scenario: its file without the ending.
    pub scenario: String,
    /// The text of the scenario.
    pub text: String,
    /// The settings in the scenario, as by `--set`.
    pub set: Vec<String>,
    /// The further settings of the quick tier.
    pub quick: Vec<String>,
    /// The first tier that has the case.
    pub tier: Tier,
    /// The places of the subject: paths of controllers, or of queues.
    pub subject: Vec<String>,
    /// The measures, as indices in those of the pack.
    pub measures: Vec<usize>,
    /// The two measures of an ellipse, delay first.
    pub ellipse: Option<[usize; 2]>,
    /// True if the margins of the equilibrium are evaluated.
    pub margins: bool,
    /// The place in the pack's text.
    pub span: std::ops::Range<usize>,
}

/// A quantity that is measured.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The name, unique in the pack.
    pub name: String,
    /// The meaning, one line.
    pub title: String,
    /// The source of the value.
    pub figure: Figure,
    /// The direction.
    pub better: Better,
    /// The least relative change that matters.
    pub relevant: f64,
    /// The largest value that there can be, if it is known.
    pub most: Option<f64>,
    /// The place in the pack's text.
    pub span: std::ops::Range<usize>,
}

/// The source of a measure's value in a run. The text is an entry of `expect`, an inline table.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A figure as expectations have it.
    Value(String),
    /// The time from the start of the window until the quantity, summed over flows, first reaches
    /// the bound of the expectation; the length of the window if it never does.
    Reach(String),
    /// One measure over another.
    Ratio(usize, usize),
}

words! {
    /// The direction in which values of a measure are better.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Better by name {
        /// More is better.
        More = "more",
        /// Less is better.
        Less = "less",
        /// Nearer to 100 % is better, from either side: 100 % is an even share.
        Even = "near 100 %",
        /// Neither.
        None = "none",
    }
}

impl Better {
    /// The sign in tables.
    pub const fn sign(self) -> &'static str {
        match self {
            Better::More => "↑",
            Better::Less => "↓",
            Better::Even => "→\u{a0}100\u{a0}%",
            Better::None => "",
        }
    }

    /// Returns values so that less is better where their distance from a goal counts; others as they
    /// are.
    pub fn judged(self, values: &[f64]) -> Vec<f64> {
        let judged = |value: &f64| match self {
            Better::Even => (value - 1.0).abs(),
            _ => *value,
        };
        values.iter().map(judged).collect()
    }
}

impl Pack {
    /// Returns all cases with their sections.
    pub fn cases(&self) -> impl Iterator<Item = (&Section, &Case)> {
        let sections = self.sections.iter();
        sections.flat_map(|s| s.cases.iter().map(move |c| (s, c)))
    }

    /// Returns what to know of all its results, a paragraph each.
    pub fn remarks(&self) -> Vec<String> {
        let notes = (!self.notes.is_empty()).then(|| self.notes.clone());
        let set = |p: &Parameter| format!("{} = {}", p.name, p.value);
        let set: Vec<String> = self.parameters.iter().map(set).collect();
        let parameters = (!set.is_empty()).then(|| {
            format!(
                "Subjects and rivals with such parameters run with {}, unless they are given other \
                 values.",
                set.join(", ")
            )
        });
        notes.into_iter().chain(parameters).collect()
    }

    /// Returns the name of a section: "RFC 9743 §5.1.3", or "buffers A".
    pub fn label(&self, section: &Section) -> String {
        let sign = if section.number.starts_with(|c: char| c.is_ascii_digit()) { "§" } else { "" };
        format!("{} {sign}{}", self.standard, section.number)
    }

    /// Returns how `accord run` names the scenario of a case.
    pub fn path_of(&self, case: &Case) -> String {
        match &self.directory {
            Some(directory) => format!("{directory}/{}.toml", case.scenario),
            None => format!("{}/{}", self.name, case.scenario),
        }
    }
}
