//! Expectations over a sweep of two variables, as heat maps: plain HTML, readable without scripts.

use crate::axis::Grid;
use crate::check::Check;
use crate::class::Class;
use crate::json::Point;
use crate::markup::escape;
use crate::show;
use std::fmt::Write;

/// The most maps. More would not be read.
const MOST: usize = 4;

/// The difference that takes the whole shade, at least, relative to the largest value.
const LEAST_RANGE: f64 = 0.1;

/// Returns how strongly a value is shaded, from 0 to 1, among values from the least to the most.
/// Differences of less than a few percent are pale, however little the others differ.
pub fn shade(value: f64, (least, most): (f64, f64)) -> f64 {
    let range = (most - least).max(LEAST_RANGE * most.abs());
    if range > 0.0 && value.is_finite() { (value - least) / range } else { 0.0 }
}

/// Returns a map for each expectation that all points share, or nothing unless two variables make a
/// full grid.
pub fn maps(points: &[Point]) -> String {
    let settings: Vec<_> = points.iter().map(|p| &p.scenario.point[..]).collect();
    let Some(grid) = Grid::of(&settings) else {
        return String::new();
    };
    let shared = |check: &&Check| points.iter().all(|p| find(p, check).is_some());
    let checks = points[0].checks.iter().filter(shared).take(MOST);
    let mut maps = String::new();
    for check in checks {
        map(&mut maps, &grid, points, check);
    }
    if maps.is_empty() {
        maps
    } else {
        format!(
            "<section id=\"maps\" aria-label=\"Maps\">\n<h2>Over the grid</h2>\n{maps}</section>"
        )
    }
}

/// Returns the same expectation at another point.
fn find<'a>(point: &Point<'a>, check: &Check) -> Option<&'a Check> {
    let same = |c: &&Check| c.name == check.name && c.engine == check.engine;
    point.checks.iter().find(same)
}

fn map(out: &mut String, grid: &Grid, points: &[Point], check: &Check) {
    let cells: Vec<Option<&Check>> = grid.points.iter().map(|&i| find(&points[i], check)).collect();
    let value = |c: &Option<&Check>| c.and_then(Check::measured).map(|v| v.mean);
    let known = || cells.iter().filter_map(value).filter(|v| v.is_finite());
    let least = known().fold(f64::INFINITY, f64::min);
    let most = known().fold(f64::NEG_INFINITY, f64::max);
    let [down, across] = grid.names.map(|name| escape(name, 60));
    _ = write!(
        out,
        "<h3>{}, {}</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th>{down} \\ {across}</th>",
        escape(&check.name, 120),
        check.engine
    );
    for value in &grid.values[1] {
        _ = write!(out, "<th class=\"n\">{}</th>", escape(value, 40));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (row, label) in cells.chunks(grid.values[1].len()).zip(&grid.values[0]) {
        _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(label, 40));
        for cell in row {
            cell_html(out, *cell, value(cell), (least, most));
        }
        out.push_str("</tr>\n");
    }
    let text = |v| show::quantity(v, check.unit);
    let range = if least <= most {
        format!(
            "<p class=\"signs\">From {} (pale) to {} (strong), and hardly shaded where they differ \
             little; with a word: not met.</p>\n",
            text(least),
            text(most)
        )
    } else {
        String::new()
    };
    _ = write!(out, "</tbody></table></div>\n{range}");
}

fn cell_html(out: &mut String, check: Option<&Check>, value: Option<f64>, range: (f64, f64)) {
    let Some((check, value)) = check.zip(value.filter(|v| v.is_finite())) else {
        _ = write!(out, "<td class=\"n\">{}</td>", show::NONE);
        return;
    };
    let part = shade(value, range);
    let mark = match check.class {
        Class::Met => String::new(),
        class => format!(" {}", class.word()),
    };
    _ = write!(
        out,
        "<td class=\"n heat\" style=\"--part:{part:.2}\">{}{mark}</td>",
        show::quantity(value, check.unit)
    );
}
