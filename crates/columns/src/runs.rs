//! The writer of columns with long runs of a single value, or with values that recur in the same
//! order.
//!
//! The column writer of `parquet` takes one value per row and looks each up in its dictionary,
//! which took four fifths of the time of a short run. Here, such a column consists of a dictionary
//! page and one page of indices. If the value stays the same, an index is written once with the
//! number of rows to which it applies (Parquet's RLE).

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::BTreeMap;
use std::ptr;

/// A value of such a column.
pub(super) trait Value: Ord + Copy {
    /// Appends the value in the encoding `PLAIN`.
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

/// Returns the chunk of a column in which each value applies to the given number of rows.
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
    let bits = bits(places.len());
    let mut indices = vec![bits as u8];
    let mut count = 0;
    for (value, n) in rows {
        varint((n as u64) << 1, &mut indices);
        let index = places[&value].to_le_bytes();
        indices.extend(&index[..bits.div_ceil(8) as usize]);
        count += n;
    }
    let range = places.first_key_value().zip(places.last_key_value());
    Pages {
        dictionary,
        values: places.len(),
        sorted: true,
        indices,
        rows: count,
        statistics: range.map(|((&min, _), (&max, _))| T::statistics(min, max)),
    }
    .chunk(column)
}

/// Returns the chunk of a column in which stretches (the same slices) recur, or `None` if too few do.
pub(super) fn repeated(
    column: ColumnDescPtr,
    stretches: &[&[f64]],
) -> Result<Option<(Vec<u8>, ColumnCloseResult)>> {
    // The start of a stretch in the dictionary.
    let mut places: Vec<(&[f64], usize)> = Vec::new();
    let mut values = 0;
    let mut order = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        // Only the last ones are searched, since a table goes from run to run.
        let known = places.iter().rev().find(|(known, _)| ptr::eq(*known, *stretch));
        order.push(known.map_or(values, |(_, at)| *at));
        if known.is_none() {
            places.push((stretch, values));
            values += stretch.len();
        }
    }
    let rows = stretches.iter().map(|s| s.len()).sum();
    if 2 * values > rows {
        return Ok(None);
    }
    let bits = bits(values);
    let mut indices = vec![bits as u8];
    // One run of packed values, in groups of eight.
    varint((rows.div_ceil(8) as u64) << 1 | 1, &mut indices);
    let end = indices.len() + rows.div_ceil(8) * bits as usize;
    let (mut word, mut filled) = (0_u64, 0);
    for (stretch, at) in stretches.iter().zip(order) {
        for index in at..at + stretch.len() {
            word |= (index as u64) << filled;
            filled += bits;
            if filled >= 32 {
                indices.extend((word as u32).to_le_bytes());
                word >>= 32;
                filled -= 32;
            }
        }
    }
    indices.extend((word as u32).to_le_bytes());
    indices.resize(end, 0);
    let known = || places.iter().flat_map(|(stretch, _)| *stretch);
    let range = known().copied().reduce(f64::min).zip(known().copied().reduce(f64::max));
    let pages = Pages {
        dictionary: known().flat_map(|v| v.to_le_bytes()).collect(),
        values,
        sorted: false,
        indices,
        rows,
        statistics: range
            .map(|(min, max)| Statistics::double(Some(min), Some(max), None, Some(0), false)),
    };
    pages.chunk(column).map(Some)
}

/// Returns the bits of an index into a dictionary.
fn bits(values: usize) -> u32 {
    u32::BITS - (values.max(2) as u32 - 1).leading_zeros()
}

/// The two pages of a chunk. The column is required, so they have no levels.
struct Pages {
    /// The values in the encoding `PLAIN`.
    dictionary: Vec<u8>,
    values: usize,
    sorted: bool,
    /// The places of the rows' values in the dictionary.
    indices: Vec<u8>,
    rows: usize,
    statistics: Option<Statistics>,
}

impl Pages {
    /// Returns the bytes of the chunk, and their description for a row group.
    fn chunk(self, column: ColumnDescPtr) -> Result<(Vec<u8>, ColumnCloseResult)> {
        let mut bytes = Vec::new();
        let mut sink = TrackedWrite::new(&mut bytes);
        let mut pages = SerializedPageWriter::new(&mut sink);
        let mut write = |plain: Vec<u8>, page: &dyn Fn(Bytes) -> Page| -> Result<PageWriteSpec> {
            let packed = snap::raw::Encoder::new().compress_vec(&plain);
            let packed = packed.map_err(|e| ParquetError::External(Box::new(e)))?;
            pages.write_page(CompressedPage::new(page(packed.into()), plain.len()))
        };
        let first = write(self.dictionary, &|buf| Page::DictionaryPage {
            buf,
            num_values: self.values as u32,
            encoding: Encoding::PLAIN,
            is_sorted: self.sorted,
        })?;
        let second = write(self.indices, &|buf| Page::DataPage {
            buf,
            num_values: self.rows as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })?;
        pages.close()?;

        let mut metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::SNAPPY)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_total_compressed_size((first.compressed_size + second.compressed_size) as i64)
            .set_total_uncompressed_size(
                (first.uncompressed_size + second.uncompressed_size) as i64,
            )
            .set_num_values(self.rows as i64)
            .set_dictionary_page_offset(Some(first.offset as i64))
            .set_data_page_offset(second.offset as i64);
        if let Some(statistics) = self.statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: first.bytes_written + second.bytes_written,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        drop(sink);
        Ok((bytes, close))
    }
}

/// Appends `n` in groups of seven bits, lowest first (ULEB128).
fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}
