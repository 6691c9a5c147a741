//! Metrics, experiments and templates for `accord list`.

use super::show::Entry;
use crate::choice::engines;
use crate::fail::Failure;
use crate::new::Template;
use accord::report::show::{TITLE, clean, visible};
use accord::scenario::{Fold, Metric, Of};
use accord::{BUILT_IN, Catalogue, load};
use serde::Serialize;

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

/// All metrics.
pub fn metrics() -> Vec<Quantity> {
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
    /// The engines in which `accord run` runs it.
    engines: Vec<&'static str>,
}

/// All experiments.
pub fn experiments(catalogue: &Catalogue) -> Result<Vec<Experiment>, Failure> {
    let experiment = |(id, _): &(&str, &str)| {
        let mut points = load(id)?.points(catalogue, None)?;
        let engines = engines(&[], &points);
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

impl Entry for Quantity {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> String {
        self.doc.into()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let engines = match self.engines[..] {
            [] => "those that record its inputs".into(),
            _ => self.engines.join(", "),
        };
        vec![("unit", format!("{}, of a {}", self.unit, self.of)), ("engines", engines)]
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = self.facts();
        more.push(("over time", self.over_time.clone()));
        more
    }
}

impl Entry for Experiment {
    fn name(&self) -> &str {
        &self.id
    }

    fn doc(&self) -> String {
        clean(&self.title, TITLE)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = vec![
            ("source", visible(&self.source)),
            ("notes", visible(&self.notes)),
            ("engines", self.engines.join(", ")),
            ("points", self.points.to_string()),
            ("duration", format!("{} s", self.duration_s)),
            ("flows", self.flows.to_string()),
            ("expected", self.expectations.to_string()),
            ("run", format!("accord reproduce {}", self.id)),
        ];
        more.retain(|(_, text)| !text.is_empty());
        more
    }
}

impl Entry for Template {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> String {
        self.doc.into()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let sizes = self.sizes.iter();
        let sizes: Vec<_> = sizes.map(|s| format!("--{} {}", s.name, s.default)).collect();
        vec![("sizes", sizes.join(", "))]
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        vec![("file", format!("accord new {} -o FILE", self.name))]
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let size = |s: &crate::new::Size| {
            let [least, most] = s.range;
            let doc = format!(
                "{}\na whole number from {least} to {most}; {} by default",
                s.doc, s.default
            );
            (format!("--{}", s.name), doc)
        };
        self.sizes.iter().map(size).collect()
    }
}
