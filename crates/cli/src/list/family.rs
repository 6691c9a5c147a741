//! Controllers and queue disciplines for `accord list`.

use super::show::Entry;
use accord::Engine;
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
    /// The reason why the fluid engine does not support it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_fluid: Option<&'static str>,
    /// The congestion control of Linux that it models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<&'static str>,
    /// The page of the book, or "".
    pub page: &'static str,
    pub parameters: Vec<Parameter>,
}

/// A parameter.
#[derive(Serialize)]
pub struct Parameter {
    pub name: String,
    pub symbol: &'static str,
    /// The type, with the unit.
    pub value: String,
    /// The default as in a scenario file; `None` if there is none.
    pub default: Option<&'static str>,
    pub doc: &'static str,
    pub source: &'static str,
}

/// Returns the families of a catalogue, in its order.
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
        // Theory and packets have every family.
        engines: (Engine::ALL.into_iter())
            .filter(|engine| no_fluid.is_none() || *engine != Engine::Fluid)
            .map(Engine::name)
            .collect(),
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

impl Entry for Family {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> String {
        self.doc.into()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let parameters = self.parameters.iter().map(|p| match p.default {
            Some(default) => format!("{} = {default}", p.name),
            None => p.name.clone(),
        });
        let parameters: Vec<_> = parameters.collect();
        let mut facts = vec![("engines", self.engines.join(", "))];
        if !parameters.is_empty() {
            facts.push(("parameters", parameters.join(", ")));
        }
        facts
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = vec![("engines", self.engines.join(", "))];
        more.extend(self.no_fluid.map(|why| ("no fluid", why.to_string())));
        more.extend((self.kernel).map(|name| ("kernel", format!("a model of Linux's {name}"))));
        if !self.source.is_empty() {
            more.push(("source", self.source.into()));
        }
        if !self.page.is_empty() {
            more.push(("page", format!("docs/src/{}", self.page)));
        }
        more
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let parameter = |p: &Parameter| {
            let default = match p.default {
                Some(default) => format!("; {default} by default"),
                None => "; absent by default".into(),
            };
            let of = [p.symbol, p.source].into_iter().filter(|s| !s.is_empty());
            let of: Vec<_> = of.collect();
            let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
            let doc = format!("{}{of}\n{}{default}", p.doc, p.value);
            (p.name.clone(), doc)
        };
        self.parameters.iter().map(parameter).collect()
    }
}
