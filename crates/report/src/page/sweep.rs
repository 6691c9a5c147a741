//! Plots across the points of a sweep.

use super::thin::{Line, Number};
use crate::compare::{Outline, Row, Subject, columns, rows};
use crate::json::Point;
use crate::show;
use accord_scenario::{MetricUnit, Scenario};
use accord_units::{Duration, Rate, Size};
use serde::Serialize;

/// The number of quantities that are shown before the reader chooses.
const MOST_FIRST: usize = 4;
const LEAST_FIRST: usize = 2;

/// The figures of the steady window against the swept variable.
#[derive(Serialize)]
pub struct Sweep {
    /// The swept variable.
    name: String,
    /// The unit of the variable, or "".
    unit: &'static str,
    /// The values of the variable, or the positions 0, 1, ... if they are not numbers.
    x: Vec<Number>,
    /// The labels at the positions, for values that are not numbers.
    ticks: Option<Vec<String>>,
    quantities: Vec<Quantity>,
    /// The indices of the quantities that are shown first.
    first: Vec<usize>,
}

#[derive(Serialize)]
struct Quantity {
    label: String,
    unit: &'static str,
    lines: Vec<SweepLine>,
}

#[derive(Serialize)]
struct SweepLine {
    /// The values of the other variables, or "".
    of: String,
    engine: String,
    v: Line,
    /// The half-widths of the confidence intervals.
    h: Line,
}

/// Returns the text of a variable's value in a legend. A word needs no name, and a quantity does.
fn told(name: &str, value: &str) -> String {
    match value.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{name} {value}"),
        false => value.into(),
    }
}

/// The horizontal axis: the variable, and the place of each point on it.
struct Axis {
    variable: Option<usize>,
    name: String,
    unit: &'static str,
    x: Vec<f64>,
    ticks: Option<Vec<String>>,
    /// The index in `x` of each point.
    at: Vec<usize>,
}

impl Sweep {
    /// Returns the sweep over `points`, or `None` for fewer than two.
    pub fn of(points: &[Point]) -> Option<Sweep> {
        if points.len() < 2 {
            return None;
        }
        let axis = Axis::of(points);
        let mut table = Table::default();
        for (i, point) in points.iter().enumerate() {
            let others = point.scenario.point.iter().enumerate();
            let others = others.filter(|(v, _)| Some(*v) != axis.variable);
            let others: Vec<String> = others.map(|(_, (name, value))| told(name, value)).collect();
            let outline = Outline::of(point.scenario);
            let runs = point.runs();
            let columns = columns(&outline, &runs);
            for row in rows(&columns) {
                for (column, estimate) in columns.iter().zip(&row.values) {
                    let Some(estimate) = estimate else { continue };
                    let of = show::clean(&others.join(", "), 80);
                    let line = table.line(&row, of, column.label.clone(), axis.x.len());
                    line.means[axis.at[i]] = estimate.mean;
                    line.halves[axis.at[i]] = estimate.half_width.unwrap_or(f64::NAN);
                }
            }
        }
        let first = table.first(points[0].scenario);
        Some(Sweep {
            name: axis.name,
            unit: axis.unit,
            x: axis.x.into_iter().map(Number::rounded).collect(),
            ticks: axis.ticks,
            quantities: table.0.into_iter().map(Gathered::scaled).collect(),
            first,
        })
    }
}

impl Axis {
    /// Returns the axis of the variable with the most distinct values, with numbers preferred to
    /// words. If the points have no variables in common, it is the number of the point.
    fn of(points: &[Point]) -> Axis {
        let names: Vec<&String> = points[0]
            .scenario
            .point
            .iter()
            .map(|(name, _)| name)
            .collect();
        let common = points.iter().all(|p| {
            let own = p.scenario.point.iter().map(|(name, _)| name);
            own.eq(names.iter().copied())
        });
        let mut best: Option<(bool, usize, Axis)> = None;
        for (v, name) in names.iter().enumerate().filter(|_| common) {
            let texts: Vec<&str> = points
                .iter()
                .map(|p| p.scenario.point[v].1.as_str())
                .collect();
            let axis = Axis::along(v, show::clean(name, 60), &texts);
            let rank = (axis.ticks.is_none(), axis.x.len());
            if best.as_ref().is_none_or(|(n, x, _)| rank > (*n, *x)) {
                best = Some((rank.0, rank.1, axis));
            }
        }
        best.map_or_else(|| Axis::numbered(points.len()), |(_, _, axis)| axis)
    }

    fn numbered(n: usize) -> Axis {
        Axis {
            variable: None,
            name: "point".into(),
            unit: "",
            x: (1..=n).map(|i| i as f64).collect(),
            ticks: None,
            at: (0..n).collect(),
        }
    }

    fn along(variable: usize, name: String, texts: &[&str]) -> Axis {
        if let Some((values, unit)) = numbers(texts) {
            let mut x = values.clone();
            x.sort_by(f64::total_cmp);
            x.dedup();
            let at = |v: &f64| x.iter().position(|x| x == v).expect("one of them");
            return Axis {
                variable: Some(variable),
                name,
                unit,
                at: values.iter().map(at).collect(),
                x,
                ticks: None,
            };
        }
        let mut distinct: Vec<&str> = Vec::new();
        let mut at = Vec::new();
        for text in texts {
            at.push(distinct.iter().position(|d| d == text).unwrap_or_else(|| {
                distinct.push(text);
                distinct.len() - 1
            }));
        }
        Axis {
            variable: Some(variable),
            name,
            unit: "",
            x: (0..distinct.len()).map(|i| i as f64).collect(),
            ticks: Some(distinct.iter().map(|t| show::clean(t, 24)).collect()),
            at,
        }
    }
}

