//! The reference of the language as Markdown, made from the key tables.

use super::keys;
use super::line::EXAMPLE;
use super::shape::{Default, Section, Shape};
use std::fmt::Write;

/// A table of the reference, which describes one kind of table of scenario files.
#[derive(Clone, Debug)]
pub struct KeyTable {
    /// The table that it describes, such as "[link.NAME]".
    pub title: &'static str,
    /// The Markdown: a sentence and a table of the keys.
    pub markdown: String,
}

/// Returns every kind of table that a scenario file may have, with its keys.
pub fn reference() -> Vec<KeyTable> {
    let table = |section: &&'static Section| KeyTable {
        title: section.title,
        markdown: markdown(section),
    };
    sections().iter().map(table).collect()
}

/// Returns every kind of table.
pub(crate) fn sections() -> Vec<&'static Section> {
    let mut sections: Vec<&'static Section> = vec![&keys::FILE];
    let mut i = 0;
    while let Some(section) = sections.get(i) {
        for inner in section.keys.iter().flat_map(|key| key.shape.sections()) {
            if !sections.iter().any(|s| s.title == inner.title) {
                sections.push(inner);
            }
        }
        i += 1;
    }
    sections
}

fn markdown(section: &Section) -> String {
    let mut out = format!("{}\n\n| key | value | default | meaning |\n", section.doc);
    out.push_str("|---|---|---|---|\n");
    for key in section.keys {
        let default = match key.default {
            Default::Required => "**required**".to_string(),
            Default::Nothing => "–".to_string(),
            Default::Value("") => "`\"\"`".to_string(),
            Default::Value(text) if bare(text) => format!("`{text}`"),
            Default::Value(text) => format!("`\"{text}\"`"),
            Default::Words(words) => words.to_string(),
        };
        let shape = key.shape.brief();
        writeln!(
            out,
            "| `{}` | {shape} | {default} | {} |",
            key.name, key.doc
        )
        .expect("a string takes all");
    }
    out
}

fn bare(text: &str) -> bool {
    text.parse::<f64>().is_ok() || text.parse::<bool>().is_ok()
}

impl Shape {
    fn words_in_code(&self) -> Vec<String> {
        self.words().iter().map(|w| format!("`\"{w}\"`")).collect()
    }

    /// Returns the words and `other`, for a column of a table.
    fn words_and(&self, other: &str) -> String {
        let mut all = self.words_in_code();
        all.push(other.into());
        all.join(", ")
    }

    /// Returns a short description of the shape, for a column of a table.
    fn brief(&self) -> String {
        match self {
            Shape::Text => "text".into(),
            Shape::Name | Shape::Dotted => "name".into(),
            Shape::Flag => "`true`, `false`".into(),
            Shape::Whole(min, max) if *max > 1 << 60 => format!("whole number from {min}"),
            Shape::Whole(min, max) => format!("whole number, {min} to {max}"),
            Shape::Number(min, max) => format!("number, {min} to {max}"),
            Shape::Probability => "probability".into(),
            Shape::Tolerance => "tolerance".into(),
            Shape::Instant | Shape::Span | Shape::Delay | Shape::Timeout => "time".into(),
            Shape::Rate | Shape::AnyRate => "rate".into(),
            Shape::Trace => "file, list of milliseconds".into(),
            Shape::Period => self.words_and("time"),
            Shape::Steps => "file".into(),
            Shape::Amount | Shape::Packet => "size".into(),
            Shape::Limit => "limit".into(),
            Shape::Processing => self.words_and("time"),
            Shape::Choice(_) => self.words_in_code().join(", "),
            Shape::Over => self.words_and("`\"p95\"`"),
            Shape::Figure => "value".into(),
            Shape::Any => "anything".into(),
            Shape::Controller => "[controller](#controllers)".into(),
            Shape::Queue => "[queue](#queues)".into(),
            Shape::List(of) => format!("list of {}", of.brief()),
            Shape::Pair(of) => format!("[{0}, {0}]", of.brief()),
            Shape::Table(section) => format!("table: {}", section.title.replace('[', "\\[")),
            Shape::Named(section) => format!("tables: {}", section.title.replace('[', "\\[")),
            Shape::Links(section) => format!(
                "lines such as `{EXAMPLE}`, or tables: {}",
                section.title.replace('[', "\\[")
            ),
            Shape::Map(of) => format!("table of {}", of.brief()),
            Shape::Either(shapes) => {
                let all: Vec<_> = shapes.iter().map(Shape::brief).collect();
                all.join("; or ")
            }
        }
    }
}
