//! Reading of a site file: tables whose keys are all known, values with their places.

use crate::keys::redacted;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place of a site file at which something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The problem, and the expected form.
    pub message: String,
    /// A hint how to correct it, if one is known.
    pub hint: Option<String>,
    /// The place in the text, in bytes.
    pub span: Range<usize>,
}

impl ConfigError {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> ConfigError {
        ConfigError {
            // An excerpt of a file may be a key at a wrong place.
            message: redacted(&message.into()),
            hint: None,
            span,
        }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> ConfigError {
        ConfigError { hint: Some(redacted(&hint.into())), ..self }
    }

    /// Returns the line and the column of the place in the text that was read, from one.
    pub fn position(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for ConfigError {}

/// A value and its place.
pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// A table of the file, whose keys were checked.
pub(super) struct Table<'a, 't> {
    /// The name of the table, for messages.
    name: String,
    table: &'t DeTable<'a>,
    span: Range<usize>,
}

impl<'a, 't> Table<'a, 't> {
    /// Takes a table whose keys must all be among these.
    pub fn new(
        name: impl Into<String>,
        table: &'t DeTable<'a>,
        span: Range<usize>,
        keys: &[&str],
    ) -> Result<Table<'a, 't>, ConfigError> {
        let name = name.into();
        for key in table.keys() {
            let written = key.get_ref().as_ref();
            if !keys.contains(&written) {
                let message = format!("{name} has no key \"{written}\"");
                let hint = match nearest(written, keys) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("its keys are {}", keys.join(", ")),
                };
                return Err(ConfigError::new(key.span(), message).hint(hint));
            }
        }
        Ok(Table { name, table, span })
    }

    /// Takes a value that has to be a table with these keys.
    pub fn of(
        name: impl Into<String>,
        value: &'t Value<'a>,
        keys: &[&str],
    ) -> Result<Table<'a, 't>, ConfigError> {
        let name = name.into();
        match value.get_ref() {
            DeValue::Table(table) => Table::new(name, table, value.span(), keys),
            _ => Err(ConfigError::new(value.span(), format!("{name} has to be a table"))),
        }
    }

    /// Returns the place of the table.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub fn get(&self, key: &str) -> Option<&'t Value<'a>> {
        let mut entries = self.table.iter();
        entries.find(|(k, _)| k.get_ref().as_ref() == key).map(|(_, value)| value)
    }

    /// Returns a value that has to be there.
    pub fn need(&self, key: &str, example: &str) -> Result<&'t Value<'a>, ConfigError> {
        self.get(key).ok_or_else(|| {
            ConfigError::new(self.span(), format!("{} needs \"{key}\"", self.name))
                .hint(format!("such as {key} = {example}"))
        })
    }

    /// Returns the tables in the table of this key, by name, in the order of the file.
    pub fn tables(&self, key: &str) -> Result<Vec<(String, &'t Value<'a>)>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Table(table) = value.get_ref() else {
            let message = format!("\"{key}\" has to be a table of tables");
            return Err(ConfigError::new(value.span(), message));
        };
        let mut found = Vec::new();
        for (name, value) in table.iter() {
            let text = name.get_ref().as_ref();
            if !is_name(text) {
                let message = format!("\"{}\" is no name", text.escape_debug());
                let hint = "names have letters, digits, - and _, at most 40 of them";
                return Err(ConfigError::new(name.span(), message).hint(hint));
            }
            found.push((text.to_string(), value));
        }
        found.sort_by_key(|(_, value)| value.span().start);
        Ok(found)
    }

    /// Reads the text of a key, if it is there.
    pub fn parsed<T: FromStr<Err: fmt::Display>>(
        &self,
        key: &str,
    ) -> Result<Option<T>, ConfigError> {
        self.get(key).map(parsed).transpose()
    }

    /// Reads the value of a key, if it is there. A value for which `read` returns `None` is wrong,
    /// with this message and hint.
    pub fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&'t Value<'a>) -> Result<Option<T>, ConfigError>,
        (message, hint): (&str, &str),
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match read(value)? {
            Some(read) => Ok(Some(read)),
            None if hint.is_empty() => Err(ConfigError::new(value.span(), message)),
            None => Err(ConfigError::new(value.span(), message).hint(hint)),
        }
    }

    /// Reads a yes or no of a key, if it is there.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        let message = format!("{key} has to be true or false, without quotes");
        self.read(key, |value| Ok(value.get_ref().as_bool()), (&message, ""))
    }

    /// Reads a positive number of a key, if it is there.
    pub fn positive(&self, key: &str) -> Result<Option<f64>, ConfigError> {
        let message = format!("{key} has to be a number above 0 and up to 1000000");
        let sound = |x: &f64| *x > 0.0 && *x <= 1e6;
        self.read(key, |value| Ok(number(value).filter(sound)), (&message, ""))
    }
}

/// Returns whether a text is the name of a peer or a class.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=40).contains(&text.len()) && text.chars().all(plain)
}

/// Returns the number that a value is.
fn number(value: &Value) -> Option<f64> {
    let text = match value.get_ref() {
        DeValue::Integer(n) => n.as_str(),
        DeValue::Float(x) => x.as_str(),
        _ => return None,
    };
    text.replace('_', "").parse().ok()
}

/// Returns the text of a value.
pub(super) fn text<'t>(value: &'t Value) -> Result<&'t str, ConfigError> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text),
        DeValue::Integer(_) | DeValue::Float(_) => Err(ConfigError::new(
            value.span(),
            "expected a text in quotes, with its unit if it has one",
        )),
        _ => Err(ConfigError::new(value.span(), "expected a text in quotes")),
    }
}

/// Reads the text of a value.
pub(super) fn parsed<T: FromStr<Err: fmt::Display>>(value: &Value) -> Result<T, ConfigError> {
    let text = text(value)?;
    let wrong = |e: T::Err| ConfigError::new(value.span(), e.to_string());
    text.parse().map_err(wrong)
}

/// Returns the values of a list.
pub(super) fn list<'a, 't>(
    value: &'t Value<'a>,
) -> Result<impl Iterator<Item = &'t Value<'a>>, ConfigError> {
    match value.get_ref() {
        DeValue::Array(list) => Ok(list.iter()),
        _ => Err(ConfigError::new(value.span(), "expected a list, such as [\"10.2.0.0/24\"]")),
    }
}

/// Returns the whole number that a value is, if it is one from 0 up.
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value.get_ref() {
        DeValue::Integer(n) => n.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

/// Returns the name that was probably meant.
pub(super) fn nearest<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    let likely = |name: &&&'n str| strsim::damerau_levenshtein(name, written) <= 2;
    let mut names: Vec<_> = names.iter().filter(likely).copied().collect();
    names.sort_by_key(|name| strsim::damerau_levenshtein(name, written));
    names.first().copied()
}
