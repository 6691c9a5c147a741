//! The reader of values of expectations, in the unit of their metric.

use super::limits;
use super::read;
use super::shape::Shape;
use accord_form::Problem;
use accord_form::{Data, Value};
use accord_scenario::{Metric, MetricUnit};
use accord_units::{Bytes, Duration, ParseError, Rate, Size};

/// Reads a value in `metric`'s unit, or as a plain ratio.
pub(crate) fn read(value: &Value, metric: Metric, plain: bool) -> Result<f64, Problem> {
    let unit = if plain { MetricUnit::Ratio } else { metric.unit() };
    let expected = match unit {
        MetricUnit::BitPerSecond => "a rate such as \"30 Mbps\"",
        MetricUnit::Bytes => "a size such as \"3 KB\"",
        MetricUnit::Seconds => "a time such as \"2 ms\"",
        MetricUnit::Packets => "packets, such as \"30 pkt\"",
        MetricUnit::Ratio => "a ratio, such as \"98 %\" or 0.98",
    };
    let refuse = |problem: String| {
        let what = if plain { "a variation or an index" } else { metric.name() };
        let hint = match (unit, value.text().map(str::parse::<Size>)) {
            (MetricUnit::Bytes, Some(Ok(Size::Packets(_)))) if metric == Metric::Backlog => {
                "metric = \"backlog_packets\" counts packets".to_string()
            }
            _ => format!("{what} is {expected}"),
        };
        Problem::new(value.span, problem).hint(hint)
    };
    let parsed = |result: Result<f64, ParseError>| result.map_err(|e| refuse(e.problem));
    match (unit, &value.data) {
        (MetricUnit::Ratio, _) => {
            let ratio = read::ratio(value, &Shape::Tolerance);
            ratio.map_err(|_| refuse(format!("{} is not a ratio", value.describe())))
        }
        (MetricUnit::Packets, Data::Whole(n)) if *n >= 0 => Ok(*n as f64),
        (MetricUnit::Packets, Data::Number(n)) if *n >= 0.0 && n.is_finite() => Ok(*n),
        (MetricUnit::Packets, Data::Text(text)) => match text.parse() {
            Ok(Size::Packets(n)) => Ok(n),
            Ok(Size::Bytes(_)) => Err(refuse(format!("{} is not in packets", value.describe()))),
            Err(e) => Err(refuse(e.problem)),
        },
        (MetricUnit::BitPerSecond, Data::Text(text)) => {
            parsed(text.parse().map(|r: Rate| r.as_bps_f64()))
        }
        (MetricUnit::Bytes, Data::Text(text)) => parsed(text.parse().map(|b: Bytes| b.as_f64())),
        (MetricUnit::Seconds, Data::Text(text)) => {
            let time = parsed(text.parse().map(|d: Duration| d.as_secs_f64()))?;
            if time > limits::FIGURE.as_secs_f64() {
                return Err(refuse(format!("expected at most {}", limits::FIGURE)));
            }
            Ok(time)
        }
        _ => Err(refuse(format!("expected {expected}, not {}", value.describe()))),
    }
}
