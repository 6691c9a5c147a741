//! The page of a comparison of run directories: tables that need no script, and figures.

use super::{means, shell};
use crate::figure::{Figure, Request, Width};
use crate::files::Stored;
use crate::markup::{escape, table};
use crate::show;
use crate::versus::Versus;
use accord_scenario::{Engine, Metric};
use std::fmt::Write;

/// Returns the page of a comparison.
pub fn comparison_page(all: &[Versus], stored: &[Stored], engines: &[Engine]) -> String {
    let names: Vec<String> = stored.iter().map(Stored::name).collect();
    let title = format!("Comparison of {}", names.join(", "));
    let mut body = format!("<header>\n<h1>{}</h1>\n<p>", escape(&title, 200));
    let titles: Vec<&str> = (stored.iter().flat_map(|s| &s.points))
        .map(|p| p.manifest.scenario.title.as_str())
        .collect();
    let titles = show::once(titles.into_iter().filter(|title| !title.is_empty()));
    let titles: Vec<String> = titles.iter().map(|t| escape(t, 200)).collect();
    _ = write!(body, "{}</p>\n</header>\n<main id=\"main\">\n", titles.join(" · "));
    if all.len() > 1 {
        glance(&mut body, all);
    }
    body.push_str("<section id=\"means\" aria-label=\"Means\">\n<h2>Means</h2>\n");
    for (i, versus) in all.iter().enumerate() {
        if all.len() > 1 {
            let open = if i == 0 { " open" } else { "" };
            let label = escape(&versus.label(), 200);
            _ = writeln!(body, "<details{open}><summary>{label}</summary>");
        }
        means::of_point(&mut body, &versus.columns, &versus.rows());
        if all.len() > 1 {
            body.push_str("</details>\n");
        }
    }
    body.push_str("</section>\n");
    figures(&mut body, stored, engines);
    shell(&title, &(body + "</main>\n"))
}

fn glance(out: &mut String, all: &[Versus]) {
    let reference = all.first().and_then(|v| v.columns.first());
    let reference = escape(reference.map_or("", |c| &c.label), 100);
    _ = write!(
        out,
        "<section id=\"overview\" aria-label=\"Overview\">\n<h2>All points</h2>\n<p class=\"signs\">A \
         row differs that is not within 5 % of {reference}.</p>\n"
    );
    let mut rows = String::new();
    for versus in all {
        let [label, compared, differ, what, error] = versus.glance();
        _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{compared}</td><td class=\"n\">{differ}</td>\
             <td>{}</td><td class=\"n\">{error}</td></tr>",
            escape(&label, 120),
            escape(&what, 80)
        );
    }
    let headings = ["point", "rows", "differ", "farthest", "error"];
    let headings = headings.map(|text| (text, !matches!(text, "point" | "farthest")));
    *out += &table(headings, &rows);
    out.push_str("</section>\n");
}

/// Adds the figures that `accord plot` would draw.
fn figures(out: &mut String, stored: &[Stored], engines: &[Engine]) {
    let mut drawn = String::new();
    for metric in Metric::placed(|row| row.compared) {
        let request =
            Request { engines: engines.to_vec(), width: Width::Page, ..Request::of(metric) };
        // A figure with too many lines or without values is left out. The tables contain its data.
        if let Ok(figure) = Figure::of(stored, &request) {
            _ = writeln!(
                drawn,
                "<div class=\"panel\"><div class=\"shot\">{}</div></div>",
                figure.svg()
            );
        }
    }
    if !drawn.is_empty() {
        _ = write!(
            out,
            "<section id=\"plots\" aria-label=\"Figures\">\n<h2>Figures</h2>\n<p class=\"signs\">As \
             <code>accord plot</code> draws them.</p>\n{drawn}</section>\n"
        );
    }
}
