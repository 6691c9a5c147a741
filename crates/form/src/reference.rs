//! The reference of a kind of file in Markdown, generated from the key tables.

use crate::{Default, Key, Own, Section, Shape};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A table of the reference, which describes one kind of table.
#[derive(Clone, Debug)]
pub struct KeyTable {
    /// The table that it describes, such as "[link.NAME]".
    pub title: &'static str,
    /// The Markdown: a sentence and a table of the keys.
    pub markdown: String,
}

/// Returns every kind of table that a file may have, with its keys.
pub fn reference<X: Own>(file: &'static Section<X>) -> Vec<KeyTable> {
    let sections = sections(file);
    let table = |(i, section): (usize, &&'static Section<X>)| KeyTable {
        title: section.title,
        markdown: markdown(section, &sections[..i]),
    };
    sections.iter().enumerate().map(table).collect()
}

/// Returns every kind of table that a file may have.
pub fn sections<X: Own>(file: &'static Section<X>) -> Vec<&'static Section<X>> {
    let mut sections = vec![file];
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

/// Returns the table of a section. A key that an earlier section also has is only named below the table.
fn markdown<X: Own>(section: &Section<X>, before: &[&Section<X>]) -> String {
    let mut out = format!("{}\n", section.doc);
    let mut rows = String::new();
    let mut shared: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for key in section.keys {
        let (default, shape) = (key.default.brief(), key.shape.brief());
        let same = |k: &&Key<X>| k.name == key.name && k.doc == key.doc && k.shape.brief() == shape;
        let twin = before.iter().find_map(|s| Some((s.title, s.keys.iter().find(same)?)));
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
    /// Returns the default in the form of a table column.
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

/// Returns words in the form of a table column.
pub fn in_code(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|w| format!("`\"{w}\"`")).collect();
    words.join(", ")
}

impl<X: Own> Shape<X> {
    /// Returns a short description of the shape, for a column of a table.
    pub fn brief(&self) -> String {
        match self {
            Shape::Text => "text".into(),
            Shape::Name | Shape::Dotted => "name".into(),
            Shape::Flag => "`true`, `false`".into(),
            Shape::Whole(min, max) if *max > 1 << 60 => format!("whole number from {min}"),
            Shape::Whole(min, max) => format!("whole number, {min} to {max}"),
            Shape::Number(min, max) => format!("number, {min} to {max}"),
            Shape::Probability => "probability".into(),
            Shape::Tolerance => "tolerance".into(),
            Shape::Instant | Shape::Span | Shape::Delay => "time".into(),
            Shape::Rate | Shape::AnyRate => "rate".into(),
            Shape::Amount => "size".into(),
            Shape::Choice(words) => in_code(&words()),
            Shape::Any => "anything".into(),
            Shape::List(of) => format!("list of {}", of.brief()),
            Shape::Pair(of) => format!("[{0}, {0}]", of.brief()),
            Shape::Table(section) => format!("table: {}", section.title.replace('[', "\\[")),
            Shape::Named(section) => format!("tables: {}", section.title.replace('[', "\\[")),
            Shape::Map(of) => format!("table of {}", of.brief()),
            Shape::Either(shapes) => {
                let all: Vec<_> = shapes.iter().map(Shape::brief).collect();
                all.join("; or ")
            }
            Shape::Own(own) => own.brief(),
        }
    }
}
