//! The reader of Parquet files of any origin.

use super::read::Damaged;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;

/// A cell of a file of any origin.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Text, without white space around it.
    Text(String),
    /// A number of any type. Integers beyond 2^53 are rounded.
    Number(f64),
}

/// Reads a whole Parquet file: its columns by name, with one cell per row.
///
/// # Errors
/// If the file is damaged, or a column holds neither text nor numbers.
pub fn foreign(file: File) -> Result<Vec<(String, Vec<Cell>)>, Damaged> {
    Damaged::guard(|| read(file))
}

fn read(file: File) -> Result<Vec<(String, Vec<Cell>)>, Damaged> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema();
    let mut columns: Vec<(String, Vec<Cell>)> =
        (schema.get_fields().iter()).map(|field| (field.name().to_string(), Vec::new())).collect();
    for row in reader.get_row_iter(None)? {
        let row = row?;
        for ((name, cells), (_, field)) in columns.iter_mut().zip(row.get_column_iter()) {
            cells.push(match field {
                Field::Null => Cell::Empty,
                Field::Str(text) => Cell::Text(text.trim().to_string()),
                Field::Double(number) => Cell::Number(*number),
                Field::Float(number) => Cell::Number(f64::from(*number)),
                Field::Byte(number) => Cell::Number(f64::from(*number)),
                Field::Short(number) => Cell::Number(f64::from(*number)),
                Field::Int(number) => Cell::Number(f64::from(*number)),
                Field::UByte(number) => Cell::Number(f64::from(*number)),
                Field::UShort(number) => Cell::Number(f64::from(*number)),
                Field::UInt(number) => Cell::Number(f64::from(*number)),
                Field::Long(number) => Cell::Number(*number as f64),
                Field::ULong(number) => Cell::Number(*number as f64),
                _ => {
                    let why = format!("the column \"{name}\" holds neither text nor numbers");
                    return Err(Damaged::new(why));
                }
            });
        }
    }
    Ok(columns)
}
