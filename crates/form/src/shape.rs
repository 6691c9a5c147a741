//! The keys of a file and the values that they may hold, as data. The checker, the reader's defaults, the
//! JSON Schema and the reference all come from these tables, so they always agree.

use crate::{Problem, Value, quote};
use std::fmt::Debug;

/// The forms of values that only one kind of file has.
pub trait Own: Copy + Debug + 'static {
    /// Returns a description of the expected values, for people.
    fn expected(&self) -> String;

    /// Returns a short description of the form, for a column of a table.
    fn brief(&self) -> String;

    /// Returns the JSON Schema of the values.
    fn schema(&self) -> serde_json::Value;

    /// Returns the words that a value may be.
    fn words(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns whether a value is a quantity, which includes its unit.
    fn is_quantity(&self) -> bool {
        false
    }

    /// Returns the kinds of tables that a value may contain.
    fn sections(&self) -> Vec<&'static Section<Self>> {
        Vec::new()
    }
}

/// A form whose values a function checks.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// The expected values, for people.
    pub expected: &'static str,
    /// The form, for a column of a table.
    pub brief: &'static str,
    /// The types of its values in JSON Schema.
    pub types: &'static [&'static str],
    /// The check, with a problem for wrong values.
    pub check: fn(&Value) -> Result<(), Problem>,
}

impl Own for Checked {
    fn expected(&self) -> String {
        self.expected.into()
    }

    fn brief(&self) -> String {
        self.brief.into()
    }

    fn schema(&self) -> serde_json::Value {
        serde_json::json!({ "type": self.types })
    }
}

/// A kind of table, with the keys that it may have.
#[derive(Debug)]
pub struct Section<X: 'static> {
    /// The name in the reference, such as "[link.NAME]".
    pub title: &'static str,
    /// The purpose, one sentence.
    pub doc: &'static str,
    /// The keys.
    pub keys: &'static [Key<X>],
    /// True if exactly one of the keys must be given.
    pub one_of: bool,
}

/// A key of a [`Section`].
#[derive(Clone, Copy, Debug)]
pub struct Key<X: 'static> {
    /// The name.
    pub name: &'static str,
    /// The form of its value.
    pub shape: Shape<X>,
    /// The value if it is not given.
    pub default: Default,
    /// The meaning, one sentence.
    pub doc: &'static str,
}

