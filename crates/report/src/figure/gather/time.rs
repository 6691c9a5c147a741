//! Lines over time.

use super::{Gathered, nothing, shown_axis, words};
use crate::figure::select::{Subject, labels};
use crate::figure::{Axis, Content, FigureError, Line, Request};
use crate::range::{self, Plotted, Role};
use crate::trace::lines::{self, Kind};
use crate::trace::smooth;
use accord_record::Run;
use accord_scenario::{Engine, Fold, Window};

/// The number of subjects up to which a group's span is also drawn.
const MOST_BANDS: usize = 3;

pub fn over_time(subjects: &[Subject], request: &Request) -> Result<Gathered, FigureError> {
    let metric = request.metric;
    let (labels, looks) = labels(subjects)?;
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
            let (y, low, high) = (line(Kind::Main), line(Kind::Low), line(Kind::High));
            if y.iter().all(|v| v.is_nan()) {
                continue;
            }
            let keep = |band: Vec<f64>| if bands { band } else { vec![] };
            roles.push(match engine {
                Engine::Theory => Role::Model,
                _ => Role::Line,
            });
            traces.push(Line {
                of: of.clone(),
                settings: subject.point.manifest.scenario.point.clone(),
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
            [line(&t.y, *role), line(&t.low, Role::Span), line(&t.high, Role::Span)]
        })
        .collect();
    let start = request.time.map_or(0.0, |w| w.start.as_secs_f64());
    let steady = subjects.first().map(|s| s.point.manifest.scenario.steady_s);
    let shown = range::robust(&plotted, (start, end), steady.unwrap_or_default());
    let shown = shown.ok_or_else(|| nothing(request))?;
    let mut name = words(metric);
    if metric.fold() == Fold::Sum {
        name += " so far";
    }
    if subjects.iter().any(|s| s.entities.len() > 1) {
        name += " of a flow";
    }
    let x = Axis::linear("Time", "s", (start, end));
    Ok((x, shown_axis(request, name, shown), Content::Lines(traces), looks))
}

/// The samples of a run that are shown.
fn within(run: &Run, time: Option<Window>) -> std::ops::Range<usize> {
    time.map_or(0..run.time.len(), |window| run.within(window))
}
