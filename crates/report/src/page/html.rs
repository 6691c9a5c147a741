//! The parts of the page that work without scripts.

use crate::compare::Outline;
use crate::gap::gap;
use crate::json::Point;
use crate::markup::{escape, style_of, table};
use crate::show;
use crate::style::Style;
use crate::table::verdict as sentence;
use crate::transfers::{HEADINGS, transfer_rows};
use crate::verdict::Tally;
use accord_record::Run;
use accord_scenario::{Engine, Window};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Returns the title and the source.
pub fn header(points: &[Point]) -> String {
    let Some(first) = points.first() else {
        return "<header><h1>No runs</h1></header>".into();
    };
    let scenario = first.scenario;
    let id = escape(&scenario.id, 100);
    let mut facts = Vec::new();
    let heading = if scenario.title.is_empty() {
        id
    } else {
        facts.push(format!("<code>{id}</code>"));
        escape(&scenario.title, 200)
    };
    if !scenario.source.is_empty() {
        facts.push(escape(&scenario.source, 300));
    }
    match points.len() {
        1 if scenario.point.is_empty() => {}
        1 => facts.push(escape(&first.label(), 200)),
        n => facts.push(show::count(n, "point")),
    }
    let facts = facts.join(" · ");
    format!("<header>\n<h1>{heading}</h1>\n<p>{facts}</p>\n</header>")
}

/// Returns the verdict in a sentence or two, or nothing without expectations.
pub fn verdict(points: &[Point]) -> String {
    let checks = || points.iter().flat_map(|p| p.checks);
    if checks().next().is_none() {
        return String::new();
    }
    let class = style_of(Tally::of(checks().map(|c| c.class)).worst());
    let gap = gap(points).map_or(String::new(), |gap| format!(" {gap}."));
    format!("<p class=\"verdict {class}\">{}.{gap}</p>", sentence(checks(), Style::default()))
}

/// Returns the completion times of the transfers of all points, or nothing without transfers.
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
    let mut rows = String::new();
    for (point, row) in of_points.iter().flat_map(|(p, rows)| rows.iter().map(move |r| (p, r))) {
        rows.push_str("<tr>");
        if points.len() > 1 {
            _ = write!(rows, "<td>{}</td>", escape(&point.label(), 100));
        }
        for (i, cell) in row.cells(engines).iter().enumerate() {
            _ = write!(rows, "<td{}>{}</td>", class(i), escape(cell, 60));
        }
        rows.push_str("</tr>\n");
    }
    let point = (points.len() > 1).then_some(("point", false)).into_iter();
    let headings = point.chain(HEADINGS.iter().enumerate().map(|(i, text)| (*text, i >= 2)));
    format!(
        "<section id=\"transfers\" aria-label=\"Transfers\">\n<h2>Transfers that ended in the steady part</h2>\n{}</section>",
        table(headings, &rows)
    )
}

/// Returns the notes of the scenario's author and of the page.
pub fn remarks(points: &[Point], remarks: &[String]) -> String {
    let mut items: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() && seen.insert(text.to_string()) {
            items.push(text.into());
        }
    };
    // The notes of engines may be long, so they come last.
    points.iter().for_each(|p| add(&p.scenario.notes));
    remarks.iter().for_each(|r| add(r));
    let mut models = Vec::new();
    for point in points {
        for run in point.runs.iter().filter(|r| !r.notes.is_empty()) {
            match run.manifest.engine {
                // The performance of the machine, which differs from run to run.
                engine @ Engine::Live => {
                    let at = point.label();
                    let at = if at.is_empty() { at } else { format!(", {at}") };
                    add(&format!("{engine}{at}: {}", run.notes.join("; ")));
                }
                _ => models.extend(run.notes.iter().map(String::as_str)),
            }
        }
    }
    show::shared(models.into_iter()).iter().for_each(|n| add(n));
    if items.is_empty() {
        return String::new();
    }
    let list = |items: &[String]| {
        let items = items.iter().map(|i| format!("<li>{}</li>\n", escape(i, 4000)));
        format!("<ul>\n{}</ul>\n", items.collect::<String>())
    };
    let (first, rest) =
        items.split_at(if items.len() <= MOST_NOTES + 1 { items.len() } else { MOST_NOTES });
    let kept = &rest[..rest.len().min(MOST_FOLDED)];
    let mut rest_html = String::new();
    if !rest.is_empty() {
        let n = show::count(rest.len(), "more note");
        let left = match rest.len() - kept.len() {
            0 => String::new(),
            left => format!("<p>... and {left} that the page leaves out</p>\n"),
        };
        rest_html = format!("<details><summary>{n}</summary>{}{left}</details>\n", list(kept));
    }
    format!(
        "<section id=\"notes\" aria-label=\"Notes\">\n<h2>Notes</h2>\n{}{rest_html}</section>",
        list(first)
    )
}

