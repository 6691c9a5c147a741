//! Dotted paths into the tree of a scenario, such as `link.bottleneck.rate`.

use crate::limits;
use accord_form::{Data, Entry, Problem, Span, Table, Value, fail, quote, split};

/// Puts `value` at `path`, and creates missing tables on the way. A controller or queue given by
/// its bare name becomes the table that it stands for.
pub(crate) fn set(tree: &mut Table, path: &str, at: Span, value: Value) -> Result<(), Problem> {
    let keys = split(path).filter(|keys| keys.len() <= limits::PATH);
    let keys = keys.ok_or_else(|| {
        Problem::new(at, format!("{} is not a path", quote(path)))
            .hint("keys with dots between them, such as link.bottleneck.rate")
    })?;
    let mut place = slot(tree, &keys[0], at);
    for pair in keys.windows(2) {
        place = inner(place, &pair[0], &pair[1], at)?;
    }
    *place = value;
    Ok(())
}

/// The keys of a file whose values are lists of tables.
const LISTS: [&str; 2] = ["event", "expect"];

/// Checks that the flow, sweep, event or expectation to which `path` belongs exists. Links are checked later, since a template
/// can contain them. Setting a whole new entry is allowed.
pub(crate) fn knows(tree: &Table, path: &str, at: Span) -> Result<(), Problem> {
    let keys = split(path).unwrap_or_default();
    let [section, name, _, ..] = &keys[..] else {
        return Ok(());
    };
    if LISTS.contains(&section.as_str()) && tree.get(section).is_none() {
        let message = format!("there is no {section} {}", quote(name));
        let hint = format!("the scenario has no [[{section}]]");
        return Err(Problem::new(at, message).hint(hint));
    }
    if !["flow", "sweep"].contains(&section.as_str()) {
        return Ok(());
    }
    let there = tree.get(section).and_then(Value::table);
    let names: Vec<&str> =
        there.map(|t| t.entries.iter().map(|e| e.key.as_str()).collect()).unwrap_or_default();
    if names.contains(&name.as_str()) {
        return Ok(());
    }
    let message = format!("there is no {section} {}", quote(name));
    Err(Problem::new(at, message).known(name, names))
}

/// Returns the value at `key`, and first inserts an empty table if there is none.
fn slot<'a>(table: &'a mut Table, key: &str, at: Span) -> &'a mut Value {
    let found = table.entries.iter().position(|e| e.key == key);
    let i = found.unwrap_or_else(|| {
        table.entries.push(Entry {
            key: key.to_string(),
            span: at,
            value: Value { span: at, data: Data::Table(Table::default()) },
        });
        table.entries.len() - 1
    });
    &mut table.entries[i].value
}

/// Returns the value at `key` inside this one, which is the value of `name`.
fn inner<'a>(
    value: &'a mut Value,
    name: &str,
    key: &str,
    at: Span,
) -> Result<&'a mut Value, Problem> {
    let shorthand = match name {
        "controller" => Some("name"),
        "queue" => Some("discipline"),
        _ => None,
    };
    if let (Some(tag), Data::Text(_)) = (shorthand, &value.data) {
        let entry = Entry { key: tag.to_string(), span: value.span, value: value.clone() };
        value.data = Data::Table(Table { entries: vec![entry] });
    }
    match &mut value.data {
        Data::Table(table) => Ok(slot(table, key, at)),
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
