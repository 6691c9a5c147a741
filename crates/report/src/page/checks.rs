//! The expectations, as tables that work without scripts. Unmet ones come first, folded by cause.

use crate::check::{Check, by_expectation, engines, figure, worst};
use crate::class::Class;
use crate::json::Point;
use crate::markup::{escape, style_of, table};
use crate::show;
use crate::table::error;
use accord_scenario::Engine;
use std::fmt::Write;

/// The number of expectations up to which all are visible.
const MOST_OPEN: usize = 12;

/// An expectation at a point.
struct Judged<'a> {
    checks: &'a [Check],
    point: usize,
    label: Option<String>,
}

impl Judged<'_> {
    fn class(&self) -> Class {
        worst(self.checks).class
    }

    /// The cause of the failure as the file records it, or "".
    fn because(&self) -> &str {
        let known = worst(self.checks).fails.as_ref();
        known.map_or("", |known| &known.because)
    }

    /// The number of unmet checks.
    fn failed(&self) -> usize {
        let failed = self.checks.iter().filter(|c| c.class != Class::Met);
        failed.count()
    }
}

/// Returns the expectations of all points. The script wires up the buttons.
pub fn checks(points: &[Point]) -> String {
    let sweep = points.len() > 1;
    let all = points.iter().enumerate().flat_map(|(point, p)| {
        by_expectation(p.checks).map(move |checks| Judged {
            checks,
            point,
            label: sweep.then(|| p.label()),
        })
    });
    let (met, mut unmet): (Vec<_>, Vec<_>) = all.partition(|judged| judged.class() == Class::Met);
    if met.is_empty() && unmet.is_empty() {
        return String::new();
    }
    let judged = || points.iter().flat_map(|p| p.checks);
    let has = |engine: &Engine| judged().any(|c| c.value(*engine).is_some());
    let columns = Columns {
        sweep,
        papers: judged().any(|c| !c.paper.is_empty()),
        engines: engines(judged()).into_iter().filter(has).collect(),
    };
    let mut out = String::from(
        "<section id=\"checks\" aria-label=\"Expectations\">\n<h2>Expectations</h2>\n",
    );
    let open = unmet.len() + met.len() <= MOST_OPEN;
    // The worst come first. Checks of equal class keep the file's order.
    unmet.sort_by_key(|judged| std::cmp::Reverse(judged.class()));
    let mut causes: Vec<Vec<Judged>> = Vec::new();
    for judged in unmet {
        let same = |cause: &&mut Vec<Judged>| {
            cause[0].class() == judged.class() && cause[0].because() == judged.because()
        };
        match causes.iter_mut().find(same) {
            Some(cause) => cause.push(judged),
            None => causes.push(vec![judged]),
        }
    }
    for cause in &causes {
        let (class, because) = (cause[0].class(), cause[0].because());
        let count = class.counted(cause.iter().map(Judged::failed).sum());
        let because = match because {
            "" => String::new(),
            because => format!(": {}", escape(because, 1000)),
        };
        let summary = format!(
            "<span class=\"{}\"><b class=\"mark\">{count}</b></span>{because}",
            style_of(class)
        );
        columns.folded(&mut out, &summary, open || class == Class::Failed, cause);
    }
    if !met.is_empty() {
        let summary = Class::Met.counted(met.iter().map(|judged| judged.checks.len()).sum());
        columns.folded(&mut out, &summary, open, &met);
    }
    out + "</section>"
}

/// The columns of the tables.
struct Columns {
    sweep: bool,
    papers: bool,
    engines: Vec<Engine>,
}

impl Columns {
    fn folded(&self, out: &mut String, summary: &str, open: bool, judged: &[Judged]) {
        let open = if open { " open" } else { "" };
        let mut headings = vec![("verdict", false), ("expectation", false)];
        headings.extend(self.sweep.then_some(("point", false)));
        headings.extend([("of", false), ("during", false)]);
        headings.extend(self.papers.then_some(("paper", false)));
        headings.extend(self.engines.iter().map(|engine| (engine.name(), true)));
        headings.extend([("error", true), ("allowed", false)]);
        let mut rows = String::new();
        judged.iter().for_each(|judged| self.row(&mut rows, judged));
        let table = table(headings, &rows);
        _ = writeln!(out, "<details{open}><summary>{summary}</summary>\n{table}</details>");
    }

    /// Writes a row, and below it one with the values out of bounds.
    fn row(&self, out: &mut String, judged: &Judged) {
        let (checks, point) = (judged.checks, judged.point);
        let check = worst(checks);
        let (class, word) = (style_of(check.class), check.class.word());
        _ = write!(
            out,
            "<tr class=\"{class}\"><td class=\"mark\">{word}</td><th scope=\"row\">{}</th>",
            escape(&check.name, 200)
        );
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
            let value = figure(checks, *engine);
            let value = value.map_or(show::NONE.into(), |v| show::estimate(v, check.unit));
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
            _ = write!(out, "<tr class=\"why {class}\"><td></td><td colspan=\"{across}\">");
            for failed in checks.iter().filter(|c| c.class != Class::Met) {
                let (engine, reason) = (failed.engine, escape(&failed.reason, 300));
                _ = write!(out, "<p class=\"reason\">{engine}: {reason}</p>");
            }
            out.push_str("</td></tr>\n");
        }
    }
}