/// Returns the texts as numbers in one unit for people, if all are quantities of one kind.
fn numbers(texts: &[&str]) -> Option<(Vec<f64>, &'static str)> {
    fn all(texts: &[&str], read: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        texts.iter().map(|t| read(t)).collect()
    }
    let scaled = |values: Vec<f64>, unit| {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let (one, symbol) = show::scale(largest, unit);
        (values.into_iter().map(|v| v / one).collect(), symbol)
    };
    let plain = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite());
    if let Some(values) = all(texts, plain) {
        return Some((values, ""));
    }
    if let Some(values) = all(texts, |t| Some(t.parse::<Rate>().ok()?.as_bps_f64())) {
        return Some(scaled(values, MetricUnit::BitPerSecond));
    }
    if let Some(values) = all(texts, |t| Some(t.parse::<Duration>().ok()?.as_secs_f64())) {
        return Some(scaled(values, MetricUnit::Seconds));
    }
    let size = |packets: bool| {
        move |t: &str| match t.parse().ok()? {
            Size::Packets(n) if packets => Some(n),
            Size::Bytes(b) if !packets => Some(b.as_f64()),
            _ => None,
        }
    };
    if let Some(values) = all(texts, size(true)) {
        return Some(scaled(values, MetricUnit::Packets));
    }
    all(texts, size(false)).map(|values| scaled(values, MetricUnit::Bytes))
}

/// The figures of all points, by quantity.
#[derive(Default)]
struct Table(Vec<Gathered>);

struct Gathered {
    of: Subject,
    quantity: &'static str,
    unit: MetricUnit,
    lines: Vec<Figures>,
}

struct Figures {
    of: String,
    engine: String,
    means: Vec<f64>,
    halves: Vec<f64>,
}

impl Table {
    /// Returns the line of a row for an engine and the values of the other variables. It is made if
    /// it is new.
    fn line(&mut self, row: &Row, of: String, engine: String, n: usize) -> &mut Figures {
        let known = |g: &Gathered| g.of == row.of && g.quantity == row.quantity;
        let i = self.0.iter().position(known).unwrap_or_else(|| {
            self.0.push(Gathered {
                of: row.of.clone(),
                quantity: row.quantity,
                unit: row.unit,
                lines: vec![],
            });
            self.0.len() - 1
        });
        let lines = &mut self.0[i].lines;
        let known = |l: &Figures| l.of == of && l.engine == engine;
        let i = lines.iter().position(known).unwrap_or_else(|| {
            lines.push(Figures {
                of,
                engine,
                means: vec![f64::NAN; n],
                halves: vec![f64::NAN; n],
            });
            lines.len() - 1
        });
        &mut lines[i]
    }

    /// Returns the quantities of the scenario's expectations, or utilisation and throughput if it
    /// has none.
    fn first(&self, scenario: &Scenario) -> Vec<usize> {
        let mut first: Vec<usize> = Vec::new();
        for expectation in &scenario.expectations {
            use accord_scenario::Subject as Of;
            let group = |g: usize| Some(Subject::Group(scenario.groups.get(g)?.name.clone()));
            let of = match expectation.of {
                Of::Flow(f) => scenario.flows.get(f).and_then(|f| group(f.group)),
                Of::Group(g) => group(g),
                Of::Link(l) => scenario.links.get(l).map(|l| Subject::Link(l.name.clone())),
                Of::Aggregate { link, aggregate } => {
                    let (link, aggregates) = (scenario.links.get(link), &scenario.aggregates);
                    let name = link.zip(aggregates.get(aggregate));
                    name.map(|(l, a)| Subject::Aggregate(format!("{}.{a}", l.name)))
                }
            };
            let metric = expectation.metric.name();
            let known = |g: &Gathered| Some(&g.of) == of.as_ref() && g.quantity == metric;
            first.extend(self.0.iter().position(known).filter(|i| !first.contains(i)));
        }
        first.truncate(MOST_FIRST);
        for key in ["utilisation", "throughput"] {
            let keys = |i: &usize| self.0[*i].quantity == key && !first.contains(i);
            let more: Vec<usize> = (0..self.0.len()).filter(keys).collect();
            first.extend(
                more.into_iter()
                    .take(LEAST_FIRST.saturating_sub(first.len())),
            );
        }
        first
    }
}

impl Gathered {
    fn scaled(self) -> Quantity {
        let (Subject::Group(name) | Subject::Link(name) | Subject::Aggregate(name)) = &self.of;
        let quantity = self.quantity.replace('_', " ");
        let values = self.lines.iter().flat_map(|l| &l.means);
        let largest = values.filter(|v| v.is_finite()).map(|v| v.abs());
        let (one, unit) = show::scale(largest.fold(0.0, f64::max), self.unit);
        let scale = |values: Vec<f64>| Line(values.into_iter().map(|v| v / one).collect());
        Quantity {
            label: format!("{quantity} of {}", show::clean(name, 60)),
            unit,
            lines: self
                .lines
                .into_iter()
                .map(|line| SweepLine {
                    of: line.of,
                    engine: line.engine,
                    v: scale(line.means),
                    h: scale(line.halves),
                })
                .collect(),
        }
    }
}
