//! The native format of SNDlib (sndlib.put.poznan.pl): sections NODES, LINKS and DEMANDS in parentheses,
//! an entry per line.

use crate::Units;
use crate::attribute::{Property, finite, rate_unit};
use crate::builder::{Builder, Properties};
use crate::error::{ImportError, quote};
use crate::topology::Topology;

/// The sections that are read. Others are skipped.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Meta,
    Nodes,
    Links,
    Demands,
    Other,
}

pub(crate) fn read(text: &str, units: &Units) -> Result<Topology, ImportError> {
    let mut builder = Builder::new(true, units);
    let mut section = None;
    // The open parentheses in a skipped section.
    let mut open = 0usize;
    let mut rate = None;
    for (i, full) in text.lines().enumerate() {
        let (at, content) = (i + 1, full.split('#').next().unwrap_or_default().trim());
        if content.is_empty() || content.starts_with('?') {
            continue;
        }
        let Some(inside) = section else {
            section = Some(header(content, at)?);
            open = 0;
            continue;
        };
        if content == ")" && open == 0 {
            section = None;
            continue;
        }
        match inside {
            Section::Meta => {
                if let Some((key, value)) = content.split_once('=')
                    && key.trim() == "unit"
                {
                    // Such as MBITPERSEC.
                    rate = rate_unit(&value.trim().to_ascii_lowercase());
                }
            }
            Section::Nodes => builder.record(|builder| node(builder, content, at)),
            Section::Links => builder.record(|builder| link(builder, content, rate, at)),
            Section::Demands => builder.record(|builder| demand(builder, content, rate, at)),
            Section::Other => {
                open += content.matches('(').count();
                open = open.saturating_sub(content.matches(')').count());
            }
        }
    }
    if section.is_some() {
        let message = "a section has no end";
        let last = text.lines().count();
        let cut = ImportError::at(last, message).hint("it ends with `)` in a line of its own");
        builder.record(|_| Err(cut));
    }
    builder.finish()
}

fn header(content: &str, at: usize) -> Result<Section, ImportError> {
    let name = content.strip_suffix('(').map(str::trim);
    Ok(match name {
        Some("META") => Section::Meta,
        Some("NODES") => Section::Nodes,
        Some("LINKS") => Section::Links,
        Some("DEMANDS") => Section::Demands,
        Some(_) => Section::Other,
        None => {
            let message = format!("expected a section such as `NODES (`, not {}", quote(content));
            return Err(ImportError::at(at, message));
        }
    })
}

/// Returns the words of an entry. Each parenthesis is a word.
fn words(content: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in content.split_whitespace() {
        let mut rest = word;
        while let Some(i) = rest.find(['(', ')']) {
            words.extend([&rest[..i], &rest[i..=i]].into_iter().filter(|w| !w.is_empty()));
            rest = &rest[i + 1..];
        }
        words.extend((!rest.is_empty()).then_some(rest));
    }
    words
}

fn form(at: usize, content: &str, expected: &str) -> ImportError {
    ImportError::at(at, format!("{} is not of the form {expected}", quote(content)))
}

fn node(builder: &mut Builder, content: &str, at: usize) -> Result<(), ImportError> {
    let expected = "`NAME ( LONGITUDE LATITUDE )`";
    let (name, place) = match words(content)[..] {
        [name, "(", x, y, ")"] => (name, Some((x, y))),
        [name] if name != "(" && name != ")" => (name, None),
        _ => return Err(form(at, content, expected)),
    };
    let index = builder.node(name, name, at)?;
    if let Some((x, y)) = place {
        let number = |text| finite(text).ok_or_else(|| form(at, content, expected));
        builder.locate(index, Property::Longitude(number(x)?));
        builder.locate(index, Property::Latitude(number(y)?));
    }
    Ok(())
}

/// `NAME ( FROM TO ) CAPACITY COST ROUTING SETUP ( {MODULE_CAPACITY COST}* )`: the pre-installed
/// capacity, or else that of the first module.
fn link(
    builder: &mut Builder,
    content: &str,
    unit: Option<f64>,
    at: usize,
) -> Result<(), ImportError> {
    let words = words(content);
    let [_, "(", from, to, ")", rest @ ..] = &words[..] else {
        return Err(form(at, content, "`NAME ( FROM TO ) CAPACITY ...`"));
    };
    let ends = (builder.find(from, at)?, builder.find(to, at)?);
    let modules = rest.iter().position(|w| *w == "(");
    let module = modules.and_then(|i| rest.get(i + 1));
    let mut properties = Properties::default();
    for text in rest.first().into_iter().chain(module) {
        if matches!(*text, "(" | ")") {
            continue;
        }
        let Some(capacity) = finite(text).filter(|x| *x >= 0.0) else {
            return Err(ImportError::at(at, format!("{} is not a capacity", quote(text))));
        };
        if capacity > 0.0 {
            properties.take(match unit {
                Some(unit) => Property::Rate(capacity * unit),
                None => Property::AssumedRate(capacity * builder.units.rate),
            });
            break;
        }
    }
    builder.link(ends, properties, at)
}

/// `NAME ( FROM TO ) ROUTING_UNIT VALUE MAX_PATH_LENGTH`.
fn demand(
    builder: &mut Builder,
    content: &str,
    unit: Option<f64>,
    at: usize,
) -> Result<(), ImportError> {
    let expected = "`NAME ( FROM TO ) ROUTING_UNIT VALUE ...`";
    let words = words(content);
    let [_, "(", from, to, ")", _, value, ..] = words[..] else {
        return Err(form(at, content, expected));
    };
    let (from, to) = (builder.find(from, at)?, builder.find(to, at)?);
    let Some(value) = finite(value).filter(|x| *x >= 0.0) else {
        return Err(form(at, content, expected));
    };
    builder.demand(from, to, value * unit.unwrap_or(builder.units.rate), at)
}
