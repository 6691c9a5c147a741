//! Figures of maps: means over two variables as shades, distinct without colours.

use super::canvas::*;
use super::{Figure, MapOf};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The room for the scale of shades.
const SCALE: i32 = 46 * POINT;

/// Draws the figure.
pub fn draw(figure: &Figure, map: &MapOf) -> String {
    let (width, height) = size(figure.width);
    on_area((width, height + LINE), |area| {
        let widest = map.up.iter().map(|t| text_width(t)).max().unwrap_or(0);
        let (across, up) = figure.x.name.split_once(" / ").unwrap_or((&figure.x.name, ""));
        let left = widest.min(60 * POINT) + LINE + 6 * POINT;
        let titled = map.panels.len() > 1;
        let top = if titled { LINE + 5 * POINT } else { 5 * POINT };
        let bottom = height + LINE - 2 * LINE - 8 * POINT;
        let gap = 6 * POINT;
        let n = map.panels.len() as i32;
        let each = (width - left - SCALE - gap * (n - 1)) / n;
        for (i, (title, values)) in map.panels.iter().enumerate() {
            let from = left + i as i32 * (each + gap);
            if titled {
                let place = (from + each / 2, 3 * POINT);
                write(area, title, place, &style(BLACK, HPos::Center, VPos::Top));
            }
            cells(area, figure, map, values, (from, top, from + each, bottom));
        }
        let rows = map.up.len() as i32;
        for (j, text) in map.up.iter().enumerate() {
            let y = bottom - (2 * j as i32 + 1) * (bottom - top) / (2 * rows);
            let text = shortened(text, 60 * POINT);
            let right = style(BLACK, HPos::Right, VPos::Center);
            write(area, &text, (left - 3 * POINT, y), &right);
        }
        let below = style(BLACK, HPos::Center, VPos::Top);
        let middle = (left + width - SCALE) / 2;
        write(area, across, (middle, bottom + LINE + 5 * POINT), &below);
        let turned = below.transform(FontTransform::Rotate270);
        write(area, up, (2 * POINT, (top + bottom) / 2), &turned);
        scale(area, figure, (width - SCALE + 6 * POINT, top, bottom));
    })
}

fn cells(
    area: &Area,
    figure: &Figure,
    map: &MapOf,
    values: &[f64],
    (x0, y0, x1, y1): (i32, i32, i32, i32),
) {
    let (columns, rows) = (map.across.len() as i32, map.up.len() as i32);
    let room = (x1 - x0) / columns;
    let texts: Vec<String> = values.iter().map(|v| rounded(v / figure.y.one, figure)).collect();
    let roomy = (y1 - y0) / rows > LINE && texts.iter().all(|t| text_width(t) < room);
    for (k, value) in values.iter().enumerate() {
        let (i, j) = (k as i32 % columns, k as i32 / columns);
        let [left, right] = [i, i + 1].map(|i| x0 + i * (x1 - x0) / columns);
        let [top, bottom] = [j + 1, j].map(|j| y1 - j * (y1 - y0) / rows);
        if !value.is_finite() {
            continue;
        }
        let part = part(*value, figure);
        area.draw(&Rectangle::new([(left, top), (right, bottom)], shade(part).filled()))
            .expect(SURE);
        if roomy {
            let ink = if part > 0.55 { WHITE } else { BLACK };
            let centre = ((left + right) / 2, (top + bottom) / 2);
            write(area, &texts[k], centre, &style(ink, HPos::Center, VPos::Center));
        }
    }
    for (i, text) in map.across.iter().enumerate() {
        let x = x0 + (2 * i as i32 + 1) * (x1 - x0) / (2 * columns);
        let below = style(BLACK, HPos::Center, VPos::Top);
        write(area, &shortened(text, room), (x, y1 + 3 * POINT), &below);
    }
}

/// The place of a value between the least and the largest.
fn part(value: f64, figure: &Figure) -> f64 {
    let (low, high) = figure.y.ends;
    if high > low { (value - low) / (high - low) } else { 0.0 }
}

/// Returns a shade from pale to dark blue. The lightness falls evenly.
fn shade(part: f64) -> RGBColor {
    let between = |a: f64, b: f64| (a + part.clamp(0.0, 1.0) * (b - a)).round() as u8;
    RGBColor(between(235.0, 10.0), between(243.0, 55.0), between(251.0, 110.0))
}

/// Returns a value with the number of decimals that makes all values distinct.
fn rounded(value: f64, figure: &Figure) -> String {
    let span = (figure.y.ends.1 - figure.y.ends.0) / figure.y.one;
    let decimals = match span {
        v if v >= 50.0 => 0,
        v if v >= 2.0 => 1,
        _ => 2,
    };
    if value.is_finite() { format!("{value:.decimals$}") } else { String::new() }
}

fn scale(area: &Area, figure: &Figure, (x, top, bottom): (i32, i32, i32)) {
    let steps = 24;
    for i in 0..steps {
        let [from, to] = [i, i + 1].map(|i| bottom - i * (bottom - top) / steps);
        let fill = shade(f64::from(i) / f64::from(steps - 1)).filled();
        area.draw(&Rectangle::new([(x, to), (x + 6 * POINT, from)], fill)).expect(SURE);
    }
    let (low, high) = figure.y.ends;
    let text = style(BLACK, HPos::Left, VPos::Center);
    for part in [0.0, 0.5, 1.0] {
        let y = bottom - (part * f64::from(bottom - top)) as i32;
        let value = rounded((low + part * (high - low)) / figure.y.one, figure);
        write(area, &value, (x + 8 * POINT, y.clamp(top + 4 * POINT, bottom - 4 * POINT)), &text);
    }
    let turned = style(BLACK, HPos::Center, VPos::Top)
        .pos(Pos::new(HPos::Center, VPos::Bottom))
        .transform(FontTransform::Rotate270);
    write(area, &figure.y.label(), (x + SCALE - 9 * POINT, (top + bottom) / 2), &turned);
}
