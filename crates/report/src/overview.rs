//! A sweep at a glance: a row per point with the key figures and the verdict.

use crate::axis::Grid;
use crate::check::{Check, by_expectation, worst};
use crate::class::Class;
use crate::compare::{Outline, Row, Subject, all_rows, columns, expected_of};
use crate::engines::by_engine;
use crate::estimate::Estimate;
use crate::json::Point;
use crate::show;
use crate::style::Style;
use crate::table::{
    ALL_SAME, align_right, all_same, fill, finish, new_table, paint, signs, verdict,
};
use crate::verdict::Tally;
use accord_scenario::{MetricUnit, Scenario};
use rayon::prelude::*;
use std::mem::take;

/// The most quantities in the overview; the page and `summary.csv` have all.
const MOST: usize = 4;
/// The number of them that a sweep has, at least.
const LEAST: usize = 2;

/// The comparison at one point.
pub(crate) struct Compared {
    /// The engines, in the order of the values of rows.
    pub engines: Vec<String>,
    pub rows: Vec<Row>,
}

impl Compared {
    /// Returns the comparisons at `points`.
    pub fn of_all(points: &[Point]) -> Vec<Compared> {
        points.par_iter().map(Compared::of).collect()
    }

    fn of(point: &Point) -> Compared {
        let outline = Outline::of(point.scenario);
        let runs = point.runs();
        let columns = columns(&outline, &runs);
        Compared {
            rows: all_rows(point.scenario, &columns),
            engines: columns.into_iter().map(|c| c.label).collect(),
        }
    }

    fn value(&self, key: &Key, engine: &str) -> Option<Estimate> {
        let is = |r: &&Row| r.of == key.of && r.quantity == key.quantity;
        let row = self.rows.iter().find(is)?;
        let column = self.engines.iter().position(|e| e == engine)?;
        row.values[column]
    }
}

/// A quantity of a group or link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub of: Subject,
    pub quantity: &'static str,
    pub unit: MetricUnit,
}

impl Key {
    /// Returns the name: "throughput of long".
    pub fn label(&self) -> String {
        let (Subject::Group(name) | Subject::Link(name) | Subject::Aggregate(name)) = &self.of;
        let quantity = self.quantity.replace('_', " ");
        format!("{quantity} of {}", show::clean(name, 60))
    }
}

/// Returns the indices of the quantities that show first: those that the points expect something of,
/// then utilisation and throughput, and where nothing is expected fairness and losses, too.
pub(crate) fn first<'a>(
    points: impl Iterator<Item = &'a Scenario>,
    keys: &[(&Subject, &str)],
) -> Vec<usize> {
    let mut first: Vec<usize> = Vec::new();
    for scenario in points {
        for expectation in &scenario.expectations {
            let of = expected_of(scenario, expectation);
            let metric = expectation.metric.name();
            let known = |(own, quantity): &(&Subject, &str)| {
                Some(*own) == of.as_ref() && *quantity == metric
            };
            first.extend(keys.iter().position(known).filter(|i| !first.contains(i)));
        }
    }
    let most = match first.is_empty() {
        true => MOST,
        false => LEAST,
    };
    first.truncate(MOST);
    for name in ["utilisation", "throughput", "fairness_index", "losses"] {
        let is = |i: &usize| keys[*i].1 == name && !first.contains(i);
        let more: Vec<usize> = (0..keys.len()).filter(is).collect();
        // Of several flows or links no quantity takes all the room.
        let room = most.saturating_sub(first.len());
        let room = match name {
            "utilisation" | "throughput" => room.min(LEAST),
            _ => room.min(1),
        };
        first.extend(more.into_iter().take(room));
    }
    first
}

/// The key figures of all points.
pub(crate) struct Overview<'a> {
    points: &'a [Point<'a>],
    compared: Vec<Compared>,
    pub keys: Vec<Key>,
    /// The engines that show: what the others are held against, and the one that is measured.
    pub engines: Vec<String>,
}

