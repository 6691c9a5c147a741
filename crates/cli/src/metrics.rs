//! `accord explain metric`: definitions of metrics.

use crate::fail::Failure;
use crate::list::hang;
use crate::output::{data, json, prose};
use crate::plot::metric;
use accord::report::DERIVED;
use accord::report::metrics::{entity, over_time, unit};
use accord::scenario::Metric;
use serde::Serialize;

/// The JSON of a definition.
#[derive(Serialize)]
struct Record {
    metric: &'static str,
    meaning: &'static str,
    unit: &'static str,
    of: &'static str,
    over_time: String,
    engines: Vec<&'static str>,
}

impl Record {
    fn of(metric: Metric) -> Record {
        Record {
            metric: metric.name(),
            meaning: metric.doc(),
            unit: metric.unit().symbol(),
            of: entity(metric.of()),
            over_time: over_time(metric),
            engines: metric.engines().iter().map(|e| e.name()).collect(),
        }
    }
}

/// Defines a metric, or lists all.
pub fn explain(name: Option<&str>, as_json: bool) -> Result<bool, Failure> {
    let derived = name.and_then(|name| {
        let name = name.replace(['-', ' '], "_");
        DERIVED.into_iter().find(|(known, _)| *known == name)
    });
    if let (Some((name, doc)), false) = (derived, as_json) {
        prose(format_args!("{name}: {doc}"))?;
        data("  It is in tables and summaries only; it has no series.")?;
        return Ok(true);
    }
    let one = name.map(metric).transpose()?;
    let metrics: Vec<Metric> = one.map_or(Metric::ALL.to_vec(), |m| vec![m]);
    if as_json {
        let records: Vec<Record> = metrics.into_iter().map(Record::of).collect();
        json(&records)?;
        return Ok(true);
    }
    let Some(m) = one else {
        for m in metrics {
            let head = format!("{:22} {:6} ", m.name(), m.unit().symbol());
            data(hang(&head, m.doc()))?;
        }
        return Ok(true);
    };
    let record = Record::of(m);
    prose(format_args!("{m}: {}", m.doc()))?;
    data(format_args!("  unit       {}", unit(m.unit())))?;
    data(format_args!("  of         {}", record.of))?;
    data(format_args!("  over time  {}", record.over_time.replace('`', "")))?;
    data(format_args!("  engines    {}", record.engines.join(", ")))?;
    Ok(true)
}
