//! Values of expectations: read and printed in the unit of their metric.

use super::error::Problem;
use super::limits;
use super::read;
use super::shape::Shape;
use super::tree::{Data, Value};
use crate::{Across, Metric, MetricUnit, Over};
use accord_units::{Bytes, Duration, ParseError, Rate, Size};

/// Reads a value in `metric`'s unit, or as a plain ratio.
pub(crate) fn read(value: &Value, metric: Metric, plain: bool) -> Result<f64, Problem> {
    let unit = if plain {
        MetricUnit::Ratio
    } else {
        metric.unit()
    };
    let expected = match unit {
        MetricUnit::BitPerSecond => "a rate such as \"30 Mbps\"",
        MetricUnit::Bytes => "a size such as \"3 KB\"",
        MetricUnit::Seconds => "a time such as \"2 ms\"",
        MetricUnit::Packets => "packets, such as \"30 pkt\"",
        MetricUnit::Ratio => "a ratio, such as \"98 %\" or 0.98",
    };
    let refuse = |problem: String| {
        let what = if plain {
            "a variation or an index"
        } else {
            metric.name()
        };
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
        _ => Err(refuse(format!(
            "expected {expected}, not {}",
            value.describe()
        ))),
    }
}

/// Writes a value in `metric`'s unit, or as a plain ratio, as scenario files have it: reading
/// that gives it back.
pub fn print(x: f64, metric: Metric, plain: bool) -> String {
    let unit = if plain {
        MetricUnit::Ratio
    } else {
        metric.unit()
    };
    match unit {
        MetricUnit::BitPerSecond => format!("\"{}\"", Rate::from_bps_f64(x)),
        MetricUnit::Bytes => format!("\"{}\"", Bytes::from_f64(x)),
        MetricUnit::Seconds => format!("\"{}\"", Duration::from_secs_f64(x)),
        MetricUnit::Packets | MetricUnit::Ratio => format!("{x:?}"),
    }
}

/// "p95" for 0.95, with as many digits as it takes to give the same quantile again.
pub(crate) fn percentile(quantile: f64) -> String {
    let percent = quantile * 100.0;
    (0..20)
        .map(|digits| format!("{percent:.digits$}"))
        .find(|text| read::percent(text) == Some(quantile))
        .map_or_else(|| format!("p{percent:?}"), |text| format!("p{text}"))
}

/// The words for [`Across`], in files.
const ACROSS: [(&str, Across); 7] = [
    ("each", Across::Each),
    ("mean", Across::Mean),
    ("sum", Across::Sum),
    ("min", Across::Min),
    ("max", Across::Max),
    ("variation", Across::Variation),
    ("jain", Across::Jain),
];

/// All words for [`Across`].
pub(crate) fn across_words() -> Vec<&'static str> {
    ACROSS.iter().map(|(word, _)| *word).collect()
}

pub(crate) fn across(across: Across) -> &'static str {
    let found = ACROSS.iter().find(|(_, a)| *a == across);
    found.expect("all are listed").0
}

pub(crate) fn read_across(value: &Value) -> Result<Across, Problem> {
    let word = read::choice(value, &across_words())?;
    let found = ACROSS.iter().find(|(w, _)| *w == word);
    Ok(found.expect("it is one of the words").1)
}

pub(crate) fn over(over: Over) -> String {
    match over {
        Over::Mean => "mean".to_string(),
        Over::Min => "min".to_string(),
        Over::Max => "max".to_string(),
        Over::Variation => "variation".to_string(),
        Over::Quantile(q) => percentile(q),
    }
}

/// Whether the figure is a plain ratio, whatever the metric.
pub(crate) fn is_plain(over: Over, across: Across) -> bool {
    over == Over::Variation || matches!(across, Across::Variation | Across::Jain)
}
