//! Series derived from those of an engine and from the scenario: the rates of links, and ratios.

use crate::run::Series;
use accord_scenario::{Change, Entity, Fold, LinkId, Metric, OPPORTUNITY, Scenario, Trace};
use std::collections::BTreeSet;

/// The rate of a link over time, as set by the events of the scenario.
#[derive(Clone, Debug)]
pub(crate) struct RateCurve {
    /// The steps in order: the time of each in seconds, and the rate from then on in bit/s.
    steps: Vec<(f64, f64)>,
    /// The delivery opportunities instead, for a link with a trace.
    trace: Option<Trace>,
}

impl RateCurve {
    pub fn new(scenario: &Scenario, link: LinkId) -> RateCurve {
        let link_of = &scenario.links[link];
        let rate_of = |rate| link_of.capacity(rate).as_bps_f64();
        let mut steps = vec![(0.0, rate_of(link_of.rate))];
        for event in &scenario.events {
            if let Change::Rate(changed, rate) = event.change
                && changed == link
            {
                steps.push((event.at.as_secs_f64(), rate_of(rate)));
            }
        }
        let trace = link_of.parts.as_ref().and_then(|p| p.trace.clone());
        RateCurve { steps, trace }
    }

    /// Returns the mean rate from `from` to `to`, in bit/s.
    pub fn mean(&self, from: f64, to: f64) -> f64 {
        if let Some(trace) = self.trace.as_ref().filter(|_| to > from) {
            let count = trace.opportunities_by(to) - trace.opportunities_by(from);
            return count as f64 * OPPORTUNITY.bits_f64() / (to - from);
        }
        let first = self.steps.partition_point(|&(at, _)| at <= from).max(1) - 1;
        let last = self.steps.partition_point(|&(at, _)| at < to).max(1) - 1;
        if first >= last {
            return self.steps[first].1;
        }
        let bits = (first..=last).map(|i| {
            let (start, rate) = self.steps[i];
            let end = self.steps.get(i + 1).map_or(to, |&(end, _)| end.min(to));
            rate * (end - start.max(from))
        });
        bits.sum::<f64>() / (to - from)
    }
}

/// Adds the series derived from those of an engine and from the scenario: [`Metric::LinkRate`] of
/// each recorded link, and each ratio whose two metrics are present. `time` holds the ends of the
/// sampling periods. Returns all series in order.
pub fn complete(scenario: &Scenario, time: &[f64], mut series: Vec<Series>) -> Vec<Series> {
    let starts = || std::iter::once(0.0).chain(time.iter().copied());
    let of_link = |s: &Series| if let Entity::Link(link) = s.entity { Some(link) } else { None };
    let links: BTreeSet<LinkId> = series.iter().filter_map(of_link).collect();
    series.extend(links.into_iter().map(|link| {
        let curve = RateCurve::new(scenario, link);
        let periods = starts().zip(time);
        Series {
            metric: Metric::LinkRate,
            entity: Entity::Link(link),
            values: periods.map(|(from, to)| curve.mean(from, *to)).collect(),
        }
    }));
    series.sort_by_key(|s| (s.entity, s.metric));
    let ratios: Vec<Series> =
        (series.chunk_by(|a, b| a.entity == b.entity)).flat_map(ratios).collect();
    series.extend(ratios);
    series.sort_by_key(|s| (s.entity, s.metric));
    series
}

/// Returns the ratios of an entity, from its other series.
fn ratios(of_one: &[Series]) -> impl Iterator<Item = Series> {
    let find = |metric| of_one.iter().find(move |s: &&Series| s.metric == metric);
    Metric::ALL.iter().filter_map(move |&metric| {
        let Fold::Ratio(over, under) = metric.fold() else {
            return None;
        };
        let (a, b) = (find(over)?, find(under)?);
        let pairs = a.values.iter().zip(&b.values);
        let ratio = |(a, b): (&f64, &f64)| Metric::ratio(over, *a, under, *b).unwrap_or(f64::NAN);
        Some(Series { metric, entity: a.entity, values: pairs.map(ratio).collect() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_rate_is_that_of_all_its_steps() {
        let steps = vec![(0.0, 10.0), (5.05, 1.0), (7.05, 0.0), (8.0, 4.0)];
        let curve = RateCurve { steps, trace: None };
        let known = [
            (0.0, 5.0, 10.0),
            (5.0, 5.1, 5.5),
            (5.1, 7.0, 1.0),
            (5.05, 7.05, 1.0),
            (7.05, 8.0, 0.0),
            (7.1, 7.2, 0.0),
            (4.05, 9.05, (10.0 + 2.0 + 4.2) / 5.0),
            (9.0, 20.0, 4.0),
        ];
        for (from, to, mean) in known {
            let is = curve.mean(from, to);
            assert!((is - mean).abs() < 1e-12, "{from} to {to}: {is}, not {mean}");
        }
    }
}
