//! The engines' means side by side, as in the terminal's comparison, without scripts.

use crate::compare::{Column, Outline, Row, columns, rows, with_values};
use crate::json::Point;
use crate::markup::{self, escape};
use crate::show;
use crate::table::{DIFFERS, agreement, cells, windows};
use std::fmt::Write;

/// The number of rows of a point that are visible before the reader asks for more.
const MOST_OPEN: usize = 14;
/// The number of rows of a point beyond which the page refers to `summary.json`.
const MOST_ROWS: usize = 200;
/// The number of points of a sweep whose headings are visible before the reader asks for more.
const MOST_HEADINGS: usize = 6;
/// The number of points of a sweep with a table. The values are also in the sweep's plots.
const MOST_POINTS: usize = 24;

/// Returns the means over the steady part for each point, or nothing without runs.
pub fn means(points: &[Point]) -> String {
    let sweep = points.len() > 1;
    let mut tables = String::new();
    let many = points.len() > MOST_HEADINGS + 1;
    for (i, point) in points.iter().take(MOST_POINTS).enumerate() {
        if many && i == MOST_HEADINGS {
            let more = points.len().min(MOST_POINTS) - MOST_HEADINGS;
            let more = show::count(more, "more point");
            _ = writeln!(tables, "<details><summary>{more}</summary>");
        }
        let outline = Outline::of(point.scenario);
        let runs = point.runs();
        let columns = with_values(&columns(&outline, &runs));
        let rows = rows(&columns);
        if columns.is_empty() || rows.is_empty() {
            continue;
        }
        let differ = rows.iter().filter(|r| agreement(r) == DIFFERS).count();
        if sweep {
            let open = if i == 0 { " open" } else { "" };
            let differ = match (columns.len(), differ) {
                (1, _) => String::new(),
                (_, 0) => ": engines agree".into(),
                (_, n) => format!(": {n} of {} differ", show::count(rows.len(), "row")),
            };
            _ = writeln!(
                tables,
                "<details{open}><summary>{}{differ}</summary>",
                escape(&point.label(), 200)
            );
        }
        of_point(&mut tables, &columns, &rows);
        if sweep {
            tables.push_str("</details>\n");
        }
    }
    if tables.is_empty() {
        return tables;
    }
    if many {
        tables.push_str("</details>\n");
    }
    if points.len() > MOST_POINTS {
        let n = points.len();
        _ = writeln!(
            tables,
            "<p class=\"signs\">The first {MOST_POINTS} of {n} points; all are in <code>summary.json</code>.</p>"
        );
    }
    format!("<section id=\"means\" aria-label=\"Means\">\n<h2>Means</h2>\n{tables}</section>")
}

pub(super) fn of_point(out: &mut String, columns: &[Column], rows: &[Row]) {
    let verdicts = rows.iter().any(|row| !agreement(row).is_empty());
    _ = write!(out, "<p class=\"signs\">Over {}", escape(&windows(columns, rows), 400));
    let runs = columns.iter().map(|c| c.runs.len()).max().unwrap_or(0);
    if runs > 1 {
        _ = write!(out, "; ± is the 95 % confidence interval over {runs} runs");
    }
    if verdicts {
        let first = escape(&columns[0].label, 24);
        _ = write!(out, "; ≈ within 5 % of {first}; error: relative to {first}");
    }
    out.push_str("</p>\n");
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let (first, rest) =
        shown.split_at(if shown.len() <= MOST_OPEN + 4 { shown.len() } else { MOST_OPEN });
    table(out, columns, first, verdicts);
    if !rest.is_empty() {
        let n = show::count(rest.len(), "more row");
        _ = writeln!(out, "<details><summary>{n}</summary>");
        table(out, columns, rest, verdicts);
        out.push_str("</details>\n");
    }
    if rows.len() > MOST_ROWS {
        let n = rows.len();
        _ = writeln!(
            out,
            "<p class=\"signs\">The first {MOST_ROWS} of {n} rows; all are in <code>summary.json</code>.</p>"
        );
    }
}

/// Adds a table, with errors and verdicts if any row has one.
fn table(out: &mut String, columns: &[Column], rows: &[Row], errors: bool) {
    let mut headings = vec![("flow or link".to_string(), false), ("metric".into(), false)];
    headings.extend(columns.iter().map(|column| (escape(&column.label, 24), true)));
    if errors {
        headings.extend([("error".into(), true), ("verdict".into(), false)]);
    }
    let mut html = String::new();
    for row in cells(columns, rows, errors) {
        let (name, metric) = (escape(&row[0], 60), &row[1]);
        _ = write!(html, "<tr><th scope=\"row\">{name}</th><td>{metric}</td>");
        let verdict = errors.then(|| &row[row.len() - 1]);
        for text in &row[2..row.len() - usize::from(errors)] {
            _ = write!(html, "<td class=\"n\">{text}</td>");
        }
        if let Some(verdict) = verdict {
            let class = if verdict == DIFFERS { " class=\"differs\"" } else { "" };
            _ = write!(html, "<td{class}>{verdict}</td>");
        }
        html.push_str("</tr>\n");
    }
    *out += &markup::table(headings, &html);
}
