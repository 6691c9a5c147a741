//! A TOML document as a tree in which every value knows its place.

use crate::{Problem, Span, quote};
use std::any::Any;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Value {
    /// The place.
    pub span: Span,
    /// The value.
    pub data: Data,
}

/// A value without its place.
#[derive(Clone, Debug)]
pub enum Data {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number with a point or an exponent.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A TOML value that no file may contain, such as a date or an integer beyond 64 bits.
    Foreign(&'static str),
    /// A list.
    List(Vec<Value>),
    /// A table.
    Table(Table),
    /// A value that a reader has put in place of another, such as the contents of a file for its name, with a
    /// description for messages.
    Made(&'static str, Arc<dyn Any + Send + Sync>),
}

/// A table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// A key of a table and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The place of the key.
    pub span: Span,
    /// The value.
    pub value: Value,
}

impl Value {
    /// The text, if the value is a text.
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values of the list, if the value is a list.
    pub fn list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(list) => Some(list),
            _ => None,
        }
    }

    /// The table, if the value is a table.
    pub fn table(&self) -> Option<&Table> {
        match &self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The replacement of the value, if it is of this type.
    pub fn made<T: 'static>(&self) -> Option<&T> {
        match &self.data {
            Data::Made(_, made) => made.downcast_ref(),
            _ => None,
        }
    }

    /// Returns a description of the value, for a message.
    pub fn describe(&self) -> String {
        match &self.data {
            Data::Text(text) => quote(text),
            Data::Whole(n) => n.to_string(),
            Data::Number(x) => format!("{x:?}"),
            Data::Flag(flag) => flag.to_string(),
            Data::Foreign(what) | Data::Made(what, _) => (*what).to_string(),
            Data::List(_) => "a list".to_string(),
            Data::Table(_) => "a table".to_string(),
        }
    }

    /// Returns the value as written in a file, on one line. This is the label of a sweep's value.
    pub fn label(&self) -> String {
        match &self.data {
            Data::Text(text) => text.clone(),
            Data::List(list) => {
                let items: Vec<_> = list.iter().map(Value::label).collect();
                format!("[{}]", items.join(", "))
            }
            Data::Table(table) => {
                let item = |e: &Entry| format!("{} = {}", e.key, e.value.label());
                let items: Vec<_> = table.entries.iter().map(item).collect();
                format!("{{ {} }}", items.join(", "))
            }
            _ => self.describe(),
        }
    }

    /// Returns the number of values in this one, including itself.
    pub fn weight(&self) -> usize {
        1 + match &self.data {
            Data::List(list) => list.iter().map(Value::weight).sum(),
            Data::Table(table) => table.weight(),
            _ => 0,
        }
    }

    fn from_toml(value: &Spanned<DeValue<'_>>, source: usize) -> Value {
        let span = Span::new(source, value.span());
        let data = match value.get_ref() {
            DeValue::String(text) => Data::Text(text.to_string()),
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
                .map_or(Data::Foreign("a number beyond 64 bits"), Data::Whole),
            DeValue::Float(x) => {
                x.as_str().parse().map_or(Data::Foreign("a strange number"), Data::Number)
            }
            DeValue::Boolean(flag) => Data::Flag(*flag),
            DeValue::Datetime(_) => Data::Foreign("a date"),
            DeValue::Array(list) => {
                Data::List(list.iter().map(|v| Value::from_toml(v, source)).collect())
            }
            DeValue::Table(table) => Data::Table(Table::from_toml(table, source)),
        };
        Value { span, data }
    }

    /// Reads a value from a command line: as TOML if it is TOML, and otherwise as text, so `5 Mbps` needs no
    /// quotes.
    pub fn from_argument(text: &str, source: usize, offset: usize) -> Value {
        let span = Span::new(source, offset..offset + text.len());
        let data = match DeValue::parse(text) {
            Ok(value) => match Value::from_toml(&value, source).data {
                Data::Foreign(_) => Data::Text(text.to_string()),
                data => data,
            },
            Err(_) => Data::Text(text.to_string()),
        };
        let mut value = Value { span, data };
        value.place(span);
        value
    }

    /// Sets the place of all parts of the value.
    fn place(&mut self, span: Span) {
        self.span = span;
        match &mut self.data {
            Data::List(list) => list.iter_mut().for_each(|v| v.place(span)),
            Data::Table(table) => {
                for entry in &mut table.entries {
                    entry.span = span;
                    entry.value.place(span);
                }
            }
            _ => {}
        }
    }
}

impl Table {
    /// Parses a TOML document. The parser bounds the depth of nesting, so recursion over the
    /// tree is safe.
    ///
    /// # Errors
    /// Fails at the first place that is not TOML.
    pub fn parse(text: &str, source: usize) -> Result<Table, Problem> {
        let table = DeTable::parse(text).map_err(|e| {
            let range = e.span().unwrap_or(0..0);
            let first = match e.message() {
                "duplicate key" => first_line(text, range.start),
                _ => None,
            };
            let hint = first.map(|line| format!("the first one is in line {line}"));
            let message = e.message().replace('\n', "; ");
            Problem { hint, ..Problem::new(Span::new(source, range), message) }
        })?;
        Ok(Table::from_toml(table.get_ref(), source))
    }

    fn from_toml(table: &DeTable<'_>, source: usize) -> Table {
        let entry = |(key, value): (&Spanned<_>, _)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            Entry {
                key: name.to_string(),
                span: Span::new(source, key.span()),
                value: Value::from_toml(value, source),
            }
        };
        Table { entries: table.iter().map(entry).collect() }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.value)
    }

    /// Returns the number of values in the table.
    pub fn weight(&self) -> usize {
        self.entries.iter().map(|e| e.value.weight()).sum()
    }
}

/// Splits a dotted path. A key that contains dots is in double quotes. Returns `None` if a key is
/// empty.
pub fn split(path: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if key.is_empty() {
            return None;
        }
        keys.push(key.trim().to_string());
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None if after.is_empty() => return Some(keys),
            None => return None,
        }
    }
}

/// Returns the line of the first of two equal keys. The second is at `second`.
fn first_line(text: &str, second: usize) -> Option<usize> {
    let start = text.get(..second)?.rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next()?;
    let before = Table::parse(&text[..start], 0).ok()?;
    // Returns the title of the key's table: the last header before the line.
    let header = |line: &str| {
        let name = line.trim().strip_prefix('[')?.trim_start_matches('[');
        split(name.split(']').next()?)
    };
    let path = match header(line) {
        Some(path) => path,
        None => {
            let mut path = text[..start].lines().rev().find_map(header).unwrap_or_default();
            path.extend(split(line.split('=').next()?.trim())?);
            path
        }
    };
    let (last, tables) = path.split_last()?;
    let mut table = &before;
    for key in tables {
        table = match &table.get(key)?.data {
            Data::Table(table) => table,
            Data::List(list) => list.last()?.table()?,
            _ => return None,
        };
    }
    let first = table.entries.iter().find(|e| e.key == *last)?;
    Some(text[..first.span.start as usize].matches('\n').count() + 1)
}
