//! The XML of SNDlib (sndlib.put.poznan.pl).

use crate::Units;
use crate::attribute::{Meaning, Property, finite, rate_unit};
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
        let message = "there is no <networkStructure>";
        return Err(ImportError::at(xml.line(root), message));
    };
    let mut builder = Builder::new(true);
    let meta = children(root, "meta").next();
    let unit = meta.and_then(|meta| text(meta, "unit")).and_then(unit);
    let assumed = unit.is_none();
    let unit = unit.unwrap_or(units.rate);
    for element in children(structure, "nodes").flat_map(|n| children(n, "node")) {
        let read = node(&mut builder, &xml, element);
        builder.record(read);
    }
    for element in children(structure, "links").flat_map(|n| children(n, "link")) {
        let read = link(&mut builder, &xml, element, (unit, assumed));
        builder.record(read);
    }
    for element in children(root, "demands").flat_map(|n| children(n, "demand")) {
        let read = demand(&mut builder, &xml, element, unit);
        builder.record(read);
    }
    builder.finish()
}

fn node(builder: &mut Builder, xml: &Xml<'_>, node: Node<'_, '_>) -> Result<(), ImportError> {
    let id = xml.required(node, "id")?;
    let index = builder.node(id, id, xml.line(node))?;
    let Some(place) = children(node, "coordinates").next() else {
        return Ok(());
    };
    for (name, property) in
        [("x", Property::Longitude as fn(f64) -> Property), ("y", Property::Latitude)]
    {
        if let Some(x) = text(place, name).and_then(finite) {
            builder.locate(index, Meaning::Property(property(x)));
        }
    }
    Ok(())
}

fn link(
    builder: &mut Builder,
    xml: &Xml<'_>,
    link: Node<'_, '_>,
    (unit, assumed): (f64, bool),
) -> Result<(), ImportError> {
    let ends = ends(xml, builder, link)?;
    let rate = capacity(xml, link)?.map(|x| Property::Rate(x * unit));
    let mut properties = Properties::default();
    let taken = rate.map(|rate| {
        if assumed {
            properties.take(Meaning::Assumed(rate))
        } else {
            properties.take(Meaning::Property(rate))
        }
    });
    debug_assert!(taken.is_none_or(|t| t.is_ok()), "a rate is a quantity");
    builder.link(ends, properties, xml.line(link))
}

fn demand(
    builder: &mut Builder,
    xml: &Xml<'_>,
    demand: Node<'_, '_>,
    unit: f64,
) -> Result<(), ImportError> {
    let (from, to) = ends(xml, builder, demand)?;
    let line = xml.line(demand);
    let value = text(demand, "demandValue")
        .ok_or_else(|| ImportError::at(line, "<demand> has no <demandValue>"))?;
    builder.demand(from, to, number(xml, value, demand)? * unit, line)
}

/// Returns the unit of a file, such as MBITPERSEC.
pub(crate) fn unit(name: &str) -> Option<f64> {
    rate_unit(&name.trim().to_ascii_lowercase())
}

/// Returns the pre-installed capacity, or else that of the first possible module.
fn capacity(xml: &Xml<'_>, link: Node<'_, '_>) -> Result<Option<f64>, ImportError> {
    let there = children(link, "preInstalledModule");
    let modules = children(link, "additionalModules").flat_map(|n| children(n, "addModule"));
    for module in there.chain(modules) {
        if let Some(value) = text(module, "capacity") {
            let value = number(xml, value, module)?;
            if value > 0.0 {
                return Ok(Some(value));
            }
        }
    }
    Ok(None)
}

fn ends(
    xml: &Xml<'_>,
    builder: &Builder,
    node: Node<'_, '_>,
) -> Result<(usize, usize), ImportError> {
    let end = |name: &'static str| match text(node, name) {
        Some(key) => builder.find(key, xml.line(node)),
        None => {
            let tag = node.tag_name().name();
            Err(ImportError::at(xml.line(node), format!("<{tag}> has no <{name}>")))
        }
    };
    Ok((end("source")?, end("target")?))
}

fn number(xml: &Xml<'_>, text: &str, node: Node<'_, '_>) -> Result<f64, ImportError> {
    finite(text).filter(|x| *x >= 0.0).ok_or_else(|| {
        let message = format!("expected a number of at least 0, not {}", quote(text));
        ImportError::at(xml.line(node), message)
    })
}
