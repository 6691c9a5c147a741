//! The text of `accord list`.

use crate::output::{fill, style};
use serde_json::Value;

/// An entry that can be listed.
#[derive(Default)]
pub struct Entry {
    pub name: String,
    /// A sentence that describes it.
    pub doc: String,
    /// The paragraphs of the short form: headings and texts. An empty text has none.
    pub facts: Vec<(&'static str, String)>,
    /// The paragraphs of the full form.
    pub more: Vec<(&'static str, String)>,
    /// The parameters: the form and the meaning of each.
    pub parameters: Vec<(String, String)>,
    /// The JSON.
    pub record: Value,
}

impl Entry {
    /// Returns an entry without paragraphs.
    pub fn new(name: impl Into<String>, doc: impl Into<String>) -> Entry {
        Entry { name: name.into(), doc: doc.into(), ..Entry::default() }
    }
}

/// Returns all entries in short form.
pub fn brief(all: &[Entry]) -> String {
    let width = widest(all.iter().map(|e| &e.name));
    let mut out = String::new();
    for entry in all {
        out += &hang(&format!("{:width$}", entry.name), &entry.doc);
        for (heading, text) in entry.facts.iter().filter(|(_, text)| !text.is_empty()) {
            out += &hang(&format!("{:width$}{heading}: ", ""), text);
        }
    }
    out
}

/// Returns one entry in full.
pub fn full(entry: &Entry) -> String {
    let mut out = hang("", &format!("{}: {}", entry.name, entry.doc)) + "\n";
    for (heading, text) in entry.more.iter().filter(|(_, text)| !text.is_empty()) {
        out += &hang(&format!("{:11}", format!("{heading}:")), text);
    }
    out.push('\n');
    let width = widest(entry.parameters.iter().map(|(name, _)| name));
    for (name, doc) in &entry.parameters {
        for (i, line) in doc.lines().enumerate() {
            let head = if i == 0 { name.as_str() } else { "" };
            out += &hang(&format!("{head:width$}"), line);
        }
    }
    out
}

/// Returns the width of a column of names.
fn widest<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or_default() + 2
}

/// Returns a text behind a heading, wrapped to the terminal, with a hanging indent.
pub fn hang(heading: &str, text: &str) -> String {
    let indent = heading.chars().count();
    let width = usize::from(style().width).max(indent + 20);
    fill(heading.into(), text.split_whitespace(), indent, width) + "\n"
}
