//! Metrics for people: definition, unit, entity, engines.

use accord_scenario::{Fold, Metric, MetricUnit, Of};

/// Returns the kind of entity of a metric, in words.
pub const fn entity(of: Of) -> &'static str {
    match of {
        Of::Flow => "flows",
        Of::Group => "groups of flows",
        Of::Link => "links",
        Of::Aggregate => "aggregates at links",
        Of::Transfer => "transfers",
    }
}

/// Returns the unit of a metric's values in files, in words.
pub const fn unit(unit: MetricUnit) -> &'static str {
    match unit {
        MetricUnit::BitPerSecond => "bit/s",
        MetricUnit::Bytes => "bytes",
        MetricUnit::Seconds => "seconds",
        MetricUnit::Packets => "packets",
        MetricUnit::Ratio => "1 (a ratio; tables show per cent)",
    }
}

/// Returns how samples become one figure over a part of a run, in words.
pub fn over_time(metric: Metric) -> String {
    match metric.fold() {
        Fold::Mean if metric.of() == Of::Transfer => {
            "mean over the transfers that end in it".into()
        }
        Fold::Mean => "mean of the samples".into(),
        Fold::Sum => "sum of the samples".into(),
        Fold::Max => "greatest sample".into(),
        Fold::Ratio(over, under) => format!("`{over}` over `{under}`, each over the whole part"),
    }
}
