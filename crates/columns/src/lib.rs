//! Tables with documented columns, as Parquet and CSV.
//!
//! A column has a [`Field`] (name, meaning, kind) and [`Cells`]. A [`Table`] is in memory. A [`Writer`]
//! writes a longer table in groups of rows. In Parquet, the metadata `accord.column.NAME` states the meaning
//! of a column. A [`Reader`] returns the columns of a Parquet file, or an error if it is damaged.
//!
//! ```
//! use accord_columns::{Cells, Format, Kind, Reader, Table};
//! use std::fs::File;
//!
//! let mut table = Table::default();
//! table.add("flow", "name of the flow", Kind::Text, Cells::text(["a", "b"]));
//! let rates = Cells::Number(vec![4e6, 6e6]);
//! table.add("rate_bps", "its rate, in bit/s", Kind::Number, rates);
//!
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("rates.parquet");
//! table.write(&mut File::create(&path)?, Format::Parquet, "rates")?;
//! let reader = Reader::open(File::open(&path)?, table.fields())?;
//! assert_eq!(reader.numbers(0, "rate_bps")?, [4e6, 6e6]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod foreign;
mod read;
mod runs;
mod write;

pub use foreign::{Cell, foreign};
pub use read::{Damaged, Reader};
pub use write::{Writer, csv_text};

use std::borrow::Cow;
use std::io::{self, Write};

/// A column: its name, its meaning and the type of its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The meaning, with the unit.
    pub doc: String,
    /// The type of the cells.
    pub kind: Kind,
}

impl Field {
    /// Returns a field.
    pub fn new(name: impl Into<String>, doc: impl Into<String>, kind: Kind) -> Field {
        Field { name: name.into(), doc: doc.into(), kind }
    }
}

/// The type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// 32-bit integers.
    Count,
    /// 64-bit integers.
    Long,
    /// 64-bit floating-point numbers.
    Number,
    /// 64-bit floating-point numbers that may be missing. A missing number is NaN in memory, null
    /// in Parquet, and empty in CSV.
    Optional,
}

/// The cells of a column in a group of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells<'a> {
    /// Texts, each with the number of rows to which it applies.
    Text(Vec<(Cow<'a, str>, usize)>),
    /// Integers, each with the number of rows to which it applies.
    Count(Vec<(i32, usize)>),
    /// 64-bit integers, one per row.
    Long(Vec<i64>),
    /// Numbers, one per row, of [`Kind::Number`] and [`Kind::Optional`].
    Number(Vec<f64>),
    /// Numbers in stretches. A recurring slice, such as the times of a run for each of its series,
    /// is written once.
    Stretches(Vec<&'a [f64]>),
}

impl<'a> Cells<'a> {
    /// Returns the column of `rows`, one text per row.
    pub fn text<T: Into<Cow<'a, str>>>(rows: impl IntoIterator<Item = T>) -> Cells<'a> {
        Cells::Text(runs_of(rows.into_iter().map(Into::into)))
    }

    /// Returns the column of `rows`, one integer per row.
    pub fn counts(rows: impl IntoIterator<Item = i32>) -> Cells<'a> {
        Cells::Count(runs_of(rows.into_iter()))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Cells::Text(runs) => runs.iter().map(|(_, n)| n).sum(),
            Cells::Count(runs) => runs.iter().map(|(_, n)| n).sum(),
            Cells::Long(values) => values.len(),
            Cells::Number(values) => values.len(),
            Cells::Stretches(all) => all.iter().map(|s| s.len()).sum(),
        }
    }
}

/// Joins equal neighbours.
fn runs_of<T: PartialEq>(rows: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut runs: Vec<(T, usize)> = Vec::new();
    for value in rows {
        match runs.last_mut() {
            Some((last, n)) if *last == value => *n += 1,
            _ => runs.push((value, 1)),
        }
    }
    runs
}

/// A table in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table<'a> {
    fields: Vec<Field>,
    cells: Vec<Cells<'a>>,
}

impl<'a> Table<'a> {
    /// Adds a column.
    pub fn add(&mut self, name: &str, doc: &str, kind: Kind, cells: Cells<'a>) {
        self.fields.push(Field::new(name, doc, kind));
        self.cells.push(cells);
    }

    /// Returns the fields.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the columns.
    pub fn columns(&self) -> impl Iterator<Item = (&Field, &Cells<'a>)> {
        self.fields.iter().zip(&self.cells)
    }

    /// Writes the table under the name `name` in Parquet.
    ///
    /// # Errors
    /// Returns the errors of `out`, and an error if columns differ in length.
    pub fn write(
        &self,
        out: &mut (dyn Write + Send),
        format: Format,
        name: &str,
    ) -> io::Result<()> {
        let mut writer = Writer::new(out, format, name, &self.fields, &[])?;
        writer.group(&self.cells)?;
        writer.finish()
    }
}

/// The format of a file with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a line of names.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// Returns the extension of the names of such files.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        }
    }
}
