//! One self-contained HTML page with interactive plots.
//!
//! The head, the checks and the manifests are plain HTML, readable without scripts. The plots are
//! drawn by `web/dist/page.js` (sources and build in `web/`) from JSON in the page. The page loads
//! nothing, so it works from a file, for ever.

mod checks;
mod html;
mod means;
mod overview;
mod panels;
mod spread;
mod stability;
mod sweep;
#[cfg(not(target_family = "wasm"))]
mod versus;

use crate::axis::place_among;
use crate::json::Point;
use crate::markup::escape;
use crate::show;
use rayon::prelude::*;
use serde::Serialize;
#[cfg(not(target_family = "wasm"))]
pub use versus::comparison_page;

const SCRIPT: &str = include_str!("../../web/dist/page.js");
const STYLE: &str = include_str!("../../web/dist/page.css");

/// The largest number of values in the page, about 3 MB.
const BUDGET: usize = 400_000;
/// The fewest samples of a useful plot.
const FEWEST_SAMPLES: usize = 250;
/// The maximum number of samples that a screen can show.
const MOST_SAMPLES: usize = 2000;

/// The least number of lines of distributions in the page, about 0.5 MB.
const MOST_SPREADS: usize = 600;

/// The number of points whose distributions are counted at once. Some of that work is wasted if there is no room.
const MOST_AT_ONCE: usize = 16;

/// The data that the script draws.
#[derive(Serialize)]
struct Data {
    /// The scenario's id, for the names of files.
    id: String,
    /// Points with plots over time.
    points: Vec<PointData>,
    /// The quantities across the points of a sweep.
    sweep: Option<sweep::Sweep>,
}

/// The plots of one point.
#[derive(Serialize)]
struct PointData {
    #[serde(flatten)]
    plots: panels::PointPlots,
    /// The distributions of delays, queues and completion times in the steady part.
    spreads: Vec<spread::Spread>,
}

/// Returns the page of a scenario: one point, or all points of a sweep.
///
/// Series are thinned to the room of the page, with their extremes kept. Only a few flows of large
/// groups are drawn, and the page says so. Repetitions beyond an engine's first run are in the
/// values but not in the plots.
pub fn page(points: &[Point]) -> String {
    let (data, remarks) = data(points, MOST_SAMPLES);
    let title = match points.first() {
        Some(point) if point.scenario.title.is_empty() => point.scenario.id.clone(),
        Some(point) => format!("{} · {}", point.scenario.title, point.scenario.id),
        None => "No runs".into(),
    };
    // In a script element only "</script" and "<!--" have a meaning. Without any "<" there is
    // neither. Line separators end strings in old scripts.
    let json = json(&data)
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    let means = means::means(points);
    // For a sweep, the overview comes first, and the tables of the points are details.
    let (first, details) = match points.len() {
        0 | 1 => (means, String::new()),
        _ => (String::new(), means),
    };
    // The figure, the verdict, the tables, and then all plots.
    let body = format!(
        "<a class=\"skip\" href=\"#plots\">To all plots</a>\n{header}\n<main id=\"main\">\n<section id=\"figure\" aria-label=\"Figure\"><noscript><p>The plots need \
         JavaScript; the figures are in the tables.</p></noscript></section>\n{verdict}\n{overview}\n{first}\n{checks}\n<section id=\"plots\" tabindex=\"-1\" aria-label=\"Plots\"></section>\n{details}\n{transfers}\n\
         {remarks}\n{runs}\n</main>\n<script type=\"application/json\" \
         id=\"data\">{json}</script>\n<script>{SCRIPT}</script>\n",
        header = html::header(points),
        verdict = html::verdict(points),
        overview = overview::overview(points),
        checks = checks::checks(points),
        transfers = html::transfers(points),
        remarks = html::remarks(points, &remarks),
        runs = html::runs(points),
    );
    shell(&title, &body)
}

