//! The writers.

use super::runs::{chunk, repeated};
use super::{Cells, Field, Format, Kind};
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

/// A table under construction.
///
/// The writer is not generic over its output, so the Parquet library is compiled only once, with this crate,
/// and optimised.
pub struct Writer<'w>(Open<'w>);

type Out<'w> = &'w mut (dyn Write + Send);

enum Open<'w> {
    Csv(Box<csv::Writer<Out<'w>>>),
    Parquet(Box<(SerializedFileWriter<Out<'w>>, SchemaDescriptor)>),
}

impl<'w> Writer<'w> {
    /// Begins a table. Its name in Parquet is `name`. Its metadata contains `notes` (key and text) and the
    /// meanings of its columns.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn new(
        out: Out<'w>,
        format: Format,
        name: &str,
        fields: &[Field],
        notes: &[(String, String)],
    ) -> io::Result<Writer<'w>> {
        let file = match format {
            Format::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(fields.iter().map(|f| &f.name))?;
                Open::Csv(Box::new(csv))
            }
            Format::Parquet => {
                let schema = schema(name, fields)?;
                let columns = SchemaDescriptor::new(schema.clone());
                let file = SerializedFileWriter::new(out, schema, properties(fields, notes))
                    .map_err(of_output)?;
                Open::Parquet(Box::new((file, columns)))
            }
        };
        Ok(Writer(file))
    }

    /// Appends rows: the cells of each field, in the order of the fields.
    ///
    /// # Errors
    /// Returns the errors of the writer, and an error if cells differ in their number of rows.
    pub fn group(&mut self, cells: &[Cells]) -> io::Result<()> {
        let rows = cells.first().map_or(0, Cells::rows);
        if cells.iter().any(|c| c.rows() != rows) {
            return Err(io::Error::other("the columns differ in length"));
        }
        if rows == 0 {
            return Ok(());
        }
        match &mut self.0 {
            Open::Csv(csv) => write_rows(csv, cells, rows),
            Open::Parquet(open) => {
                let (file, columns) = &mut **open;
                let mut group = file.next_row_group().map_err(of_output)?;
                for (i, cells) in cells.iter().enumerate() {
                    write_column(&mut group, columns, i, cells).map_err(of_output)?;
                }
                group.close().map_err(of_output)?;
                Ok(())
            }
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Open::Csv(mut csv) => csv.flush(),
            Open::Parquet(open) => {
                open.0.close().map_err(of_output)?;
                Ok(())
            }
        }
    }
}

/// Returns the output's own error if the library has merely passed it on.
fn of_output(e: ParquetError) -> io::Error {
    match e {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(e) => *e,
            Err(other) => io::Error::other(other),
        },
        e => e.into(),
    }
}

fn write_rows(csv: &mut csv::Writer<Out>, cells: &[Cells], rows: usize) -> io::Result<()> {
    let mut columns: Vec<_> = cells.iter().map(texts).collect();
    for _ in 0..rows {
        for column in &mut columns {
            csv.write_field(&*column.next().unwrap_or_default())?;
        }
        csv.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// Returns the cells as CSV text, row by row.
fn texts<'c>(cells: &'c Cells<'c>) -> Box<dyn Iterator<Item = Cow<'c, str>> + 'c> {
    fn repeat<'c, T>(
        runs: &'c [(T, usize)],
        text: impl Fn(&'c T) -> Cow<'c, str> + 'c,
    ) -> Box<dyn Iterator<Item = Cow<'c, str>> + 'c> {
        Box::new((runs.iter()).flat_map(move |(value, n)| std::iter::repeat_n(text(value), *n)))
    }
    match cells {
        Cells::Text(runs) => repeat(runs, |text| csv_text(text)),
        Cells::Count(runs) => repeat(runs, |n| n.to_string().into()),
        Cells::Long(values) => Box::new(values.iter().map(|n| n.to_string().into())),
        Cells::Number(values) => Box::new(values.iter().map(|n| number(*n))),
        Cells::Stretches(all) => Box::new(all.iter().copied().flatten().map(|n| number(*n))),
    }
}

/// Returns a text as a cell of CSV. An apostrophe precedes a text that spreadsheets would evaluate as a
/// formula.
pub fn csv_text(text: &str) -> Cow<'_, str> {
    let mut rest = text.chars();
    let is_formula = match rest.next() {
        Some('=' | '@' | '\t' | '\r') => true,
        // A number, with or without a unit, is not a formula.
        Some('+' | '-') => rest.any(|c| !(c.is_alphanumeric() || " .%".contains(c))),
        _ => false,
    };
    if is_formula { format!("'{text}").into() } else { text.into() }
}

