//! Figures of lines: over time, of distributions, and over a sweep.

use super::adjust::facet_of;
use super::canvas::*;
use super::legend::{Entry, legend, legend_height};
use super::{Figure, Kind, Line, canvas};
use crate::trace::thin::Thinning;
use accord_scenario::Engine;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use std::collections::BTreeSet;

/// The maximum number of samples of a line. More would be invisible on paper.
const MOST_SAMPLES: usize = 1200;
/// The widest label at the end of a line.
const WIDEST: i32 = 62 * POINT;
/// The number of circles on a live line.
const CIRCLES: usize = 9;

/// Draws the figure.
pub fn draw(figure: &Figure, traces: &[Line]) -> String {
    let mut traces: Vec<&Line> = traces.iter().collect();
    traces.sort_by_key(|t| order(t.engine));
    let subjects: BTreeSet<(usize, &str)> =
        traces.iter().map(|t| (t.colour, t.of.as_str())).collect();
    let engines: BTreeSet<Engine> = traces.iter().map(|t| t.engine).collect();
    let direct = match &figure.facet {
        None => beside(figure, &traces, subjects.len()),
        Some(_) => None,
    };
    let mut entries = Vec::new();
    let marked = figure.kind == Kind::Sweep;
    if engines.len() > 1 {
        entries.extend(engines.iter().map(|e| Entry::Engine(*e, marked)));
    }
    if direct.is_none() && subjects.len() > 1 {
        let named =
            |(n, of): &(usize, &str)| Entry::Subject(of.to_string(), figure.look(*n), marked);
        entries.extend(subjects.iter().map(named));
    }
    let room = direct.as_ref().map_or(0, |labels| {
        let widest = labels.iter().map(|(_, _, text)| text_width(text)).max();
        widest.unwrap_or(0) + 8 * POINT
    });
    let (width, height) = size(figure.width);
    let top = legend_height(width, &entries);
    // A legend of several rows makes the figure higher, rather than the plot smaller.
    let more = (top - LINE - 6 * POINT).max(0);
    let facets = facets(figure, &traces);
    if facets.len() > 1 {
        let titles = LINE * facets.len() as i32;
        let high = (height - LINE) * facets.len() as i32 + titles + top;
        return on_area((width, high), |area| {
            legend(area, &entries);
            let (_, below) = area.split_vertically(top);
            for ((title, traces), area) in facets.iter().zip(below.split_evenly((facets.len(), 1)))
            {
                let at = (width / 2, 3 * POINT);
                write(&area, title, at, &style(BLACK, HPos::Center, VPos::Top));
                let frame = Frame::draw(&area, (&figure.x, &figure.y), 0, LINE);
                Drawn::new(figure, frame, traces).all(&area, traces);
            }
        });
    }
    on_area((width, height + more), |area| {
        legend(area, &entries);
        let frame = Frame::draw(area, (&figure.x, &figure.y), room, top);
        let drawn = Drawn::new(figure, frame, &traces);
        drawn.all(area, &traces);
        for (value, n, text) in direct.unwrap_or_default() {
            let at = (drawn.frame.right + 4 * POINT, drawn.frame.y_at(value));
            write(area, &text, at, &style(colour(figure.look(n)), HPos::Left, VPos::Center));
        }
    })
}

/// Returns the lines of each plot, with its title. There is a single plot unless facets are
/// requested.
fn facets<'a>(figure: &Figure, traces: &[&'a Line]) -> Vec<(String, Vec<&'a Line>)> {
    let mut found: Vec<(String, Vec<&Line>)> = Vec::new();
    for t in traces {
        let facet = figure.facet.as_deref();
        let title = facet.and_then(|facet| facet_of(t, facet)).unwrap_or_default();
        match found.iter_mut().find(|(known, _)| *known == title) {
            Some((_, same)) => same.push(t),
            None => found.push((title, vec![t])),
        }
    }
    found
}

