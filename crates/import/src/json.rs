//! Node-link JSON, as written by networkx and topohub.

use crate::Units;
use crate::builder::Builder;
use crate::error::{ImportError, quote};
use crate::text::numbers;
use crate::topology::Topology;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(crate) fn read(text: &str, units: &Units) -> Result<Topology, ImportError> {
    let file: Value = serde_json::from_str(&numbers(text))
        .map_err(|e| ImportError::at(e.line(), format!("invalid JSON: {e}")))?;
    let nodes = list(&file, &["nodes"])?;
    let links = list(&file, &["edges", "links"])?;
    let mut builder = Builder::new(file.get("directed") != Some(&Value::Bool(false)), units);
    let about = file.get("graph").and_then(Value::as_object);
    if let Some(name) = about.and_then(|g| g.get("name")).and_then(Value::as_str) {
        builder.name(name);
    }
    // Demands may use the names of nodes instead of their ids.
    let mut by_name = Names::new();
    for (i, value) in nodes.iter().enumerate() {
        builder.record(|builder| node(builder, (i, value), &mut by_name));
    }
    for (i, value) in links.iter().enumerate() {
        builder.record(|builder| link(builder, (i, value)));
    }
    if let Some(demands) = about.and_then(|g| g.get("demands")?.as_object()) {
        for (from, row) in demands {
            let place = format!("graph.demands.{}", quote(from));
            builder.record(|builder| {
                for (to, value) in object(row, &place)? {
                    builder.record(|builder| demand(builder, (from, to, value), &by_name));
                }
                Ok(())
            });
        }
    }
    builder.finish()
}

/// The nodes by their names.
type Names<'a> = BTreeMap<&'a str, usize>;

fn node<'a>(
    builder: &mut Builder,
    (i, node): (usize, &'a Value),
    by_name: &mut Names<'a>,
) -> Result<(), ImportError> {
    let place = format!("nodes[{i}]");
    let node = object(node, &place)?;
    let id = node.get("id").and_then(key);
    let label = ["name", "label"].iter().find_map(|k| node.get(*k)?.as_str());
    // Old files have no ids: links count nodes from 0.
    let id = id.unwrap_or_else(|| i.to_string());
    let index = placed(builder.node(&id, label.unwrap_or(&id), 0), &place)?;
    by_name.extend(label.map(|label| (label, index)));
    builder.attributes(index, scalars(node));
    if node.contains_key("pos") {
        // In these fields networkx has places in a unit square or on a canvas, but topohub has
        // degrees.
        builder.remark(
            "`pos` of nodes has no unit and is left out: `longitude` and `latitude` are degrees.",
        );
    }
    Ok(())
}

fn link(builder: &mut Builder, (i, link): (usize, &Value)) -> Result<(), ImportError> {
    let place = format!("edges[{i}]");
    let link = object(link, &place)?;
    let end = |name: &str| match link.get(name).and_then(key) {
        Some(key) => placed(builder.find(&key, 0), &place),
        None => Err(ImportError::whole(format!("{place} has no `{name}`"))),
    };
    let ends = (end("source")?, end("target")?);
    let properties = builder.properties(scalars(link));
    placed(builder.link(ends, properties, 0), &place)
}

fn demand(
    builder: &mut Builder,
    (from, to, value): (&str, &str, &Value),
    by_name: &Names<'_>,
) -> Result<(), ImportError> {
    let place = format!("graph.demands.{}", quote(from));
    let find = |key: &str| match by_name.get(key) {
        Some(&node) => Ok(node),
        None => placed(builder.find(key, 0), &place),
    };
    let ends = (find(from)?, find(to)?);
    let Some(value) = value.as_f64().filter(|x| x.is_finite() && *x >= 0.0) else {
        let message = format!("{place}.{} is not a number of at least 0", quote(to));
        return Err(ImportError::whole(message));
    };
    builder.remark("Capacities and demands without a unit are taken in that of --unit.");
    placed(builder.demand(ends.0, ends.1, value * builder.units.rate, 0), &place)
}

/// Adds the place in the document to an error of the builder, which has no lines of JSON.
fn placed<T>(result: Result<T, ImportError>, place: &str) -> Result<T, ImportError> {
    result.map_err(|e| ImportError {
        line: None,
        message: format!("{place}: {}", e.message),
        hint: e.hint,
    })
}

fn list<'a>(file: &'a Value, names: &[&str]) -> Result<&'a [Value], ImportError> {
    let found = names.iter().find_map(|name| file.get(*name)?.as_array());
    found.map(Vec::as_slice).ok_or_else(|| {
        let message = format!("there is no list `{}`", names.join("` or `"));
        ImportError::whole(message).hint("node-link JSON has lists of nodes and of edges")
    })
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, ImportError> {
    let message = || ImportError::whole(format!("{place} is not an object"));
    value.as_object().ok_or_else(message)
}

/// Returns the key of a node: a text, a number, or a list of them, such as the place in a grid.
fn key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Array(list) => {
            let parts: Option<Vec<_>> = list.iter().map(key).collect();
            Some(parts?.join(","))
        }
        _ => None,
    }
}

/// Returns the attributes that are texts or numbers.
fn scalars(object: &Map<String, Value>) -> impl Iterator<Item = (&str, String)> {
    object
        .iter()
        .filter(|(_, value)| !value.is_array())
        .filter_map(|(name, value)| Some((name.as_str(), key(value)?)))
}
