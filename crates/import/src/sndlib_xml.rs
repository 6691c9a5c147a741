//! The XML of SNDlib (sndlib.put.poznan.pl).

use crate::Units;
use crate::attribute::{Property, finite, rate_unit};
use crate::builder::{Builder, Properties};
use crate::error::{ImportError, quote};
use crate::topology::Topology;
use crate::xml::{Xml, children, text};
use roxmltree::Node;

pub(crate) fn read(source: &str, units: &Units) -> Result<Topology, ImportError> {
    let xml = Xml::parse(source)?;
    let root = xml.document.root_element();
    let mut structure = children(root, "networkStructure");
    let Some(structure) = structure.next() else {
        return Err(ImportError::at(xml.line(root), "there is no <networkStructure>"));
    };
    let mut builder = Builder::new(true, units);
    let unit = children(root, "meta").next().and_then(|meta| text(meta, "unit"));
    let unit = unit.and_then(|unit| rate_unit(&unit.to_ascii_lowercase()));
    for element in children(structure, "nodes").flat_map(|n| children(n, "node")) {
        builder.record(|builder| node(builder, &xml, element));
    }
    for element in children(structure, "links").flat_map(|n| children(n, "link")) {
        builder.record(|builder| link(builder, &xml, element, unit));
    }
    for element in children(root, "demands").flat_map(|n| children(n, "demand")) {
        builder.record(|builder| demand(builder, &xml, element, unit));
    }
    builder.finish()
}

fn node(builder: &mut Builder, xml: &Xml<'_>, node: Node<'_, '_>) -> Result<(), ImportError> {
    let id = xml.required(node, "id")?;
    let index = builder.node(id, id, xml.line(node))?;
    let place = children(node, "coordinates").next();
    let number = |name| place.and_then(|place| text(place, name)).and_then(finite);
    let both = [number("x").map(Property::Longitude), number("y").map(Property::Latitude)];
    both.into_iter().flatten().for_each(|property| builder.locate(index, property));
    Ok(())
}

/// Reads a link. Its rate is the pre-installed capacity, or else that of the first module above zero.
fn link(
    builder: &mut Builder,
    xml: &Xml<'_>,
    link: Node<'_, '_>,
    unit: Option<f64>,
) -> Result<(), ImportError> {
    let ends = ends(xml, builder, link)?;
    let installed = children(link, "preInstalledModule");
    let modules = children(link, "additionalModules").flat_map(|n| children(n, "addModule"));
    let mut properties = Properties::default();
    for capacity in installed.chain(modules).filter_map(|module| text(module, "capacity")) {
        let capacity = number(xml, capacity, link)?;
        if capacity > 0.0 {
            properties.take(match unit {
                Some(unit) => Property::Rate(capacity * unit),
                None => Property::AssumedRate(capacity * builder.units.rate),
            });
            break;
        }
    }
    builder.link(ends, properties, xml.line(link))
}

fn demand(
    builder: &mut Builder,
    xml: &Xml<'_>,
    demand: Node<'_, '_>,
    unit: Option<f64>,
) -> Result<(), ImportError> {
    let (from, to) = ends(xml, builder, demand)?;
    let rate = number(xml, child(xml, demand, "demandValue")?, demand)?;
    builder.demand(from, to, rate * unit.unwrap_or(builder.units.rate), xml.line(demand))
}

fn ends(
    xml: &Xml<'_>,
    builder: &Builder,
    node: Node<'_, '_>,
) -> Result<(usize, usize), ImportError> {
    let end = |name| builder.find(child(xml, node, name)?, xml.line(node));
    Ok((end("source")?, end("target")?))
}

/// Returns the text of the child `name`, which an element must have.
fn child<'a>(
    xml: &Xml<'_>,
    node: Node<'a, '_>,
    name: &'static str,
) -> Result<&'a str, ImportError> {
    text(node, name).ok_or_else(|| {
        let message = format!("<{}> has no <{name}>", node.tag_name().name());
        ImportError::at(xml.line(node), message)
    })
}

fn number(xml: &Xml<'_>, text: &str, node: Node<'_, '_>) -> Result<f64, ImportError> {
    finite(text).filter(|x| *x >= 0.0).ok_or_else(|| {
        let message = format!("expected a number of at least 0, not {}", quote(text));
        ImportError::at(xml.line(node), message)
    })
}