/// Returns the labels at the ends of the lines, each with its value and colour, if all lines end at
/// the edge and far enough from each other.
fn beside(figure: &Figure, traces: &[&Line], subjects: usize) -> Option<Vec<(f64, usize, String)>> {
    if subjects < 2 || figure.kind == Kind::Cdf || figure.y.log {
        return None;
    }
    let mut labels: Vec<(f64, usize, String)> = Vec::new();
    // Measured lines take precedence over models.
    for t in traces.iter().filter(|t| t.engine != Engine::Theory).chain(traces) {
        if labels.iter().any(|(_, n, _)| *n == t.colour) {
            continue;
        }
        let last = t.y.iter().rposition(|v| v.is_finite())?;
        if last * 100 < t.y.len() * 97 && last + 1 < t.y.len() || text_width(&t.of) > WIDEST {
            return None;
        }
        labels.push((t.y[last] / figure.y.one, t.colour, t.of.clone()));
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (from, to) = (figure.y.ends.0 / figure.y.one, figure.y.ends.1 / figure.y.one);
    let height = f64::from(size(figure.width).1 - 5 * LINE);
    let apart = |pair: &[(f64, usize, String)]| {
        (pair[1].0 - pair[0].0) / (to - from) * height >= f64::from(LINE)
    };
    let inside = |(v, ..): &(f64, usize, String)| (from..=to).contains(v);
    (labels.windows(2).all(apart) && labels.iter().all(inside)).then_some(labels)
}

struct Drawn<'a> {
    figure: &'a Figure,
    frame: Frame,
    /// The subject and the engine of each line, in the order of points side by side.
    order: Vec<(usize, Engine)>,
}

/// The fraction of a word's room that points side by side take, and the most for two of them.
const DODGE: (f64, f64) = (0.7, 0.16);

