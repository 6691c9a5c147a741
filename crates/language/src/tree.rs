//! A TOML document as a tree in which every value knows its place.

use super::error::{Problem, Span, fail, quote};
use super::limits;
use accord_scenario::Trace;
use accord_units::{Duration, Rate, Time};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Rates, each with the time from which on it holds.
pub(crate) type Steps = Arc<[(Time, Rate)]>;
/// Delays, each with the time from which on it holds.
pub(crate) type Delays = Arc<[(Time, Duration)]>;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub span: Span,
    pub data: Data,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
    /// A value of TOML that the language does not have, such as a date or an integer beyond 64
    /// bits.
    Foreign(&'static str),
    List(Vec<Value>),
    Table(Table),
    /// The contents of a file, in the place of its name.
    Trace(Trace),
    Steps(Steps),
    Delays(Delays),
}

/// A table, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub span: Span,
    pub value: Value,
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Table> {
        match &self.data {
            Data::Table(table) => Some(table),
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
            Data::Foreign(what) => (*what).to_string(),
            Data::List(_) => "a list".to_string(),
            Data::Table(_) => "a table".to_string(),
            Data::Trace(_) => "a trace".to_string(),
            Data::Steps(_) | Data::Delays(_) => "steps".to_string(),
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

    /// Returns the number of values in this one, itself included.
    pub fn weight(&self) -> usize {
        1 + match &self.data {
            Data::List(list) => list.iter().map(Value::weight).sum(),
            Data::Table(table) => table.weight(),
            _ => 0,
        }
    }

    /// Returns the value at `key` inside of this one, which is the value of `name`.
    fn inner(&mut self, name: &str, key: &str, at: Span) -> Result<&mut Value, Problem> {
        let shorthand = match name {
            "controller" => Some("name"),
            "queue" => Some("discipline"),
            _ => None,
        };
        if let (Some(tag), Data::Text(_)) = (shorthand, &self.data) {
            let entry = Entry { key: tag.to_string(), span: self.span, value: self.clone() };
            self.data = Data::Table(Table { entries: vec![entry] });
        }
        match &mut self.data {
            Data::Table(table) => Ok(table.slot(key, at)),
            Data::List(list) => {
                let length = list.len();
                let index = key.parse::<usize>().ok().and_then(|i| i.checked_sub(1));
                index.and_then(|i| list.get_mut(i)).ok_or_else(|| {
                    let message = format!("{} has no entry {}", quote(name), quote(key));
                    let hint = format!("entries count from 1, and there are {length}");
                    Problem::new(at, message).hint(hint)
                })
            }
            _ => fail(at, format!("{} is not a table, so has no {}", quote(name), quote(key))),
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

    /// Reads a value of a command line as TOML if it is TOML, and else as text. So `5 Mbps` needs
    /// no quotes.
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

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.value)
    }

    pub fn weight(&self) -> usize {
        self.entries.iter().map(|e| e.value.weight()).sum()
    }

    /// Puts `value` at `path`, and makes missing tables on the way. A controller or queue given by
    /// its bare name becomes the table that it stands for.
    pub fn set(&mut self, path: &str, at: Span, value: Value) -> Result<(), Problem> {
        let keys = split(path).filter(|keys| keys.len() <= limits::PATH);
        let keys = keys.ok_or_else(|| {
            Problem::new(at, format!("{} is not a path", quote(path)))
                .hint("keys with dots between them, such as link.bottleneck.rate")
        })?;
        let mut slot = self.slot(&keys[0], at);
        for pair in keys.windows(2) {
            slot = slot.inner(&pair[0], &pair[1], at)?;
        }
        *slot = value;
        Ok(())
    }

    /// Checks that the flow or sweep whose part `path` names is there. Links are checked later,
    /// since a template can have them. A new one as a whole may be set.
    pub fn knows(&self, path: &str, at: Span) -> Result<(), Problem> {
        let keys = split(path).unwrap_or_default();
        let [section, name, _, ..] = &keys[..] else {
            return Ok(());
        };
        if !["flow", "sweep"].contains(&section.as_str()) {
            return Ok(());
        }
        let there = self.get(section).and_then(Value::table);
        let names: Vec<&str> =
            there.map(|t| t.entries.iter().map(|e| e.key.as_str()).collect()).unwrap_or_default();
        if names.contains(&name.as_str()) {
            return Ok(());
        }
        let message = format!("there is no {section} {}", quote(name));
        Err(Problem::new(at, message).known(name, names))
    }

    /// Returns the value at `key`. An empty table is put there first if there is none.
    fn slot(&mut self, key: &str, at: Span) -> &mut Value {
        let found = self.entries.iter().position(|e| e.key == key);
        let i = found.unwrap_or_else(|| {
            self.entries.push(Entry {
                key: key.to_string(),
                span: at,
                value: Value { span: at, data: Data::Table(Table::default()) },
            });
            self.entries.len() - 1
        });
        &mut self.entries[i].value
    }
}

/// Splits a dotted path. A key that has dots itself is in double quotes.
pub(crate) fn split(path: &str) -> Option<Vec<String>> {
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

/// Returns the line of the first of two equal keys; the second is at `second`.
fn first_line(text: &str, second: usize) -> Option<usize> {
    let start = text.get(..second)?.rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next()?;
    let before = Table::parse(&text[..start], 0).ok()?;
    // Returns the title of the table that the key is in: the last header before the line.
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
