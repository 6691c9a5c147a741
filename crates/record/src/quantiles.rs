//! Quantiles over the flows of a group at a sample.

use crate::reading::{Counts, FlowMetric, FlowReading, OF_FLOWS};
use accord_scenario::{Entity, Metric, QUANTILES};

/// The number of values below which sorting is faster than selection.
const FEW: usize = 16;

/// The values of a group's flows at one sample. The buffer is reused for the next sample.
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    /// The values, each with the number of flows that have it.
    values: Vec<(f64, u64)>,
}

impl Quantiles {
    /// Adds the value of `flows` flows. Ignores NaN, which stands for no value.
    pub fn add(&mut self, value: f64, flows: u64) {
        match self.values.last_mut() {
            _ if value.is_nan() => {}
            // Similar flows are mostly adjacent.
            Some((last, many)) if *last == value => *many += flows,
            _ => self.values.push((value, flows)),
        }
    }

    /// Takes the values and returns their [`QUANTILES`]. These are interpolated linearly between
    /// the two nearest ranks, and are NaN without values.
    pub fn take(&mut self) -> [f64; QUANTILES.len()] {
        let flows: u64 = self.values.iter().map(|(_, many)| many).sum();
        if flows == 0 {
            return [f64::NAN; QUANTILES.len()];
        }
        let ranks = QUANTILES.map(|percent| f64::from(percent) / 100.0 * (flows - 1) as f64);
        let mut near = [0; 2 * QUANTILES.len()];
        for (pair, rank) in near.as_chunks_mut().0.iter_mut().zip(ranks) {
            *pair = [rank.floor() as u64, rank.ceil() as u64];
        }
        near.sort_unstable();
        let mut found = [f64::NAN; 2 * QUANTILES.len()];
        select(&mut self.values, 0, &near, &mut found);
        self.values.clear();
        let value = |rank: f64| found[near.partition_point(|near| *near < rank as u64)];
        ranks.map(|rank| {
            let (below, above) = (value(rank.floor()), value(rank.ceil()));
            if below == above { below } else { below + (above - below) * rank.fract() }
        })
    }
}

/// Finds the values of `ranks`, which are in order. `before` flows have values below all of `values`.
fn select(values: &mut [(f64, u64)], before: u64, ranks: &[u64], found: &mut [f64]) {
    let Some(middle) = ranks.get(ranks.len() / 2) else {
        return;
    };
    if values.len() <= FEW {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut below, mut wanted) = (before, ranks.iter().zip(found).peekable());
        for &(value, many) in &*values {
            below += many;
            while let Some((_, found)) = wanted.next_if(|(rank, _)| **rank < below) {
                *found = value;
            }
        }
        return;
    }
    // If each value belongs to a single flow, the middle rank is found at once.
    let pivot = match (middle - before) as usize {
        middle if middle < values.len() => middle,
        _ => values.len() / 2,
    };
    let (less, &mut (value, many), more) =
        values.select_nth_unstable_by(pivot, |a, b| a.0.total_cmp(&b.0));
    let from = before + less.iter().map(|(_, many)| many).sum::<u64>();
    let to = from + many;
    let place = |rank| ranks.partition_point(|r| *r < rank);
    let (start, end) = (place(from), place(to));
    found[start..end].fill(value);
    select(less, before, &ranks[..start], &mut found[..start]);
    select(more, to, &ranks[end..], &mut found[end..]);
}

/// The metrics of [`Metric::WITH_QUANTILES`] whose latest values are kept here for every flow. The recorder
/// keeps the values of the others.
const KEPT: [Metric; 2] = [Metric::Cwnd, Metric::Rtt];

/// The flows of a group recorded as a whole, which may be very many. The recorder keeps the rate and the
/// counts of each, so only the rest is here.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    /// The first flow of the group.
    first: usize,
    /// The latest values of each flow.
    kept: Vec<[f64; KEPT.len()]>,
    /// The flows with values, by their place in the group.
    there: Vec<u32>,
    row: Vec<f64>,
    /// The rows of [`KEPT`].
    reads: Vec<FlowMetric>,
}

impl Members {
    /// Creates the members of a group of `flows` flows from `first` on, without values.
    pub fn new(first: usize, flows: usize) -> Members {
        let find = |kept: &Metric| OF_FLOWS.iter().find(|read| read.metric == *kept);
        Members {
            first,
            kept: vec![[f64::NAN; KEPT.len()]; flows],
            there: Vec::new(),
            row: Vec::new(),
            reads: KEPT.iter().filter_map(find).copied().collect(),
        }
    }

