//! Means over the values of sweeps, as lines and as maps.

use super::{Gathered, log_x, means_axis, nothing, settings, values_axis, window, words};
use crate::axis::{Axis as Swept, Grid, Settings, place_among, with_unit};
use crate::figure::canvas::number;
use crate::figure::look::looks;
use crate::figure::select::{Subject, place};
use crate::figure::{Axis, Content, FigureError, Line, MapOf, Request};
use crate::files::Stored;
use crate::measure;
use crate::show;
use accord_record::Run;
use accord_scenario::{Across, Over};
use std::collections::BTreeSet;

/// The maximum number of maps next to each other.
const MOST_MAPS: usize = 3;
/// The maximum number of values of a sweep that become the ticks of its axis.
const MOST_TICKS: usize = 7;
/// The least distance between such ticks, as a fraction of the axis.
const LEAST_ROOM: f64 = 0.09;

/// The names of all points of all directories.
fn places(stored: &[Stored]) -> Vec<String> {
    let all = stored.iter().enumerate();
    let all = all.flat_map(|(i, s)| s.points.iter().map(move |p| place(stored, i, p)));
    all.collect()
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

pub fn sweep(
    stored: &[Stored],
    subjects: &[Subject],
    request: &Request,
) -> Result<Gathered, FigureError> {
    let all: Vec<&Settings> = stored.iter().flat_map(settings).collect();
    let variables = |s: &Settings| -> Vec<String> { s.iter().map(|(k, _)| k.clone()).collect() };
    let common = all.iter().all(|s| variables(s) == variables(all[0]));
    let swept = match common && !all[0].is_empty() {
        true => Swept::of(&all),
        // Runs without a common sweep are placed side by side by name.
        false => {
            let places = places(stored);
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            Swept::along(usize::MAX, String::new(), &places)
        }
    };
    let first: Vec<usize> = (stored.iter())
        .scan(0, |next, s| Some(std::mem::replace(next, *next + s.points.len())))
        .collect();
    let names: BTreeSet<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
    let names = names.len() > 1;
    let mut order: Vec<String> = Vec::new();
    let mut traces: Vec<Line> = Vec::new();
    let mut told: Vec<Vec<String>> = Vec::new();
    for subject in subjects {
        let (directory, index) = subject.at;
        let at = swept.at[first[directory] + index];
        let settings = &subject.point.manifest.scenario.point;
        let several = stored.len() > 1 && stored.iter().any(|s| s.points.len() > 1);
        let parts = [
            several.then(|| stored[directory].name()),
            common.then(|| swept.others(settings)),
            names.then(|| subject.name.clone()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|p| !p.is_empty()).collect();
        let of = show::clean(&parts.join(", "), 60);
        let colour = place_among(&mut order, of.clone());
        let mut parts = subject.parts();
        let mut others = settings.clone();
        // The variable along the axis is the same for all.
        if let Some(variable) = swept.variable.filter(|v| common && *v < settings.len()) {
            parts.remove(1 + variable);
            others.remove(variable);
        }
        if colour == told.len() {
            told.push(parts);
        }
        for (engine, runs) in subject.engines(request) {
            let Some((mean, half)) = mean(subject, &runs, request) else {
                continue;
            };
            let known = |t: &Line| t.of == of && t.engine == engine;
            let i = traces.iter().position(known).unwrap_or_else(|| {
                let none = vec![f64::NAN; swept.x.len()];
                traces.push(Line {
                    of: of.clone(),
                    settings: others.clone(),
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
    let looks = looks(&told, &order)?;
    if traces.is_empty() {
        return Err(nothing(request));
    }
    let all = traces.iter().flat_map(|t| t.y.iter().chain(&t.low).chain(&t.high));
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
    // If the measured values are few, they are the ticks.
    let at = (swept.ticks.is_none() && apart(&swept.x, ends, log)).then(|| swept.x.clone());
    let x = Axis { ticks: swept.ticks, at, log, ..Axis::linear(swept.name, swept.unit, ends) };
    Ok((x, y, Content::Lines(traces), looks))
}

/// Returns whether each value along an axis has room for its own tick.
fn apart(values: &[f64], (from, to): (f64, f64), log: bool) -> bool {
    let place = |v: f64| if log { v.ln() } else { v };
    let room = place(to) - place(from);
    let far = |pair: &[f64]| place(pair[1]) - place(pair[0]) >= LEAST_ROOM * room;
    values.len() <= MOST_TICKS && values.windows(2).all(far)
}

pub fn map(
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
            let i = panels.iter().position(|(t, _)| *t == title).unwrap_or_else(|| {
                panels.push((title, vec![f64::NAN; settings.len()]));
                panels.len() - 1
            });
            if let Some((mean, _)) = mean(subject, &runs, request)
                && let Some(place) = grid.points.iter().position(|p| *p == subject.at.1)
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
            format!("{} maps are more than the {MOST_MAPS} that fit", panels.len()),
            "name one with --engine, --of or both",
        ));
    }
    let values = panels.iter().flat_map(|(_, v)| v.iter().copied());
    let finite = values.filter(|v| v.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let value = values_axis(request, words(request.metric), high.abs(), (low, high), false);
    // Numbers of one unit share it.
    let side = |i: usize| -> (String, Vec<String>) {
        let name = show::clean(grid.names[i], 60);
        let axis = Swept::along(i, name.clone(), &grid.values[i]);
        if axis.ticks.is_some() || axis.x.len() < grid.values[i].len() {
            let words = grid.values[i].iter().map(|t| show::clean(t, 24));
            return (name, words.collect());
        }
        let numbers = axis.at.iter().map(|at| number(axis.x[*at])).collect();
        (with_unit(&name, axis.unit), numbers)
    };
    let ((up_name, up), (across_name, across)) = (side(0), side(1));
    let x = Axis::linear(format!("{across_name} / {up_name}"), "", (0.0, 1.0));
    let map = MapOf { across, up, panels };
    Ok((x, value, Content::Map(map), Vec::new()))
}