/// The value of a key that is not given.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// No value: the key must be given.
    Required,
    /// No value, so the item is absent.
    Nothing,
    /// This value: a number, or text without its quotes.
    Value(&'static str),
    /// The value is described by these words.
    Words(&'static str),
}

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub enum Shape<X: 'static> {
    /// Any text.
    Text,
    /// A name that this file declares: letters, digits, `-` and `_`.
    Name,
    /// A name, which may contain dots.
    Dotted,
    /// `true` or `false`.
    Flag,
    /// A whole number within these bounds.
    Whole(u64, u64),
    /// A number within these bounds.
    Number(f64, f64),
    /// A probability: "1 %" or 0.01.
    Probability,
    /// A relative tolerance, more than zero: "5 %" or 0.05.
    Tolerance,
    /// An instant, counted from the start.
    Instant,
    /// A span of time, more than zero.
    Span,
    /// A delay, which may be zero.
    Delay,
    /// A rate, more than zero.
    Rate,
    /// A rate, which may be zero.
    AnyRate,
    /// A number of bytes, more than zero.
    Amount,
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// Any value.
    Any,
    /// A list of these.
    List(&'static Shape<X>),
    /// A pair of such values: from, to.
    Pair(&'static Shape<X>),
    /// A table.
    Table(&'static Section<X>),
    /// A table of tables, by name.
    Named(&'static Section<X>),
    /// A table that maps any names to such values.
    Map(&'static Shape<X>),
    /// One of these forms, distinguished by type: text, number, list or table.
    Either(&'static [Shape<X>]),
    /// A form of this kind of file.
    Own(X),
}

/// Returns a section with all of its keys.
pub const fn section<X: Own>(
    title: &'static str,
    doc: &'static str,
    keys: &'static [Key<X>],
) -> Section<X> {
    Section { title, doc, keys, one_of: false }
}

/// Returns a key.
pub const fn key<X: Own>(
    name: &'static str,
    shape: Shape<X>,
    default: Default,
    doc: &'static str,
) -> Key<X> {
    Key { name, shape, default, doc }
}

impl<X: Own> Section<X> {
    /// Returns the key of a name.
    pub fn key(&self, name: &str) -> Option<&Key<X>> {
        self.keys.iter().find(|k| k.name == name)
    }

    /// Returns the names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<X> {
        let keys = self.keys;
        keys.iter().map(|k| k.name)
    }

    /// Returns the title as one word.
    pub fn slug(&self) -> String {
        let words = self.title.split(|c: char| !c.is_alphanumeric());
        let words: Vec<_> = words.filter(|w| !w.is_empty()).collect();
        words.join("_")
    }
}

impl<X: Own> Shape<X> {
    /// Returns the kinds of tables that a value may contain.
    pub fn sections(&self) -> Vec<&'static Section<X>> {
        match self {
            Shape::Table(section) | Shape::Named(section) => vec![section],
            Shape::List(of) | Shape::Pair(of) | Shape::Map(of) => of.sections(),
            Shape::Either(shapes) => shapes.iter().flat_map(Shape::sections).collect(),
            Shape::Own(own) => own.sections(),
            _ => Vec::new(),
        }
    }

    /// Returns the words that a value of this form may be.
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Shape::Choice(words) => words(),
            Shape::Own(own) => own.words(),
            _ => Vec::new(),
        }
    }

    /// Returns whether a value of this form is a quantity, which includes its unit.
    pub fn is_quantity(&self) -> bool {
        use Shape::*;
        match self {
            Instant | Span | Delay | Rate | AnyRate | Amount => true,
            List(of) | Pair(of) | Map(of) => of.is_quantity(),
            Either(shapes) => shapes.iter().any(Shape::is_quantity),
            Own(own) => own.is_quantity(),
            _ => false,
        }
    }

    /// Returns a description of the expected values, for people.
    pub fn expected(&self) -> String {
        match self {
            Shape::Text => "text in quotes".into(),
            Shape::Name | Shape::Dotted => "a name in quotes".into(),
            Shape::Flag => "true or false".into(),
            Shape::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Shape::Number(min, max) => format!("a number from {min} to {max}"),
            Shape::Probability => "a probability such as \"1 %\" or 0.01".into(),
            Shape::Tolerance => "a relative tolerance such as \"5 %\" or 0.05".into(),
            Shape::Instant | Shape::Span => "a time such as \"20 s\"".into(),
            Shape::Delay => "a time such as \"2 ms\"".into(),
            Shape::Rate | Shape::AnyRate => "a rate such as \"30 Mbps\"".into(),
            Shape::Amount => "a size such as \"1 MB\"".into(),
            Shape::Choice(words) => one_of(&words()),
            Shape::Any => "any value".into(),
            Shape::List(of) => format!("a list: each {}", of.expected()),
            Shape::Pair(of) => format!("a list of two, from and to: each {}", of.expected()),
            Shape::Table(section) => {
                let names: Vec<_> = section.names().collect();
                let which = if section.one_of { "one of " } else { "" };
                format!("a table with {which}{}", names.join(", "))
            }
            Shape::Named(_) => "tables, each under its name".into(),
            Shape::Map(of) => format!("a table: each value {}", of.expected()),
            Shape::Either(shapes) => {
                let all: Vec<_> = shapes.iter().map(Shape::expected).collect();
                all.join("; or ")
            }
            Shape::Own(own) => own.expected(),
        }
    }
}

/// Returns words as the alternatives of a sentence.
pub fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|w| quote(w)).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        _ => format!("one of {}", quoted.join(", ")),
    }
}
