//! The choice of the subjects of a figure: groups, flows or links, with distinct names.

use super::look::{Look, looks};
use super::{By, FigureError, Request};
use crate::axis::place_among;
use crate::compare::Outline;
use crate::files::{LoadedRun, Stored, is_point};
use crate::show;
use accord_record::Run;
use accord_scenario::{Engine, Entity, Metric, Of};
use std::collections::BTreeSet;

/// A subject at one point of one directory.
pub struct Subject<'a> {
    /// The directory and the point, or "" if there is only one.
    pub place: String,
    /// The group, flow or link.
    pub name: String,
    pub entities: Vec<Entity>,
    pub point: &'a LoadedRun,
    /// The index of the directory, and that of the point in it.
    pub at: (usize, usize),
}

impl Subject<'_> {
    /// Returns the parts in which subjects differ: the directory, the settings of the point, and its name.
    pub fn parts(&self) -> Vec<String> {
        let settings = self.point.manifest.scenario.point.iter().map(|(_, value)| value.clone());
        let mut parts = vec![self.at.0.to_string()];
        parts.extend(settings);
        parts.push(self.name.clone());
        parts
    }

    /// Returns the runs of each requested engine.
    pub fn engines(&self, request: &Request) -> Vec<(Engine, Vec<&Run>)> {
        let runs: Vec<&Run> = self.point.runs.iter().collect();
        let mut all = crate::compare::by_engine(&runs);
        all.retain(|(e, _)| request.engines.is_empty() || request.engines.contains(e));
        all
    }
}

/// Returns the kind of subjects that have their own lines.
pub fn by(request: &Request) -> Result<By, FigureError> {
    let metric = request.metric;
    let allowed: &[By] = match metric.of() {
        // States have no mean.
        Of::Flow if !metric.states().is_empty() => &[By::Flow],
        Of::Flow | Of::Transfer => &[By::Group, By::Flow],
        Of::Group => &[By::Group],
        Of::Link | Of::Aggregate => &[By::Link],
    };
    match request.by {
        None => Ok(allowed[0]),
        Some(by) if allowed.contains(&by) => Ok(by),
        Some(by) => {
            let names: Vec<&str> = allowed.iter().map(|by| by.name()).collect();
            let message = format!("{metric} is not recorded by {}", by.name());
            Err(FigureError::wrong(message, format!("it has --by {}", names.join(" or "))))
        }
    }
}

/// Returns all subjects that the request names.
pub fn subjects<'a>(
    stored: &'a [Stored],
    request: &Request,
) -> Result<Vec<Subject<'a>>, FigureError> {
    let by = by(request)?;
    let mut all = Vec::new();
    let mut known = BTreeSet::new();
    for (directory, results) in stored.iter().enumerate() {
        for (index, point) in results.points.iter().enumerate() {
            let outline = &point.manifest.scenario;
            let place = place(stored, directory, point);
            for (keys, name, entities) in candidates(outline, request.metric, by, request) {
                known.extend(keys.iter().cloned());
                if request.of.is_empty() || request.of.iter().any(|of| keys.contains(of)) {
                    let (place, at) = (place.clone(), (directory, index));
                    all.push(Subject { place, name, entities, point, at });
                }
            }
        }
    }
    let missing = request.of.iter().find(|of| !known.contains(*of));
    if let Some(of) = missing {
        let message = format!("there is no {} \"{of}\" in these runs", by.name());
        let names: Vec<&str> = known.iter().take(12).map(String::as_str).collect();
        return Err(FigureError::wrong(message, format!("there is {}", names.join(", "))));
    }
    check_recorded(&all, request)?;
    Ok(all)
}

/// Returns the name of a point among those of all directories.
pub fn place(stored: &[Stored], directory: usize, point: &LoadedRun) -> String {
    let results = &stored[directory];
    let alike = stored.iter().filter(|s| s.name() == results.name()).count();
    let name = match is_point(results.name().as_ref()) {
        // This is a single point of a sweep, in a directory named by a number.
        true if !point.label().is_empty() => {
            let id = |s: &Stored| s.points[0].manifest.scenario.id.clone();
            if stored.iter().all(|s| id(s) == id(results)) {
                point.label()
            } else {
                format!("{}, {}", id(results), point.label())
            }
        }
        _ if alike == 1 => results.name(),
        _ => results.path.display().to_string(),
    };
    let several = stored.len() > 1;
    match (several, results.points.len() > 1) {
        (false, false) => String::new(),
        (true, false) => name,
        (false, true) => point.label(),
        (true, true) => format!("{name}, {}", point.label()),
    }
}

/// The names by which a request may name a subject, its name for people, and the entities that have
/// its series.
type Candidate = (Vec<String>, String, Vec<Entity>);

