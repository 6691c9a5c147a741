//! The data of figures.

use super::select::{Subject, check_number, labels, subjects};
use super::{Axis, BoxOf, Content, Figure, FigureError, Kind, Log, MapOf, Request, Trace};
use crate::axis::{Axis as Swept, Grid, Settings};
use crate::files::Stored;
use crate::measure::{self, quantile};
use crate::range::{self, Plotted, Role};
use crate::show;
use crate::trace::lines::{self, Kind as Line};
use crate::trace::smooth;
use accord_record::Run;
use accord_scenario::{Across, Engine, Fold, Metric, MetricUnit, Of, Over, Window};
use std::collections::BTreeSet;

/// Subjects up to which a group's span is drawn, too.
const MOST_BANDS: usize = 3;
/// Steps of a distribution function.
const STEPS: usize = 400;
/// Maps beside each other.
const MOST_MAPS: usize = 3;

/// Gathers the data of a figure.
pub fn figure(stored: &[Stored], request: &Request) -> Result<Figure, FigureError> {
    let kind = request
        .kind
        .unwrap_or_else(|| fitting(stored, request.metric));
    if kind == Kind::Time && request.metric.of() == Of::Transfer {
        return Err(FigureError::wrong(
            format!(
                "{} is of single transfers, which have no line over time",
                request.metric
            ),
            "choose --kind cdf, box or sweep",
        ));
    }
    let subjects = subjects(stored, request)?;
    let (x, y, content) = match kind {
        Kind::Time => over_time(&subjects, request)?,
        Kind::Cdf => distribution(&subjects, request)?,
        Kind::Box => boxes(&subjects, request)?,
        Kind::Sweep => sweep(stored, &subjects, request)?,
        Kind::Map => map(stored, &subjects, request)?,
    };
    let ids: BTreeSet<&str> = (stored.iter().flat_map(|s| &s.points))
        .map(|p| p.manifest.scenario.id.as_str())
        .collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    Ok(Figure {
        title: format!("{} of {}", words(request.metric), ids.join(", ")),
        kind,
        x,
        y,
        content,
        width: request.width,
    })
}

/// The kind that fits the runs.
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

/// The metric's name for an axis: "Round-trip time" would be another name than the tables have.
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
    request
        .time
        .unwrap_or(subject.point.manifest.scenario.steady())
}

/// An axis of the metric's values. `largest` chooses the unit.
fn values_axis(request: &Request, name: String, largest: f64, ends: (f64, f64), log: bool) -> Axis {
    let (one, unit) = show::scale(largest, request.metric.unit());
    Axis {
        name,
        unit,
        one,
        base: request.metric.unit().symbol(),
        ticks: None,
        ends,
        log,
    }
}