fn number(n: f64) -> Cow<'static, str> {
    if n.is_nan() { "".into() } else { n.to_string().into() }
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Out>,
    columns: &SchemaDescriptor,
    i: usize,
    cells: &Cells,
) -> parquet::errors::Result<()> {
    let descriptor = columns.column(i);
    let optional = descriptor.max_def_level() > 0;
    let rows = cells.rows();
    // The library is better at writing one text per row, such as names.
    match cells {
        Cells::Text(runs) if 2 * runs.len() <= rows => {
            let runs = runs.iter().map(|(text, n)| (&**text, *n));
            return append(group, chunk(descriptor, runs)?);
        }
        Cells::Count(runs) if 2 * runs.len() <= rows => {
            return append(group, chunk(descriptor, runs.iter().copied())?);
        }
        Cells::Stretches(all) if !optional => {
            if let Some(chunk) = repeated(descriptor, all)? {
                return append(group, chunk);
            }
        }
        _ => {}
    }
    let mut column = group.next_column()?.expect("a field has a column");
    _ = match cells {
        Cells::Text(runs) => {
            let texts: Vec<ByteArray> = (runs.iter())
                .flat_map(|(text, n)| std::iter::repeat_n(ByteArray::from(&**text), *n))
                .collect();
            (column.typed::<ByteArrayType>()).write_batch(&texts, None, None)?
        }
        Cells::Count(runs) => {
            let counts: Vec<i32> =
                (runs.iter()).flat_map(|&(count, n)| std::iter::repeat_n(count, n)).collect();
            (column.typed::<Int32Type>()).write_batch(&counts, None, None)?
        }
        Cells::Long(values) => (column.typed::<Int64Type>()).write_batch(values, None, None)?,
        Cells::Number(values) => numbers(&mut column, values, optional)?,
        Cells::Stretches(all) => numbers(&mut column, &all.concat(), optional)?,
    };
    column.close()
}

fn numbers(
    column: &mut SerializedColumnWriter,
    values: &[f64],
    optional: bool,
) -> parquet::errors::Result<usize> {
    let column = column.typed::<DoubleType>();
    if optional {
        let there: Vec<i16> = values.iter().map(|v| i16::from(!v.is_nan())).collect();
        let mut known = Vec::with_capacity(values.len());
        known.extend(values.iter().filter(|v| !v.is_nan()));
        column.write_batch(&known, Some(&there), None)
    } else {
        column.write_batch(values, None, None)
    }
}

fn append(
    group: &mut SerializedRowGroupWriter<'_, Out>,
    (bytes, close): (Vec<u8>, ColumnCloseResult),
) -> parquet::errors::Result<()> {
    group.append_column(&Bytes::from(bytes), close)
}

fn properties(fields: &[Field], notes: &[(String, String)]) -> Arc<WriterProperties> {
    let meanings =
        fields.iter().map(|f| KeyValue::new(format!("accord.column.{}", f.name), f.doc.clone()));
    let notes = (notes.iter()).map(|(key, text)| KeyValue::new(key.clone(), text.clone()));
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(format!("accord {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(meanings.chain(notes).collect()));
    // Measured values seldom repeat, and rows are not selected by them. A dictionary and statistics would
    // only cost time.
    for field in fields.iter().filter(|f| f.kind == Kind::Optional) {
        let name = || field.name.as_str().into();
        properties = properties
            .set_column_dictionary_enabled(name(), false)
            .set_column_statistics_enabled(name(), EnabledStatistics::None);
    }
    Arc::new(properties.build())
}

/// Returns the schema of a table.
pub(super) fn schema(name: &str, fields: &[Field]) -> parquet::errors::Result<TypePtr> {
    let field = |f: &Field| {
        let (physical, converted) = match f.kind {
            Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Kind::Count => (Physical::INT32, ConvertedType::NONE),
            Kind::Long => (Physical::INT64, ConvertedType::NONE),
            Kind::Number | Kind::Optional => (Physical::DOUBLE, ConvertedType::NONE),
        };
        let repetition = match f.kind {
            Kind::Optional => Repetition::OPTIONAL,
            _ => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(&f.name, physical)
            .with_repetition(repetition)
            .with_converted_type(converted)
            .build();
        field.map(Arc::new)
    };
    let fields = fields.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder(name).with_fields(fields).build()?;
    Ok(Arc::new(schema))
}
