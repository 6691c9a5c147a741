//! The reference of the language as Markdown, made from the key tables.

use super::keys;
use super::line::EXAMPLE;
use super::shape::{Default, Key, Section, Shape};
use std::collections::BTreeMap;
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
    let table =
        |section: &&'static Section| KeyTable { title: section.title, markdown: markdown(section) };
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

/// Returns the table of a section. A key that a section before it has as well is only named below the table.
fn markdown(section: &Section) -> String {
    let sections = sections();
    let before = || { sections.iter() }.take_while(|s| s.title != section.title);
    let mut out = format!("{}\n", section.doc);
    let mut rows = String::new();
    let mut shared: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for key in section.keys {
        let (default, shape) = (key.default.brief(), key.shape.brief());
        let same = |k: &&Key| k.name == key.name && k.doc == key.doc && k.shape.brief() == shape;
        let twin = before().find_map(|s| Some((s.title, s.keys.iter().find(same)?)));
        if let Some((title, twin)) = twin {
            let other = if twin.default.brief() == default { String::new() } else { default };
            let keys = shared.entry((title, other)).or_default();
            keys.push(key.name);
            continue;
        }
        writeln!(rows, "| `{}` | {shape} | {default} | {} |", key.name, key.doc)
            .expect("a string takes all");
    }
    if !rows.is_empty() {
        out.push_str("\n| key | value | default | meaning |\n|---|---|---|---|\n");
        out.push_str(&rows);
    }
    for ((title, default), keys) in shared {
        let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
        let kept = { title.chars() }.filter(|c| c.is_alphanumeric() || " _-".contains(*c));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let title = title.replace('[', "\\[").replace(']', "\\]");
        let default = match default.as_str() {
            "" => String::new(),
            "**required**" => "; **required**".to_string(),
            words => format!("; default: {words}"),
        };
        let keys = keys.join(", ");
        writeln!(out, "\nAs in [{title}](#{anchor}): {keys}{default}.")
            .expect("a string takes all");
    }
    out
}

impl Default {
    /// Returns the default as a column of a table has it.
    fn brief(&self) -> String {
        match self {
            Default::Required => "**required**".to_string(),
            Default::Nothing => "–".to_string(),
            Default::Value("") => "`\"\"`".to_string(),
            Default::Value(text) if bare(text) => format!("`{text}`"),
            Default::Value(text) => format!("`\"{text}\"`"),
            Default::Words(words) => words.to_string(),
        }
    }
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
            Shape::Steps | Shape::Delays => "file, list of lines".into(),
            Shape::Amount | Shape::Packet => "size".into(),
            Shape::Limit => "limit".into(),
            Shape::Processing => self.words_and("time"),
            Shape::Metric => {
                format!(
                    "{}, [a variable of a controller](output.md#inner-state)",
                    self.words_in_code().join(", ")
                )
            }
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
