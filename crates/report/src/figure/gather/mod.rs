//! The data of figures.

mod capacity;
mod spread;
mod sweep;
mod time;

use super::adjust::adjust;
use super::look::Look;
use super::select::{Subject, subjects};
use super::{Axis, Content, Figure, FigureError, Kind, Log, Request};
use crate::axis::{Grid, Settings};
use crate::files::Stored;
use crate::range;
use crate::show;
use accord_record::Run;
use accord_scenario::{Metric, Of, Window};
use spread::distribution;
use std::collections::BTreeSet;
use sweep::{map, sweep};
use time::over_time;

/// Gathers the data of a figure.
pub fn figure(stored: &[Stored], request: &Request) -> Result<Figure, FigureError> {
    let kind = request.kind.unwrap_or_else(|| fitting(stored, request.metric));
    if kind == Kind::Time && request.metric.of() == Of::Transfer {
        return Err(FigureError::wrong(
            format!("{} is of single transfers, which have no line over time", request.metric),
            "choose --kind cdf or sweep",
        ));
    }
    let subjects = subjects(stored, request)?;
    let runs = || stored.iter().flat_map(|s| s.points.iter().flat_map(|p| &p.runs));
    let over = |run: &Run| match (kind, request.time) {
        (Kind::Sweep | Kind::Map, None) => false,
        (Kind::Sweep | Kind::Map, Some(time)) => !run.is_only_over(time),
        _ => true,
    };
    let lacks = |run: &&Run| run.only_over.is_some() && over(run);
    if request.metric.of() != Of::Transfer
        && let Some(only) = runs().find(lacks).and_then(|run| run.only_over)
    {
        let (count, all) = (runs().filter(lacks).count(), runs().count());
        let kept = show::window(only);
        return Err(FigureError::wrong(
            format!("of {count} of these {all} runs only the means over {kept} are kept"),
            "run the sweep again with --series, or choose --kind sweep without --time",
        ));
    }
    let (x, y, content, looks) = match kind {
        Kind::Time => over_time(&subjects, request)?,
        Kind::Cdf => distribution(&subjects, request)?,
        Kind::Sweep => sweep(stored, &subjects, request)?,
        Kind::Map => map(stored, &subjects, request)?,
    };
    let ids: BTreeSet<&str> =
        (stored.iter().flat_map(|s| &s.points)).map(|p| p.manifest.scenario.id.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut figure = Figure {
        title: format!("{} of {}", words(request.metric), ids.join(", ")),
        heading: request.title.clone().unwrap_or_default(),
        kind,
        x,
        y,
        content,
        looks,
        capacity: None,
        width: request.width,
        facet: None,
        states: request.metric.states(),
    };
    if let Some(link) = &request.capacity {
        capacity::add(&mut figure, link, stored, request)?;
    }
    adjust(&mut figure, request)?;
    Ok(figure)
}

/// Returns the kind that fits the runs.
fn fitting(stored: &[Stored], metric: Metric) -> Kind {
    let swept = stored.iter().any(|s| s.points.len() > 1);
    let settings = settings(&stored[0]);
    match (swept, metric.of() == Of::Transfer) {
        (true, _) if stored.len() == 1 && Grid::of(&settings).is_some() => Kind::Map,
        (true, _) => Kind::Sweep,
        (false, true) => Kind::Cdf,
        (false, false) => Kind::Time,
    }
}

fn settings(stored: &Stored) -> Vec<&Settings> {
    let points = stored.points.iter();
    points.map(|p| &p.manifest.scenario.point[..]).collect()
}

/// The metric's name for an axis. "Round-trip time" would differ from the name in tables.
fn words(metric: Metric) -> String {
    let name = metric.name().replace('_', " ");
    let name = match metric {
        Metric::Rtt | Metric::MinRtt => name.replace("rtt", "RTT"),
        _ => name,
    };
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn window(subject: &Subject, request: &Request) -> Window {
    request.time.unwrap_or(subject.point.manifest.scenario.steady())
}

/// Returns an axis of the metric's values. `largest` determines the unit.
fn values_axis(request: &Request, name: String, largest: f64, ends: (f64, f64), log: bool) -> Axis {
    let (one, unit) = show::scale(largest, request.metric.unit());
    Axis { name, unit, one, base: request.metric.unit().symbol(), ticks: None, at: None, ends, log }
}

fn log_x(request: &Request) -> bool {
    matches!(request.log, Log::X | Log::Both)
}

fn nothing(request: &Request) -> FigureError {
    let window = request.time.map(show::window);
    let during = window.map_or("in the steady part".into(), |w| format!("in {w}"));
    FigureError::wrong(
        format!("there is no value of {} {during}", request.metric),
        "give another part of the run with --time",
    )
}

/// The axes, the content, and the looks of its lines by their numbers.
type Gathered = (Axis, Axis, Content, Vec<Look>);

/// Returns a vertical axis that holds all values, and zero if the metric begins there.
fn means_axis(request: &Request, name: String, values: impl Iterator<Item = f64>) -> Axis {
    let mut shown = range::Shown::NOTHING;
    for v in values.filter(|v| v.is_finite()) {
        shown.low = shown.low.min(v);
        shown.high = shown.high.max(v);
        if v > 0.0 {
            shown.positive = shown.positive.min(v);
        }
    }
    shown_axis(request, name, shown)
}

/// Returns a vertical axis that holds the values shown, and zero if the metric begins there.
fn shown_axis(request: &Request, name: String, shown: range::Shown) -> Axis {
    let log = matches!(request.log, Log::Y | Log::Both);
    let row = request.metric.row();
    let ends = match log {
        true => range::log_ends(shown),
        false => range::ends(shown, row.from_zero, row.most),
    };
    values_axis(request, name, shown.high.abs(), ends, log)
}
