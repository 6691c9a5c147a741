//! Properties: METRIC [of ENTITY], a comparison, and a value.

use crate::axis::number;
use crate::fail::Failure;
use accord::form::suggest;
use accord::report::show::quantity;
use accord::scenario::{Engine, Metric, Of, Scenario, Target};

pub struct Property {
    /// The text of the property.
    pub given: String,
    pub metric: Metric,
    of: String,
    at_least: bool,
    value: String,
    /// The bound in the unit of the metric.
    bound: f64,
}

impl Property {
    /// Parses a property of a scenario.
    pub fn parse(text: &str, scenario: &Scenario) -> Result<Property, Failure> {
        let wrong = |why: String| {
            let hint = "expected METRIC [of ENTITY], then >, >=, < or <=, then a value: \"utilisation > 0.8\", \"rtt of long < 200 ms\"";
            Failure::new(format!("\"{text}\" is not a property: {why}")).hint(hint)
        };
        let at = text.find(['<', '>']);
        let at = at.ok_or_else(|| wrong("it has no comparison".into()))?;
        let (left, right) = text.split_at(at);
        let value = right[1..].trim_start_matches('=').trim();
        let mut words = left.split_whitespace();
        let name = words.next().unwrap_or_default();
        let metric: Metric = name.parse().map_err(|e: String| {
            Failure::new(e).hinted(suggest(name, Metric::known().into_iter().map(Metric::name)))
        })?;
        let of = match (words.next(), words.next(), words.next()) {
            (None, ..) => default_of(metric, scenario),
            (Some("of"), Some(entity), None) => entity.to_string(),
            _ => return Err(wrong("it has not exactly one name after \"of\"".into())),
        };
        let (number, unit) =
            number(value).ok_or_else(|| wrong(format!("\"{value}\" is not a value")))?;
        Ok(Property {
            given: text.trim().to_string(),
            metric,
            of,
            at_least: right.starts_with('>'),
            value: if unit.is_empty() {
                format!("{number:?}")
            } else {
                format!("\"{}\"", value.replace(['"', '\\'], ""))
            },
            bound: f64::NAN,
        })
    }

    /// Takes the bound from the expectation of a scenario that has it.
    pub fn settle(&mut self, scenario: &Scenario) {
        if let Some(Target::Range { min, max }) = scenario.expectations.first().map(|e| e.target) {
            self.bound = if self.at_least { min } else { max };
        }
    }

    /// Returns the property as the list of expectations of a scenario file.
    pub fn expectation(&self, engine: Engine) -> String {
        let bound = if self.at_least { "at_least" } else { "at_most" };
        format!(
            "[{{ name = {:?}, metric = \"{}\", of = {:?}, engine = \"{engine}\", {bound} = {} }}]",
            self.given, self.metric, self.of, self.value
        )
    }

    /// Returns the amount by which a value breaks the property; zero or less if it holds.
    pub fn excess(&self, value: f64) -> f64 {
        if self.at_least { self.bound - value } else { value - self.bound }
    }

    /// Returns true if a value breaks the property.
    pub fn is_broken(&self, value: f64) -> bool {
        self.excess(value) > 1e-9 * self.bound.abs()
    }

    /// Formats a value with its unit.
    pub fn text(&self, value: f64) -> String {
        format!("{} of {} is {}", self.metric, self.of, quantity(value, self.metric.unit()))
    }
}

/// Returns the default entity of a property: the first link not attached to a host, or the first
/// group.
fn default_of(metric: Metric, scenario: &Scenario) -> String {
    match metric.of() {
        Of::Link | Of::Aggregate => {
            let mut inner = scenario.links.iter().filter(|link| !link.attachment);
            inner.next().map_or(String::new(), |link| link.name.clone())
        }
        _ => scenario.groups.first().map_or(String::new(), |group| group.name.clone()),
    }
}
