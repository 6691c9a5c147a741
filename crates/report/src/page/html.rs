//! The parts of the page that are readable without scripts.

use crate::check::{Check, by_expectation, engines, figure, worst};
use crate::class::Class;
use crate::compare::Outline;
use crate::json::Point;
use crate::show;
use crate::style::Style;
use crate::table::{error, verdict};
use crate::transfers::{HEADINGS, transfer_rows};
use crate::verdict::Tally;
use accord_record::Run;
use accord_scenario::{Engine, Window};
use std::fmt::Write;

/// Returns text from a file as HTML text or attribute value, with at most `limit` characters.
pub fn escape(text: &str, limit: usize) -> String {
    html_escape::encode_quoted_attribute(&show::clean(text, limit)).into_owned()
}

/// Returns the title, the source and the verdict.
pub fn header(points: &[Point]) -> String {
    let Some(first) = points.first() else {
        return "<header><h1>No runs</h1></header>".into();
    };
    let scenario = first.scenario;
    let checks = Tally::of(points.iter().flat_map(|p| p.checks).map(|c| c.class));
    let mut out = format!("<header>\n<h1>{}</h1>\n<p>", escape(&scenario.title, 200));
    _ = write!(out, "<code>{}</code>", escape(&scenario.id, 100));
    if !scenario.source.is_empty() {
        _ = write!(out, " · {}", escape(&scenario.source, 300));
    }
    _ = match points.len() {
        1 if scenario.point.is_empty() => Ok(()),
        1 => write!(out, " · {}", escape(&first.label(), 200)),
        n => write!(out, " · {n} points"),
    };
    out.push_str("</p>\n");
    if checks.total() > 0 {
        let class = style_of(checks.worst());
        let expectations = points.iter().flat_map(|p| by_expectation(p.checks));
        let verdict = verdict(expectations, Style::default());
        _ = writeln!(out, "<p class=\"verdict {class}\">{verdict}</p>");
    }
    out + "</header>"
}

/// Returns the style of a verdict.
const fn style_of(class: Class) -> &'static str {
    match class {
        Class::Met => "pass",
        Class::Finding | Class::Open => "known",
        Class::Ours | Class::Unknown => "fail",
    }
}

/// Returns the table of checks, of all points. The script makes its buttons work.
pub fn checks(points: &[Point]) -> String {
    if points.iter().all(|p| p.checks.is_empty()) {
        return String::new();
    }
    let sweep = points.len() > 1;
    let papers = points
        .iter()
        .flat_map(|p| p.checks)
        .any(|c| !c.paper.is_empty());
    let mut out = String::from(
        "<section id=\"checks\" aria-label=\"Expectations\">\n<h2>Expectations</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th><span class=\"hidden\">met</span></th><th>expectation</th>",
    );
    if sweep {
        out.push_str("<th>point</th>");
    }
    out.push_str("<th>of</th><th>during</th>");
    if papers {
        out.push_str("<th>paper</th>");
    }
    out.push_str("");
    let engines = engines(points.iter().flat_map(|p| p.checks));
    for engine in &engines {
        _ = write!(out, "<th class=\"n\">{engine}</th>");
    }
    out.push_str("<th class=\"n\">error</th><th>allowed</th></tr></thead>\n<tbody>\n");
    for (i, point) in points.iter().enumerate() {
        for judged in by_expectation(point.checks) {
            let label = sweep.then(|| point.label());
            row(&mut out, judged, &engines, i, label, papers);
        }
    }
    out.push_str("</tbody></table></div>\n");
    let tally = Tally::of(points.iter().flat_map(|p| p.checks).map(|c| c.class));
    if tally.worst() != Class::Met {
        let there = Class::ALL.into_iter().filter(|c| tally.count(*c) > 0);
        let meanings = there.map(|c| format!("{} {}", c.sign(), c.meaning()));
        let meanings: Vec<String> = meanings.collect();
        _ = writeln!(out, "<p class=\"signs\">{}</p>", meanings.join("; "));
    }
    out + "</section>"
}

