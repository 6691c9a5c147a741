//! Links in one line: `ab = "a - b, 10 Mbps, 5 ms"`. The line becomes the table that it stands for.
//! Each value of the table knows its place within the line.

use accord_form::{Data, Entry, Table, Value};
use accord_form::{Problem, Span, quote};

/// The form of a line, as shown in messages.
pub(crate) const EXAMPLE: &str = "\"a - b, 10 Mbps, 5 ms\"";

/// The keys that a line gives, in its order.
const KEYS: [&str; 4] = ["from", "to", "rate", "delay"];

/// Turns the lines among a file's links into tables. Lines of another form are left for the check
/// of the form to reject.
pub(crate) fn expand(tree: &mut Table) {
    let links = tree.entries.iter_mut().find(|e| e.key == "link");
    let Some(Data::Table(links)) = links.map(|e| &mut e.value.data) else {
        return;
    };
    for entry in &mut links.entries {
        if let Ok(table) = read(&entry.value) {
            entry.value.data = Data::Table(table);
        }
    }
}

/// Reads a line.
pub(crate) fn read(value: &Value) -> Result<Table, Problem> {
    let refuse = |message: String| {
        Problem::new(value.span, message).hint(format!(
            "expected two nodes, a rate and a delay such as {EXAMPLE}, or a table with from, to, rate, delay"
        ))
    };
    let Some(text) = value.text() else {
        return Err(refuse(format!("{} is not a link", value.describe())));
    };
    let parts: Vec<&str> = text.split(',').collect();
    let [ends, rate, delay] = parts[..] else {
        return Err(refuse(format!(
            "a link in one line has three parts with commas between them, and {} has {}",
            quote(text),
            parts.len()
        )));
    };
    // Names may contain `-`, so the one between the nodes has a space on either side.
    let Some((from, to)) = ends.split_once(" - ") else {
        return Err(refuse(format!(
            "{} does not name two nodes with \" - \" between them",
            quote(ends.trim())
        )));
    };
    let parts = [from, to, rate, delay].map(|part| (part.trim(), place(value, text, part.trim())));
    let entry = |(key, (part, span)): (&str, (&str, Span))| Entry {
        key: key.to_string(),
        span,
        value: Value { span, data: Data::Text(part.to_string()) },
    };
    Ok(Table { entries: KEYS.into_iter().zip(parts).map(entry).collect() })
}

/// Returns the place of `part`, a piece of `text`, which is the whole line. In a line with escapes, all parts
/// have the same place.
fn place(value: &Value, text: &str, part: &str) -> Span {
    let (length, written) = (text.len(), value.span.end - value.span.start);
    // A line has quotes around it in a file, and may have none on the command line.
    let quotes = match written as usize {
        n if n == length + 2 => 1,
        n if n == length => 0,
        _ => return value.span,
    };
    let offset = part.as_ptr().addr() - text.as_ptr().addr();
    let start = value.span.start as usize + quotes + offset;
    Span::new(value.span.source as usize, start..start + part.len())
}