impl<'a> Overview<'a> {
    pub fn of(points: &'a [Point<'a>]) -> Overview<'a> {
        let compared = Compared::of_all(points);
        let mut all: Vec<Key> = Vec::new();
        for row in compared.iter().flat_map(|c| &c.rows) {
            let key = Key {
                of: row.of.clone(),
                quantity: row.quantity,
                unit: row.unit,
            };
            let known = row.values.iter().any(Option::is_some);
            if known && row.says_something() && !all.contains(&key) {
                all.push(key);
            }
        }
        let names: Vec<(&Subject, &str)> = all.iter().map(|k| (&k.of, k.quantity)).collect();
        let first = first(points.iter().map(|p| p.scenario), &names);
        let keys = first.into_iter().map(|i| all[i].clone()).collect();
        let mut engines: Vec<String> = Vec::new();
        for c in &compared {
            for (i, engine) in c.engines.iter().enumerate() {
                let known = c.rows.iter().any(|r| r.values[i].is_some());
                if known && !engines.contains(engine) {
                    engines.push(engine.clone());
                }
            }
        }
        let measured = match engines.iter().any(|e| e == "packet") {
            true => Some("packet".to_string()),
            false => engines.last().cloned(),
        };
        let reference = engines.first().cloned();
        let mut shown: Vec<String> = reference.into_iter().chain(measured).collect();
        shown.dedup();
        Overview {
            points,
            compared,
            keys,
            engines: shown,
        }
    }

    pub fn value(&self, point: usize, key: &Key, engine: &str) -> Option<Estimate> {
        self.compared[point].value(key, engine)
    }

    /// Returns the names of the variables.
    pub fn variables(&self) -> Vec<&str> {
        let first = self
            .points
            .iter()
            .map(|p| &p.scenario.point)
            .max_by_key(|p| p.len());
        first
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Returns the value of a variable at a point, or "".
    pub fn setting(&self, point: usize, variable: &str) -> &str {
        let mut settings = self.points[point].scenario.point.iter();
        let found = settings.find(|(name, _)| name == variable);
        found.map_or("", |(_, value)| value)
    }

    /// Returns the verdict of a point: "✓ 5/5", or "" without expectations.
    pub fn met(&self, point: usize, style: Style) -> String {
        let checks = self.points[point].checks;
        let tally = Tally::of(by_expectation(checks).map(|e| worst(e).class));
        match tally.total() {
            0 => String::new(),
            n => format!(
                "{} {}/{n}",
                style.mark(tally.worst()),
                tally.count(Class::Met)
            ),
        }
    }

    /// Returns the table of points, or maps if two variables make a grid.
    fn tables(&self, style: Style) -> String {
        let settings: Vec<_> = self.points.iter().map(|p| &p.scenario.point[..]).collect();
        match Grid::of(&settings) {
            Some(grid) if !self.keys.is_empty() => self.maps(&grid, style),
            _ => self.list(style),
        }
    }

    fn list(&self, style: Style) -> String {
        // As many quantities as there is room for.
        for most in (1..=self.keys.len()).rev() {
            let text = self.list_of(&self.keys[..most], style);
            let widest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
            if most == 1 || (widest <= usize::from(style.width) && !wraps(&text, self.points.len()))
            {
                return text;
            }
        }
        self.list_of(&[], style)
    }

    fn list_of(&self, keys: &[Key], style: Style) -> String {
        let variables = self.variables();
        let mut header: Vec<String> = variables.iter().map(|v| show::clean(v, 24)).collect();
        // What neighbours share stands over the first of them.
        let mut last: Option<&Key> = None;
        for key in keys {
            let (Subject::Group(of) | Subject::Link(of) | Subject::Aggregate(of)) = &key.of;
            let mut of = show::clean(of, 16);
            let mut quantity = match last
                .replace(key)
                .is_some_and(|l| l.quantity == key.quantity)
            {
                true => String::new(),
                false => key.quantity.replace('_', " "),
            };
            for engine in &self.engines {
                let (quantity, of) = (take(&mut quantity), take(&mut of));
                header.push(format!("{quantity}\n{of}\n{engine}"));
            }
        }
        let judged = self.points.iter().any(|p| !p.checks.is_empty());
        if judged {
            header.push("met".into());
        }
        let mut lines = vec![header];
        for i in 0..self.points.len() {
            let settings = variables
                .iter()
                .map(|v| show::clean(self.setting(i, v), 24));
            let mut cells: Vec<String> = settings.collect();
            for key in keys {
                let values = self.engines.iter().map(|e| self.value(i, key, e));
                let text = |v: Option<Estimate>| {
                    v.map_or(show::NONE.into(), |v| show::estimate(v, key.unit))
                };
                cells.extend(values.map(text));
            }
            if judged {
                cells.push(self.met(i, style));
            }
            lines.push(cells);
        }
        let numbers = variables.len()..variables.len() + keys.len() * self.engines.len();
        let mut table = new_table(style);
        fill(&mut table, lines);
        align_right(&mut table, numbers);
        finish(table) + "\n"
    }

    fn maps(&self, grid: &Grid, style: Style) -> String {
        let engine = self.engines.last().map_or("", String::as_str);
        let mut out = String::new();
        for key in &self.keys {
            let mut lines = vec![vec![format!("{} \\ {}", grid.names[0], grid.names[1])]];
            lines[0].extend(grid.values[1].iter().map(|v| show::clean(v, 24)));
            for (row, label) in grid
                .points
                .chunks(grid.values[1].len())
                .zip(&grid.values[0])
            {
                let value = |p: &usize| self.value(*p, key, engine);
                let text = |p| value(p).map_or(show::NONE.into(), |v| show::estimate(v, key.unit));
                lines.push(
                    std::iter::once(show::clean(label, 24))
                        .chain(row.iter().map(text))
                        .collect(),
                );
            }
            let mut table = new_table(style);
            let columns = lines[0].len();
            fill(&mut table, lines);
            align_right(&mut table, 1..columns);
            out += &format!("{}, {engine}\n{}\n", key.label(), finish(table));
        }
        out
    }
}