fn log_y(request: &Request) -> bool {
    matches!(request.log, Log::Y | Log::Both)
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

type Gathered = (Axis, Axis, Content);

fn over_time(subjects: &[Subject], request: &Request) -> Result<Gathered, FigureError> {
    let metric = request.metric;
    let labels = labels(subjects)?;
    let bands = subjects.len() <= MOST_BANDS;
    let mut traces = Vec::new();
    let mut roles = Vec::new();
    let mut end = 0.0f64;
    for (subject, (of, colour)) in subjects.iter().zip(&labels) {
        let outline = &subject.point.manifest.scenario;
        for (engine, runs) in subject.engines(request) {
            let run = runs[0];
            let named = [(String::new(), subject.entities.clone())];
            let smooth = smooth::window(outline, engine, run, metric, &named);
            let raw = lines::lines(run, metric, &subject.entities, smooth, outline.steady());
            let part = within(run, request.time);
            end = end.max(run.time[..part.end].last().copied().unwrap_or(0.0));
            let line = |kind| {
                let found = raw.iter().find(|l| l.kind == kind && l.flow.is_none());
                found.map_or(vec![], |l| l.values[part.clone()].to_vec())
            };
            let (y, low, high) = (line(Line::Main), line(Line::Low), line(Line::High));
            if y.iter().all(|v| v.is_nan()) {
                continue;
            }
            let keep = |band: Vec<f64>| if bands { band } else { vec![] };
            roles.push(match engine {
                Engine::Theory => Role::Model,
                _ => Role::Line,
            });
            traces.push(Trace {
                of: of.clone(),
                colour: *colour,
                engine,
                x: run.time[part.clone()].to_vec(),
                y,
                low: keep(low),
                high: keep(high),
            });
        }
    }
    let plotted: Vec<Plotted> = (traces.iter().zip(&roles))
        .flat_map(|(t, role)| {
            let line = |y, role| Plotted { x: &t.x, y, role };
            [
                line(&t.y, *role),
                line(&t.low, Role::Span),
                line(&t.high, Role::Span),
            ]
        })
        .collect();
    let start = request.time.map_or(0.0, |w| w.start.as_secs_f64());
    let steady = subjects.first().map(|s| s.point.manifest.scenario.steady_s);
    let shown = range::robust(&plotted, (start, end), steady.unwrap_or_default());
    let shown = shown.ok_or_else(|| nothing(request))?;
    let log = log_y(request);
    let ends = match log {
        true => range::log_ends(shown),
        false => range::ends(shown, metric.zero(), metric.most()),
    };
    let mut name = words(metric);
    if metric.fold() == Fold::Sum {
        name += " so far";
    }
    if subjects.iter().any(|s| s.entities.len() > 1) {
        name += " of a flow";
    }
    let x = Axis {
        name: "Time".into(),
        unit: "s",
        one: 1.0,
        base: "s",
        ticks: None,
        ends: (start, end),
        log: false,
    };
    let y = values_axis(request, name, shown.high.abs(), ends, log);
    Ok((x, y, Content::Lines(traces)))
}

/// The samples of a run that are shown.
fn within(run: &Run, time: Option<Window>) -> std::ops::Range<usize> {
    time.map_or(0..run.time.len(), |window| run.within(window))
}

/// The samples of a subject in all runs of an engine, in order.
fn samples(subject: &Subject, runs: &[&Run], request: &Request) -> Vec<f64> {
    let window = window(subject, request);
    let of = |run: &&Run| -> Vec<f64> {
        let entities = subject.entities.iter();
        let all = entities.flat_map(|e| run.samples(request.metric, *e, window));
        all.collect()
    };
    let mut all: Vec<f64> = runs.iter().flat_map(of).collect();
    all.retain(|v| v.is_finite());
    all.sort_unstable_by(f64::total_cmp);
    all
}

fn distribution(subjects: &[Subject], request: &Request) -> Result<Gathered, FigureError> {
    let mut traces = Vec::new();
    let (mut low, mut high, mut positive) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    for (subject, (of, colour)) in subjects.iter().zip(labels(subjects)?) {
        for (engine, runs) in subject.engines(request) {
            let samples = samples(subject, &runs, request);
            if samples.is_empty() {
                continue;
            }
            let share = |i: usize| i as f64 / STEPS as f64;
            // The last per cent may be far away.
            low = low.min(quantile(&samples, 0.002));
            high = high.max(quantile(&samples, 0.995));
            positive = positive.min(
                samples
                    .iter()
                    .copied()
                    .find(|v| *v > 0.0)
                    .unwrap_or(positive),
            );
            let shares = || (0..=STEPS).map(share);
            traces.push(Trace {
                of: of.clone(),
                colour,
                engine,
                x: shares().map(|s| quantile(&samples, s)).collect(),
                y: shares().collect(),
                low: vec![],
                high: vec![],
            });
        }
    }
    if traces.is_empty() {
        return Err(nothing(request));
    }
    let shown = range::Shown {
        low,
        high,
        positive,
    };
    let log = log_x(request);
    let ends = match log {
        true => range::log_ends(shown),
        false => range::ends(shown, false, None),
    };
    let x = values_axis(request, words(request.metric), high.abs(), ends, log);
    let what = match request.metric.of() {
        Of::Transfer => "Share of transfers",
        _ => "Share of samples",
    };
    let y = Axis {
        name: what.into(),
        unit: "%",
        one: 0.01,
        base: "1",
        ticks: None,
        ends: (0.0, 1.0),
        log: false,
    };
    Ok((x, y, Content::Lines(traces)))
}

fn boxes(subjects: &[Subject], request: &Request) -> Result<Gathered, FigureError> {
    let mut boxes = Vec::new();
    let mut order: Vec<String> = Vec::new();
    for (subject, (of, colour)) in subjects.iter().zip(labels(subjects)?) {
        if !order.contains(&of) {
            order.push(of.clone());
        }
        for (engine, runs) in subject.engines(request) {
            let samples = samples(subject, &runs, request);
            if samples.is_empty() {
                continue;
            }
            boxes.push(BoxOf {
                of: of.clone(),
                colour,
                engine,
                samples: samples.len(),
                mean: samples.iter().sum::<f64>() / samples.len() as f64,
                quantiles: [0.05, 0.25, 0.5, 0.75, 0.95].map(|q| quantile(&samples, q)),
            });
        }
    }
    if boxes.is_empty() {
        return Err(nothing(request));
    }
    let all = || {
        boxes
            .iter()
            .flat_map(|b| b.quantiles.into_iter().chain([b.mean]))
    };
    let y = means_axis(request, words(request.metric), all());
    let last = order.len() as f64 - 0.5;
    let x = Axis {
        name: String::new(),
        unit: "",
        one: 1.0,
        base: "",
        ticks: Some(order),
        ends: (-0.5, last),
        log: false,
    };
    Ok((x, y, Content::Boxes(boxes)))
}

/// A vertical axis that holds all values, and zero where the metric begins there.
fn means_axis(request: &Request, name: String, values: impl Iterator<Item = f64>) -> Axis {
    let mut shown = range::Shown {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        positive: f64::INFINITY,
    };
    for v in values.filter(|v| v.is_finite()) {
        shown.low = shown.low.min(v);
        shown.high = shown.high.max(v);
        if v > 0.0 {
            shown.positive = shown.positive.min(v);
        }
    }
    let log = log_y(request);
    let metric = request.metric;
    let ends = match log {
        true => range::log_ends(shown),
        false => range::ends(shown, metric.zero(), metric.most()),
    };
    values_axis(request, name, shown.high.abs(), ends, log)
}

/// The mean of a subject over its window, with the half-width of its interval.
fn mean(subject: &Subject, runs: &[&Run], request: &Request) -> Option<(f64, f64)> {
    let figure = measure::Figure {
        metric: request.metric,
        over: Over::Mean,
        across: Across::Mean,
        during: window(subject, request),
    };
    let estimate = figure.of(runs, &subject.entities)[0]?;
    Some((estimate.mean, estimate.half_width.unwrap_or(f64::NAN)))
}

fn sweep(
    stored: &[Stored],
    subjects: &[Subject],
    request: &Request,
) -> Result<Gathered, FigureError> {
    let all: Vec<&Settings> = stored.iter().flat_map(settings).collect();
    let swept = match all.iter().all(|s| s.is_empty()) {
        // Runs of no sweep stand beside each other by name.
        true => {
            let names: Vec<String> = stored.iter().map(Stored::name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Swept::along(0, String::new(), &names)
        }
        false => Swept::of(&all),
    };
    let first: Vec<usize> = (stored.iter())
        .scan(0, |next, s| {
            Some(std::mem::replace(next, *next + s.points.len()))
        })
        .collect();
    let names: BTreeSet<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
    let names = names.len() > 1;
    let mut order: Vec<String> = Vec::new();
    let mut traces: Vec<Trace> = Vec::new();
    for subject in subjects {
        let path = &subject.point.path;
        let own = |s: &Stored| {
            s.points
                .iter()
                .any(|p| std::ptr::eq(p, subject.point) && p.path == *path)
        };
        let directory = stored.iter().position(own).unwrap_or(0);
        let at = swept.at[first[directory] + subject.index];
        let settings = &subject.point.manifest.scenario.point;
        let mut parts = vec![swept.others(settings)];
        if stored.len() > 1 && stored.iter().any(|s| s.points.len() > 1) {
            parts.insert(0, stored[directory].name());
        }
        if names {
            parts.push(subject.name.clone());
        }
        parts.retain(|p| !p.is_empty());
        let of = show::clean(&parts.join(", "), 60);
        let colour = order.iter().position(|o| *o == of).unwrap_or_else(|| {
            order.push(of.clone());
            order.len() - 1
        });
        for (engine, runs) in subject.engines(request) {
            let Some((mean, half)) = mean(subject, &runs, request) else {
                continue;
            };
            let known = |t: &Trace| t.of == of && t.engine == engine;
            let i = traces.iter().position(known).unwrap_or_else(|| {
                let none = vec![f64::NAN; swept.x.len()];
                traces.push(Trace {
                    of: of.clone(),
                    colour,
                    engine,
                    x: swept.x.clone(),
                    y: none.clone(),
                    low: none.clone(),
                    high: none,
                });
                traces.len() - 1
            });
            (traces[i].y[at], traces[i].low[at], traces[i].high[at]) =
                (mean, mean - half, mean + half);
        }
    }
    check_number(&order)?;
    if traces.is_empty() {
        return Err(nothing(request));
    }
    let all = traces
        .iter()
        .flat_map(|t| t.y.iter().chain(&t.low).chain(&t.high));
    let mut name = words(request.metric);
    if subjects.iter().any(|s| s.entities.len() > 1) {
        name += " of a flow";
    }
    let y = means_axis(request, name, all.copied());
    let log = log_x(request) && swept.ticks.is_none() && swept.x[0] > 0.0;
    let (least, most) = (swept.x[0], swept.x[swept.x.len() - 1]);
    let ends = match (log, &swept.ticks) {
        (true, _) => (least / 1.15, most * 1.15),
        (false, Some(ticks)) => (-0.5, ticks.len() as f64 - 0.5),
        (false, None) => {
            let room = ((most - least) * 0.04).max(1e-12);
            (least - room, most + room)
        }
    };
    let x = Axis {
        name: swept.name,
        unit: swept.unit,
        one: 1.0,
        base: swept.unit,
        ticks: swept.ticks,
        ends,
        log,
    };
    Ok((x, y, Content::Lines(traces)))
}

fn map(
    stored: &[Stored],
    subjects: &[Subject],
    request: &Request,
) -> Result<Gathered, FigureError> {
    let hint = "choose --kind sweep, which draws lines";
    let [results] = stored else {
        return Err(FigureError::wrong("a map is of one sweep", hint));
    };
    let settings = settings(results);
    let grid = Grid::of(&settings).ok_or_else(|| {
        let why = "a map needs a sweep of two variables with at least three values each, in all \
                   combinations";
        FigureError::wrong(why, hint)
    })?;
    let mut panels: Vec<(String, Vec<f64>)> = Vec::new();
    let names: BTreeSet<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
    for subject in subjects {
        for (engine, runs) in subject.engines(request) {
            let title = match names.len() {
                1 => engine.to_string(),
                _ => format!("{}, {engine}", subject.name),
            };
            let i = panels
                .iter()
                .position(|(t, _)| *t == title)
                .unwrap_or_else(|| {
                    panels.push((title, vec![f64::NAN; settings.len()]));
                    panels.len() - 1
                });
            if let Some((mean, _)) = mean(subject, &runs, request)
                && let Some(place) = grid.points.iter().position(|p| *p == subject.index)
            {
                panels[i].1[place] = mean;
            }
        }
    }
    panels.retain(|(_, values)| values.iter().any(|v| v.is_finite()));
    if panels.is_empty() {
        return Err(nothing(request));
    }
    if panels.len() > MOST_MAPS {
        return Err(FigureError::wrong(
            format!(
                "{} maps are more than the {MOST_MAPS} that fit",
                panels.len()
            ),
            "name one with --engine, --of or both",
        ));
    }
    let values = panels.iter().flat_map(|(_, v)| v.iter().copied());
    let finite = values.filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
        (a.min(v), b.max(v))
    });
    let value = values_axis(
        request,
        words(request.metric),
        high.abs(),
        (low, high),
        false,
    );
    let side =
        |i: usize| -> Vec<String> { grid.values[i].iter().map(|t| show::clean(t, 24)).collect() };
    let x = Axis {
        name: format!("{} / {}", grid.names[1], grid.names[0]),
        unit: "",
        one: 1.0,
        base: "",
        ticks: None,
        ends: (0.0, 1.0),
        log: false,
    };
    let map = MapOf {
        across: side(1),
        up: side(0),
        panels,
    };
    Ok((x, value, Content::Map(map)))
}

/// What plots know of metrics: the same for figures and the page.
trait Plottable {
    /// Whether an axis starts at zero.
    fn zero(self) -> bool;
    /// The largest value that there can be.
    fn most(self) -> Option<f64>;
}

impl Plottable for Metric {
    fn zero(self) -> bool {
        self.unit() != MetricUnit::Seconds
            || !matches!(self, Metric::Rtt | Metric::MinRtt | Metric::OneWayDelay)
    }

    fn most(self) -> Option<f64> {
        crate::page::bounded(self).then_some(1.0)
    }
}
