//! GraphML (graphml.graphdrawing.org), as networkx, yEd and the Internet Topology Zoo write it.
//!
//! A node may contain a graph. The nodes and edges of all depths are read as one graph. A node with
//! a graph counts as a node only if an edge ends at it.

use crate::Units;
use crate::attribute::meaning;
use crate::builder::{Builder, Properties};
use crate::error::{ImportError, quote};
use crate::topology::Topology;
use crate::xml::{Xml, children, text};
use roxmltree::Node;
use std::collections::{BTreeMap, BTreeSet};

/// A declared attribute.
struct Key<'a> {
    name: &'a str,
    /// The type of element that has it: `node`, `edge`, `graph` or `all`.
    of: &'a str,
    /// The default value.
    default: Option<&'a str>,
}

/// The attributes by their ids.
type Keys<'a> = BTreeMap<&'a str, Key<'a>>;

pub(crate) fn read(file: &str, units: &Units) -> Result<Topology, ImportError> {
    let xml = Xml::parse(file)?;
    let root = xml.document.root_element();
    if root.tag_name().name() != "graphml" {
        let message = format!("expected <graphml>, not <{}>", root.tag_name().name());
        return Err(ImportError::at(xml.line(root), message));
    }
    let keys: Keys<'_> = children(root, "key")
        .filter_map(|key| {
            let named = Key {
                name: key.attribute("attr.name")?,
                of: key.attribute("for").unwrap_or("all"),
                default: text(key, "default"),
            };
            Some((key.attribute("id")?, named))
        })
        .collect();
    let mut graphs = children(root, "graph");
    let Some(graph) = graphs.next() else {
        return Err(ImportError::at(xml.line(root), "there is no <graph>"));
    };
    let mut builder = Builder::default();
    match graphs.count() {
        0 => {}
        more => builder.remark(format!("Graphs after the first, left out: {more}.")),
    }
    let within = |name| {
        let inside = graph.descendants().filter(|e| e.is_element());
        inside.filter(move |e| {
            let parent = e.parent().map(|p| p.tag_name().name());
            e.tag_name().name() == name && parent == Some("graph")
        })
    };
    let ends: BTreeSet<&str> = within("edge")
        .flat_map(|edge| [edge.attribute("source"), edge.attribute("target")])
        .flatten()
        .collect();
    for (name, value) in data(graph, &keys) {
        if matches!(name, "Network" | "name" | "label") {
            builder.name(value);
        }
    }
    let mut groups = 0;
    for node in within("node") {
        let id = xml.required(node, "id")?;
        if children(node, "graph").next().is_some() && !ends.contains(id) {
            groups += 1;
            continue;
        }
        let label = data(node, &keys).find(|(name, _)| matches!(*name, "label" | "name"));
        let index = builder.node(id, label.map_or(id, |(_, label)| label), xml.line(node))?;
        for (name, value) in data(node, &keys) {
            builder.locate(index, meaning(name, value, units));
        }
    }
    if groups > 0 {
        builder.remark(format!(
            "Nodes that only contain others, left out: {groups}."
        ));
    }
    match within("hyperedge").count() {
        0 => {}
        n => builder.remark(format!("Edges between more than two nodes, left out: {n}.")),
    }
    for edge in within("edge") {
        let at = xml.line(edge);
        let [from, to] = ["source", "target"].map(|end| xml.required(edge, end));
        let ends = (builder.find(from?, at)?, builder.find(to?, at)?);
        let mut properties = Properties::default();
        for (name, value) in data(edge, &keys) {
            if properties.take(meaning(name, value, units)).is_err() {
                builder.remark(format!(
                    "\"{}\" of an edge is not a valid quantity and is left out.",
                    short(name)
                ));
            }
        }
        builder.link(ends, properties, at)?;
    }
    builder.finish()
}

/// Shortens a name of the file for a remark.
fn short(name: &str) -> String {
    quote(name).trim_matches('"').to_string()
}

/// Returns the attributes of an element, by the names of their keys, including defaults.
fn data<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    keys: &'a Keys<'_>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let own = children(node, "data").filter_map(|data| {
        let key = data.attribute("key")?;
        let name = keys.get(key).map_or(key, |key| key.name);
        Some((name, data.text()?.trim()))
    });
    let kind = node.tag_name().name();
    let defaults = keys.iter().filter_map(move |(id, key)| {
        let has = |data: Node<'_, '_>| data.attribute("key") == Some(id);
        let fits = [kind, "all"].contains(&key.of) && !children(node, "data").any(has);
        Some((key.name, key.default.filter(|_| fits)?))
    });
    own.chain(defaults)
}
