//! Columns of Parquet files.

use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::DataType;
use parquet::file::reader::RowGroupReader;

/// Reads the `i`-th column: the values that are there, and for each row whether (1) it is there.
pub(super) fn column<T: DataType>(
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
