//! The writer and the reader of `transfers.parquet`: a row per transfer.

use super::LoadedRun;
use super::column::column;
use crate::compare::Outline;
use accord_record::{Run, Transfer};
use accord_units::Bytes;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// The columns, with their meanings.
const COLUMNS: [(&str, &str); 7] = [
    ("run", "index of the run in manifest.json"),
    ("engine", "the engine that ran"),
    ("group", "name of the group of the flow that carried it"),
    ("flow", "name of that flow; of web users, the user"),
    (
        "start_s",
        "when the application handed it to the sender, in seconds since the start of the run",
    ),
    ("size_bytes", "its size in bytes"),
    (
        "duration_s",
        "seconds until the sender knew that all had arrived; null if that was not before the end of the run",
    ),
];

/// Returns each transfer with the number of its run.
fn all<'a>(runs: &'a [&Run]) -> impl Iterator<Item = (usize, &'a Transfer)> {
    (runs.iter().enumerate()).flat_map(|(i, run)| run.transfers.iter().map(move |t| (i, t)))
}

fn flow_names(outline: &Outline) -> Vec<&str> {
    let flows = outline.groups.iter().flat_map(|g| &g.flows);
    flows.map(String::as_str).collect()
}

pub(super) fn write_csv(out: &mut dyn Write, outline: &Outline, runs: &[&Run]) -> io::Result<()> {
    let names = flow_names(outline);
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS.map(|(name, _)| name))?;
    for (run, t) in all(runs) {
        csv.write_record([
            &run.to_string(),
            runs[run].manifest.engine.name(),
            &outline.groups[t.group].name,
            names[t.flow],
            &t.start.to_string(),
            &t.size.get().to_string(),
            &match t.duration.is_nan() {
                true => String::new(),
                false => t.duration.to_string(),
            },
        ])?;
    }
    csv.flush()
}

pub(super) fn write_parquet(
    out: &mut (dyn Write + Send),
    outline: &Outline,
    runs: &[&Run],
) -> parquet::errors::Result<()> {
    let docs =
        COLUMNS.map(|(name, doc)| KeyValue::new(format!("accord.column.{name}"), doc.to_string()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("accord {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(docs.to_vec()))
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema()?), Arc::new(properties))?;
    let names = flow_names(outline);
    let text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
    let mut group = file.next_row_group()?;
    for (name, _) in COLUMNS {
        let mut column = group.next_column()?.expect("the schema has these columns");
        match name {
            "run" => {
                let runs: Vec<i32> = all(runs).map(|(i, _)| i as i32).collect();
                column.typed::<Int32Type>().write_batch(&runs, None, None)?;
            }
            "size_bytes" => {
                let sizes: Vec<i64> = all(runs).map(|(_, t)| t.size.get() as i64).collect();
                column
                    .typed::<Int64Type>()
                    .write_batch(&sizes, None, None)?;
            }
            "start_s" => {
                let starts: Vec<f64> = all(runs).map(|(_, t)| t.start).collect();
                column
                    .typed::<DoubleType>()
                    .write_batch(&starts, None, None)?;
            }
            "duration_s" => {
                let there: Vec<i16> = all(runs)
                    .map(|(_, t)| i16::from(!t.duration.is_nan()))
                    .collect();
                let times = all(runs).map(|(_, t)| t.duration);
                let times: Vec<f64> = times.filter(|t| !t.is_nan()).collect();
                let typed = column.typed::<DoubleType>();
                typed.write_batch(&times, Some(&there), None)?;
            }
            _ => {
                let texts: Vec<ByteArray> = all(runs)
                    .map(|(i, t)| match name {
                        "engine" => text(runs[i].manifest.engine.name()),
                        "group" => text(&outline.groups[t.group].name),
                        _ => text(names[t.flow]),
                    })
                    .collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, None, None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

fn schema() -> parquet::errors::Result<Type> {
    let field = |(name, _): (&str, &str)| {
        let (physical, converted) = match name {
            "run" => (Physical::INT32, ConvertedType::NONE),
            "size_bytes" => (Physical::INT64, ConvertedType::NONE),
            "start_s" | "duration_s" => (Physical::DOUBLE, ConvertedType::NONE),
            _ => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let repetition = match name {
            "duration_s" => Repetition::OPTIONAL,
            _ => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_converted_type(converted)
            .build();
        field.map(Arc::new)
    };
    let fields = COLUMNS.into_iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("transfers")
        .with_fields(fields)
        .build()
}

/// Adds the transfers in `file` to the runs of `loaded`.
pub(super) fn read(file: File, loaded: &mut LoadedRun) -> Result<(), String> {
    let reader = SerializedFileReader::new(file).map_err(|e| e.to_string())?;
    let found = reader.metadata().file_metadata().schema_descr();
    let expected = schema().map_err(|e| e.to_string())?;
    if found.root_schema().get_fields() != expected.get_fields() {
        return Err("its columns are others".into());
    }
    let mut places = BTreeMap::new();
    for (g, group) in loaded.manifest.scenario.groups.iter().enumerate() {
        for flow in &group.flows {
            places.insert(flow.clone(), (places.len(), g));
        }
    }
    for i in 0..reader.num_row_groups() {
        let group = reader.get_row_group(i).map_err(|e| e.to_string())?;
        rows(&*group, &places, &mut loaded.runs)?;
    }
    for run in &mut loaded.runs {
        run.transfers.sort_by_key(|t| t.flow);
    }
    Ok(())
}

fn rows(
    group: &dyn parquet::file::reader::RowGroupReader,
    places: &BTreeMap<String, (usize, usize)>,
    runs: &mut [Run],
) -> Result<(), String> {
    let place = |name| {
        let found = COLUMNS.iter().position(|(column, _)| *column == name);
        found.expect("one of COLUMNS")
    };
    let failed = |e: parquet::errors::ParquetError| e.to_string();
    let numbers = column::<Int32Type>(group, place("run")).map_err(failed)?.0;
    let flows = column::<ByteArrayType>(group, place("flow"))
        .map_err(failed)?
        .0;
    let starts = column::<DoubleType>(group, place("start_s"))
        .map_err(failed)?
        .0;
    let sizes = column::<Int64Type>(group, place("size_bytes"))
        .map_err(failed)?
        .0;
    let (times, there) = column::<DoubleType>(group, place("duration_s")).map_err(failed)?;
    let n = numbers.len();
    if [flows.len(), starts.len(), sizes.len(), there.len()] != [n; 4] {
        return Err("its columns differ in length".into());
    }
    let mut times = times.into_iter();
    for i in 0..n {
        let name = flows[i].as_utf8().map_err(failed)?;
        let &(flow, group) =
            (places.get(name)).ok_or_else(|| format!("the manifest has no flow \"{name}\""))?;
        let run = usize::try_from(numbers[i])
            .ok()
            .and_then(|i| runs.get_mut(i));
        let run = run.ok_or_else(|| format!("the manifest has no run {}", numbers[i]))?;
        let size = u64::try_from(sizes[i]).map_err(|_| "a size is negative".to_string())?;
        run.transfers.push(Transfer {
            flow,
            group,
            start: starts[i],
            size: Bytes::new(size),
            duration: match there[i] {
                1 => times.next().unwrap_or(f64::NAN),
                _ => f64::NAN,
            },
        });
    }
    Ok(())
}
