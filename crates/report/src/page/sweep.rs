//! Plots across the points of a sweep.

use crate::axis::Axis;
use crate::compare::{Row, says_something};
use crate::json::Point;
use crate::overview::{self, Compared, Key};
use crate::show;
use crate::trace::thin::{Line, Number};
use serde::Serialize;

/// The values over the steady window against the swept variable.
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
    /// The indices of the quantities shown first.
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

impl Sweep {
    /// Returns the sweep over `points`, or `None` for fewer than two.
    pub fn of(points: &[Point]) -> Option<Sweep> {
        if points.len() < 2 {
            return None;
        }
        let settings: Vec<_> = points.iter().map(|p| &p.scenario.point[..]).collect();
        let axis = Axis::of(&settings);
        let mut table = Vec::new();
        for (i, compared) in Compared::of_all(points).into_iter().enumerate() {
            let others = axis.others(settings[i]);
            for row in compared.rows {
                for (engine, estimate) in compared.engines.iter().zip(&row.values) {
                    let Some(estimate) = estimate else { continue };
                    let of = show::clean(&others, 80);
                    let line = line_of(&mut table, &row, of, engine.clone(), axis.x.len());
                    line.means[axis.at[i]] = estimate.mean;
                    line.halves[axis.at[i]] = estimate.half_width.unwrap_or(f64::NAN);
                }
            }
        }
        table.retain(|g: &Gathered| {
            let values = g.lines.iter().flat_map(|l| &l.means);
            says_something(g.key.quantity, values.copied())
        });
        let keys: Vec<_> = table.iter().map(|g| (&g.key.of, g.key.quantity)).collect();
        let first = overview::first(points.iter().map(|p| p.scenario), &keys);
        Some(Sweep {
            name: axis.name,
            unit: axis.unit,
            x: axis.x.into_iter().map(Number::rounded).collect(),
            ticks: axis.ticks,
            quantities: table.into_iter().map(Gathered::scaled).collect(),
            first,
        })
    }
}

/// The values of a quantity at all points.
struct Gathered {
    key: Key,
    lines: Vec<Figures>,
}

struct Figures {
    of: String,
    engine: String,
    means: Vec<f64>,
    halves: Vec<f64>,
}

/// Returns the line of a row for an engine and the values of the other variables. A missing line is created.
fn line_of<'a>(
    table: &'a mut Vec<Gathered>,
    row: &Row,
    of: String,
    engine: String,
    n: usize,
) -> &'a mut Figures {
    let key = Key::of(row);
    let i = table.iter().position(|g| g.key == key).unwrap_or_else(|| {
        table.push(Gathered { key, lines: vec![] });
        table.len() - 1
    });
    let lines = &mut table[i].lines;
    let i = lines.iter().position(|l| l.of == of && l.engine == engine).unwrap_or_else(|| {
        lines.push(Figures { of, engine, means: vec![f64::NAN; n], halves: vec![f64::NAN; n] });
        lines.len() - 1
    });
    &mut lines[i]
}

impl Gathered {
    fn scaled(self) -> Quantity {
        let values = self.lines.iter().flat_map(|l| &l.means);
        let largest = values.filter(|v| v.is_finite()).map(|v| v.abs());
        let (one, unit) = show::scale(largest.fold(0.0, f64::max), self.key.unit);
        let scale = |values: Vec<f64>| Line(values.into_iter().map(|v| v / one).collect());
        Quantity {
            label: self.key.label(),
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
