//! Packs of evaluations for `accord list`.

use super::show::Entry;
use crate::fail::Failure;
use accord::report::show::{TITLE, clean, visible};
use accord_evaluate::pack::{built_in, open};
use serde::Serialize;

/// A pack.
#[derive(Serialize)]
pub struct Pack {
    name: String,
    title: String,
    source: String,
    notes: String,
    /// The role of its subjects: "controller" or "discipline".
    subject: &'static str,
    rivals: Vec<String>,
    cases: Vec<Case>,
}

/// A case of a pack.
#[derive(Serialize)]
struct Case {
    name: String,
    /// The section of the standard that it answers.
    section: String,
    title: String,
    tier: &'static str,
    /// The name of its scenario for `accord run`.
    scenario: String,
}

/// All packs that come with the program.
pub fn packs() -> Result<Vec<Pack>, Failure> {
    let pack = |name| {
        let pack = open(name)?;
        let cases = pack.cases().map(|(section, case)| Case {
            name: case.name.clone(),
            section: section.number.clone(),
            title: case.title.clone(),
            tier: if case.in_quick { "quick" } else { "whole" },
            scenario: pack.path_of(case),
        });
        Ok(Pack {
            cases: cases.collect(),
            subject: pack.role.key(),
            name: pack.name,
            title: pack.title,
            source: pack.source,
            notes: pack.notes,
            rivals: pack.rivals,
        })
    };
    built_in().map(|b| pack(b.name)).collect()
}

impl Entry for Pack {
    fn name(&self) -> &str {
        &self.name
    }

    fn doc(&self) -> String {
        clean(&self.title, TITLE)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("subject", self.subject.into())]
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = vec![
            ("source", visible(&self.source)),
            ("notes", visible(&self.notes)),
            ("subject", self.subject.into()),
            ("rivals", self.rivals.join(", ")),
            ("run", format!("accord evaluate --pack {} --subject NAME", self.name)),
        ];
        more.retain(|(_, text)| !text.is_empty());
        more
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let case = |case: &Case| {
            let (section, tier) = (&case.section, case.tier);
            let doc = format!("{}\nsection {section}; {tier} tier; {}", case.title, case.scenario);
            (case.name.clone(), visible(&doc))
        };
        self.cases.iter().map(case).collect()
    }
}
