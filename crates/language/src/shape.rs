//! The keys of the language and the values that they may hold, as data. The checker, the reader's
//! defaults, the JSON Schema and the reference all come from these tables. So they always agree.

use super::error::quote;
use accord_scenario::{Metric, OFF, Over, UNLIMITED};
use accord_units::{Duration, Words, words};

words! {
    /// The longest time that a host takes for a packet.
    #[derive(Clone, Copy)]
    pub enum Processing by word {
        /// The time of `Packet` for controllers that fill queues, otherwise zero.
        Auto = "auto",
        /// The service time of a packet on the slowest link of the path.
        Packet = "packet",
        {
            /// This time.
            Time(Duration)
        }
    }
}

/// A kind of table, with the keys that it may have.
#[derive(Debug)]
pub(crate) struct Section {
    /// The name in the reference, such as "[link.NAME]".
    pub title: &'static str,
    /// The purpose, one sentence.
    pub doc: &'static str,
    /// The keys.
    pub keys: &'static [Key],
    /// True if exactly one of the keys has to be given.
    pub one_of: bool,
}

/// A key of a [`Section`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub default: Default,
    /// The meaning, one sentence.
    pub doc: &'static str,
}

/// The value of a key that is not given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    /// There is none: the key has to be given.
    Required,
    /// There is none: the thing is then absent.
    Nothing,
    /// The value is this one: a number, or text without its quotes.
    Value(&'static str),
    /// The value is described by these words.
    Words(&'static str),
}

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Any text.
    Text,
    /// A name that this file declares: letters, digits, `-` and `_`.
    Name,
    /// The name of something, which may have dots in it.
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
    /// An instant, counted from the start of the run.
    Instant,
    /// A span of time, more than zero.
    Span,
    /// A propagation delay.
    Delay,
    /// A rate, more than zero.
    Rate,
    /// A period, or "off".
    Period,
    /// The delivery opportunities of a link: a file, or times in milliseconds.
    Trace,
    /// The steps of a link's rate: a file, or its lines.
    Steps,
    /// The steps of a link's delay: a file, or its lines.
    Delays,
    /// A rate, which may be zero for a contract that promises nothing or for an outage.
    AnyRate,
    /// A number of bytes, more than zero.
    Amount,
    /// The size of one packet.
    Packet,
    /// The size of a buffer.
    Limit,
    /// The longest time that a host takes for a packet, which may be zero, or "auto".
    Processing,
    /// A least time-out.
    Timeout,
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// A metric: one of the words, or a variable of a controller.
    Metric,
    /// The statistic of samples over time.
    Over,
    /// A value in the unit of the expectation's metric.
    Figure,
    /// The name of a controller, or a table with its name and its parameters.
    Controller,
    /// The name of a queue discipline, or a table with its name, the limit and its
    /// parameters, or several to choose from.
    Queue,
    /// Any value.
    Any,
    /// A list of these.
    List(&'static Shape),
    /// Two of these: from, to.
    Pair(&'static Shape),
    /// A table.
    Table(&'static Section),
    /// A table of tables, by name.
    Named(&'static Section),
    /// A table of links by name, each a line or a table.
    Links(&'static Section),
    /// A table from any names to these.
    Map(&'static Shape),
    /// One of these, distinguished by being text, number, list or table.
    Either(&'static [Shape]),
}

impl Section {
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|k| k.name == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
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

impl Shape {
    /// Returns the kinds of tables that may be in it.
    pub fn sections(&self) -> Vec<&'static Section> {
        match self {
            Shape::Table(section) | Shape::Named(section) | Shape::Links(section) => {
                vec![section]
            }
            Shape::List(of) | Shape::Pair(of) | Shape::Map(of) => of.sections(),
            Shape::Either(shapes) => shapes.iter().flat_map(Shape::sections).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the words that a value of this form may be.
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Shape::Choice(words) => words(),
            Shape::Metric => Metric::words(),
            Shape::Over => Over::words(),
            Shape::Processing => Processing::words(),
            Shape::Period => vec![OFF],
            Shape::Limit => vec![UNLIMITED],
            _ => Vec::new(),
        }
    }

    /// Returns the words in quotes and `other`, as the alternatives of a sentence.
    fn words_or(&self, other: &str) -> String {
        let words: Vec<_> = self.words().iter().map(|w| quote(w)).collect();
        format!("{} or {other}", words.join(", "))
    }

    /// Returns whether a value of this form is a quantity, which has its unit in it.
    pub fn is_quantity(&self) -> bool {
        use Shape::*;
        match self {
            Instant | Span | Delay | Rate | Period | AnyRate | Amount | Packet | Limit
            | Processing | Timeout | Figure => true,
            List(of) | Pair(of) | Map(of) => of.is_quantity(),
            Either(shapes) => shapes.iter().any(Shape::is_quantity),
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
            Shape::Timeout => "a time such as \"200 ms\"".into(),
            Shape::Rate | Shape::AnyRate => "a rate such as \"30 Mbps\"".into(),
            Shape::Trace => {
                "the name of a file, or a list of times in milliseconds such as [1, 2, 4]".into()
            }
            Shape::Period => self.words_or("a time such as \"10 ms\""),
            Shape::Steps => {
                "the name of a file, or a list of lines such as [\"0, 10 Mbps\"]".into()
            }
            Shape::Delays => "the name of a file, or a list of lines such as [\"0, 25 ms\"]".into(),
            Shape::Amount => "a size such as \"1 MB\"".into(),
            Shape::Packet => "a size such as \"1000 B\"".into(),
            Shape::Limit => format!(
                "a limit such as \"90 pkt\", \"64 KB\", \"20 ms\", \"1 BDP\" or {}",
                quote(UNLIMITED)
            ),
            Shape::Processing => self.words_or("a time such as \"80 us\""),
            Shape::Metric | Shape::Choice(_) => {
                let words: Vec<_> = self.words().iter().map(|w| quote(w)).collect();
                match words.as_slice() {
                    [one] => one.clone(),
                    _ => format!("one of {}", words.join(", ")),
                }
            }
            Shape::Over => self.words_or("a percentile such as \"p95\""),
            Shape::Figure => "a value in the metric's unit".into(),
            Shape::Controller => "the name of a controller or a table with it".into(),
            Shape::Queue => "the name of a queue discipline or a table with it".into(),
            Shape::Any => "any value".into(),
            Shape::List(of) => format!("a list: each {}", of.expected()),
            Shape::Pair(of) => format!("a list of two, from and to: each {}", of.expected()),
            Shape::Table(section) => {
                let names: Vec<_> = section.names().collect();
                let which = if section.one_of { "one of " } else { "" };
                format!("a table with {which}{}", names.join(", "))
            }
            Shape::Named(_) => "tables, each under its name".into(),
            Shape::Links(_) => "links, each under its name".into(),
            Shape::Map(of) => format!("a table: each value {}", of.expected()),
            Shape::Either(shapes) => {
                let all: Vec<_> = shapes.iter().map(Shape::expected).collect();
                all.join("; or ")
            }
        }
    }
}
