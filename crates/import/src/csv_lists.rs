//! Lists in CSV: links (from, to, and attributes), and demands (from, to, rate).

use crate::Units;
use crate::attribute::{Property, Unsound, property};
use crate::builder::{Builder, Properties, bounded};
use crate::error::{ImportError, quote};
use crate::limits;
use crate::topology::{Demand, Topology};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::borrow::Cow;
use std::collections::BTreeMap;

// "a" and "b" are missing, because they may as well be the ends of the first link in a list without
// a header.
const FROM: &[&str] = &["from", "source", "src", "node1"];
const TO: &[&str] = &["to", "target", "destination", "dst", "node2"];

/// A table: the indices of its node columns, the names of its columns, and its rows with their
/// lines.
struct Table {
    from: usize,
    to: usize,
    heads: StringRecord,
    rows: Vec<(usize, StringRecord)>,
    /// True if the comma is the decimal mark, as spreadsheets write tables with semicolons.
    decimal_comma: bool,
}

impl Table {
    fn read(text: &str, example: &str) -> Result<Table, ImportError> {
        let delimiter = delimiter(text);
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| {
                let line = e.position().map_or(1, |p| p.line() as usize);
                ImportError::at(line, format!("invalid CSV: {e}"))
            })?;
            let line = record.position().map_or(1, |p| p.line() as usize);
            rows.push((line, record));
        }
        if rows.is_empty() {
            return Err(ImportError::whole("the table is empty").hint(example));
        }
        let (first, heads) = rows.remove(0);
        let column = |names: &[&str]| {
            heads.iter().position(|head| names.iter().any(|n| head.eq_ignore_ascii_case(n)))
        };
        match (column(FROM), column(TO)) {
            (Some(from), Some(to)) => {
                let decimal_comma = delimiter == b';';
                Ok(Table { from, to, heads, rows, decimal_comma })
            }
            _ => {
                let message = "the first row names no columns from and to";
                let hint = format!("write the names of the columns there, {example}");
                Err(ImportError::at(first, message).hint(hint))
            }
        }
    }

    fn cell<'a>(
        &self,
        row: &'a StringRecord,
        column: usize,
        line: usize,
    ) -> Result<&'a str, ImportError> {
        let cell = row.get(column).filter(|cell| !cell.is_empty());
        cell.ok_or_else(|| {
            let head = self.heads.get(column).unwrap_or_default();
            ImportError::at(line, format!("the row has no {}", quote(head)))
        })
    }

    /// Returns the attributes of a row, without its nodes.
    fn others<'a>(
        &'a self,
        row: &'a StringRecord,
    ) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        let pairs = self.heads.iter().zip(row.iter()).enumerate();
        pairs.filter(|(i, (_, cell))| *i != self.from && *i != self.to && !cell.is_empty()).map(
            |(_, (head, cell))| match self.decimal_comma {
                true => (head, Cow::from(cell.replace(',', "."))),
                false => (head, Cow::from(cell)),
            },
        )
    }
}

/// Reads a list of links, whose ends are the nodes.
pub(crate) fn read(text: &str, units: &Units) -> Result<Topology, ImportError> {
    let example = "for example: from,to,rate,delay, or from,to,rate_mbps,distance_km";
    let table = Table::read(text, example)?;
    let mut builder = Builder::new(true, units);
    for (line, row) in &table.rows {
        let line = *line;
        builder.record(|builder| {
            let ends = (table.cell(row, table.from, line)?, table.cell(row, table.to, line)?);
            let mut properties = Properties::default();
            for (head, cell) in table.others(row) {
                let found = property(head, &cell, units);
                let found = found.map_err(|why| no_quantity(why, line, head, &cell))?;
                found.into_iter().for_each(|property| properties.take(property));
            }
            let from = builder.find_or_make(ends.0, line)?;
            let to = builder.find_or_make(ends.1, line)?;
            builder.link((from, to), properties, line)
        });
    }
    builder.finish()
}

/// Returns the delimiter of the first row: the most frequent one of comma, semicolon and tab.
fn delimiter(text: &str) -> u8 {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let count =
        |mark: &u8| first.map_or(0, |line| line.bytes().filter(|byte| byte == mark).count());
    // The last of equal ones.
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

/// Reads a list of demands between the nodes of a topology. Demands between the same two nodes stay
/// separate.
///
/// # Errors
///
/// Fails if the text is not such a list, or names an unknown node.
pub fn demands(text: &str, topology: &Topology, units: &Units) -> Result<Vec<Demand>, ImportError> {
    let text = limits::check(text, limits::TEXT)?;
    let example = "for example: from,to,rate, or from,to,rate_mbps";
    let table = Table::read(text, example)?;
    let names = topology.nodes.iter().enumerate();
    let names: BTreeMap<&str, usize> = names.map(|(i, n)| (n.name.as_str(), i)).collect();
    let mut demands = Vec::new();
    for (line, row) in &table.rows {
        let node = |column: usize| {
            let name = table.cell(row, column, *line)?;
            names.get(name).copied().ok_or_else(|| {
                let message = format!("there is no node {}", quote(name));
                ImportError::at(*line, message)
                    .hint("nodes have their names in the scenario without demands")
            })
        };
        let (from, to) = (node(table.from)?, node(table.to)?);
        let mut rate = None;
        for (head, cell) in table.others(row) {
            let head = match head.to_ascii_lowercase().as_str() {
                "demand" | "value" | "volume" | "traffic" => "rate".into(),
                other => other.to_string(),
            };
            match property(&head, &cell, units) {
                Ok(Some(Property::Rate(x) | Property::AssumedRate(x))) => rate = Some(bounded(x)),
                Ok(Some(Property::NoRate)) => rate = Some(0.0),
                Err(why) => return Err(no_quantity(why, *line, &head, &cell)),
                Ok(_) => {}
            }
        }
        let Some(rate) = rate else {
            return Err(ImportError::at(*line, "the row has no rate").hint(example));
        };
        if from == to || rate == 0.0 {
            continue;
        }
        if demands.len() == limits::DEMANDS {
            return Err(ImportError::at(*line, format!("more than {} demands", limits::DEMANDS)));
        }
        demands.push(Demand { from, to, rate });
    }
    Ok(demands)
}

fn no_quantity(why: Unsound, line: usize, head: &str, cell: &str) -> ImportError {
    if why == Unsound::NoUnit {
        let message = format!("{} of {} has no unit", quote(cell), quote(head));
        return ImportError::at(line, message).hint(
            "write it into the cells or into the name of the column, such as delay_ms, or give \
             --delay-unit",
        );
    }
    let message = format!("{} is not a valid {}", quote(cell), quote(head));
    ImportError::at(line, message).hint(
        "expected a number with its unit, such as 10 Gbps or 5 ms, or a number with the unit in the \
         name of the column, such as delay_ms",
    )
}