fn candidates(outline: &Outline, metric: Metric, by: By, request: &Request) -> Vec<Candidate> {
    match by {
        By::Group => (outline.groups.iter().enumerate())
            .filter(|(_, g)| metric.of() != Of::Group || g.flows.len() > 1)
            .map(|(i, g)| {
                let entities = match metric.of() {
                    Of::Group | Of::Transfer => vec![Entity::Group(i)],
                    _ => outline.series_of(i),
                };
                (vec![g.name.clone()], show::name(&g.name, 40), entities)
            })
            .collect(),
        By::Flow => {
            let mut all = Vec::new();
            let mut first = 0;
            for group in &outline.groups {
                for (i, flow) in group.flows.iter().enumerate() {
                    let keys = vec![flow.clone(), group.name.clone()];
                    all.push((keys, show::name(flow, 40), vec![Entity::Flow(first + i)]));
                }
                first += group.flows.len();
            }
            all
        }
        By::Link if metric.of() == Of::Aggregate => outline
            .aggregates(|l| l.shown || request.of.iter().any(|of| of.starts_with(&l.name)))
            .map(|(name, entity)| {
                let link = name.split_once('.').map_or("", |(link, _)| link).to_string();
                (vec![name.clone(), link], show::name(&name, 40), vec![entity])
            })
            .collect(),
        By::Link => (outline.links.iter().enumerate())
            .filter(|(_, l)| l.shown || request.of.contains(&l.name))
            .map(|(i, l)| {
                let name = show::name(&l.name, 40);
                (vec![l.name.clone()], name, vec![Entity::Link(i)])
            })
            .collect(),
    }
}

/// Returns the kind of entity of a metric, in words.
const fn entity(of: Of) -> &'static str {
    match of {
        Of::Flow => "flows",
        Of::Group => "groups of flows",
        Of::Link => "links",
        Of::Aggregate => "aggregates at links",
        Of::Transfer => "transfers",
    }
}

/// Returns an error if no run has the metric.
fn check_recorded(subjects: &[Subject], request: &Request) -> Result<(), FigureError> {
    let metric = request.metric;
    let engines: BTreeSet<Engine> =
        (subjects.iter()).flat_map(|s| s.engines(request)).map(|(engine, _)| engine).collect();
    if engines.is_empty() && !subjects.is_empty() {
        let all = subjects.iter().flat_map(|s| &s.point.runs);
        let there: BTreeSet<&str> = all.map(|r| r.manifest.engine.name()).collect();
        let there: Vec<&str> = there.into_iter().collect();
        return Err(FigureError::wrong(
            "these runs have none of the engines that --engine names",
            format!("they have {}", there.join(", ")),
        ));
    }
    let has = |s: &Subject| {
        let mut runs = s.engines(request).into_iter().flat_map(|(_, runs)| runs);
        runs.any(|run| match metric.of() {
            Of::Transfer => !run.transfers.is_empty(),
            _ => s.entities.iter().any(|e| run.series(metric, *e).is_some()),
        })
    };
    if subjects.iter().any(has) {
        return Ok(());
    }
    if metric.is_inner() {
        let message = format!("these runs have no {metric} of the requested subjects");
        let hint = "run the scenario with inner = true, or --set inner=true";
        return Err(FigureError::wrong(message, hint));
    }
    let recording: Vec<&str> = metric.engines().iter().map(|e| e.name()).collect();
    Err(FigureError::wrong(
        format!("these runs have no {metric} of the requested subjects"),
        format!(
            "it is recorded of {} by {}; accord list metrics {metric} says more",
            entity(metric.of()),
            recording.join(", ")
        ),
    ))
}

/// Returns the labels of subjects, just long enough to be distinct, with their numbers, and the looks of the
/// numbers.
#[expect(clippy::type_complexity, reason = "labels with their numbers, and looks")]
pub fn labels(subjects: &[Subject]) -> Result<(Vec<(String, usize)>, Vec<Look>), FigureError> {
    let distinct =
        |f: fn(&Subject) -> String| -> BTreeSet<String> { subjects.iter().map(f).collect() };
    let places = distinct(|s| s.place.clone()).len() > 1;
    let names = distinct(|s| s.name.clone()).len() > 1;
    let mut order: Vec<String> = Vec::new();
    let (mut labels, mut parts) = (Vec::new(), Vec::new());
    for s in subjects {
        let label = match (places, names) {
            (false, false) => String::new(),
            (true, false) => s.place.clone(),
            (false, true) => s.name.clone(),
            (true, true) => format!("{}: {}", s.place, s.name),
        };
        let clean = show::clean(&label, 60);
        let number = place_among(&mut order, label);
        labels.push((clean, number));
        if number == parts.len() {
            parts.push(s.parts());
        }
    }
    Ok((labels, looks(&parts, &order)?))
}
