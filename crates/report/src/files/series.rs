//! All series of a run directory as one long table, with a row per sample.

use crate::compare::Outline;
use crate::named::{Named, named};
use accord_columns::{Cells, Field, Format, Kind, Writer};
use accord_record::Run;
use accord_scenario::Metric;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Returns the columns.
pub(super) fn fields() -> [Field; 8] {
    [
        ("run", "index of the run in manifest.json", Kind::Count),
        ("engine", "the engine that ran", Kind::Text),
        (
            "entity_kind",
            "flow, group (sum over its flows), quantile (over the flows of a group), link or aggregate",
            Kind::Text,
        ),
        (
            "entity",
            "name in the scenario; of an aggregate LINK.AGGREGATE; of a quantile GROUP pN, below which N % of the flows are",
            Kind::Text,
        ),
        (
            "metric",
            "the quantity; see the keys accord.metric.*",
            Kind::Text,
        ),
        (
            "unit",
            "unit of the value: bit/s, B, s, pkt (packets), 1 (ratio)",
            Kind::Text,
        ),
        (
            "time_s",
            "end of the sampling period, in seconds since the start of the run",
            Kind::Number,
        ),
        (
            "value",
            "the value, in the row's unit; null where there is none",
            Kind::Optional,
        ),
    ]
    .map(|(name, doc, kind)| Field::new(name, doc, kind))
}

/// The number of rows that are held in memory at a time.
const ROW_GROUP: usize = 1 << 18;

pub(super) fn write(
    out: &mut (dyn Write + Send),
    format: Format,
    outline: &Outline,
    runs: &[&Run],
) -> io::Result<()> {
    let mut table = Writer::new(out, format, "series", &fields(), &metrics(runs))?;
    let mut group = Vec::new();
    let mut rows = 0;
    for n in named(outline, runs) {
        rows += n.time.len();
        group.push(n);
        if rows >= ROW_GROUP {
            table.group(&cells(&group))?;
            group.clear();
            rows = 0;
        }
    }
    table.group(&cells(&group))?;
    table.finish()
}

fn cells<'n>(series: &'n [Named]) -> [Cells<'n>; 8] {
    let text = |of: fn(&'n Named) -> &'n str| {
        let rows = series.iter().map(|n| (of(n).into(), n.time.len()));
        Cells::Text(rows.collect())
    };
    let mut values = Vec::new();
    for n in series {
        let end = values.len() + n.time.len();
        values.extend(n.series.values.iter().take(n.time.len()));
        // A series that ends before the run has no values there.
        values.resize(end, f64::NAN);
    }
    let runs = series.iter().map(|n| (n.run as i32, n.time.len()));
    [
        Cells::Count(runs.collect()),
        text(|n| n.engine),
        text(|n| n.kind),
        text(|n| &n.entity),
        text(|n| n.series.metric.name()),
        text(|n| n.series.metric.unit().symbol()),
        Cells::Stretches(series.iter().map(|n| n.time).collect()),
        Cells::Number(values),
    ]
}

/// Returns the meanings of the metrics, which are stored with the data.
fn metrics(runs: &[&Run]) -> Vec<(String, String)> {
    let written = runs.iter().flat_map(|run| run.series.iter().map(|s| s.metric));
    let inner: BTreeSet<Metric> = written.filter(|m| matches!(m, Metric::Inner(_))).collect();
    let metrics = Metric::ALL.iter().copied().chain(inner).map(|m| {
        let states: Vec<String> =
            (0..).zip(m.states()).map(|(i, state): (usize, _)| format!(", {i} {state}")).collect();
        let doc = format!("[{}] {}{}", m.unit().symbol(), m.doc(), states.concat());
        (format!("accord.metric.{m}"), doc)
    });
    metrics.collect()
}
