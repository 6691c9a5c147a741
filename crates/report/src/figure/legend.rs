//! The legend of a figure: looks for engines, and colours for subjects.

use super::canvas::*;
use super::look::Look;
use accord_scenario::Engine;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// An entry of the legend.
pub enum Entry {
    Engine(Engine, bool),
    Subject(String, Look, bool),
}

impl Entry {
    fn text(&self) -> String {
        match self {
            Entry::Engine(engine, _) => engine.to_string(),
            Entry::Subject(name, ..) => name.clone(),
        }
    }

    fn width(&self) -> i32 {
        text_width(&self.text()) + 24 * POINT
    }
}

/// Returns the places of a legend's entries, in rows from the top, and the height of all rows.
fn rows(width: i32, entries: &[Entry]) -> (Vec<(i32, i32)>, i32) {
    let (left, right) = (10 * POINT, width - 4 * POINT);
    let (mut x, mut y) = (left, 7 * POINT);
    let mut places = Vec::new();
    for entry in entries {
        if x > left && x + entry.width() > right {
            (x, y) = (left, y + LINE);
        }
        places.push((x, y));
        x += entry.width();
    }
    let height = if entries.is_empty() { 0 } else { y + 6 * POINT };
    (places, height)
}

/// The height of a legend.
pub fn legend_height(width: i32, entries: &[Entry]) -> i32 {
    rows(width, entries).1
}

/// Draws a legend.
pub fn legend(area: &Area, entries: &[Entry]) {
    let (width, _) = area.dim_in_pixel();
    let (places, _) = rows(width as i32, entries);
    for (entry, (x, y)) in entries.iter().zip(places) {
        let ends = [(x, y), (x + 14 * POINT, y)];
        match entry {
            Entry::Engine(engine, marked) => {
                line(area, &ends, *engine, BLACK);
                match (*marked, *engine) {
                    (true, engine) => sign_of(area, (x + 7 * POINT, y), 0, engine, BLACK),
                    (false, Engine::Live) => mark(area, (x + 7 * POINT, y), *engine, BLACK),
                    (false, _) => {}
                }
            }
            Entry::Subject(_, n, true) => sign(area, (x + 7 * POINT, y), *n, Engine::Packet),
            Entry::Subject(_, n, false) => {
                let stroke = colour(*n).stroke_width(24);
                let swatch = PathElement::new(ends.to_vec(), stroke);
                area.draw(&swatch).expect(SURE);
            }
        }
        let text = style(BLACK, HPos::Left, VPos::Center);
        write(area, &entry.text(), (x + 17 * POINT, y), &text);
    }
}
