//! A sweep at a glance: a row per point with the key values and the verdict.

use crate::axis::{Grid, place_among};
use crate::check::Check;
use crate::class::Class;
use crate::compare::by_engine;
use crate::compare::{Outline, Row, SPREAD, Subject, all_rows, columns, expected_of};
use crate::estimate::Estimate;
use crate::json::Point;
use crate::show;
use crate::style::Style;
use crate::table::{
    ALL_SAME, align_right, all_same, fill, finish, meanings, new_table, paint, verdict,
};
use crate::verdict::Tally;
use accord_scenario::{Across, Engine, Metric, MetricUnit, Scenario};
use rayon::prelude::*;
use std::mem::take;

/// The maximum number of quantities in the overview. The page and `summary.csv` have all of them.
const MOST: usize = 4;
/// The least number of quantities for a sweep.
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
    pub fn of(row: &Row) -> Key {
        Key { of: row.of.clone(), quantity: row.quantity, unit: row.unit }
    }

    /// Returns the name: "throughput of long".
    pub fn label(&self) -> String {
        self.of.label(self.quantity, 60)
    }
}

/// Returns the indices of the quantities shown first: those with expectations at the points, then
/// utilisation and throughput, and without expectations also the spread of throughputs and the
/// losses of groups. The spread of mean throughputs represents fairness, because the mean of the
/// fairness index over short samples reflects single packets.
pub(crate) fn first<'a>(
    points: impl Iterator<Item = &'a Scenario>,
    keys: &[(&Subject, &str)],
) -> Vec<usize> {
    let scenarios: Vec<&Scenario> = points.collect();
    let mut first: Vec<usize> = Vec::new();
    for scenario in &scenarios {
        for expectation in &scenario.expectations {
            let of = expected_of(scenario, expectation);
            let wanted = match (expectation.metric, expectation.across) {
                (Metric::Throughput, Across::Variation) => SPREAD,
                (metric, _) => metric.name(),
            };
            let known = |(own, quantity): &(&Subject, &str)| {
                Some(*own) == of.as_ref() && *quantity == wanted
            };
            first.extend(keys.iter().position(known).filter(|i| !first.contains(i)));
        }
    }
    // Disciplines are compared by their delay, regardless of the expectations.
    let delay = if disciplines(&scenarios) {
        keys.iter().position(|(_, quantity)| *quantity == Metric::QueuingDelay.name())
    } else {
        None
    };
    if let Some(delay) = delay.filter(|i| !first.iter().take(MOST).any(|known| known == i)) {
        first.truncate(MOST - 1);
        first.push(delay);
    }
    let most = if first.is_empty() { MOST } else { LEAST };
    first.truncate(MOST);
    for name in ["utilisation", "throughput", SPREAD, "losses"] {
        let is = |i: &usize| keys[*i].1 == name && !first.contains(i);
        let more: Vec<usize> = (0..keys.len()).filter(is).collect();
        // No single quantity of several flows or links takes all the room.
        let room = most.saturating_sub(first.len());
        let room = match name {
            "utilisation" | "throughput" => room.min(LEAST),
            // The losses of one of two flows say nothing about the other.
            "losses" if room > 0 => LEAST,
            _ => room.min(1),
        };
        first.extend(more.into_iter().take(room));
    }
    first
}

/// Returns whether a link has different queue disciplines at different points.
fn disciplines(scenarios: &[&Scenario]) -> bool {
    let names = |s: &Scenario| -> Vec<&str> {
        let links = s.links.iter();
        links.map(|l| l.queue.discipline.family().name).collect()
    };
    scenarios.windows(2).any(|pair| names(pair[0]) != names(pair[1]))
}

/// A quantity that is shown.
pub(crate) struct Shown {
    pub key: Key,
    /// The engines that have it at any point: the reference for the others, and the measured one.
    pub engines: Vec<String>,
}

/// The key values of all points.
pub(crate) struct Overview<'a> {
    points: &'a [Point<'a>],
    compared: Vec<Compared>,
    pub shown: Vec<Shown>,
}

