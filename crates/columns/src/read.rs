//! The reader of tables with known fields.

use super::write::schema;
use super::{Field, Kind, runs_of};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use thiserror::Error;

/// The reason why a file cannot be read as the expected table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Damaged(String);

impl From<ParquetError> for Damaged {
    fn from(e: ParquetError) -> Damaged {
        Damaged(e.to_string())
    }
}

impl Damaged {
    pub(super) fn new(why: impl Into<String>) -> Damaged {
        Damaged(why.into())
    }

    /// Runs `work`. The library panics on some damaged files. Such a panic becomes an error and is
    /// not printed.
    pub(super) fn guard<T>(work: impl FnOnce() -> Result<T, Damaged>) -> Result<T, Damaged> {
        thread_local! {
            static GUARDED: Cell<bool> = const { Cell::new(false) };
        }
        static SILENCE: Once = Once::new();
        SILENCE.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |panic| {
                if !GUARDED.get() {
                    before(panic);
                }
            }));
        });
        let outer = GUARDED.replace(true);
        let done = catch_unwind(AssertUnwindSafe(work));
        GUARDED.set(outer);
        done.unwrap_or_else(|_| Err(Damaged::new("a damaged Parquet file")))
    }
}

/// A Parquet file whose columns are as expected. The methods that read columns fail if the file is damaged,
/// and panic if the group or a field of this kind is missing.
pub struct Reader {
    file: SerializedFileReader<File>,
    fields: Vec<Field>,
}

impl Reader {
    /// Opens a file that must have exactly these fields, by name and kind.
    ///
    /// # Errors
    /// If the file is damaged or has other columns.
    pub fn open(file: File, fields: &[Field]) -> Result<Reader, Damaged> {
        let file = Damaged::guard(|| Ok(SerializedFileReader::new(file)?))?;
        let found = file.metadata().file_metadata().schema_descr();
        let got: Vec<&str> = found.columns().iter().map(|c| c.name()).collect();
        let expected: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
        if got != expected {
            let why = format!("its columns are {got:?}, not {expected:?}");
            return Err(Damaged(why));
        }
        if found.root_schema().get_fields() != schema("table", fields)?.get_fields() {
            return Err(Damaged::new("its columns have other types"));
        }
        Ok(Reader { file, fields: fields.to_vec() })
    }

    /// Returns the number of groups of rows.
    pub fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Reads a column of [`Kind::Text`]: each text with the number of rows to which it applies.
    /// Text that is not UTF-8 is an error.
    pub fn texts(&self, group: usize, field: &str) -> Result<Vec<(String, usize)>, Damaged> {
        let (rows, _) = self.read::<ByteArrayType>(group, field, &[Kind::Text])?;
        let runs = runs_of(rows.into_iter()).into_iter();
        runs.map(|(bytes, n)| Ok((bytes.as_utf8()?.to_string(), n))).collect()
    }

    /// Reads a column of [`Kind::Count`]: each integer with the number of rows to which it applies.
    pub fn counts(&self, group: usize, field: &str) -> Result<Vec<(i32, usize)>, Damaged> {
        let (rows, _) = self.read::<Int32Type>(group, field, &[Kind::Count])?;
        Ok(runs_of(rows.into_iter()))
    }

    /// Reads a column of [`Kind::Long`].
    pub fn longs(&self, group: usize, field: &str) -> Result<Vec<i64>, Damaged> {
        Ok(self.read::<Int64Type>(group, field, &[Kind::Long])?.0)
    }

    /// Reads a column of [`Kind::Number`] or [`Kind::Optional`]. A missing number is NaN.
    pub fn numbers(&self, group: usize, field: &str) -> Result<Vec<f64>, Damaged> {
        let kinds = [Kind::Number, Kind::Optional];
        let (known, there) = self.read::<DoubleType>(group, field, &kinds)?;
        if there.is_empty() {
            return Ok(known);
        }
        let mut known = known.into_iter();
        let value = |there| match there {
            1 => known.next().unwrap_or(f64::NAN),
            _ => f64::NAN,
        };
        Ok(there.into_iter().map(value).collect())
    }

    /// Reads a column: the values present, and for each row a 1 if its value is present. The second
    /// list is empty if all are present.
    fn read<T: DataType>(
        &self,
        group: usize,
        field: &str,
        kinds: &[Kind],
    ) -> Result<(Vec<T::T>, Vec<i16>), Damaged> {
        assert!(group < self.groups(), "there is no group {group}");
        let named = |f: &Field| f.name == field && kinds.contains(&f.kind);
        let i = self.fields.iter().position(named);
        let i = i.expect("a field that the file was opened with, of this kind");
        Damaged::guard(|| Ok(column::<T>(&*self.file.get_row_group(group)?, i)?))
    }
}

fn column<T: DataType>(
    group: &dyn RowGroupReader,
    i: usize,
) -> parquet::errors::Result<(Vec<T::T>, Vec<i16>)> {
    let reader = group.get_column_reader(i)?;
    let mut reader: ColumnReaderImpl<T> = get_typed_column_reader(reader);
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let (mut values, mut there) = (Vec::new(), Vec::new());
    while there.len() < rows || values.len() < rows {
        let left = rows - there.len().max(values.len());
        let (read, _, _) = reader.read_records(left, Some(&mut there), None, &mut values)?;
        if read == 0 {
            break;
        }
    }
    Ok((values, there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_result() {
        assert_eq!(Damaged::guard(|| Ok(7)), Ok(7));
        assert!(Damaged::guard(|| Ok(Vec::<u8>::new()[0])).is_err());
    }
}
