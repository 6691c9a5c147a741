//! GraphML (graphml.graphdrawing.org), as networkx and the Internet Topology Zoo write it.

use crate::Units;
use crate::attribute::meaning;
use crate::builder::{Builder, Properties};
use crate::error::{ImportError, quote};
use crate::topology::Topology;
use crate::xml::{Xml, children};
use roxmltree::Node;
use std::collections::BTreeMap;

/// What a file calls its attributes, by the ids of their keys.
type Keys<'a> = BTreeMap<&'a str, &'a str>;

pub(crate) fn read(text: &str, units: &Units) -> Result<Topology, ImportError> {
    let xml = Xml::parse(text)?;
    let root = xml.document.root_element();
    if root.tag_name().name() != "graphml" {
        let message = format!("expected <graphml>, not <{}>", root.tag_name().name());
        return Err(ImportError::at(xml.line(root), message));
    }
    let keys: Keys<'_> = children(root, "key")
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
        .collect();
    let Some(graph) = children(root, "graph").next() else {
        return Err(ImportError::at(xml.line(root), "there is no <graph>"));
    };
    let mut builder = Builder::default();
    for (name, value) in data(graph, &keys) {
        if matches!(name, "Network" | "name" | "label") {
            builder.name(value);
        }
    }
    for node in children(graph, "node") {
        let id = xml.required(node, "id")?;
        let label = data(node, &keys).find(|(name, _)| matches!(*name, "label" | "name"));
        let index = builder.node(id, label.map_or(id, |(_, label)| label), xml.line(node))?;
        for (name, value) in data(node, &keys) {
            builder.locate(index, meaning(name, value, units));
        }
    }
    for edge in children(graph, "edge") {
        let at = xml.line(edge);
        let [from, to] = ["source", "target"].map(|end| xml.required(edge, end));
        let ends = (builder.find(from?, at)?, builder.find(to?, at)?);
        let mut properties = Properties::default();
        for (name, value) in data(edge, &keys) {
            if properties.take(meaning(name, value, units)).is_err() {
                builder.remark(format!(
                    "\"{}\" of an edge is no quantity and left out.",
                    short(name)
                ));
            }
        }
        builder.link(ends, properties, at)?;
    }
    builder.finish()
}

/// A name of the file for a remark.
fn short(name: &str) -> String {
    quote(name).trim_matches('"').to_string()
}

/// The attributes of an element, by the names of their keys.
fn data<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    keys: &'a Keys<'_>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    children(node, "data").filter_map(|data| {
        let key = data.attribute("key")?;
        let name = keys.get(key).copied().unwrap_or(key);
        Some((name, data.text()?.trim()))
    })
}