impl<'a> Overview<'a> {
    pub fn of(points: &'a [Point<'a>], show: &[Metric]) -> Overview<'a> {
        let compared = Compared::of_all(points);
        let mut all: Vec<Key> = Vec::new();
        for row in compared.iter().flat_map(|c| &c.rows) {
            if row.is_known() && row.says_something() {
                place_among(&mut all, Key::of(row));
            }
        }
        let names: Vec<(&Subject, &str)> = all.iter().map(|k| (&k.of, k.quantity)).collect();
        let first = if show.is_empty() {
            first(points.iter().map(|p| p.scenario), &names)
        } else {
            (show.iter())
                .flat_map(|m| (0..all.len()).filter(|i| all[*i].quantity == m.name()))
                .collect()
        };
        let known = |engine: &&str| {
            compared.iter().any(|c| {
                let i = c.engines.iter().position(|e| e == engine);
                i.is_some_and(|i| c.rows.iter().any(|r| r.values[i].is_some()))
            })
        };
        // The order does not depend on the first point, because theory may have an equilibrium only at
        // others.
        let engines = Engine::ALL.map(Engine::name).into_iter().filter(known);
        let engines: Vec<String> = engines.map(String::from).collect();
        let measured = if engines.iter().any(|e| e == "packet") {
            Some("packet".to_string())
        } else {
            engines.last().cloned()
        };
        let reference = engines.first().cloned();
        let mut engines: Vec<String> = reference.into_iter().chain(measured).collect();
        engines.dedup();
        let shown = |i: usize| {
            let key = all[i].clone();
            let has = |engine: &&String| compared.iter().any(|c| c.value(&key, engine).is_some());
            let engines = engines.iter().filter(has).cloned().collect();
            Shown { key, engines }
        };
        Overview { points, shown: first.into_iter().map(shown).collect(), compared }
    }

    /// Returns the parts of the runs covered by the means: "10–20 s".
    pub fn windows(&self) -> String {
        let windows = self.points.iter().map(|p| show::window(p.scenario.steady));
        let windows: Vec<String> = windows.collect();
        show::once(windows.iter().map(String::as_str)).join(", ")
    }

    pub fn value(&self, point: usize, key: &Key, engine: &str) -> Option<Estimate> {
        self.compared[point].value(key, engine)
    }

    /// Returns the names of the variables.
    pub fn variables(&self) -> Vec<&str> {
        let first = self.points.iter().map(|p| &p.scenario.point).max_by_key(|p| p.len());
        first.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the value of a variable at a point, or "".
    pub fn setting(&self, point: usize, variable: &str) -> &str {
        let mut settings = self.points[point].scenario.point.iter();
        let found = settings.find(|(name, _)| name == variable);
        found.map_or("", |(_, value)| value)
    }

    /// Returns the number of checks met at a point and the worst verdict on the others: "35/36 finding". It
    /// is "" without expectations.
    pub fn met(&self, point: usize) -> String {
        let tally = Tally::of(self.points[point].checks.iter().map(|c| c.class));
        let met = tally.count(Class::Met);
        match (tally.total(), tally.worst()) {
            (0, _) => String::new(),
            (n, Class::Met) => format!("{met}/{n}"),
            (n, worst) => format!("{met}/{n} {}", worst.word()),
        }
    }

    /// Returns the table of points, or maps if two variables make a grid.
    fn tables(&self, style: Style) -> String {
        let settings: Vec<_> = self.points.iter().map(|p| &p.scenario.point[..]).collect();
        match Grid::of(&settings) {
            Some(grid) if !self.shown.is_empty() => self.maps(&grid, style),
            _ => self.list(style),
        }
    }

    fn list(&self, style: Style) -> String {
        // As many quantities as fit are side by side. The others are below.
        let (mut text, mut rest) = (String::new(), &self.shown[..]);
        loop {
            let mut some = rest.len();
            let mut table = self.list_of(rest, true, style);
            while some > 1 && !self.fits(&table, style) {
                some -= 1;
                table = self.list_of(&rest[..some], false, style);
            }
            text += &table;
            rest = &rest[some..];
            if rest.is_empty() {
                return text;
            }
        }
    }

    /// Returns whether a table fits the width of the style, with a line per point.
    fn fits(&self, table: &str, style: Style) -> bool {
        let widest = table.lines().map(|l| l.chars().count()).max().unwrap_or(0);
        widest <= usize::from(style.width) && !wraps(table, self.points.len())
    }

    /// Returns the table of some quantities, and of the verdicts if it is the `last`.
    fn list_of(&self, shown: &[Shown], last: bool, style: Style) -> String {
        let variables = self.variables();
        let mut header: Vec<String> = variables.iter().map(|v| show::clean(v, 24)).collect();
        // The common part of neighbours is above the first of them.
        let mut before: Option<&Key> = None;
        for Shown { key, engines } in shown {
            let mut of = show::name(key.of.name(), 16);
            let mut quantity = if before.replace(key).is_some_and(|l| l.quantity == key.quantity) {
                String::new()
            } else {
                key.quantity.replace('_', " ")
            };
            for engine in engines {
                let (quantity, of) = (take(&mut quantity), take(&mut of));
                header.push(format!("{quantity}\n{of}\n{engine}"));
            }
        }
        let judged = last && self.points.iter().any(|p| !p.checks.is_empty());
        if judged {
            header.push("met".into());
        }
        let mut lines = vec![header];
        // The engines of a quantity share its unit.
        let mut columns: Vec<Vec<String>> = Vec::new();
        for Shown { key, engines } in shown {
            let points = 0..self.points.len();
            let values = engines.iter().flat_map(|e| points.clone().map(|i| self.value(i, key, e)));
            let texts = show::column(&values.collect::<Vec<_>>(), key.unit);
            columns.extend(texts.chunks(self.points.len()).map(<[String]>::to_vec));
        }
        for i in 0..self.points.len() {
            let settings = variables.iter().map(|v| show::clean(self.setting(i, v), 24));
            let mut cells: Vec<String> = settings.collect();
            cells.extend(columns.iter().map(|column| column[i].clone()));
            if judged {
                cells.push(self.met(i));
            }
            lines.push(cells);
        }
        let numbers = shown.iter().map(|shown| shown.engines.len());
        let numbers = variables.len()..variables.len() + numbers.sum::<usize>();
        let mut table = new_table(style);
        fill(&mut table, lines);
        align_right(&mut table, numbers);
        finish(table) + "\n"
    }

    /// Returns a table per quantity and engine.
    fn maps(&self, grid: &Grid, style: Style) -> String {
        let shown = self.shown.iter();
        let maps = shown.flat_map(|s| s.engines.iter().map(|engine| (&s.key, engine)));
        maps.map(|(key, engine)| self.map(grid, key, engine, style)).collect()
    }

    fn map(&self, grid: &Grid, key: &Key, engine: &str, style: Style) -> String {
        let mut lines = vec![vec![format!("{} \\ {}", grid.names[0], grid.names[1])]];
        lines[0].extend(grid.values[1].iter().map(|v| show::clean(v, 24)));
        let values = (0..self.points.len()).map(|p| self.value(p, key, engine));
        let texts = show::column(&values.collect::<Vec<_>>(), key.unit);
        let rows = grid.points.chunks(grid.values[1].len());
        for (row, label) in rows.zip(&grid.values[0]) {
            let label = std::iter::once(show::clean(label, 24));
            lines.push(label.chain(row.iter().map(|p| texts[*p].clone())).collect());
        }
        let mut table = new_table(style);
        let columns = lines[0].len();
        fill(&mut table, lines);
        align_right(&mut table, 1..columns);
        format!("{}, {engine}\n{}\n", key.label(), finish(table))
    }
}

