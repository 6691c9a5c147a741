//! The text of values of expectations.

use crate::expectation::{Across, Over};
use crate::metric::{Metric, MetricUnit};
use accord_units::{Bytes, Duration, Rate, percent};
use std::fmt;

/// Writes a value in `metric`'s unit, or as a plain ratio, as in scenario files. Reading the text
/// returns the same value.
pub fn print_figure(x: f64, metric: Metric, plain: bool) -> String {
    let unit = if plain { MetricUnit::Ratio } else { metric.unit() };
    match unit {
        MetricUnit::BitPerSecond => format!("\"{}\"", Rate::from_bps_f64(x)),
        MetricUnit::Bytes => format!("\"{}\"", Bytes::from_f64(x)),
        MetricUnit::Seconds => format!("\"{}\"", Duration::from_secs_f64(x)),
        MetricUnit::Packets | MetricUnit::Ratio => format!("{x:?}"),
    }
}

/// Returns "p95" for 0.95, with enough digits to restore the same quantile.
pub fn percentile(quantile: f64) -> String {
    let hundredths = quantile * 100.0;
    (0..20)
        .map(|digits| format!("{hundredths:.digits$}"))
        .find(|text| percent(text) == Some(quantile))
        .map_or_else(|| format!("p{hundredths:?}"), |text| format!("p{text}"))
}

impl Across {
    /// Returns whether the value is a plain ratio for any metric.
    pub fn is_plain(self, over: Over) -> bool {
        matches!(over, Over::Variation | Over::State(_))
            || matches!(self, Across::Variation | Across::Jain)
    }
}

/// The text is that of scenario files.
impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Over::Quantile(q) => f.pad(&percentile(*q)),
            Over::State(state) => f.pad(state),
            other => f.pad(other.word().unwrap_or_default()),
        }
    }
}
