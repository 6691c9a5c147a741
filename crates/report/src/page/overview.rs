//! A sweep at a glance, first on its page: a row per point, shaded by value.

use crate::estimate::Estimate;
use crate::json::Point;
use crate::markup::{escape, style_of, table};
use crate::overview::{Key, Overview, Shown};
use crate::show;
use crate::verdict::Tally;
use std::fmt::Write;

/// The maximum number of points in the table. All are in `summary.csv`.
const MOST_POINTS: usize = 200;

/// Returns the section, or nothing for a single point.
pub fn overview(points: &[Point]) -> String {
    if points.len() < 2 {
        return String::new();
    }
    let overview = Overview::of(points, &[]);
    let window = overview.windows();
    let mut out = format!(
        "<section id=\"overview\" aria-label=\"Overview\">\n<h2>All points</h2>\n<p \
         class=\"signs\">Means over {window}. Cells are shaded from lowest to highest; \
         columns that hardly vary stay pale. All values are in <code>summary.csv</code> and <code>summary.parquet</code>.</p>\n"
    );
    let variables = overview.variables();
    let mut headings: Vec<(String, bool)> =
        variables.iter().map(|variable| (escape(variable, 60), false)).collect();
    for Shown { key, engines } in &overview.shown {
        for engine in engines {
            let label = key.label();
            let (quantity, of) = label.split_once(" of ").unwrap_or((&label, ""));
            let (quantity, of) = (escape(quantity, 40), escape(of, 60));
            headings.push((format!("{quantity}<br>{of}<br>{engine}"), true));
        }
    }
    let judged = points.iter().any(|p| !p.checks.is_empty());
    headings.extend(judged.then(|| ("met".into(), false)));
    let mut rows = String::new();
    let ranges = (overview.shown.iter()).map(|shown| range(&overview, shown, points.len()));
    let ranges: Vec<(f64, f64)> = ranges.collect();
    for (i, point) in points.iter().enumerate().take(MOST_POINTS) {
        rows.push_str("<tr>");
        for (v, variable) in variables.iter().enumerate() {
            let value = escape(overview.setting(i, variable), 60);
            _ = match v {
                0 => write!(
                    rows,
                    "<th scope=\"row\"><button type=\"button\" data-point=\"{i}\">{value}</button></th>"
                ),
                _ => write!(rows, "<td>{value}</td>"),
            };
        }
        for (Shown { key, engines }, range) in overview.shown.iter().zip(&ranges) {
            // Shades show the measured engine, not its reference.
            for engine in engines {
                let range = (Some(engine) == engines.last()).then_some(*range);
                cell(&mut rows, overview.value(i, key, engine), key, range);
            }
        }
        if judged {
            let tally = Tally::of(point.checks.iter().map(|c| c.class));
            let class = style_of(tally.worst());
            let met = overview.met(i);
            _ = write!(rows, "<td class=\"{class}\">{met}</td>");
        }
        rows.push_str("</tr>\n");
    }
    out += &table(headings, &rows);
    if points.len() > MOST_POINTS {
        let n = points.len();
        _ = writeln!(out, "<p class=\"signs\">The first {MOST_POINTS} of {n} points.</p>");
    }
    out + "</section>"
}

/// Returns the least and the largest measured value of a quantity.
fn range(overview: &Overview, Shown { key, engines }: &Shown, points: usize) -> (f64, f64) {
    let measured = engines.last().into_iter();
    let all = measured.flat_map(|e| (0..points).filter_map(move |i| overview.value(i, key, e)));
    all.map(|v| v.mean)
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// The smallest difference, relative to the largest value, that uses the full range of shades.
const LEAST_RANGE: f64 = 0.1;

/// Returns the strength of a value's shade, from 0 to 1, among values from the least to the most.
/// Differences of less than a few per cent are always pale.
fn shade(value: f64, (least, most): (f64, f64)) -> f64 {
    let range = (most - least).max(LEAST_RANGE * most.abs());
    if range > 0.0 && value.is_finite() { (value - least) / range } else { 0.0 }
}

fn cell(out: &mut String, value: Option<Estimate>, key: &Key, range: Option<(f64, f64)>) {
    let Some(value) = value else {
        _ = write!(out, "<td class=\"n\">{}</td>", show::NONE);
        return;
    };
    let text = show::estimate(value, key.unit);
    _ = match range {
        Some(range) => {
            let part = shade(value.mean, range);
            write!(out, "<td class=\"n heat\" style=\"--part:{part:.2}\">{text}</td>")
        }
        None => write!(out, "<td class=\"n\">{text}</td>"),
    };
}
