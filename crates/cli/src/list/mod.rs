//! `accord list`: what the program knows, and what each of it is.

mod family;
mod show;

use crate::fail::Failure;
use crate::new::TEMPLATES;
use crate::output::{data, json};
use accord::language::suggest;
use accord::scenario::{Fold, Metric, Of};
use accord::{BUILT_IN, Catalogue, load};
use clap::{Args, ValueEnum};
use family::Family;
use serde::Serialize;
use show::Entry;

/// The options of `accord list`.
#[derive(Args)]
pub struct List {
    /// What to list; without it, the names of everything.
    pub kind: Option<Kind>,
    /// Shows this one in full.
    #[arg(requires = "kind")]
    pub name: Option<String>,
    /// Prints JSON in place of text.
    #[arg(long)]
    pub json: bool,
}

/// What can be listed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Congestion controllers, with their parameters.
    Controllers,
    /// Queue disciplines, with their parameters.
    Disciplines,
    /// What runs measure.
    Metrics,
    /// Scenarios that come with the program.
    Experiments,
    /// What `accord new` can write.
    Templates,
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
        })?,
        (Some(kind), _) => {
            let name = args.name.as_deref();
            match kind {
                Kind::Controllers => print(args, name, &family::all(catalogue.controllers))?,
                Kind::Disciplines => print(args, name, &family::all(catalogue.disciplines))?,
                Kind::Metrics => print(args, name, &metrics())?,
                Kind::Experiments => print(args, name, &experiments(catalogue)?)?,
                Kind::Templates => print(args, name, TEMPLATES)?,
            }
        }
    }
    Ok(true)
}

/// Prints all entries, or the one of that name.
fn print<T: Entry + Serialize>(args: &List, name: Option<&str>, all: &[T]) -> Result<(), Failure> {
    let Some(name) = name else {
        return Ok(match args.json {
            true => json(&all)?,
            false => data(show::brief(all).trim_end())?,
        });
    };
    match all.iter().find(|entry| entry.name() == name) {
        Some(entry) if args.json => Ok(json(entry)?),
        Some(entry) => Ok(data(show::full(entry).trim_end())?),
        None => {
            let kind = args.kind.and_then(|k| k.to_possible_value());
            let kind = kind.expect("a name comes with its kind");
            let kind = kind.get_name();
            let what = kind.trim_end_matches('s');
            let failure = Failure::new(format!("there is no {what} \"{name}\""));
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

/// Everything, for programs.
#[derive(Serialize)]
struct Everything {
    controllers: Vec<Family>,
    disciplines: Vec<Family>,
    metrics: Vec<Quantity>,
    experiments: Vec<Experiment>,
    templates: &'static [crate::new::Template],
}

/// A metric.
#[derive(Serialize)]
pub struct Quantity {
    name: &'static str,
    unit: &'static str,
    of: &'static str,
    engines: Vec<&'static str>,
    over_time: String,
    doc: &'static str,
}

fn metrics() -> Vec<Quantity> {
    let quantity = |m: &Metric| Quantity {
        name: m.name(),
        unit: m.unit().symbol(),
        of: match m.of() {
            Of::Flow => "flow",
            Of::Group => "group",
            Of::Link => "link",
            Of::Aggregate => "aggregate at a link",
            Of::Transfer => "transfer",
        },
        engines: m.engines().iter().map(|e| e.name()).collect(),
        over_time: match m.fold() {
            Fold::Mean => "the mean of its samples".into(),
            Fold::Sum => "the sum of its samples".into(),
            Fold::Max => "the greatest of its samples".into(),
            Fold::Ratio(a, b) => format!("{} over {}", a.name(), b.name()),
        },
        doc: m.doc(),
    };
    Metric::ALL.iter().map(quantity).collect()
}

/// A scenario that comes with the program.
#[derive(Serialize)]
pub struct Experiment {
    id: String,
    title: String,
    source: String,
    notes: String,
    /// Points of its sweeps.
    points: usize,
    duration_s: f64,
    flows: usize,
    expectations: usize,
    /// The engines that `accord run` has it in.
    engines: Vec<&'static str>,
}

fn experiments(catalogue: &Catalogue) -> Result<Vec<Experiment>, Failure> {
    let experiment = |(id, _): &(&str, &str)| {
        let mut points = load(id)?.points(catalogue, None)?;
        let engines = crate::execute::engines(&[], &points);
        let (count, s) = (points.len(), points.swap_remove(0));
        Ok(Experiment {
            id: s.id,
            title: s.title,
            source: s.source,
            notes: s.notes,
            points: count,
            duration_s: s.duration.as_secs_f64(),
            flows: s.flows.len(),
            expectations: s.expectations.len(),
            engines: engines.into_iter().map(|e| e.name()).collect(),
        })
    };
    BUILT_IN.iter().map(experiment).collect()
}
