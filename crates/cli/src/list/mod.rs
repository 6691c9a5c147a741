//! `accord list`: controllers, disciplines, metrics, experiments, templates and packs.

mod entries;
mod family;
mod packs;
mod show;

use crate::fail::Failure;
use crate::new::TEMPLATES;
use crate::output::{data, json};
use accord::language::suggest;
use accord::scenario::Metric;
use accord::{BUILT_IN, Catalogue};
use accord_evaluate::pack::built_in;
use clap::{Args, ValueEnum};
use entries::{Experiment, Quantity, experiments, metrics};
use family::Family;
use packs::{Pack, packs};
use serde::Serialize;
use show::Entry;
pub use show::hang;

/// The options of `accord list`.
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

/// Carries out the command.
pub fn run(args: &List, catalogue: &Catalogue) -> Result<bool, Failure> {
    match (args.kind, args.json) {
        (None, false) => overview(catalogue)?,
        (None, true) => json(&Everything {
            controllers: family::all(catalogue.controllers),
            disciplines: family::all(catalogue.disciplines),
            metrics: metrics(),
            experiments: experiments(catalogue)?,
            templates: TEMPLATES,
            packs: packs()?,
        })?,
        (Some(kind), _) => {
            let name = args.name.as_deref();
            match kind {
                Kind::Controllers => print(args, name, &family::all(catalogue.controllers))?,
                Kind::Disciplines => print(args, name, &family::all(catalogue.disciplines))?,
                Kind::Metrics => print(args, name, &metrics())?,
                Kind::Experiments => print(args, name, &experiments(catalogue)?)?,
                Kind::Templates => print(args, name, TEMPLATES)?,
                Kind::Packs => print(args, name, &packs()?)?,
            }
        }
    }
    Ok(true)
}

/// Prints all entries, or the one of that name.
fn print<T: Entry + Serialize>(args: &List, name: Option<&str>, all: &[T]) -> Result<(), Failure> {
    let Some(name) = name else {
        if args.json {
            json(&all)?
        } else {
            data(show::brief(all).trim_end())?
        }
        return Ok(());
    };
    match all.iter().find(|entry| entry.name() == name) {
        Some(entry) if args.json => Ok(json(entry)?),
        Some(entry) => Ok(data(show::full(entry).trim_end())?),
        None => {
            let kind = args.kind.and_then(|k| k.to_possible_value());
            let kind = kind.expect("a name needs its kind before it");
            let kind = kind.get_name();
            let what = kind.trim_end_matches('s');
            let failure = Failure::new(format!("unknown {what} \"{name}\""));
            let near = suggest(name, all.iter().map(Entry::name));
            Err(failure.hint(near.unwrap_or(format!("accord list {kind} shows all"))))
        }
    }
}

/// Everything that can be listed, by name.
fn overview(catalogue: &Catalogue) -> Result<(), Failure> {
    let names = |families: &[&'static accord::family::Family]| {
        let names: Vec<_> = families.iter().map(|f| f.name).collect();
        names.join(", ")
    };
    let kinds = [
        ("controllers", names(catalogue.controllers)),
        ("disciplines", names(catalogue.disciplines)),
        ("metrics", join(Metric::ALL.iter().map(|m| m.name()))),
        ("experiments", join(BUILT_IN.iter().map(|(id, _)| *id))),
        ("templates", join(TEMPLATES.iter().map(|t| t.name))),
        ("packs", join(built_in().map(|pack| pack.name))),
    ];
    for (kind, names) in kinds {
        data(show::hang(&format!("{kind:13}"), &names))?;
    }
    data("\naccord list KIND describes them, and accord list KIND NAME one of them in full.")?;
    Ok(())
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// The JSON of all entries.
#[derive(Serialize)]
struct Everything {
    controllers: Vec<Family>,
    disciplines: Vec<Family>,
    metrics: Vec<Quantity>,
    experiments: Vec<Experiment>,
    templates: &'static [crate::new::Template],
    packs: Vec<Pack>,
}