/// The parts of a page that depend on its runs, for pages with additional content.
#[derive(Clone, Debug, Serialize)]
pub struct PageParts {
    /// The tables of means and of checks, as HTML.
    pub tables: String,
    /// The input of the page's scripts, as JSON.
    pub plots: String,
}

/// Returns the parts of the [`page()`] of these points. The plots of a `sketch` have fewer samples, so they are drawn
/// sooner.
pub fn page_parts(points: &[Point], sketch: bool) -> PageParts {
    let most = if sketch { FEWEST_SAMPLES } else { MOST_SAMPLES };
    PageParts {
        tables: format!("{}\n{}", means::means(points), checks::checks(points)),
        plots: json(&data(points, most).0),
    }
}

fn json(data: &Data) -> String {
    serde_json::to_string(data).expect("numbers, strings and lists always have a JSON form")
}

/// Returns a page with this title and body, in the common style. It loads nothing.
pub fn shell(title: &str, body: &str) -> String {
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="accord {version}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
{body}</body>
</html>
"#,
        version = env!("CARGO_PKG_VERSION"),
        title = escape(title, 200),
    )
}

/// Returns the plots' data, with remarks for the reader.
fn data(points: &[Point], most: usize) -> (Data, Vec<String>) {
    let mut remarks = Vec::new();
    let plans: Vec<panels::Plan> = points.iter().map(panels::Plan::of).collect();
    // Takes the largest number of points that fit at the coarsest sampling, and then the finest
    // sampling that fits.
    let mut lines = 0;
    let drawn = plans
        .iter()
        .take_while(|plan| {
            lines += plan.lines();
            lines * FEWEST_SAMPLES <= BUDGET && plan.has_samples()
        })
        .count()
        .max(1)
        .min(plans.len());
    if drawn < plans.len() {
        let all = plans.len();
        let others = match plans.iter().all(panels::Plan::has_samples) {
            true => "the others are in their run directories",
            false => "of the others only the means are kept; `--series` keeps all samples",
        };
        remarks.push(format!("{drawn} of {all} points have plots over time here; {others}."));
    }
    let plans = &plans[..drawn];
    let lines: usize = plans.iter().map(panels::Plan::lines).sum();
    let samples = (BUDGET / lines.max(1)).clamp(FEWEST_SAMPLES, most);
    let longest = plans.iter().map(panels::Plan::samples).max();
    let plots: Vec<panels::PointPlots> = plans.par_iter().map(|plan| plan.plots(samples)).collect();
    // Takes the distributions of as many points as fit.
    let mut spreads = Vec::new();
    let mut lines = 0;
    for some in plans.chunks(MOST_AT_ONCE) {
        if lines >= MOST_SPREADS {
            break;
        }
        let some: Vec<_> = some.par_iter().map(spread::spreads).collect();
        for own in some {
            if lines < MOST_SPREADS {
                lines += own.iter().map(|s| s.lines.len()).sum::<usize>();
                spreads.push(own);
            }
        }
    }
    let with = spreads.len();
    if with < drawn {
        remarks.push(format!("The first {with} of {drawn} points have distributions here."));
    }
    if let Some(longest) = longest.filter(|n| *n > samples) {
        remarks.push(format!(
            "The plots show at most {samples} of {longest} samples a line: the smallest and the largest of each stretch. All samples are in the series file."
        ));
    }
    let of_points: Vec<Vec<String>> = plans.par_iter().map(panels::Plan::remarks).collect();
    for remark in of_points.into_iter().flatten() {
        place_among(&mut remarks, remark);
    }
    spreads.resize_with(drawn, Vec::new);
    let points_data = (plots.into_iter().zip(spreads))
        .map(|(plots, spreads)| PointData { plots, spreads })
        .collect();
    let data = Data {
        id: (points.first()).map_or(String::new(), |p| show::clean(&p.scenario.id, 60)),
        points: points_data,
        sweep: sweep::Sweep::of(points),
    };
    (data, remarks)
}