/// Returns the completion times of transfers, of all points, or nothing if there are none.
pub fn transfers(points: &[Point]) -> String {
    let of_points = points.iter().map(|point| {
        let outline = Outline::of(point.scenario);
        (point, transfer_rows(&outline, &point.runs()))
    });
    let of_points: Vec<_> = of_points.filter(|(_, rows)| !rows.is_empty()).collect();
    let all = || of_points.iter().flat_map(|(_, rows)| rows);
    let Some(first) = all().next() else {
        return String::new();
    };
    let engines = all().any(|r| r.engine != first.engine);
    let class = |i: usize| if i < 2 { "" } else { " class=\"n\"" };
    let mut out = String::from(
        "<section id=\"transfers\" aria-label=\"Transfers\">\n<h2>Transfers that ended in the steady part</h2>\n<div class=\"scroll\"><table>\n<thead><tr>",
    );
    if points.len() > 1 {
        out.push_str("<th>point</th>");
    }
    for (i, heading) in HEADINGS.iter().enumerate() {
        _ = write!(out, "<th{}>{heading}</th>", class(i));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (point, rows) in &of_points {
        for row in rows {
            out.push_str("<tr>");
            if points.len() > 1 {
                _ = write!(out, "<td>{}</td>", escape(&point.label(), 100));
            }
            for (i, cell) in row.cells(engines).iter().enumerate() {
                _ = write!(out, "<td{}>{}</td>", class(i), escape(cell, 60));
            }
            out.push_str("</tr>\n");
        }
    }
    out + "</tbody></table></div>\n</section>"
}

fn row(
    out: &mut String,
    judged: &[Check],
    engines: &[Engine],
    point: usize,
    label: Option<String>,
    papers: bool,
) {
    let check = worst(judged);
    let (class, mark) = (style_of(check.class), check.class.sign());
    let word = check.class.meaning();
    let value = |v: Option<_>| v.map_or(show::NONE.into(), |v| show::estimate(v, check.unit));
    _ = write!(
        out,
        "<tr class=\"{class}\"><td><span class=\"mark\" role=\"img\" aria-label=\"{word}\">{mark}</span></td><th scope=\"row\">{}",
        escape(&check.name, 200)
    );
    for failed in judged.iter().filter(|c| c.class != Class::Met) {
        _ = write!(
            out,
            "<p class=\"reason\">{}: {}</p>",
            failed.engine,
            escape(&failed.reason, 300)
        );
        if let Some(known) = &failed.known {
            _ = write!(
                out,
                "<p class=\"because\">{}</p>",
                escape(&known.because, 1000)
            );
        }
    }
    out.push_str("</th>");
    if let Some(label) = label {
        let label = escape(&label, 100);
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
    if papers {
        _ = write!(out, "<td>{}</td>", escape(&check.paper, 100));
    }
    for engine in engines {
        _ = write!(
            out,
            "<td class=\"n\">{}</td>",
            value(figure(judged, *engine))
        );
    }
    _ = writeln!(
        out,
        "<td class=\"n\">{}</td><td>{}</td></tr>",
        error(check),
        show::allowed(check.target, check.unit)
    );
}

/// Returns the notes of the scenario's author and of the page.
pub fn remarks(points: &[Point], remarks: &[String]) -> String {
    let mut items: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() && !items.iter().any(|i| i == text) {
            items.push(text.into());
        }
    };
    for point in points {
        add(&point.scenario.notes);
        for run in point.runs.iter().filter(|r| !r.notes.is_empty()) {
            match run.manifest.engine {
                // The performance of the machine differs from run to run.
                engine @ Engine::Live => {
                    let at = point.label();
                    let at = if at.is_empty() { at } else { format!(", {at}") };
                    add(&format!("{engine}{at}: {}", run.notes.join("; ")));
                }
                _ => run.notes.iter().for_each(|n| add(n)),
            }
        }
    }
    remarks.iter().for_each(|r| add(r));
    if items.is_empty() {
        return String::new();
    }
    let items = items
        .iter()
        .map(|i| format!("<li>{}</li>\n", escape(i, 4000)));
    let items: String = items.collect();
    format!(
        "<section id=\"notes\" aria-label=\"Notes\">\n<h2>Notes</h2>\n<ul>\n{items}</ul>\n</section>"
    )
}

/// Returns the table of runs, by which they can be repeated.
pub fn runs(points: &[Point]) -> String {
    let sweep = points.len() > 1;
    let mut out = String::from(
        "<section id=\"runs\" aria-label=\"Runs\">\n<h2>Runs</h2>\n<div class=\"scroll\"><table>\n<thead><tr>",
    );
    if sweep {
        out.push_str("<th>point</th>");
    }
    out.push_str("<th>engine</th><th>version</th><th class=\"n\">seed</th><th>scenario</th><th>digest</th><th class=\"n\">packet-hops</th><th class=\"n\">steps</th></tr></thead>\n<tbody>\n");
    for point in points {
        for run in point.runs {
            let label = sweep.then(|| format!("<td>{}</td>", escape(&point.label(), 100)));
            _ = writeln!(
                out,
                "<tr>{}{}</tr>",
                label.unwrap_or_default(),
                run_cells(run)
            );
        }
    }
    out.push_str("</tbody></table></div>\n");
    if let Some(point) = points.first() {
        let outline = Outline::of(point.scenario);
        let flows: usize = outline.groups.iter().map(|g| g.flows.len()).sum();
        let shown = outline.links.iter().filter(|l| l.shown).count();
        let seconds = point.scenario.duration.as_secs_f64();
        let steady = show::window(outline.steady());
        _ = writeln!(
            out,
            "<p>{flows} flows in {} groups, {shown} links that data crosses, {seconds} s; steady part: {steady}.</p>",
            outline.groups.len()
        );
    }
    out + &certificates(points) + "</section>"
}

/// Returns the residuals of the equilibria, phase by phase, of the first run of each point that has
/// some.
fn certificates(points: &[Point]) -> String {
    let mut rows = String::new();
    for point in points {
        let run = point.runs.iter().find(|run| !run.certificates.is_empty());
        for c in run.iter().flat_map(|run| &run.certificates) {
            let phase = show::window(Window {
                start: c.start,
                end: c.end,
            });
            let phase = match points.len() {
                1 => phase,
                _ => format!("{}, {phase}", point.label()),
            };
            _ = write!(rows, "<tr><td>{}</td>", escape(&phase, 100));
            for (_, residual) in c.residuals() {
                _ = write!(rows, "<td class=\"n\">{}</td>", show::residual(residual));
            }
            rows.push_str("</tr>\n");
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<h3>Residuals of the equilibria</h3>\n<div class=\"scroll\"><table id=\"certificates\">\n<thead><tr><th>phase</th><th class=\"n\">stationarity</th><th class=\"n\">feasibility</th><th class=\"n\">complementarity</th><th class=\"n\">gap</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n<p>Relative; zero at the optimum.</p>\n"
    )
}

fn run_cells(run: &Run) -> String {
    let m = &run.manifest;
    let short = |hex: &str| {
        let title = escape(hex, 200);
        format!(
            "<td><code title=\"{title}\">{}</code></td>",
            escape(hex, 13)
        )
    };
    format!(
        "<td>{}</td><td>{}</td><td class=\"n\">{}</td>{}{}<td class=\"n\">{}</td><td class=\"n\">{}</td>",
        m.engine,
        escape(m.version, 40),
        m.seed,
        short(&m.scenario_hash),
        short(&m.digest),
        run.statistics.packet_hops,
        run.statistics.steps
    )
}
