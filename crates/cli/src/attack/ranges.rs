//! The ranges of the search.

use crate::axis::{Axis, number};
use crate::fail::Failure;
use accord::language::File;
use accord::scenario::Scenario;

/// A range of a value of the scenario.
pub struct Range {
    pub axis: Axis,
    /// The value in the scenario, if it is known and in the range's unit.
    pub original: Option<f64>,
}

/// The maximum number of default ranges.
const MOST: usize = 8;

/// Returns the given ranges, or the default ones of the scenario.
pub fn of(vary: &[String], scenario: &Scenario, file: &File) -> Result<Vec<Range>, Failure> {
    if !vary.is_empty() {
        return vary
            .iter()
            .map(|text| {
                let axis = Axis::parse(text, 2)?;
                let original = written(file, &axis);
                Ok(Range { axis, original })
            })
            .collect();
    }
    let mut ranges = Vec::new();
    let mut add = |path: String, own: f64, from: f64, to: f64, unit: &str| {
        let axis = Axis::parse(&format!("{path}={from}{unit}..{to}{unit}"), 2)?;
        ranges.push(Range { axis, original: Some(own) });
        Ok::<(), Failure>(())
    };
    let inner = scenario.links.iter().filter(|l| !l.attachment && !l.name.ends_with(".reverse"));
    for link in inner {
        let (rate, delay) = (link.rate.as_bps_f64() / 1e6, link.delay.as_secs_f64() * 1e3);
        add(format!("link.{}.rate", link.name), rate, rate / 4.0, rate * 4.0, " Mbps")?;
        if delay > 0.0 {
            add(format!("link.{}.delay", link.name), delay, delay / 4.0, delay * 4.0, " ms")?;
        }
    }
    let latest = scenario.duration.as_secs_f64() / 2.0;
    for group in &scenario.groups {
        let start = scenario.flows[group.flows.start].start.as_secs_f64();
        add(format!("flow.{}.start", group.name), start, 0.0, latest, " s")?;
    }
    ranges.truncate(MOST);
    Ok(ranges)
}

/// Returns the value in the scenario's text at the path of an axis, if it has its unit.
fn written(file: &File, axis: &Axis) -> Option<f64> {
    let text: toml_edit::DocumentMut = file.source().text.parse().ok()?;
    let mut item = text.as_item();
    for part in axis.path.split('.') {
        // Entries of lists count from 1.
        item = match part.parse::<usize>() {
            Ok(n) => item.get(n.checked_sub(1)?)?,
            Err(_) => item.get(part)?,
        };
    }
    let (value, unit) = match item.as_value()? {
        toml_edit::Value::String(text) => number(text.value())?,
        toml_edit::Value::Integer(n) => (*n.value() as f64, String::new()),
        toml_edit::Value::Float(x) => (*x.value(), String::new()),
        _ => return None,
    };
    (unit == axis.unit).then_some(value)
}

impl Range {
    /// Returns the setting of a value, as for `--set`.
    pub fn setting(&self, value: f64) -> String {
        format!("{}={}", self.axis.path, self.axis.text_of(value))
    }

    /// Returns true if values are spread logarithmically: the range spans a factor of ten.
    fn is_logarithmic(&self) -> bool {
        self.axis.from > 0.0 && self.axis.to >= 10.0 * self.axis.from
    }

    /// Returns the value at a fraction of the range, from 0 to 1.
    pub fn at(&self, part: f64) -> f64 {
        let (from, to) = (self.axis.from, self.axis.to);
        let value = if self.is_logarithmic() {
            from * (to / from).powf(part)
        } else {
            from + part * (to - from)
        };
        self.rounded(value)
    }

    /// Returns the value moved by a fraction of the range, within it.
    pub fn moved(&self, value: f64, part: f64) -> f64 {
        let (from, to) = (self.axis.from, self.axis.to);
        let now = if self.is_logarithmic() {
            (value / from).ln() / (to / from).ln()
        } else {
            (value - from) / (to - from)
        };
        self.at((now + part).clamp(0.0, 1.0))
    }

    /// Returns the value halfway between two.
    pub fn between(&self, a: f64, b: f64) -> f64 {
        let middle = if self.is_logarithmic() && a > 0.0 && b > 0.0 {
            (a * b).sqrt()
        } else {
            (a + b) / 2.0
        };
        self.rounded(middle)
    }

    /// Rounds a value for the file: to four digits, and to whole numbers if the range counts.
    fn rounded(&self, value: f64) -> f64 {
        let whole = |x: f64| x.fract() == 0.0;
        if self.axis.unit.is_empty() && whole(self.axis.from) && whole(self.axis.to) {
            return value.round();
        }
        let (low, high) = (self.axis.from, self.axis.to);
        let short: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        // A value of the scenario itself may lie outside.
        if (low..=high).contains(&value) { short.clamp(low, high) } else { short }
    }
}