impl<'a> Drawn<'a> {
    fn new(figure: &'a Figure, frame: Frame, traces: &[&Line]) -> Drawn<'a> {
        let mut order: Vec<(usize, Engine)> = traces.iter().map(|t| (t.colour, t.engine)).collect();
        order.sort_by_key(|(n, engine)| (*n, canvas::order(*engine)));
        order.dedup();
        Drawn { figure, frame, order }
    }

    fn colour(&self, t: &Line) -> RGBColor {
        colour(self.figure.look(t.colour))
    }

    /// Draws the rate of a link in grey behind the lines.
    fn capacity(&self, area: &Area) {
        let Some((x, y)) = &self.figure.capacity else {
            return;
        };
        for top in self.places(x, y) {
            let (Some(first), Some(last)) = (top.first(), top.last()) else { continue };
            let inside = |(x, y): (i32, i32)| (x, y.clamp(self.frame.top, self.frame.bottom));
            let ends = [(last.0, self.frame.bottom), (first.0, self.frame.bottom)];
            let around: Vec<_> = top.iter().copied().map(inside).chain(ends).collect();
            area.draw(&Polygon::new(around, GREY.mix(0.18).filled())).expect(SURE);
        }
    }

    fn all(&self, area: &Area, traces: &[&Line]) {
        self.capacity(area);
        traces.iter().for_each(|t| self.band(area, t));
        traces.iter().for_each(|t| self.line(area, t));
    }

    /// Returns the places of values, in stretches without gaps.
    fn places(&self, x: &[f64], y: &[f64]) -> Vec<Vec<(i32, i32)>> {
        let place = |(x, y): (&f64, &f64)| {
            let (ax, ay) = (x / self.figure.x.one, y / self.figure.y.one);
            (self.frame.x_at(ax), self.frame.y_at(ay))
        };
        let both: Vec<(&f64, &f64)> = x.iter().zip(y).collect();
        let known = |(_, y): &(&f64, &f64)| y.is_finite();
        let stretches = both.chunk_by(|a, b| known(a) == known(b));
        let stretches = stretches.filter(|s| known(&s[0]));
        stretches.map(|s| s.iter().copied().map(place).collect()).collect()
    }

    /// Returns a line without more samples than are visible.
    fn thin(&self, t: &Line, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        if self.figure.kind != Kind::Time {
            return (t.x.clone(), y.to_vec());
        }
        let thinning = Thinning::to(MOST_SAMPLES, y.len());
        let values = thinning.line(y);
        let (_, step, _) = thinning.axis(&t.x);
        if values.len() == y.len() {
            (t.x.clone(), values)
        } else {
            let first = t.x[0];
            let time = (0..values.len()).map(|i| first + step * i as f64);
            (time.collect(), values)
        }
    }

    /// The span of a group's flows.
    fn band(&self, area: &Area, t: &Line) {
        if self.figure.kind != Kind::Time || t.low.is_empty() {
            return;
        }
        let (x, low) = self.thin(t, &t.low);
        let (_, high) = self.thin(t, &t.high);
        for (low, high) in self.places(&x, &low).into_iter().zip(self.places(&x, &high)) {
            let edge = |(x, y): (i32, i32)| (x, y.clamp(self.frame.top, self.frame.bottom));
            let around: Vec<_> = low.into_iter().chain(high.into_iter().rev()).map(edge).collect();
            area.draw(&Polygon::new(around, self.colour(t).mix(0.13).filled())).expect(SURE);
        }
    }

    fn line(&self, area: &Area, t: &Line) {
        let (x, y) = self.thin(t, &t.y);
        let own = self.colour(t);
        let words = self.figure.x.ticks.is_some();
        for stretch in self.places(&x, &y) {
            // A sample between gaps does not form a line.
            if let ([place], Kind::Time) = (&stretch[..], self.figure.kind)
                && (self.frame.top..=self.frame.bottom).contains(&place.1)
            {
                mark(area, *place, t.engine, own);
            }
            // Words have no order, so a line would be meaningless.
            if !words {
                for part in clipped(&self.frame, &stretch) {
                    line(area, &part, t.engine, own);
                }
            }
        }
        match self.figure.kind {
            Kind::Sweep => self.points(area, t),
            _ if t.engine == Engine::Live => {
                let places: Vec<(i32, i32)> = self.places(&x, &y).into_iter().flatten().collect();
                let step = (places.len() / CIRCLES).max(1);
                // The circles of other lines are between these.
                let first = step * (1 + t.colour % 3) / 4;
                let seen = |(_, y): &&(i32, i32)| (self.frame.top..=self.frame.bottom).contains(y);
                for place in places.iter().skip(first).step_by(step).filter(seen) {
                    mark(area, *place, t.engine, own);
                }
            }
            _ => {}
        }
    }

    /// Draws the points of a sweep with their intervals. Over words they are side by side, so none
    /// hides another.
    fn points(&self, area: &Area, t: &Line) {
        let own = self.colour(t);
        let (part, most) = DODGE;
        let lines = self.order.len() as f64;
        let place = self.order.iter().position(|o| *o == (t.colour, t.engine));
        let place = place.unwrap_or_default() as f64 - (lines - 1.0) / 2.0;
        let shift =
            if self.figure.x.ticks.is_some() { place * (part / lines).min(most) } else { 0.0 };
        for (i, (&x, &y)) in t.x.iter().zip(&t.y).enumerate() {
            if !y.is_finite() {
                continue;
            }
            let scaled = |v: f64| v / self.figure.y.one;
            let (px, py) =
                (self.frame.x_at(x / self.figure.x.one + shift), self.frame.y_at(scaled(y)));
            let seen = (self.frame.left..=self.frame.right).contains(&px)
                && (self.frame.top..=self.frame.bottom).contains(&py);
            if !seen {
                continue;
            }
            if t.low[i].is_finite() && t.high[i] > t.low[i] {
                let ends = [t.low[i], t.high[i]].map(|v| self.frame.y_within(scaled(v)));
                let bar = vec![(px, ends[0]), (px, ends[1])];
                area.draw(&PathElement::new(bar, own.stroke_width(6))).expect(SURE);
                for end in ends {
                    let cap = vec![(px - 2 * POINT, end), (px + 2 * POINT, end)];
                    area.draw(&PathElement::new(cap, own.stroke_width(6))).expect(SURE);
                }
            }
            sign(area, (px, py), self.figure.look(t.colour), t.engine);
        }
    }
}
