//! Ranges of a value of a scenario: PATH=FROM..TO.

use crate::fail::Failure;
use accord::report::Parameter;

/// One axis: PATH=FROM..TO.
pub struct Axis {
    /// The path in the scenario.
    pub path: String,
    /// The smallest value.
    pub from: f64,
    pub to: f64,
    /// The unit of both, or "".
    pub unit: String,
    pub count: usize,
}

impl Axis {
    /// Parses PATH=FROM..TO, with `count` steps.
    pub fn parse(text: &str, count: usize) -> Result<Axis, Failure> {
        let wrong = |why: &str| {
            Failure::new(format!("\"{text}\" is not an axis: {why}"))
                .hint("expected PATH=FROM..TO, such as flow.f.controller.gain=0.1..2 or link.bottleneck.delay=\"1 ms..50 ms\"")
        };
        let (path, range) = text.split_once('=').ok_or_else(|| wrong("it has no \"=\""))?;
        let (from, to) =
            range.trim_matches('"').split_once("..").ok_or_else(|| wrong("it has no \"..\""))?;
        let (from, unit) = number(from).ok_or_else(|| wrong("it does not begin with a number"))?;
        let (to, other) = number(to).ok_or_else(|| wrong("it does not end with a number"))?;
        if unit != other && !unit.is_empty() {
            return Err(wrong("its ends have different units"));
        }
        if !(from.is_finite() && to.is_finite() && from < to) {
            return Err(wrong("its first value must be the smaller one"));
        }
        Ok(Axis { path: path.trim().into(), from, to, unit: other, count })
    }

    pub fn value(&self, i: usize) -> f64 {
        let part = i as f64 / (self.count - 1).max(1) as f64;
        self.from + part * (self.to - self.from)
    }

    /// Returns the value in the form of the scenario language.
    pub fn text(&self, i: usize) -> String {
        self.text_of(self.value(i))
    }

    /// Returns a value in the form of the scenario language.
    pub fn text_of(&self, value: f64) -> String {
        // Nine digits hide the rounding of the steps.
        let value = format!("{value:.9e}").parse::<f64>().unwrap_or(0.0);
        match self.unit.is_empty() {
            // A whole number has no decimals, so an axis can be a count.
            true => format!("{value}"),
            false => format!("\"{value} {}\"", self.unit),
        }
    }

    /// Returns the axis for the report.
    pub fn parameter(&self) -> Parameter {
        let values = (0..self.count).map(|i| self.value(i));
        Parameter { path: self.path.clone(), unit: self.unit.clone(), values: values.collect() }
    }
}

/// Splits "1.5 ms" into 1.5 and "ms".
pub fn number(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end =
        text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' || c == '%').unwrap_or(text.len());
    let value = text[..end].trim().parse().ok()?;
    Some((value, text[end..].trim().to_string()))
}
