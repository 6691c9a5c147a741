//! `accord list`: controllers, disciplines, metrics, experiments, templates and packs.

mod entries;
mod show;

use crate::fail::Failure;
use crate::output::{data, json};
use accord::draft::TEMPLATES;
use accord::form::suggest;
use accord::scenario::Metric;
use accord::{BUILT_IN, Catalogue};
use accord_evaluate::pack::built_in;
use clap::{Args, ValueEnum};
use entries::entries;
use serde_json::{Map, Value};
use show::Entry;

#[derive(Args)]
pub struct List {
    /// The type of entries to list; by default the names of all entries.
    pub kind: Option<Kind>,
    /// Shows this entry in full.
    #[arg(requires = "kind")]
    pub name: Option<String>,
    /// Prints JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The types of entries.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Congestion controllers, with their parameters.
    Controllers,
    /// Queue disciplines, with their parameters.
    Disciplines,
    /// Metrics of runs.
    Metrics,
    /// Scenarios that come with the program.
    Experiments,
    /// Templates for `accord new`.
    Templates,
    /// Standard evaluations for `accord evaluate`, with their cases.
    Packs,
}

impl Kind {
    /// Returns the word of the command line.
    fn word(self) -> String {
        self.to_possible_value().expect("none is hidden").get_name().into()
    }
}

pub fn run(args: &List, catalogue: &Catalogue) -> Result<bool, Failure> {
    match args.kind {
        None if args.json => {
            let all = Kind::value_variants().iter().map(|kind| {
                let entries = entries(*kind, catalogue)?;
                Ok((kind.word(), entries.into_iter().map(|entry| entry.record).collect()))
            });
            json(&all.collect::<Result<Map<String, Value>, Failure>>()?)?;
        }
        None => overview(catalogue)?,
        Some(kind) => print(args, kind, entries(kind, catalogue)?)?,
    }
    Ok(true)
}

/// Prints all entries, or the one that is named.
fn print(args: &List, kind: Kind, all: Vec<Entry>) -> Result<(), Failure> {
    match &args.name {
        None if args.json => {
            json(&all.into_iter().map(|entry| entry.record).collect::<Vec<_>>())?;
        }
        None => data(show::brief(&all).trim_end())?,
        Some(name) => match all.iter().find(|entry| entry.name == *name) {
            Some(entry) if args.json => json(&entry.record)?,
            Some(entry) => data(show::full(entry).trim_end())?,
            None => {
                let kind = kind.word();
                let what = kind.trim_end_matches('s');
                let failure = Failure::new(format!("unknown {what} \"{name}\""));
                let near = suggest(name, all.iter().map(|entry| entry.name.as_str()));
                return Err(failure.hint(near.unwrap_or(format!("accord list {kind} shows all"))));
            }
        },
    }
    Ok(())
}

/// Everything that can be listed, by name.
fn overview(catalogue: &Catalogue) -> Result<(), Failure> {
    let kinds = [
        ("controllers", join(catalogue.controllers.iter().map(|f| f.name))),
        ("disciplines", join(catalogue.disciplines.iter().map(|f| f.name))),
        ("metrics", join(Metric::known().into_iter().map(Metric::name))),
        ("experiments", join(BUILT_IN.iter().map(|(id, _)| *id))),
        ("templates", join(TEMPLATES.iter().map(|t| t.name))),
        ("packs", join(built_in())),
    ];
    for (kind, names) in kinds {
        data(show::hang(&format!("{kind:13}"), &names).trim_end())?;
    }
    data("\naccord list KIND describes them, and accord list KIND NAME one of them in full.")?;
    Ok(())
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