/// Returns the runs, with the data for repeating them.
pub fn runs(points: &[Point]) -> String {
    let sweep = points.len() > 1;
    let mut rows = String::new();
    for point in points {
        for run in point.runs {
            let label = sweep.then(|| format!("<td>{}</td>", escape(&point.label(), 100)));
            _ = writeln!(rows, "<tr>{}{}</tr>", label.unwrap_or_default(), run_cells(run));
        }
    }
    let texts = ["engine", "version", "seed", "scenario", "digest", "packet-hops", "steps"];
    let numbers = |text| matches!(text, "seed" | "packet-hops" | "steps");
    let headings = sweep.then_some("point").into_iter().chain(texts);
    let mut out = format!(
        "<section id=\"runs\" aria-label=\"Runs\">\n<h2>Runs</h2>\n{}",
        table(headings.map(|text| (text, numbers(text))), &rows)
    );
    if let Some(point) = points.first() {
        let outline = Outline::of(point.scenario);
        let flows: usize = outline.groups.iter().map(|g| g.flows.len()).sum();
        let shown = outline.links.iter().filter(|l| l.shown).count();
        let seconds = point.scenario.duration.as_secs_f64();
        let steady = show::window(outline.steady());
        _ = writeln!(
            out,
            "<p>{} in {}, {} that data crosses, {seconds} s; steady part: {steady}.</p>",
            show::count(flows, "flow"),
            show::count(outline.groups.len(), "group"),
            show::count(shown, "link"),
        );
    }
    out + &certificates(points) + "</section>"
}

/// The number of notes that are visible before the reader asks for more.
const MOST_NOTES: usize = 10;
/// The number of further notes that can be unfolded.
const MOST_FOLDED: usize = 200;

/// The number of phases up to which all residuals are shown. Beyond that number, only the worst of each kind
/// are shown.
const MOST_PHASES: usize = 12;

/// Returns the residuals of the equilibria, phase by phase, for the first run of each point that
/// has any.
fn certificates(points: &[Point]) -> String {
    let of = |point: &Point| {
        let run = point.runs.iter().find(|run| !run.certificates.is_empty());
        run.map(|run| run.certificates.clone()).unwrap_or_default()
    };
    let phases: usize = points.iter().map(|p| of(p).len()).sum();
    if phases > MOST_PHASES {
        let all: Vec<_> = points.iter().flat_map(of).collect();
        return format!(
            "<h3>Residuals of the equilibria</h3>\n<p id=\"certificates\">{phases} phases: {}. Relative; zero at the optimum. Each phase is in <code>manifest.json</code>.</p>\n",
            escape(&show::certificates(&all), 400)
        );
    }
    let mut rows = String::new();
    for point in points {
        let run = point.runs.iter().find(|run| !run.certificates.is_empty());
        for c in run.iter().flat_map(|run| &run.certificates) {
            let phase = show::window(Window { start: c.start, end: c.end });
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
        format!("<td><code title=\"{title}\">{}</code></td>", escape(hex, 13))
    };
    format!(
        "<td>{}</td><td>{}</td><td class=\"n\">{}</td>{}{}<td class=\"n\">{}</td><td class=\"n\">{}</td>",
        m.engine,
        escape(&m.version, 40),
        m.seed,
        short(&m.scenario_hash),
        short(&m.digest),
        run.statistics.packet_hops,
        run.statistics.steps
    )
}
