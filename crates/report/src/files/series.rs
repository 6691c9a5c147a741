//! The writer of all series of a run directory as one long table: a row per sample.

use super::runs::chunk;
use crate::compare::Outline;
use accord_record::{Run, Series};
use accord_scenario::{Entity, Metric};
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::DoubleType;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

/// The columns, with their meanings.
pub(super) const COLUMNS: [(&str, &str); 8] = [
    ("run", "index of the run in manifest.json"),
    ("engine", "the engine that ran"),
    ("entity_kind", "flow, group, link or aggregate"),
    (
        "entity",
        "name in the scenario; of an aggregate LINK.AGGREGATE",
    ),
    ("metric", "the quantity; see the keys accord.metric.*"),
    (
        "unit",
        "unit of the value: bit/s, B, s, pkt (packets), 1 (ratio)",
    ),
    (
        "time_s",
        "end of the sampling period, in seconds since the start of the run",
    ),
    (
        "value",
        "the value, in the row's unit; null where there is none",
    ),
];

/// The number of rows that are held in memory at a time.
const ROW_GROUP: usize = 1 << 18;

/// A series with the names that its rows carry.
struct Named<'a> {
    run: usize,
    engine: &'static str,
    kind: &'static str,
    entity: Cow<'a, str>,
    time: &'a [f64],
    series: &'a Series,
}

fn named<'a>(outline: &'a Outline, runs: &[&'a Run]) -> Vec<Named<'a>> {
    let flows: Vec<&str> = outline
        .groups
        .iter()
        .flat_map(|g| g.flows.iter().map(String::as_str))
        .collect();
    let mut all = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for series in &run.series {
            let (kind, entity) = match series.entity {
                Entity::Flow(f) => ("flow", flows[f].into()),
                Entity::Group(g) => ("group", outline.groups[g].name.as_str().into()),
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

pub(super) fn write_csv(out: &mut dyn Write, outline: &Outline, runs: &[&Run]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS.map(|(name, _)| name))?;
    for n in named(outline, runs) {
        let (run, metric) = (n.run.to_string(), n.series.metric);
        for (time, value) in n.time.iter().zip(&n.series.values) {
            let value = match value.is_nan() {
                true => String::new(),
                false => value.to_string(),
            };
            csv.write_record([
                &run,
                n.engine,
                n.kind,
                &n.entity,
                metric.name(),
                metric.unit().symbol(),
                &time.to_string(),
                &value,
            ])?;
        }
    }
    csv.flush()
}

pub(super) fn write_parquet(
    out: &mut (dyn Write + Send),
    outline: &Outline,
    runs: &[&Run],
) -> parquet::errors::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(true)
        .set_column_dictionary_enabled("value".into(), false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(format!("accord {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(documentation()))
        .build();
    let schema = schema()?;
    let columns = SchemaDescriptor::new(schema.clone());
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = Vec::new();
    let mut rows = 0;
    for n in named(outline, runs) {
        rows += n.time.len();
        group.push(n);
        if rows >= ROW_GROUP {
            write_group(file.next_row_group()?, &group, &columns)?;
            group.clear();
            rows = 0;
        }
    }
    if rows > 0 {
        write_group(file.next_row_group()?, &group, &columns)?;
    }
    file.close()?;
    Ok(())
}

fn write_group<W: Write + Send>(
    mut group: SerializedRowGroupWriter<'_, W>,
    series: &[Named],
    columns: &SchemaDescriptor,
) -> parquet::errors::Result<()> {
    for (i, (name, _)) in COLUMNS.into_iter().enumerate() {
        let descriptor = columns.column(i);
        let mut text = |of: for<'n> fn(&'n Named<'_>) -> &'n str| {
            let rows = series.iter().map(|n| (of(n), n.time.len()));
            append(&mut group, chunk(descriptor.clone(), rows)?)
        };
        match name {
            "run" => {
                let rows = series.iter().map(|n| (n.run as i32, n.time.len()));
                append(&mut group, chunk(descriptor, rows)?)?;
            }
            "engine" => text(|n| n.engine)?,
            "entity_kind" => text(|n| n.kind)?,
            "entity" => text(|n| &n.entity)?,
            "metric" => text(|n| n.series.metric.name())?,
            "unit" => text(|n| n.series.metric.unit().symbol())?,
            "time_s" => {
                let times: Vec<&[f64]> = series.iter().map(|n| n.time).collect();
                write_numbers(&mut group, &times.concat(), None)?;
            }
            _ => {
                let (mut values, mut there) = (Vec::new(), Vec::new());
                for n in series {
                    for i in 0..n.time.len() {
                        let value = n.series.values.get(i).filter(|v| !v.is_nan());
                        values.extend(value);
                        there.push(i16::from(value.is_some()));
                    }
                }
                write_numbers(&mut group, &values, Some(&there))?;
            }
        }
    }
    group.close()?;
    Ok(())
}

fn append<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    (bytes, close): (Vec<u8>, ColumnCloseResult),
) -> parquet::errors::Result<()> {
    group.append_column(&Bytes::from(bytes), close)
}

fn write_numbers<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[f64],
    there: Option<&[i16]>,
) -> parquet::errors::Result<()> {
    let mut column = group.next_column()?.expect("the schema has these columns");
    (column.typed::<DoubleType>()).write_batch(values, there, None)?;
    column.close()
}

pub(super) fn schema() -> parquet::errors::Result<TypePtr> {
    let field = |(name, _): (&str, &str)| {
        let (physical, converted) = match name {
            "run" => (Physical::INT32, ConvertedType::NONE),
            "time_s" | "value" => (Physical::DOUBLE, ConvertedType::NONE),
            _ => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let repetition = match name {
            "value" => Repetition::OPTIONAL,
            _ => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_converted_type(converted)
            .build();
        field.map(Arc::new)
    };
    let fields = COLUMNS.into_iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("series")
        .with_fields(fields)
        .build()?;
    Ok(Arc::new(schema))
}

/// Returns the meaning of the columns and metrics, which is kept with the data.
fn documentation() -> Vec<KeyValue> {
    let columns = COLUMNS.map(|(name, doc)| (format!("accord.column.{name}"), doc.to_string()));
    let metrics = Metric::ALL.iter().map(|m| {
        let doc = format!("[{}] {}", m.unit().symbol(), m.doc());
        (format!("accord.metric.{m}"), doc)
    });
    let all = columns.into_iter().chain(metrics);
    all.map(|(key, doc)| KeyValue::new(key, doc)).collect()
}