/// Returns whether rows take more than a line each.
fn wraps(table: &str, rows: usize) -> bool {
    // Three lines of the header, and three rules.
    table.lines().count() > rows + 6
}

/// Returns a sweep at a glance: the key values of each point, a line per point with an unmet
/// expectation, and the overall verdict.
///
/// `show` contains the quantities to show in place of the key ones.
pub fn overview(points: &[Point], show: &[Metric], style: Style) -> String {
    let overview = Overview::of(points, show);
    let windows = overview.windows();
    let n = show::count(points.len(), "point");
    let runs: Vec<_> = points.iter().flat_map(|p| by_engine(&p.runs())).collect();
    let repetitions = runs.iter().map(|(_, runs)| runs.len()).max().unwrap_or(0);
    let interval = match repetitions {
        0 | 1 => String::new(),
        n => format!("; ± is the 95 % confidence interval over {n} runs"),
    };
    let tables = overview.tables(style);
    let mut text = format!("{n}; means over {windows}{interval}\n{tables}");
    for metric in show {
        if overview.shown.iter().all(|s| s.key.quantity != metric.name()) {
            let name = metric.name().replace('_', " ");
            text += &format!("No point has a value of {name}.\n");
        }
    }
    if repetitions > 1 && runs.iter().all(|(_, runs)| all_same(runs)) {
        text += ALL_SAME;
    }
    let all: Vec<Check> = points.iter().flat_map(|p| p.checks).cloned().collect();
    if all.is_empty() {
        text += "No expectations to check. Add `[[expect]]` for a verdict.\n";
        return paint(text, style);
    }
    text += &meanings(&all);
    for point in points {
        let checks = point.checks.iter();
        let failed: Vec<&Check> = checks.filter(|c| c.class != Class::Met).collect();
        let Some(first) = failed.iter().rev().max_by_key(|c| c.class) else {
            continue;
        };
        let more = match failed.len() - 1 {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        text += &format!(
            "{}: {}: {} ({}): {}{more}\n",
            first.class.word(),
            show::clean(&point.label(), 120),
            show::clean(&first.name, 60),
            first.engine,
            first.reason
        );
    }
    let verdict = verdict(points.iter().flat_map(|p| p.checks), style);
    format!("{}{verdict}\n", paint(text, style))
}
