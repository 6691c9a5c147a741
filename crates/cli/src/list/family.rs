//! Controllers and queue disciplines as `accord list` has them.

use accord::family::{Dynamics, Family as Declared, Kind, Param};
use serde::Serialize;

/// A controller or a queue discipline.
#[derive(Serialize)]
pub struct Family {
    pub name: &'static str,
    pub doc: &'static str,
    pub source: &'static str,
    /// The engines that run it.
    pub engines: Vec<&'static str>,
    /// Why the fluid engine does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_fluid: Option<&'static str>,
    /// The congestion control of Linux that it is a model of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<&'static str>,
    /// Its page of the book, or "".
    pub page: &'static str,
    pub parameters: Vec<Parameter>,
}

/// A parameter.
#[derive(Serialize)]
pub struct Parameter {
    pub name: String,
    pub symbol: &'static str,
    /// What it takes, with its unit.
    pub value: String,
    /// As in a scenario file; `None` where it is absent unless it is given.
    pub default: Option<&'static str>,
    pub doc: &'static str,
    pub source: &'static str,
}

/// All of a catalogue's families, in its order.
pub fn all(families: &[&'static Declared]) -> Vec<Family> {
    families.iter().map(|f| family(f)).collect()
}

fn family(f: &'static Declared) -> Family {
    let no_fluid = match f.dynamics {
        Dynamics::Missing(why) => Some(why),
        Dynamics::Window(_) | Dynamics::Queue(_) => None,
    };
    let mut parameters = Vec::new();
    for p in f.params {
        parameters.push(parameter("", p));
        if let Kind::Aggregates(params) = p.kind {
            let prefix = format!("{}.NAME.", p.name);
            parameters.extend(params.iter().map(|inner| parameter(&prefix, inner)));
        }
    }
    Family {
        name: f.name,
        doc: f.doc,
        source: f.source,
        // Theory takes every family's role, and every family has a maker for packets.
        engines: match no_fluid {
            None => vec!["theory", "fluid", "packet", "live"],
            Some(_) => vec!["theory", "packet", "live"],
        },
        no_fluid,
        kernel: f.kernel,
        page: f.page,
        parameters,
    }
}

fn parameter(prefix: &str, p: &Param) -> Parameter {
    Parameter {
        name: format!("{prefix}{}", p.name),
        symbol: p.symbol,
        value: p.kind.expected(),
        default: Some(p.default).filter(|text| !text.is_empty()),
        doc: p.doc,
        source: p.source,
    }
}
