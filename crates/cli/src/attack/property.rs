//! Properties: METRIC [of ENTITY], a comparison, and a value.

use crate::axis::number;
use crate::fail::Failure;
use accord::form::suggest;
use accord::report::show::quantity;
use accord::scenario::{Engine, Metric, MetricUnit, Of, Scenario, Target};

/// The relative rounding that does not affect a verdict.
const ROUNDING: f64 = 1e-12;

pub struct Property {
    /// The text of the property.
    pub given: String,
    pub metric: Metric,
    of: String,
    at_least: bool,
    /// True if a value at the bound breaks the property.
    strict: bool,
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
        let strict = !right[1..].starts_with('=');
        let value = right[1..].trim_start_matches('=').trim();
        let mut words = left.split_whitespace();
        let name = words.next().unwrap_or_default();
        let metric: Metric = name.parse().map_err(|e: String| {
            let near = suggest(name, Metric::known().into_iter().map(Metric::name));
            Failure::new(e).hint(near.unwrap_or("accord list metrics shows them".into()))
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
            strict,
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

    /// Fails if no run can have the property.
    pub fn check(&self) -> Result<(), Failure> {
        let most = self.metric.row().most.filter(|most| self.at_least && self.bound > *most);
        most.map_or(Ok(()), |most| {
            let failure = Failure::new(format!(
                "\"{}\" never holds: {} is at most {}",
                self.given,
                self.metric,
                quantity(most, self.metric.unit())
            ));
            Err(failure.hint("a share has a unit, such as 80 %"))
        })
    }

    /// Returns the property as the list of expectations of a scenario file.
    pub fn expectation(&self, engine: Engine) -> String {
        let bound = if self.at_least { "at_least" } else { "at_most" };
        format!(
            "[{{ name = {:?}, metric = \"{}\", of = {:?}, engine = \"{engine}\", {bound} = {} }}]",
            self.given, self.metric, self.of, self.value
        )
    }

    /// Returns the amount by which a value is beyond the bound.
    pub fn excess(&self, value: f64) -> f64 {
        if self.at_least { self.bound - value } else { value - self.bound }
    }

    /// Returns true if a value breaks the property. A value at the bound breaks a strict one.
    pub fn is_broken(&self, value: f64) -> bool {
        let excess = self.excess(value);
        if self.strict {
            excess >= -ROUNDING * self.bound.abs()
        } else {
            excess > 1e-9 * self.bound.abs()
        }
    }

    /// Returns the figure of a run for which the property has to hold: the value that is nearest to
    /// breaking it. A run or a flow without a finished transfer breaks any property of transfers. Other
    /// runs without a value have no figure.
    pub fn figure(&self, values: &[Option<f64>]) -> Option<f64> {
        if self.metric.of() == Of::Transfer && values.iter().any(Option::is_none) {
            return Some(if self.at_least { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        let worse = |a: f64, b: f64| if self.excess(b) > self.excess(a) { b } else { a };
        values.iter().flatten().copied().reduce(worse)
    }

    /// Makes the expectation of a scenario fail where the property is broken. Expectations hold at their
    /// bound, and a strict property does not: its bound moves by the least step.
    pub fn sharpen(&self, scenario: &mut Scenario) {
        let step: f64 = match self.metric.unit() {
            MetricUnit::BitPerSecond | MetricUnit::Bytes => 1.0,
            MetricUnit::Seconds => 1e-12,
            MetricUnit::Packets | MetricUnit::Ratio => 1e-9,
        };
        let step = step.max(1e-9 * self.bound.abs());
        let first = scenario.expectations.first_mut().filter(|_| self.strict);
        if let Some(Target::Range { min, max }) = first.map(|e| &mut e.target) {
            if self.at_least {
                *min += step;
            } else {
                // A bound below zero would not be readable.
                *max = (*max - step).max(0.0);
            }
        }
    }

    /// Formats a figure with its unit.
    pub fn text(&self, value: f64) -> String {
        if value.is_infinite() {
            return format!("no transfer of {} ended", self.of);
        }
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
