//! GraphML (graphml.graphdrawing.org), as networkx, yEd and the Internet Topology Zoo write it.
//!
//! A node may contain a graph. The nodes and edges of all depths are read as one graph. A node with
//! a graph counts as a node only if an edge ends at it.

use crate::Units;
use crate::builder::Builder;
use crate::error::ImportError;
use crate::topology::Topology;
use crate::xml::{Xml, children};
use roxmltree::Node;
use std::collections::{BTreeMap, BTreeSet};

/// A declared attribute.
struct Key<'a> {
    name: &'a str,
    /// The type of element that has the attribute: `node`, `edge`, `graph` or `all`.
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
                default: children(key, "default").next().and_then(|d| d.text()).map(str::trim),
            };
            Some((key.attribute("id")?, named))
        })
        .collect();
    let mut graphs = children(root, "graph");
    let Some(graph) = graphs.next() else {
        return Err(ImportError::at(xml.line(root), "there is no <graph>"));
    };
    let mut builder = Builder::new(graph.attribute("edgedefault") == Some("directed"), units);
    builder.count("Graphs after the first, left out", graphs.count());
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
    for element in within("node") {
        let contains = children(element, "graph").next().is_some();
        if contains && element.attribute("id").is_none_or(|id| !ends.contains(id)) {
            groups += 1;
            continue;
        }
        builder.record(|builder| node(builder, &xml, element, &keys));
    }
    builder.count("Nodes that only contain others, left out", groups);
    let mut many = 0;
    for element in within("edge").chain(within("hyperedge")) {
        let ends = match element.tag_name().name() {
            "edge" => ["source", "target"].map(|end| element.attribute(end)).to_vec(),
            _ => (children(element, "endpoint").map(|e| e.attribute("node"))).collect(),
        };
        match ends[..] {
            [from, to] => {
                builder.record(|builder| edge(builder, (&xml, element), [from, to], &keys));
            }
            _ => many += 1,
        }
    }
    builder.count("Edges between more than two nodes, left out", many);
    builder.finish()
}

fn node(
    builder: &mut Builder,
    xml: &Xml<'_>,
    node: Node<'_, '_>,
    keys: &Keys<'_>,
) -> Result<(), ImportError> {
    let id = xml.required(node, "id")?;
    let label = data(node, keys).find(|(name, _)| matches!(*name, "label" | "name"));
    let label = label.map(|(_, label)| label).or_else(|| drawn(node));
    let index = builder.node(id, label.unwrap_or(id), xml.line(node))?;
    builder.attributes(index, data(node, keys));
    Ok(())
}

/// Returns the label that yEd draws.
fn drawn<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    let all = children(node, "data").flat_map(|data| data.descendants());
    let mut labels = all.filter(|e| e.tag_name().name() == "NodeLabel");
    labels.find_map(|e| e.text().map(str::trim).filter(|text| !text.is_empty()))
}

fn edge(
    builder: &mut Builder,
    (xml, edge): (&Xml<'_>, Node<'_, '_>),
    ends: [Option<&str>; 2],
    keys: &Keys<'_>,
) -> Result<(), ImportError> {
    let at = xml.line(edge);
    let [Some(from), Some(to)] = ends else {
        return Err(ImportError::at(at, "an edge lacks one of its nodes"));
    };
    let ends = (builder.find(from, at)?, builder.find(to, at)?);
    let properties = builder.properties(data(edge, keys));
    builder.link(ends, properties, at)
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