    /// Returns the entity and the metric of each value of [`Members::record`], in their order.
    pub fn columns(group: usize) -> impl Iterator<Item = (Entity, Metric)> {
        Metric::WITH_QUANTILES.into_iter().flat_map(move |metric| {
            QUANTILES.map(|percent| (Entity::Quantile { group, percent }, metric))
        })
    }

    /// Takes the reading of a flow, its counts at the last sample, `period` seconds ago, and its rate
    /// then.
    pub fn read(
        &mut self,
        flow: usize,
        (last, rate): (&Counts, f64),
        reading: &FlowReading,
        period: f64,
    ) {
        self.row.clear();
        reading.record(&self.reads, last, period, &mut self.row);
        let place = flow - self.first;
        self.kept[place].copy_from_slice(&self.row);
        if rate.is_nan() {
            self.there.push(place as u32);
        }
    }

    /// Appends the quantiles over the flows that have a rate. `rates` and `counts` contain the latest values
    /// of all flows of the scenario.
    pub fn record(
        &mut self,
        quantiles: &mut Quantiles,
        (rates, counts): (&[f64], &[Counts]),
        rows: &mut Vec<f64>,
    ) {
        let Members { first, kept, there, .. } = self;
        there.retain(|place| !rates[*first + *place as usize].is_nan());
        for metric in Metric::WITH_QUANTILES {
            let column = KEPT.iter().position(|kept| *kept == metric);
            for &place in &*there {
                let (place, flow) = (place as usize, *first + place as usize);
                let value = match (metric, column) {
                    (_, Some(column)) => kept[place][column],
                    (Metric::Throughput, None) => rates[flow],
                    (Metric::Accumulation, None) => counts[flow].accumulation as f64,
                    (_, None) => f64::NAN,
                };
                quantiles.add(value, 1);
            }
            rows.extend(quantiles.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_metric_with_quantiles_has_a_source() {
        let of_recorder = [Metric::Throughput, Metric::Accumulation];
        let mut sources = [&of_recorder[..], &KEPT].concat();
        sources.sort_unstable();
        assert_eq!(sources, Metric::WITH_QUANTILES);
    }

    fn of(values: &[(f64, u64)]) -> [f64; QUANTILES.len()] {
        let mut quantiles = Quantiles::default();
        values.iter().for_each(|(v, n)| quantiles.add(*v, *n));
        quantiles.take()
    }

    #[test]
    fn quantiles_are_linear_between_ranks() {
        let hundred: Vec<_> = (0..=100).rev().map(|i| (f64::from(i), 1)).collect();
        assert_eq!(of(&hundred), [5.0, 25.0, 50.0, 75.0, 95.0]);
        assert_eq!(of(&[(10.0, 1), (20.0, 1)]), [10.5, 12.5, 15.0, 17.5, 19.5]);
        assert_eq!(of(&[(7.0, 3), (f64::NAN, 9)]), [7.0; 5]);
        assert_eq!(of(&[(1.0, 75_000), (2.0, 25_000)])[2..], [1.0, 1.25, 2.0]);
        assert!(of(&[]).iter().all(|v| v.is_nan()));
    }

    proptest! {
        /// Tests few and many distinct values, each of one flow or of many.
        #[test]
        fn quantiles_are_those_of_all_flows_in_order(
            values in prop::collection::vec((0u32..200, 1u64..40), 1..300),
            scale in prop::sample::select(vec![1u32, 40]),
        ) {
            let values: Vec<(f64, u64)> =
                values.iter().map(|&(v, n)| (f64::from(v / scale), n)).collect();
            let mut sorted = Vec::new();
            for &(value, many) in &values {
                sorted.extend((0..many).map(|_| value));
            }
            sorted.sort_by(f64::total_cmp);
            for (is, percent) in of(&values).into_iter().zip(QUANTILES) {
                let rank = f64::from(percent) * (sorted.len() - 1) as f64 / 100.0;
                let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
                let expected = below + (above - below) * rank.fract();
                prop_assert!((is - expected).abs() < 1e-9, "{percent} %: {is}, not {expected}");
            }
        }
    }
}
