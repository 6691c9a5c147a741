//! Figures of boxes: quartiles, with the 5th and 95th percentile and the mean.

use super::canvas::*;
use super::{BoxOf, Figure};
use accord_scenario::Engine;
use plotters::prelude::*;
use std::collections::BTreeSet;

/// Draws the figure.
pub fn draw(figure: &Figure, boxes: &[BoxOf]) -> String {
    on_area(size(figure.width), |area| {
        let engines: BTreeSet<Engine> = boxes.iter().map(|b| b.engine).collect();
        let engines: Vec<Engine> = engines.into_iter().collect();
        let top = match engines.len() {
            1 => 0,
            _ => key(area, &engines),
        };
        let frame = Frame::draw(area, (&figure.x, &figure.y), 0, top);
        let words = figure.x.ticks.as_deref().unwrap_or_default();
        let room = frame.x_at(1.0) - frame.x_at(0.0);
        let width = (room * 7 / 10 / engines.len() as i32).min(22 * POINT);
        for b in boxes {
            let place = words.iter().position(|w| *w == b.of).unwrap_or(0);
            let n = engines.iter().position(|e| *e == b.engine).unwrap_or(0) as i32;
            let shift = (2 * n + 1 - engines.len() as i32) * width / 2;
            let rows = b.quantiles.map(|v| frame.y_within(v / figure.y.one));
            let mean = frame.y_within(b.mean / figure.y.one);
            let centre = frame.x_at(place as f64) + shift;
            one(area, centre, width * 8 / 10, (rows, mean), b);
        }
    })
}

/// The filling of the boxes of an engine, distinct without colours.
fn fill(engine: Engine, colour: RGBColor) -> RGBAColor {
    match engine {
        Engine::Theory => WHITE.to_rgba(),
        Engine::Fluid => colour.mix(0.18),
        Engine::Packet => colour.mix(0.5),
        Engine::Live => colour.mix(0.9),
    }
}

fn one(area: &Area, x: i32, width: i32, (rows, mean): ([i32; 5], i32), b: &BoxOf) {
    let own = colour(b.colour);
    let edge = match b.engine {
        Engine::Theory => GREY,
        _ => own,
    };
    let [least, first, median, third, most] = rows;
    let (left, right) = (x - width / 2, x + width / 2);
    let stroke = edge.stroke_width(6);
    let path = |places: Vec<(i32, i32)>| area.draw(&PathElement::new(places, stroke)).expect(SURE);
    path(vec![(x, least), (x, first)]);
    path(vec![(x, third), (x, most)]);
    for end in [least, most] {
        path(vec![(x - width / 4, end), (x + width / 4, end)]);
    }
    let inside = fill(b.engine, own).filled();
    let corners = [(left, third), (right, first)];
    // Nothing behind the box shows through.
    area.draw(&Rectangle::new(corners, WHITE.filled())).expect(SURE);
    area.draw(&Rectangle::new(corners, inside)).expect(SURE);
    path(vec![(left, third), (right, third), (right, first), (left, first), (left, third)]);
    let bold = BLACK.stroke_width(10);
    area.draw(&PathElement::new(vec![(left, median), (right, median)], bold)).expect(SURE);
    area.draw(&Circle::new((x, mean), 12, WHITE.filled())).expect(SURE);
    area.draw(&Circle::new((x, mean), 12, BLACK.stroke_width(5))).expect(SURE);
}

/// The engines with their fills, in one row.
fn key(area: &Area, engines: &[Engine]) -> i32 {
    use plotters::style::text_anchor::{HPos, VPos};
    let (mut x, y) = (10 * POINT, 7 * POINT);
    for engine in engines {
        let corners = [(x, y - 3 * POINT), (x + 9 * POINT, y + 3 * POINT)];
        let inside = fill(*engine, BLACK).filled();
        area.draw(&Rectangle::new(corners, inside)).expect(SURE);
        area.draw(&Rectangle::new(corners, BLACK.stroke_width(5))).expect(SURE);
        let text = engine.to_string();
        let place = (x + 12 * POINT, y);
        write(area, &text, place, &style(BLACK, HPos::Left, VPos::Center));
        x += text_width(&text) + 22 * POINT;
    }
    y + 6 * POINT
}