/// Returns whether rows take more than a line each.
fn wraps(table: &str, rows: usize) -> bool {
    // Three lines of the header, and three rules.
    table.lines().count() > rows + 6
}

/// Returns a sweep at a glance: the key figures of each point, a line for each point at which an
/// expectation is not met, and the verdict over all.
pub fn overview(points: &[Point], style: Style) -> String {
    let overview = Overview::of(points);
    let windows = points.iter().map(|p| show::window(p.scenario.steady));
    let windows: Vec<String> = windows.collect();
    let windows = show::once(windows.iter().map(String::as_str)).join(", ");
    let n = show::count(points.len(), "point");
    let runs: Vec<_> = points.iter().flat_map(|p| by_engine(&p.runs())).collect();
    let repetitions = runs.iter().map(|(_, runs)| runs.len()).max().unwrap_or(0);
    let interval = match repetitions {
        0 | 1 => String::new(),
        n => format!("; ± is the 95 % confidence interval over {n} runs"),
    };
    let tables = overview.tables(style);
    let mut text = format!("{n}; means over {windows}{interval}\n{tables}");
    if repetitions > 1 && runs.iter().all(|(_, runs)| all_same(runs)) {
        text += ALL_SAME;
    }
    let all: Vec<Check> = points.iter().flat_map(|p| p.checks).cloned().collect();
    if all.is_empty() {
        text += "The scenario expects nothing of these engines.\n";
        return paint(text, style);
    }
    text += &signs(&all, style);
    for point in points {
        let checks = || by_expectation(point.checks).map(worst);
        let failed: Vec<&Check> = checks().filter(|c| c.class != Class::Met).collect();
        let Some(first) = failed.iter().rev().max_by_key(|c| c.class) else {
            continue;
        };
        let more = match failed.len() - 1 {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        text += &format!(
            "{} {}: {} ({}): {}{more}\n",
            style.mark(first.class),
            show::clean(&point.label(), 120),
            show::clean(&first.name, 60),
            first.engine,
            first.reason
        );
    }
    text += &verdict(points.iter().flat_map(|p| by_expectation(p.checks)), style);
    text.push('\n');
    paint(text, style)
}
