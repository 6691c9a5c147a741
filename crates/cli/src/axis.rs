//! Ranges of a value of a scenario: PATH=FROM..TO.

use crate::fail::Failure;
use accord::report::Parameter;
use accord::units::{Bytes, Duration, Rate};

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
        // A unit of the last value only is that of both.
        let factor =
            if unit == other || unit.is_empty() { Some(1.0) } else { ratio(&unit, &other) };
        let from =
            from * factor.ok_or_else(|| wrong("the units of its ends do not fit together"))?;
        if !(from.is_finite() && to.is_finite() && from < to) {
            return Err(wrong("its first value must be the smaller one"));
        }
        Ok(Axis { path: path.trim().into(), from, to, unit: other, count })
    }

    pub fn value(&self, i: usize) -> f64 {
        let part = i as f64 / (self.count - 1).max(1) as f64;
        rounded(self.from + part * (self.to - self.from))
    }

    /// Returns the value in the form of the scenario language.
    pub fn text(&self, i: usize) -> String {
        self.text_of(self.value(i))
    }

    /// Returns a value in the form of the scenario language.
    pub fn text_of(&self, value: f64) -> String {
        let value = rounded(value);
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

/// Ten digits, which hide the rounding of the steps.
fn rounded(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(0.0)
}

/// Returns the number of the second unit in one of the first, if both are of times, of rates or of amounts of bytes.
fn ratio(unit: &str, other: &str) -> Option<f64> {
    let size = |unit: &str| {
        let one = format!("1 {unit}");
        let time = one.parse::<Duration>().map(|time| (0, time.as_ps() as f64)).ok();
        let rate = || one.parse::<Rate>().map(|rate| (1, rate.as_bps_f64())).ok();
        let bytes = || one.parse::<Bytes>().map(|bytes| (2, bytes.get() as f64)).ok();
        time.or_else(rate).or_else(bytes)
    };
    let ((kind, size), (other_kind, other_size)) = (size(unit)?, size(other)?);
    (kind == other_kind).then(|| size / other_size)
}

/// Splits "1.5 ms" into 1.5 and "ms".
pub fn number(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end =
        text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' || c == '%').unwrap_or(text.len());
    let value = text[..end].trim().parse().ok()?;
    Some((value, text[end..].trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_an_axis_are_those_of_its_texts() {
        let axis = Axis::parse("a=0.1..0.5", 5).ok().expect("an axis");
        let values: Vec<f64> = (0..5).map(|i| axis.value(i)).collect();
        assert_eq!(values, [0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(axis.text(2), "0.3");
    }

    #[test]
    fn the_ends_of_an_axis_may_have_different_units_of_a_quantity() {
        let axis = |text: &str| {
            let axis = Axis::parse(text, 2);
            axis.ok().map(|axis| (axis.from, axis.to, axis.unit))
        };
        assert_eq!(axis("a=1 ms..3600 s"), Some((0.001, 3600.0, "s".into())));
        assert_eq!(axis("a=500 Kbps..2 Mbps"), Some((0.5, 2.0, "Mbps".into())));
        assert_eq!(axis("a=1..2 s"), Some((1.0, 2.0, "s".into())));
        assert_eq!(axis("a=1 ms..2 Mbps"), None);
        assert_eq!(axis("a=1 s..2 ms"), None);
    }
}
