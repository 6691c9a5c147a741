//! The expectations, as tables that are there without scripts: what is not met comes first.

use crate::check::{Check, by_expectation, engines, figure, worst};
use crate::class::Class;
use crate::json::Point;
use crate::markup::{escape, style_of};
use crate::show;
use crate::table::error;
use crate::verdict::Tally;
use accord_scenario::Engine;
use std::fmt::Write;

/// Expectations that are not met and that show before the reader asks for more.
const MOST_UNMET: usize = 8;
/// Up to so many expectations in all, those that are met show, too.
const MOST_OPEN: usize = 12;

/// An expectation at a point.
struct Judged<'a> {
    checks: &'a [Check],
    point: usize,
    label: Option<String>,
}

/// The expectations of all points. Buttons are wired up by the script.
pub fn checks(points: &[Point]) -> String {
    let sweep = points.len() > 1;
    let all = points.iter().enumerate().flat_map(|(point, p)| {
        by_expectation(p.checks).map(move |checks| Judged {
            checks,
            point,
            label: sweep.then(|| p.label()),
        })
    });
    let (met, mut unmet): (Vec<_>, Vec<_>) =
        all.partition(|judged| worst(judged.checks).class == Class::Met);
    if met.is_empty() && unmet.is_empty() {
        return String::new();
    }
    // The worst come first; those alike stay in the file's order.
    unmet.sort_by_key(|judged| std::cmp::Reverse(worst(judged.checks).class));
    let judged = || points.iter().flat_map(|p| p.checks);
    let columns = Columns {
        sweep,
        papers: judged().any(|c| !c.paper.is_empty()),
        engines: engines(judged()),
    };
    let mut out = String::from(
        "<section id=\"checks\" aria-label=\"Expectations\">\n<h2>Expectations</h2>\n",
    );
    let more = match unmet.len() > MOST_UNMET {
        true => unmet.split_off(MOST_UNMET),
        false => vec![],
    };
    let open = unmet.len() + more.len() + met.len() <= MOST_OPEN;
    if !unmet.is_empty() {
        let tally = Tally::of(judged().map(|c| c.class));
        let there = Class::ALL
            .into_iter()
            .skip(1)
            .filter(|c| tally.count(*c) > 0);
        let meanings = there.map(|c| format!("{}: {}", c.word(), c.meaning()));
        let meanings: Vec<String> = meanings.collect();
        _ = writeln!(out, "<p class=\"signs\">{}</p>", meanings.join("; "));
        columns.table(&mut out, &unmet);
    }
    if !more.is_empty() {
        let summary = format!("{} more that are not met", more.len());
        columns.folded(&mut out, &summary, false, &more);
    }
    match (met.is_empty(), unmet.is_empty() && open) {
        (true, _) => {}
        (false, true) => columns.table(&mut out, &met),
        (false, false) => {
            let verb = if met.len() == 1 { "is" } else { "are" };
            let summary = format!("{} that {verb} met", met.len());
            columns.folded(&mut out, &summary, open, &met);
        }
    }
    out + "</section>"
}

/// The columns that the tables have.
struct Columns {
    sweep: bool,
    papers: bool,
    engines: Vec<Engine>,
}

impl Columns {
    fn folded(&self, out: &mut String, summary: &str, open: bool, rows: &[Judged]) {
        let open = if open { " open" } else { "" };
        _ = writeln!(out, "<details{open}><summary>{summary}</summary>");
        self.table(out, rows);
        out.push_str("</details>\n");
    }

    fn table(&self, out: &mut String, rows: &[Judged]) {
        out.push_str(
            "<div class=\"scroll\"><table>\n<thead><tr><th>verdict</th><th>expectation</th>",
        );
        if self.sweep {
            out.push_str("<th>point</th>");
        }
        out.push_str("<th>of</th><th>during</th>");
        if self.papers {
            out.push_str("<th>paper</th>");
        }
        for engine in &self.engines {
            _ = write!(out, "<th class=\"n\">{engine}</th>");
        }
        out.push_str("<th class=\"n\">error</th><th>allowed</th></tr></thead>\n<tbody>\n");
        let mut told: Vec<&str> = Vec::new();
        for judged in rows {
            self.row(out, judged, &mut told);
        }
        out.push_str("</tbody></table></div>\n");
    }

    /// A row, and one below it with the reasons why it is not met.
    fn row<'a>(&self, out: &mut String, judged: &Judged<'a>, told: &mut Vec<&'a str>) {
        let (checks, point) = (judged.checks, judged.point);
        let check = worst(checks);
        let (class, word) = (style_of(check.class), check.class.word());
        let value = |v: Option<_>| v.map_or(show::NONE.into(), |v| show::estimate(v, check.unit));
        _ = write!(
            out,
            "<tr class=\"{class}\"><td class=\"mark\">{word}</td><th scope=\"row\">{}",
            escape(&check.name, 200)
        );
        out.push_str("</th>");
        if let Some(label) = &judged.label {
            let label = escape(label, 100);
            _ = write!(
                out,
                "<td><button type=\"button\" data-point=\"{point}\">{label}</button></td>"
            );
        }
        _ = write!(
            out,
            "<td>{}</td><td><button type=\"button\" data-point=\"{point}\" data-window=\"{},{}\">{}</button></td>",
            escape(&check.of, 80),
            check.during.start.as_secs_f64(),
            check.during.end.as_secs_f64(),
            show::window(check.during)
        );
        if self.papers {
            _ = write!(out, "<td>{}</td>", escape(&check.paper, 100));
        }
        for engine in &self.engines {
            let value = value(figure(checks, *engine));
            _ = write!(out, "<td class=\"n\">{value}</td>");
        }
        _ = writeln!(
            out,
            "<td class=\"n\">{}</td><td>{}</td></tr>",
            error(check),
            show::allowed(check.target, check.unit)
        );
        if checks.iter().any(|c| c.class != Class::Met) {
            let across =
                6 + usize::from(self.sweep) + usize::from(self.papers) + self.engines.len() - 1;
            _ = write!(
                out,
                "<tr class=\"why {class}\"><td></td><td colspan=\"{across}\">"
            );
            reasons(out, checks, told);
            out.push_str("</td></tr>\n");
        }
    }
}

/// Why an expectation is not met, by engine. A cause that several rows share is told with the
/// first of them.
fn reasons<'a>(out: &mut String, checks: &'a [Check], told: &mut Vec<&'a str>) {
    for failed in checks.iter().filter(|c| c.class != Class::Met) {
        let (engine, reason) = (failed.engine, escape(&failed.reason, 300));
        _ = write!(out, "<p class=\"reason\">{engine}: {reason}</p>");
        let Some(known) = &failed.known else { continue };
        let because = match told.iter().position(|t| *t == known.because) {
            Some(i) => format!("cause {} above", i + 1),
            None => {
                told.push(&known.because);
                format!("cause {}: {}", told.len(), escape(&known.because, 1000))
            }
        };
        _ = write!(out, "<p class=\"because\">{because}</p>");
    }
}
