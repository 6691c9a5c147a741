//! Tables of text and numbers from CSV and Parquet files, with the place of each row.

use crate::fail::Failure;
use accord::columns::{Cell, Format, foreign};
use accord::files::{open, read};
use accord::report::show::count;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The largest table that is read, in bytes.
const LARGEST: u64 = 4 << 30;

/// A table in memory.
pub struct Table {
    pub path: PathBuf,
    pub format: Format,
    columns: Vec<(String, Vec<Cell>)>,
    /// The line of each row of a CSV file.
    lines: Vec<u64>,
    rows: usize,
}

impl Table {
    /// Reads `stem`.csv or `stem`.parquet in a directory.
    pub fn open(dir: &Path, stem: &str) -> Result<Table, Failure> {
        let path = |format: Format| dir.join(format!("{stem}.{}", format.extension()));
        let (csv, parquet) = (path(Format::Csv), path(Format::Parquet));
        let table = match (csv.is_file(), parquet.is_file()) {
            (true, false) => read_csv(&csv)?,
            (false, true) => read_parquet(&parquet)?,
            (true, true) => {
                let both = format!("{} and {}", csv.display(), parquet.display());
                return Err(Failure::new(format!("there are both {both}")).hint("remove one"));
            }
            (false, false) => {
                let e = Failure::new(format!(
                    "there is no {stem}.csv and no {stem}.parquet in {}",
                    dir.display()
                ));
                let hint = "a network is a directory with a table of links and a table of flows";
                return Err(e.hint(hint));
            }
        };
        if table.rows == 0 {
            return Err(Failure::new(format!("{} has no rows", table.path.display())));
        }
        Ok(table)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns file and line (or row) for an error.
    pub fn place(&self, row: usize) -> String {
        match self.lines.get(row) {
            Some(line) => format!("{}:{line}", self.path.display()),
            None => format!("{}, row {}", self.path.display(), row + 1),
        }
    }

    /// Returns an error in a row.
    pub fn wrong(&self, row: usize, what: impl std::fmt::Display) -> Failure {
        Failure::new(format!("{}: {what}", self.place(row)))
    }

    /// Fails if a column is not one of `known`, or occurs twice.
    pub fn check_columns(&self, known: &[&str]) -> Result<(), Failure> {
        for (i, (name, _)) in self.columns.iter().enumerate() {
            let twice = self.columns[..i].iter().any(|(other, _)| other == name);
            let what = match (known.contains(&name.as_str()), twice) {
                (true, false) => continue,
                (true, true) => "occurs twice",
                (false, _) => "is unknown",
            };
            let e = format!("{}: the column \"{name}\" {what}", self.path.display());
            return Err(Failure::new(e).hint(format!("the columns are: {}", known.join(", "))));
        }
        Ok(())
    }

    /// Returns the index of a required column.
    pub fn column(&self, name: &str) -> Result<usize, Failure> {
        self.optional(name).ok_or_else(|| {
            let e = format!("{}: there is no column \"{name}\"", self.path.display());
            let there: Vec<_> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
            Failure::new(e).hint(format!("its columns are: {}", there.join(", ")))
        })
    }

    /// Returns the index of an optional column.
    pub fn optional(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(column, _)| column == name)
    }

    /// Returns the text of a cell, or `None` if it is empty. Whole numbers are text as well.
    pub fn text(&self, row: usize, column: usize) -> Option<Cow<'_, str>> {
        match &self.columns[column].1[row] {
            Cell::Empty => None,
            Cell::Text(text) => Some(text.into()),
            Cell::Number(number) => Some(number.to_string().into()),
        }
    }

    /// Returns the number in a cell, or `None` if it is empty.
    pub fn number(&self, row: usize, column: usize) -> Result<Option<f64>, Failure> {
        let (name, cells) = &self.columns[column];
        match &cells[row] {
            Cell::Empty => Ok(None),
            Cell::Number(number) => Ok(Some(*number)),
            Cell::Text(text) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => {
                    let e = self.wrong(row, format!("{name} \"{text}\" is not a number"));
                    Err(e.hint("numbers are plain, such as 2.5 or 1e9; the unit is in the column"))
                }
            },
        }
    }
}

fn read_csv(path: &Path) -> Result<Table, Failure> {
    let failed = |place: String, e: &dyn std::fmt::Display| {
        Err(Failure::new(format!("{}{place}: {e}", path.display())))
    };
    let mut bytes = match read(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(e) => return failed(String::new(), &e),
    };
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(bytes.as_slice());
    let names = match reader.headers() {
        Ok(names) => names.clone(),
        Err(e) => return failed(String::new(), &e),
    };
    if names.len() == 1 && names[0].contains(';') {
        return failed(":1".into(), &"the cells are separated by semicolons, not by commas");
    }
    let mut columns: Vec<(String, Vec<Cell>)> =
        names.iter().map(|n| (n.to_string(), Vec::new())).collect();
    let (mut record, mut lines) = (csv::StringRecord::new(), Vec::new());
    loop {
        let read = reader.read_record(&mut record);
        // The reader is past the record. The position of a record is that before its comments.
        let breaks = record.as_slice().matches('\n').count() as u64;
        let line = reader.position().line().saturating_sub(1 + breaks);
        match read {
            Ok(false) => break,
            Ok(true) if record.len() == columns.len() => {}
            Ok(true) => {
                let (cells, columns) =
                    (count(record.len(), "cell"), count(columns.len(), "column"));
                let e = format!("{cells}, but {columns}");
                return failed(format!(":{line}"), &e);
            }
            Err(e) if matches!(e.kind(), csv::ErrorKind::Utf8 { .. }) => {
                return failed(format!(":{line}"), &"not UTF-8 text");
            }
            Err(e) => return failed(format!(":{line}"), &e),
        }
        lines.push(line);
        for ((_, cells), text) in columns.iter_mut().zip(&record) {
            cells.push(match text {
                "" => Cell::Empty,
                text => Cell::Text(text.to_string()),
            });
        }
    }
    Ok(Table { path: path.into(), format: Format::Csv, columns, rows: lines.len(), lines })
}

fn read_parquet(path: &Path) -> Result<Table, Failure> {
    let broken = |e: &dyn std::fmt::Display| Failure::new(format!("{}: {e}", path.display()));
    let file = open(path, LARGEST).map_err(|e| broken(&e))?;
    let columns = foreign(file).map_err(|e| broken(&e))?;
    Ok(Table {
        path: path.into(),
        format: Format::Parquet,
        rows: columns.first().map_or(0, |(_, cells)| cells.len()),
        columns,
        lines: Vec::new(),
    })
}
