//! The writer of columns whose value stays the same for many rows.
//!
//! The column writer of `parquet` takes a value per row and looks each up in its dictionary, which
//! took four fifths of the time of a short run. Such a column is a dictionary page and one page of
//! indices, each written once with the number of rows that it holds for (the RLE of Parquet).

use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::BTreeMap;

/// A value of such a column.
pub(super) trait Value: Ord + Copy {
    /// Appends the value as `PLAIN` encodes it.
    fn plain(self, out: &mut Vec<u8>);

    /// Returns the statistics of a column from `min` to `max` without nulls.
    fn statistics(min: Self, max: Self) -> Statistics;
}

impl Value for i32 {
    fn plain(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn statistics(min: i32, max: i32) -> Statistics {
        Statistics::int32(Some(min), Some(max), None, Some(0), false)
    }
}

impl Value for &str {
    fn plain(self, out: &mut Vec<u8>) {
        out.extend((self.len() as u32).to_le_bytes());
        out.extend(self.as_bytes());
    }

    fn statistics(min: &str, max: &str) -> Statistics {
        let bytes = |text: &str| Some(ByteArray::from(text.as_bytes().to_vec()));
        Statistics::byte_array(bytes(min), bytes(max), None, Some(0), false)
    }
}

/// Returns the bytes of a column chunk, and what describes them to a row group.
///
/// `rows` gives each value with the number of rows that it holds for. The column is required, so
/// that its pages have no levels.
pub(super) fn chunk<T: Value>(
    column: ColumnDescPtr,
    rows: impl Iterator<Item = (T, usize)> + Clone,
) -> Result<(Vec<u8>, ColumnCloseResult)> {
    let mut places: BTreeMap<T, u32> = rows.clone().map(|(value, _)| (value, 0)).collect();
    let mut dictionary = Vec::new();
    for (i, (value, place)) in places.iter_mut().enumerate() {
        *place = i as u32;
        value.plain(&mut dictionary);
    }
    let bits = u32::BITS - (places.len().max(2) as u32 - 1).leading_zeros();
    let mut indices = vec![bits as u8];
    let mut count = 0;
    for (value, n) in rows {
        varint((n as u64) << 1, &mut indices);
        let index = places[&value].to_le_bytes();
        indices.extend(&index[..bits.div_ceil(8) as usize]);
        count += n;
    }

    let mut bytes = Vec::new();
    let mut sink = TrackedWrite::new(&mut bytes);
    let mut pages = SerializedPageWriter::new(&mut sink);
    let mut write = |page: Page| -> Result<PageWriteSpec> {
        let size = page.buffer().len();
        pages.write_page(CompressedPage::new(page, size))
    };
    let first = write(Page::DictionaryPage {
        buf: dictionary.into(),
        num_values: places.len() as u32,
        encoding: Encoding::PLAIN,
        is_sorted: true,
    })?;
    let second = write(Page::DataPage {
        buf: indices.into(),
        num_values: count as u32,
        encoding: Encoding::RLE_DICTIONARY,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    })?;
    pages.close()?;

    let mut metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::UNCOMPRESSED)
        .set_encodings(vec![
            Encoding::PLAIN,
            Encoding::RLE,
            Encoding::RLE_DICTIONARY,
        ])
        .set_total_compressed_size((first.compressed_size + second.compressed_size) as i64)
        .set_total_uncompressed_size((first.uncompressed_size + second.uncompressed_size) as i64)
        .set_num_values(count as i64)
        .set_dictionary_page_offset(Some(first.offset as i64))
        .set_data_page_offset(second.offset as i64);
    if let (Some((&min, _)), Some((&max, _))) = (places.first_key_value(), places.last_key_value())
    {
        metadata = metadata.set_statistics(T::statistics(min, max));
    }
    let close = ColumnCloseResult {
        bytes_written: first.bytes_written + second.bytes_written,
        rows_written: count as u64,
        metadata: metadata.build()?,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    drop(sink);
    Ok((bytes, close))
}

/// Appends `n` in groups of seven bits, the lowest first (ULEB128).
fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}
