//! The series of runs with the names of their entities.

use crate::compare::Outline;
use accord_record::{Run, Series};
use accord_scenario::{Entity, Scenario};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A series with the names that its rows carry.
pub struct Named<'a> {
    pub run: usize,
    pub engine: &'static str,
    pub kind: &'static str,
    pub entity: Cow<'a, str>,
    pub time: &'a [f64],
    pub series: &'a Series,
}

/// Returns the series of runs with their names.
pub fn named<'a>(outline: &'a Outline, runs: &[&'a Run]) -> Vec<Named<'a>> {
    let flows: Vec<&str> =
        outline.groups.iter().flat_map(|g| g.flows.iter().map(String::as_str)).collect();
    let mut all = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for series in &run.series {
            let (kind, entity) = match series.entity {
                Entity::Flow(f) => ("flow", flows[f].into()),
                Entity::Group(g) => ("group", outline.groups[g].name.as_str().into()),
                Entity::Quantile { group, percent } => {
                    ("quantile", outline.quantile(group, percent).into())
                }
                Entity::Link(l) => ("link", outline.links[l].name.as_str().into()),
                Entity::Aggregate { link, aggregate } => {
                    let (link, name) = (&outline.links[link].name, &outline.aggregates[aggregate]);
                    ("aggregate", format!("{link}.{name}").into())
                }
            };
            all.push(Named {
                run: i,
                engine: run.manifest.engine.name(),
                kind,
                entity,
                time: &run.time,
                series,
            });
        }
    }
    all
}

/// Returns the series of a run as plain data: the ends of the sampling periods in seconds, and per series its entity,
/// metric, unit and values, null where there is none.
pub fn series_record(scenario: &Scenario, run: &Run) -> Value {
    let outline = Outline::of(scenario);
    let series = named(&outline, &[run]).into_iter().map(|n| {
        let Series { metric, values, .. } = n.series;
        json!({
            "entity_kind": n.kind,
            "entity": n.entity,
            "metric": metric.name(),
            "unit": metric.unit().symbol(),
            "values": values,
        })
    });
    json!({ "time_s": run.time, "series": series.collect::<Vec<_>>() })
}
