//! Completion times of transfers, by group and size.

use crate::compare::Outline;
use crate::show;
use accord_record::{Run, Transfer};
use accord_scenario::{Metric, MetricUnit, Window};
use serde::Serialize;

/// The upper bounds of the classes of sizes, in bytes, with their names.
const CLASSES: [(f64, &str); 4] =
    [(10e3, "< 10 KB"), (100e3, "10–100 KB"), (1e6, "100 KB–1 MB"), (f64::INFINITY, "≥ 1 MB")];

/// The transfers of a group that ended in the steady window, of all sizes or of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferRow {
    /// The group.
    pub of: String,
    /// The engine.
    pub engine: &'static str,
    /// The class of sizes, or "all".
    pub sizes: &'static str,
    /// The number of transfers. It is 0 for a group in which none ended, if some are unfinished; the other
    /// figures are NaN then.
    pub count: usize,
    /// The mean size in bytes.
    pub mean_size_bytes: f64,
    /// The mean completion time in seconds.
    pub mean_s: f64,
    /// The median completion time in seconds.
    pub median_s: f64,
    /// The 95th percentile of completion times in seconds.
    pub p95_s: f64,
    /// The 99th percentile of completion times in seconds.
    pub p99_s: f64,
    /// The number of transfers that had begun before the end of the window and were incomplete at the end of
    /// the run. Only the row of all sizes has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<usize>,
}

/// Returns a row per group and class of sizes that has transfers. A group has one also if none of its
/// transfers ended. Repetitions count together.
pub(crate) fn transfer_rows(outline: &Outline, runs: &[&Run]) -> Vec<TransferRow> {
    let window = outline.steady();
    let mut rows = Vec::new();
    for (engine, runs) in crate::compare::by_engine(runs) {
        for (g, group) in outline.groups.iter().enumerate() {
            let all = runs.iter().flat_map(|run| &run.transfers);
            let own: Vec<&Transfer> = all.filter(|t| t.group == g).collect();
            let row = |sizes, least: f64, below: f64| {
                let size = |t: &&&Transfer| (least..below).contains(&t.size.as_f64());
                let some: Vec<&Transfer> = own.iter().filter(size).copied().collect();
                row((&group.name, engine.name(), sizes), &some, window)
            };
            let begun = |t: &&&Transfer| t.start < window.end.as_secs_f64();
            let open = own.iter().filter(begun).filter(|t| t.duration.is_nan()).count();
            let whole = row("all", 0.0, f64::INFINITY);
            let none = || none((&group.name, engine.name(), "all"));
            let whole = whole.or_else(|| (open > 0).then(none));
            rows.extend(whole.map(|row| TransferRow { unfinished: Some(open), ..row }));
            let mut least = 0.0;
            let classes: Vec<_> = (CLASSES.into_iter())
                .filter_map(|(below, name)| row(name, std::mem::replace(&mut least, below), below))
                .collect();
            // A single class needs no separate row.
            rows.extend(classes.into_iter().filter(|_| own.len() > 1));
        }
    }
    rows
}

fn row(
    (of, engine, sizes): (&str, &'static str, &'static str),
    transfers: &[&Transfer],
    window: Window,
) -> Option<TransferRow> {
    let done: Vec<&&Transfer> = transfers.iter().filter(|t| t.ended_in(window)).collect();
    let mut times: Vec<f64> = done.iter().map(|t| t.duration).collect();
    times.sort_unstable_by(f64::total_cmp);
    let n = times.len();
    if n == 0 {
        return None;
    }
    let quantile = |q| crate::measure::quantile(&times, q);
    Some(TransferRow {
        count: n,
        mean_size_bytes: done.iter().map(|t| t.size.as_f64()).sum::<f64>() / n as f64,
        mean_s: times.iter().sum::<f64>() / n as f64,
        median_s: quantile(0.5),
        p95_s: quantile(0.95),
        p99_s: quantile(0.99),
        ..none((of, engine, sizes))
    })
}

/// Returns the row of a group in which no transfer ended.
fn none((of, engine, sizes): (&str, &'static str, &'static str)) -> TransferRow {
    TransferRow {
        of: of.into(),
        engine,
        sizes,
        count: 0,
        mean_size_bytes: f64::NAN,
        mean_s: f64::NAN,
        median_s: f64::NAN,
        p95_s: f64::NAN,
        p99_s: f64::NAN,
        unfinished: None,
    }
}

/// The headings of [`cells`].
pub(crate) const HEADINGS: [&str; 8] =
    ["transfers of", "size", "number", "mean size", "mean", "median", "p95", "p99"];

impl TransferRow {
    /// Returns the row as text. The group's name is shown only in the first of its rows.
    pub(crate) fn cells(&self, engines: bool) -> [String; 8] {
        let figure = |value: f64, unit| match value.is_nan() {
            true => show::NONE.into(),
            false => show::quantity(value, unit),
        };
        let time = |t| figure(t, MetricUnit::Seconds);
        let of = match (self.unfinished, engines) {
            (None, _) => String::new(),
            (_, false) => show::clean(&self.of, 26),
            (_, true) => format!("{} ({})", show::clean(&self.of, 26), self.engine),
        };
        let count = match self.unfinished {
            None | Some(0) => self.count.to_string(),
            Some(open) => format!("{}, {open} not done", self.count),
        };
        [
            of,
            self.sizes.into(),
            count,
            figure(self.mean_size_bytes, Metric::TransferSize.unit()),
            time(self.mean_s),
            time(self.median_s),
            time(self.p95_s),
            time(self.p99_s),
        ]
    }
}
