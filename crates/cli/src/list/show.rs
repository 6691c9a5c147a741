//! The text of `accord list`.

use crate::output::style;

/// An entry that can be listed.
pub trait Entry {
    /// The name.
    fn name(&self) -> &str;
    /// A sentence that describes it.
    fn doc(&self) -> String;
    /// The paragraphs of the short form: headings and texts.
    fn facts(&self) -> Vec<(&'static str, String)>;
    /// Further paragraphs of the full form.
    fn more(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// The parameters: the form and the meaning of each.
    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Returns all entries in short form.
pub fn brief<T: Entry>(all: &[T]) -> String {
    let width = all.iter().map(|e| e.name().chars().count()).max();
    let width = width.unwrap_or_default() + 2;
    let mut out = String::new();
    for entry in all {
        out += &hang(&format!("{:width$}", entry.name()), &entry.doc());
        out.push('\n');
        for (heading, text) in entry.facts() {
            out += &hang(&format!("{:width$}{heading}: ", ""), &text);
            out.push('\n');
        }
    }
    out
}

/// Returns one entry in full.
pub fn full(entry: &impl Entry) -> String {
    let mut out = hang("", &format!("{}: {}", entry.name(), entry.doc())) + "\n\n";
    for (heading, text) in entry.more() {
        out += &hang(&format!("{:11}", format!("{heading}:")), &text);
        out.push('\n');
    }
    let parameters = entry.parameters();
    if parameters.is_empty() {
        return out;
    }
    out.push('\n');
    let width = parameters.iter().map(|(name, _)| name.chars().count());
    let width = width.max().unwrap_or_default() + 2;
    for (name, doc) in parameters {
        for (i, line) in doc.lines().enumerate() {
            let head = if i == 0 { name.as_str() } else { "" };
            out += &hang(&format!("{head:width$}"), line);
            out.push('\n');
        }
    }
    out
}

/// Returns a text behind a heading, wrapped to the terminal, with a hanging indent.
pub fn hang(heading: &str, text: &str) -> String {
    let indent = heading.chars().count();
    let width = usize::from(style().width).max(indent + 20);
    let mut out = heading.to_string();
    let mut column = indent;
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > width {
            out += &format!("\n{:indent$}", "");
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out
}
