//! The means of all points of a sweep as one table, with a row per point, quantity and engine.

use crate::axis;
use crate::compare::Row;
use crate::estimate::Estimate;
use crate::json::Point;
use crate::overview::Compared;
use crate::show;
use accord_columns::{Cells, Kind, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the table. A variable of the sweep has a column with its values as in the scenario, and
/// one with numbers if all of them are quantities of one kind.
pub(super) fn summary(points: &[Point]) -> Table<'static> {
    let compared = Compared::of_all(points);
    // The point, the row, the engine and the mean.
    let mut rows: Vec<(usize, &Row, &String, Estimate)> = Vec::new();
    for (i, compared) in compared.iter().enumerate() {
        for row in &compared.rows {
            let values = compared.engines.iter().zip(&row.values);
            rows.extend(values.filter_map(|(engine, value)| Some((i, row, engine, (*value)?))));
        }
    }
    let text = |of: &dyn Fn(usize) -> String| Cells::text((0..rows.len()).map(of));
    let number = |of: &dyn Fn(usize) -> f64| Cells::Number((0..rows.len()).map(of).collect());
    let mut table = Table::default();
    table.add(
        "point",
        "number of the point, from 1: its directory has the same",
        Kind::Count,
        Cells::counts(rows.iter().map(|r| r.0 as i32 + 1)),
    );
    let names = points.iter().flat_map(|p| &p.scenario.point).map(|(name, _)| name.as_str());
    let names = show::once(names);
    // The name of a column is that of a variable, with a prefix if it is taken.
    let mut taken: BTreeSet<String> = OWN.iter().map(ToString::to_string).collect();
    let free = |taken: &mut BTreeSet<String>, mut name: String| {
        while !taken.insert(name.clone()) {
            name.insert_str(0, "sweep_");
        }
        name
    };
    let (own, others): (Vec<&str>, _) = names.iter().partition(|name| OWN.contains(name));
    let column = |name: &str| (name.to_string(), free(&mut taken, name.to_string()));
    let columns: BTreeMap<_, _> = [others, own].concat().into_iter().map(column).collect();
    for name in names {
        let setting = |p: &Point| {
            let found = p.scenario.point.iter().find(|(n, _)| n == name);
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        let values: Vec<String> = points.iter().map(setting).collect();
        let column = &columns[name];
        let doc = format!("value of the sweep {name}, as the scenario names it");
        table.add(column, &doc, Kind::Text, text(&|r| values[rows[r].0].clone()));
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        if let Some((numbers, unit)) = axis::plain_numbers(&texts) {
            let doc = format!("the same as a number, in {unit}");
            let cells = number(&|r| numbers[rows[r].0]);
            let column = free(&mut taken, format!("{column}_number"));
            table.add(&column, &doc, Kind::Optional, cells);
        }
    }
    let about = "group, link or aggregate";
    table.add("entity_kind", about, Kind::Text, text(&|r| rows[r].1.of.kind().into()));
    let about = "name in the scenario; of an aggregate LINK.AGGREGATE";
    table.add("entity", about, Kind::Text, text(&|r| rows[r].1.of.name().into()));
    let about = "the quantity; throughput_spread is the standard deviation over the mean of a group's flows, estimator_bias the estimated over the true accumulation, less one";
    table.add("metric", about, Kind::Text, text(&|r| rows[r].1.quantity.into()));
    let about = "unit of mean and half_width: bit/s, B, s, pkt (packets), 1 (ratio)";
    table.add("unit", about, Kind::Text, text(&|r| rows[r].1.unit.symbol().into()));
    let about = "the engine that ran";
    table.add("engine", about, Kind::Text, text(&|r| rows[r].2.clone()));
    let about = "mean over the steady part, of a group over its flows, and over repetitions";
    table.add("mean", about, Kind::Optional, number(&|r| rows[r].3.mean));
    let about = "half-width of the 95 % confidence interval of the mean; missing for a single run";
    let half_width = number(&|r| rows[r].3.half_width.unwrap_or(f64::NAN));
    table.add("half_width", about, Kind::Optional, half_width);
    let runs = Cells::counts(rows.iter().map(|r| r.3.runs as i32));
    table.add("runs", "number of repetitions", Kind::Count, runs);
    table
}

/// The columns that every table has.
const OWN: [&str; 9] =
    ["point", "entity_kind", "entity", "metric", "unit", "engine", "mean", "half_width", "runs"];
