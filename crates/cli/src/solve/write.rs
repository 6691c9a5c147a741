//! The answer as two tables, `rates` and `prices`, in CSV or Parquet.

use super::answer::{Answer, Proof};
use super::network::Network;
use super::table::Format;
use crate::fail::Failure;
use accord::solver::Bottleneck;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::path::Path;
use std::sync::Arc;

/// Name, meaning and values.
pub struct Column<'a> {
    pub name: &'static str,
    doc: &'static str,
    pub values: Values<'a>,
}

pub enum Values<'a> {
    Text(Vec<&'a str>),
    Numbers(Vec<f64>),
}

/// The columns of the flows.
pub fn rates<'a>(network: &'a Network, answer: &Answer) -> Vec<Column<'a>> {
    let flows = network.flows.iter().map(String::as_str).collect();
    let mut columns = vec![
        text("flow", "name of the flow", flows),
        numbers("rate_bps", "its rate, in bit/s", answer.rates.clone()),
    ];
    match &answer.proof {
        Proof::Utility { bounds, .. } => {
            if !bounds.is_empty() {
                let (low, high) = bounds.iter().copied().unzip();
                columns.extend([
                    numbers("low_bps", "the optimal rate is not below this", low),
                    numbers("high_bps", "nor above this", high),
                ]);
            }
            let prices = network.problem.routes().path_prices(&answer.prices);
            columns.push(numbers(
                "path_price",
                "sum of the prices of its links",
                prices,
            ));
        }
        Proof::MaxMin { bottlenecks, .. } => {
            let name = |bottleneck: &Bottleneck| match bottleneck {
                Bottleneck::Link(link) => network.links[*link as usize].as_str(),
                Bottleneck::Own => "",
            };
            let links = bottlenecks.iter().map(name).collect();
            let doc = "the full link that keeps it from more; empty if its own limit does";
            columns.push(text("bottleneck", doc, links));
        }
    }
    columns
}

/// The columns of the links.
pub fn prices<'a>(network: &'a Network, answer: &Answer) -> Vec<Column<'a>> {
    let links = network.links.iter().map(String::as_str).collect();
    let capacities = network.problem.capacities().to_vec();
    let mut columns = vec![
        text("link", "name of the link", links),
        numbers("capacity_bps", "its capacity, in bit/s", capacities),
        numbers(
            "load_bps",
            "sum of the rates, in bit/s",
            answer.loads.clone(),
        ),
    ];
    if !answer.prices.is_empty() {
        let doc = "queuing delay in seconds, if weights are bits";
        columns.push(numbers("price", doc, answer.prices.clone()));
    }
    columns
}

fn text<'a>(name: &'static str, doc: &'static str, values: Vec<&'a str>) -> Column<'a> {
    let values = Values::Text(values);
    Column { name, doc, values }
}

fn numbers<'a>(name: &'static str, doc: &'static str, values: Vec<f64>) -> Column<'a> {
    let values = Values::Numbers(values);
    Column { name, doc, values }
}

/// Writes both tables into a directory.
pub fn write(dir: &Path, network: &Network, answer: &Answer) -> Result<(), Failure> {
    std::fs::create_dir_all(dir)
        .map_err(|e| Failure::new(format!("cannot create {}: {e}", dir.display())))?;
    let tables = [
        ("rates", rates(network, answer)),
        ("prices", prices(network, answer)),
    ];
    for (stem, columns) in tables {
        let path = dir.join(format!("{stem}.{}", network.format.extension()));
        let bytes = match network.format {
            Format::Csv => csv_bytes(&columns).map_err(Failure::new)?,
            Format::Parquet => parquet_bytes(stem, &columns).map_err(Failure::new)?,
        };
        write_file(&path, &bytes)
            .map_err(|e| Failure::new(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}

/// Under another name first, so that there is the old file or the new one, never half of it.
fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let partial = path.with_extension("partial");
    std::fs::write(&partial, bytes)?;
    std::fs::rename(&partial, path)
}

fn csv_bytes(columns: &[Column]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.name))?;
    for row in 0..columns.first().map_or(0, |column| column.values.len()) {
        for column in columns {
            match &column.values {
                Values::Text(texts) => writer.write_field(texts[row])?,
                Values::Numbers(numbers) => writer.write_field(numbers[row].to_string())?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(|e| e.into_error().into())
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Text(texts) => texts.len(),
            Values::Numbers(numbers) => numbers.len(),
        }
    }
}

fn parquet_bytes(stem: &str, columns: &[Column]) -> parquet::errors::Result<Vec<u8>> {
    let field = |column: &Column| {
        let (physical, converted) = match column.values {
            Values::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Values::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(converted)
            .build();
        field.map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder(stem).with_fields(fields).build()?;
    let documentation = columns.iter().map(|column| {
        let key = format!("accord.column.{}", column.name);
        KeyValue::new(key, column.doc.to_string())
    });
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("accord {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(documentation.collect()))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        let mut writer = group.next_column()?.expect("the schema has these columns");
        match &column.values {
            Values::Text(texts) => {
                let texts: Vec<ByteArray> = texts.iter().map(|&text| text.into()).collect();
                let typed = writer.typed::<ByteArrayType>();
                typed.write_batch(&texts, None, None)?;
            }
            Values::Numbers(numbers) => {
                let typed = writer.typed::<DoubleType>();
                typed.write_batch(numbers, None, None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.into_inner()
}
