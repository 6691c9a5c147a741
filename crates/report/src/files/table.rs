//! Tables with documented columns, as CSV and Parquet.

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// A column with its meaning.
pub(super) struct Field {
    pub name: String,
    pub doc: String,
    pub cells: Cells,
}

/// The values of a column.
pub(super) enum Cells {
    Text(Vec<String>),
    Count(Vec<i32>),
    /// NaN is a missing value.
    Number(Vec<f64>),
}

impl Field {
    fn text(&self, row: usize) -> String {
        match &self.cells {
            Cells::Text(v) => v[row].clone(),
            Cells::Count(v) => v[row].to_string(),
            Cells::Number(v) if v[row].is_nan() => String::new(),
            Cells::Number(v) => v[row].to_string(),
        }
    }

    fn rows(&self) -> usize {
        match &self.cells {
            Cells::Text(v) => v.len(),
            Cells::Count(v) => v.len(),
            Cells::Number(v) => v.len(),
        }
    }
}

pub(super) fn write_csv(out: &mut dyn Write, fields: &[Field]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(fields.iter().map(|f| &f.name))?;
    for row in 0..fields.first().map_or(0, Field::rows) {
        csv.write_record(fields.iter().map(|f| f.text(row)))?;
    }
    csv.flush()
}

pub(super) fn write_parquet(
    out: &mut (dyn Write + Send),
    name: &str,
    fields: &[Field],
) -> parquet::errors::Result<()> {
    let docs = fields
        .iter()
        .map(|f| KeyValue::new(format!("accord.column.{}", f.name), f.doc.clone()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("accord {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(docs.collect()))
        .build();
    let types = fields.iter().map(|f| {
        let (physical, converted, repetition) = match f.cells {
            Cells::Text(_) => (
                Physical::BYTE_ARRAY,
                ConvertedType::UTF8,
                Repetition::REQUIRED,
            ),
            Cells::Count(_) => (Physical::INT32, ConvertedType::NONE, Repetition::REQUIRED),
            Cells::Number(_) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL),
        };
        Type::primitive_type_builder(&f.name, physical)
            .with_converted_type(converted)
            .with_repetition(repetition)
            .build()
            .map(Arc::new)
    });
    let types = types.collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder(name).with_fields(types).build()?;
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for field in fields {
        let mut column = group.next_column()?.expect("the schema has these columns");
        match &field.cells {
            Cells::Text(v) => {
                let texts: Vec<ByteArray> =
                    v.iter().map(|t| t.as_bytes().to_vec().into()).collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, None, None)?;
            }
            Cells::Count(v) => {
                column.typed::<Int32Type>().write_batch(v, None, None)?;
            }
            Cells::Number(v) => {
                let there: Vec<i16> = v.iter().map(|v| i16::from(!v.is_nan())).collect();
                let known: Vec<f64> = v.iter().copied().filter(|v| !v.is_nan()).collect();
                column
                    .typed::<DoubleType>()
                    .write_batch(&known, Some(&there), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}
