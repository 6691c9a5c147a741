//! Series, sampled at a period, bounded in memory: when the columns are full, pairs of
//! samples are merged and the period doubles.

use accord_scenario::{Entity, Fold, Metric, Scenario, Series};
use accord_units::{Duration, Time};

/// All columns together hold no more values than this (128 MiB).
const BUDGET: usize = 1 << 24;
/// A column holds no more and, budget or not, no fewer values than this.
const LONGEST: usize = 1 << 16;
const SHORTEST: usize = 64;
/// So many samples are taken as rows before they are put into the columns, which are many
/// and far apart. `SHORTEST` and, as it is clamped, every capacity is a multiple of it.
const BLOCK: usize = 32;

/// The series of a run in the making.
pub struct Recorder {
    period: Duration,
    time: Vec<f64>,
    columns: Vec<Series>,
    /// Samples that are not in the columns yet, one after the other.
    rows: Vec<f64>,
    capacity: usize,
}

impl Recorder {
    /// Columns for every flow and every link that is not an attachment.
    pub fn new(scenario: &Scenario) -> Recorder {
        let mut columns = Vec::new();
        let mut add = |entity, of_links| {
            for &metric in Metric::ALL.iter().filter(|m| m.of_links() == of_links) {
                columns.push(Series {
                    metric,
                    entity,
                    values: Vec::new(),
                });
            }
        };
        for flow in 0..scenario.flows.len() {
            add(Entity::Flow(flow), false);
        }
        for (link, l) in scenario.links.iter().enumerate() {
            if !l.attachment {
                add(Entity::Link(link), true);
            }
        }
        let capacity = (BUDGET / columns.len().max(1)).clamp(SHORTEST, LONGEST);
        Recorder {
            period: scenario.sample,
            time: Vec::new(),
            columns,
            rows: Vec::new(),
            capacity: capacity - capacity % BLOCK,
        }
    }

    /// The current sampling period.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Adds a sample: `fill` appends a value for each column, in their order.
    pub fn sample(&mut self, now: Time, fill: impl FnOnce(&mut Vec<f64>)) {
        self.time.push(now.as_secs_f64());
        fill(&mut self.rows);
        if self.time.len().is_multiple_of(BLOCK) {
            self.flush();
        }
        if self.time.len() == self.capacity {
            self.merge_pairs();
        }
    }

    /// Puts the rows into the columns.
    fn flush(&mut self) {
        let width = self.columns.len();
        for (i, column) in self.columns.iter_mut().enumerate() {
            let values = self.rows.iter().skip(i).step_by(width);
            column.values.extend(values);
        }
        self.rows.clear();
    }

    fn merge_pairs(&mut self) {
        self.period = self.period + self.period;
        self.time = self.time.chunks_exact(2).map(|pair| pair[1]).collect();
        for column in &mut self.columns {
            let fold = column.metric.fold();
            let merge = |pair: &[f64]| match (pair[0].is_nan(), pair[1].is_nan()) {
                (true, _) => pair[1],
                (_, true) => pair[0],
                _ if fold == Fold::Sum => pair[0] + pair[1],
                _ => (pair[0] + pair[1]) / 2.0,
            };
            column.values = column.values.chunks_exact(2).map(merge).collect();
        }
    }

    /// The series, and the times that they share.
    pub fn finish(mut self) -> (Vec<f64>, Vec<Series>) {
        self.flush();
        (self.time, self.columns)
    }
}
