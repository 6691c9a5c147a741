//! The common parts of all figures: the area, fonts, colours, the looks of engines, labels.

use super::look::Look;
use super::{Axis, Width};
use crate::range;
use accord_scenario::Engine;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The units of the drawing per point, since plotters uses whole numbers.
pub const POINT: i32 = 10;
/// The size of all text.
const FONT: i32 = 8 * POINT;
/// The height of a line of text.
pub const LINE: i32 = 10 * POINT;
/// The font family. It falls back to any sans-serif font.
const FAMILY: &str = "Helvetica, Arial, sans-serif";

pub const GREY: RGBColor = RGBColor(115, 115, 115);
const RULE: RGBColor = RGBColor(225, 225, 225);

/// Okabe and Ito's palette, which is distinct for any colour vision. The page has the same one.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(176, 86, 143),
    RGBColor(179, 134, 0),
    RGBColor(43, 155, 214),
    RGBColor(68, 68, 68),
    RGBColor(138, 109, 59),
];

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The message for writing to a string, which never fails.
pub const SURE: &str = "nothing fails in memory";

/// The widest word of a vertical axis.
const WORD: i32 = 70 * POINT;

/// The size of a figure, in units of the drawing.
pub fn size(width: Width) -> (i32, i32) {
    match width {
        Width::Column => (252 * POINT, 158 * POINT),
        Width::Page => (515 * POINT + POINT / 2, 190 * POINT),
    }
}

/// Draws on an area of that size, and returns the SVG.
pub fn on_area((width, height): (i32, i32), draw: impl FnOnce(&Area)) -> String {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, (width as u32, height as u32));
        let area = area.into_drawing_area();
        draw(&area);
        area.present().expect(SURE);
    }
    out
}

/// Sets the size in inches and the title of a drawing.
pub fn in_inches(svg: &str, title: &str) -> String {
    let (_, rest) = svg.split_once("viewBox=\"0 0 ").unwrap_or(("", svg));
    let (view, rest) = rest.split_once('"').unwrap_or(("0 0", rest));
    let (_, body) = rest.split_once('>').unwrap_or(("", rest));
    let inches = |text: Option<&str>| {
        let units: f64 = text.and_then(|t| t.parse().ok()).unwrap_or(0.0);
        units / f64::from(72 * POINT)
    };
    let mut sides = view.split(' ');
    let (width, height) = (inches(sides.next()), inches(sides.next()));
    format!(
        "<svg width=\"{width:.3}in\" height=\"{height:.3}in\" viewBox=\"0 0 {view}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>{body}",
        crate::markup::escape(title, 300)
    )
}

/// Returns drawings stacked vertically as one, each with its own dimensions.
pub fn stack(drawings: &[String]) -> String {
    let side = |svg: &str| -> (f64, f64) {
        let view = svg.split_once("viewBox=\"0 0 ").and_then(|(_, rest)| rest.split_once('"'));
        let (width, height) = view.and_then(|(view, _)| view.split_once(' ')).unwrap_or_default();
        (width.parse().unwrap_or(0.0), height.parse().unwrap_or(0.0))
    };
    let sides: Vec<(f64, f64)> = drawings.iter().map(|svg| side(svg)).collect();
    let width = sides.iter().map(|(w, _)| *w).fold(0.0, f64::max);
    let (mut body, mut top) = (String::new(), 0.0);
    for (svg, (w, h)) in drawings.iter().zip(sides) {
        let (_, inner) = svg.split_once("viewBox").unwrap_or_default();
        let (_, inner) = inner.split_once('>').unwrap_or_default();
        body += &format!(
            "<svg x=\"0\" y=\"{top}\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">{inner}"
        );
        top += h;
    }
    format!(
        "<svg viewBox=\"0 0 {width} {top}\" xmlns=\"http://www.w3.org/2000/svg\">{body}</svg>\n"
    )
}

/// Draws the title at the top of a figure.
pub fn heading(text: &str, width: Width) -> String {
    let (width, _) = size(width);
    on_area((width, LINE + 4 * POINT), |area| {
        let text = shortened(text, width - 8 * POINT);
        write(area, &text, (width / 2, 3 * POINT), &style(BLACK, HPos::Center, VPos::Top));
    })
}

/// The colour of a subject.
pub fn colour(look: Look) -> RGBColor {
    look.shaded(COLOURS[look.hue % COLOURS.len()])
}

/// Returns the width of a text, which is approximate because the reader chooses the fonts.
pub fn text_width(text: &str) -> i32 {
    let wide = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ' ' | '(' | ')' | '/' | ':' | '-' => 0.33,
        'm' | 'w' | '%' => 0.86,
        c if c.is_uppercase() => 0.7,
        _ => 0.56,
    };
    (text.chars().map(wide).sum::<f64>() * f64::from(FONT)) as i32
}

pub fn style<'a>(colour: RGBColor, h: HPos, v: VPos) -> TextStyle<'a> {
    TextStyle {
        font: (FAMILY, FONT).into_font(),
        color: colour.to_backend_color(),
        pos: Pos::new(h, v),
    }
}

pub fn write(area: &Area, text: &str, at: (i32, i32), style: &TextStyle) {
    area.draw(&Text::new(text.to_string(), at, style.clone())).expect(SURE);
}

/// The look of an engine's lines, distinct without colours: fluid is broad and pale, packets thin,
/// live has circles, theory is dashed and grey.
pub fn stroke(engine: Engine, colour: RGBColor) -> ShapeStyle {
    let (colour, width) = match engine {
        Engine::Theory => (GREY.to_rgba(), 11),
        Engine::Fluid => (colour.mix(0.38), 28),
        Engine::Packet | Engine::Live => (colour.to_rgba(), 8),
    };
    colour.stroke_width(width)
}

/// The order of an engine's lines: theory is on top, since it must stand out from the noise.
pub const fn order(engine: Engine) -> u8 {
    match engine {
        Engine::Fluid => 0,
        Engine::Packet => 1,
        Engine::Live => 2,
        Engine::Theory => 3,
    }
}

/// Draws a line through places on the area, in an engine's look.
pub fn line(area: &Area, places: &[(i32, i32)], engine: Engine, colour: RGBColor) {
    let stroke = stroke(engine, colour);
    match engine {
        Engine::Theory => dashed(area, places, stroke),
        _ => area.draw(&PathElement::new(places.to_vec(), stroke)).expect(SURE),
    }
}

/// Draws dashes of 4 pt and gaps of 2 pt.
fn dashed(area: &Area, places: &[(i32, i32)], stroke: ShapeStyle) {
    let (dash, gap) = (f64::from(4 * POINT), f64::from(2 * POINT));
    let mut drawn = true;
    let mut left = dash;
    let mut piece: Vec<(i32, i32)> = places.first().copied().into_iter().collect();
    for pair in places.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let part = done / length;
            let at = |a: f64, b: f64| (a + part * (b - a)).round() as i32;
            let place = (at(from.0, to.0), at(from.1, to.1));
            if drawn {
                piece.push(place);
                area.draw(&PathElement::new(std::mem::take(&mut piece), stroke)).expect(SURE);
            }
            piece = vec![place];
            drawn = !drawn;
            left = if drawn { dash } else { gap };
        }
        left -= length - done;
        piece.push(pair[1]);
    }
    if drawn && piece.len() > 1 {
        area.draw(&PathElement::new(piece, stroke)).expect(SURE);
    }
}

/// Draws the mark of a single point: theory a square, fluid a diamond, packets a dot, live a circle.
pub fn mark(area: &Area, (x, y): (i32, i32), engine: Engine, colour: RGBColor) {
    let size = 17;
    let path = |corners: [(i32, i32); 4], style: ShapeStyle| {
        let places: Vec<_> =
            corners.iter().map(|(a, b)| (x + a * size / 10, y + b * size / 10)).collect();
        area.draw(&Polygon::new(places, style)).expect(SURE);
    };
    match engine {
        Engine::Theory => path([(-8, -8), (8, -8), (8, 8), (-8, 8)], GREY.filled()),
        Engine::Fluid => path([(-14, 0), (0, -14), (14, 0), (0, 14)], colour.mix(0.5).filled()),
        Engine::Packet => area.draw(&Circle::new((x, y), size, colour.filled())).expect(SURE),
        Engine::Live => {
            area.draw(&Circle::new((x, y), size, WHITE.filled())).expect(SURE);
            let ring = colour.stroke_width(7);
            area.draw(&Circle::new((x, y), size, ring)).expect(SURE);
        }
    }
}

/// Draws the mark of a point of a sweep. Its shape and colour show the subject, and its filling the engine:
/// theory is a grey outline, the fluid is pale, packets are filled, and live is an outline.
pub fn sign(area: &Area, place: (i32, i32), look: Look, engine: Engine) {
    sign_of(area, place, look.shape(), engine, colour(look));
}

/// Draws a mark as [`sign`] does, in another colour.
pub fn sign_of(area: &Area, (x, y): (i32, i32), shape: usize, engine: Engine, colour: RGBColor) {
    let size = 19;
    let corners: &[(i32, i32)] = match shape % SHAPES {
        0 => &[],
        1 => &[(-9, -9), (9, -9), (9, 9), (-9, 9)],
        2 => &[(0, -12), (11, 8), (-11, 8)],
        3 => &[(-13, 0), (0, -13), (13, 0), (0, 13)],
        4 => &[(0, 12), (11, -8), (-11, -8)],
        _ => &[
            (-13, -4),
            (-4, -4),
            (-4, -13),
            (4, -13),
            (4, -4),
            (13, -4),
            (13, 4),
            (4, 4),
            (4, 13),
            (-4, 13),
            (-4, 4),
            (-13, 4),
        ],
    };
    let (fill, edge) = match engine {
        Engine::Theory => (WHITE.to_rgba(), GREY),
        Engine::Fluid => (colour.mix(0.4), colour),
        Engine::Packet => (colour.to_rgba(), colour),
        Engine::Live => (WHITE.to_rgba(), colour),
    };
    let edge = edge.stroke_width(6);
    if corners.is_empty() {
        area.draw(&Circle::new((x, y), size, fill.filled())).expect(SURE);
        area.draw(&Circle::new((x, y), size, edge)).expect(SURE);
        return;
    }
    let at = |(a, b): &(i32, i32)| (x + a * size / 10, y + b * size / 10);
    let mut places: Vec<_> = corners.iter().map(at).collect();
    area.draw(&Polygon::new(places.clone(), fill.filled())).expect(SURE);
    places.push(places[0]);
    area.draw(&PathElement::new(places, edge)).expect(SURE);
}

/// The number of shapes of marks.
const SHAPES: usize = 6;

/// Returns a number for an axis, without trailing zeros.
pub fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e6) {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').replace('-', "\u{2212}")
}

/// The plot's frame: its position, and the spans of its axes.
pub struct Frame {
    pub left: i32,
    pub right: i32,
    pub top: i32,
    pub bottom: i32,
    x: (f64, f64, bool),
    y: (f64, f64, bool),
}

impl Frame {
    /// Draws the axes of a figure within the area, with `right` and `top` left free.
    pub fn draw(area: &Area, (x, y): (&Axis, &Axis), right: i32, top: i32) -> Frame {
        let (width, height) = area.dim_in_pixel();
        let (width, height) = (width as i32, height as i32);
        let scaled = |axis: &Axis| (axis.ends.0 / axis.one, axis.ends.1 / axis.one, axis.log);
        let (sx, sy) = (scaled(x), scaled(y));
        let marks = |(from, to, log): (f64, f64, bool), count| {
            if log { range::decades(from, to) } else { range::ticks(from, to, count) }
        };
        let y_ticks: Vec<(f64, String)> = match &y.ticks {
            Some(words) => {
                let word = |(i, word): (usize, &String)| (i as f64, shortened(word, WORD));
                words.iter().enumerate().map(word).collect()
            }
            None => marks(sy, 5).into_iter().map(|v| (v, number(v))).collect(),
        };
        let widest = y_ticks.iter().map(|(_, text)| text_width(text)).max().unwrap_or(0);
        let mut frame = Frame {
            left: widest + LINE + 9 * POINT,
            right: width - right.max(6 * POINT),
            top: top + 4 * POINT,
            bottom: height - 2 * LINE - 8 * POINT,
            x: sx,
            y: sy,
        };
        if x.label().is_empty() {
            frame.bottom += LINE;
        }
        let rule = RULE.stroke_width(5);
        let axis = BLACK.stroke_width(5);
        for (v, text) in &y_ticks {
            let at = frame.y_at(*v);
            if y.ticks.is_none() {
                let across = vec![(frame.left, at), (frame.right, at)];
                area.draw(&PathElement::new(across, rule)).expect(SURE);
            }
            let tick = vec![(frame.left - 2 * POINT, at), (frame.left, at)];
            area.draw(&PathElement::new(tick, axis)).expect(SURE);
            let place = (frame.left - 4 * POINT, at);
            write(area, text, place, &style(BLACK, HPos::Right, VPos::Center));
        }
        let below = style(BLACK, HPos::Center, VPos::Top);
        let tick = |at: i32, text: &str| {
            let path = vec![(at, frame.bottom), (at, frame.bottom + 2 * POINT)];
            area.draw(&PathElement::new(path, axis)).expect(SURE);
            write(area, text, (at, frame.bottom + 4 * POINT), &below);
        };
        match &x.ticks {
            Some(words) => {
                let room = (frame.right - frame.left) / words.len().max(1) as i32;
                for (i, word) in words.iter().enumerate() {
                    tick(frame.x_at(i as f64), &shortened(word, room));
                }
            }
            None => {
                let room = (frame.right - frame.left) / (28 * POINT);
                let given = x.at.as_ref().map(|at| at.iter().map(|v| v / x.one).collect());
                let given = given.filter(|at: &Vec<f64>| at.len() as i32 <= room);
                for v in given.unwrap_or_else(|| marks(sx, room.clamp(3, 10) as usize)) {
                    if (sx.0.min(sx.1)..=sx.0.max(sx.1)).contains(&v) {
                        tick(frame.x_at(v), &number(v));
                    }
                }
            }
        }
        let corner =
            vec![(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)];
        area.draw(&PathElement::new(corner, axis)).expect(SURE);
        let middle = (frame.left + frame.right) / 2;
        write(area, &x.label(), (middle, height - LINE - 2 * POINT), &below);
        let turned = style(BLACK, HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
        let centre = (frame.top + frame.bottom) / 2;
        write(area, &y.label(), (2 * POINT, centre), &turned);
        frame
    }

    /// Returns the column of a value in the drawn unit.
    pub fn x_at(&self, value: f64) -> i32 {
        self.left + (part(value, self.x) * f64::from(self.right - self.left)).round() as i32
    }

    /// Returns the row of a value in the drawn unit.
    pub fn y_at(&self, value: f64) -> i32 {
        self.bottom - (part(value, self.y) * f64::from(self.bottom - self.top)).round() as i32
    }

    /// Returns the row of a value, limited to the edge.
    pub fn y_within(&self, value: f64) -> i32 {
        self.y_at(value).clamp(self.top, self.bottom)
    }
}

/// Returns the place of a value between the ends of an axis. The place is bounded so that it can be
/// drawn.
fn part(value: f64, (from, to, log): (f64, f64, bool)) -> f64 {
    let part = if log {
        (value.max(from * 1e-3) / from).ln() / (to / from).ln()
    } else {
        (value - from) / (to - from)
    };
    part.clamp(-20.0, 20.0)
}

/// Returns as much of a text as fits into `room`.
pub fn shortened(text: &str, room: i32) -> String {
    let mut short = text.to_string();
    let mut left = text.chars().count();
    while text_width(&short) > room && left > 2 {
        left -= 1;
        short = text.chars().take(left).collect::<String>() + "…";
    }
    short
}

/// Returns the parts of a line within the frame.
pub fn clipped(frame: &Frame, places: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    let mut parts = Vec::new();
    let mut part: Vec<(i32, i32)> = Vec::new();
    for pair in places.windows(2) {
        match within(frame, pair[0], pair[1]) {
            Some((from, to)) => {
                if part.last() != Some(&from) {
                    parts.push(std::mem::take(&mut part));
                    part.push(from);
                }
                part.push(to);
            }
            None => parts.push(std::mem::take(&mut part)),
        }
    }
    parts.push(part);
    parts.retain(|p| p.len() > 1);
    parts
}

/// Returns the part of a segment within the frame, by Liang and Barsky.
fn within(frame: &Frame, a: (i32, i32), b: (i32, i32)) -> Option<((i32, i32), (i32, i32))> {
    let (ax, ay) = (f64::from(a.0), f64::from(a.1));
    let (dx, dy) = (f64::from(b.0) - ax, f64::from(b.1) - ay);
    let (mut from, mut to) = (0.0f64, 1.0f64);
    let edges = [
        (-dx, ax - f64::from(frame.left)),
        (dx, f64::from(frame.right) - ax),
        (-dy, ay - f64::from(frame.top)),
        (dy, f64::from(frame.bottom) - ay),
    ];
    for (towards, room) in edges {
        if towards == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if towards < 0.0 {
            from = from.max(room / towards);
        } else {
            to = to.min(room / towards);
        }
    }
    let at = |t: f64| ((ax + t * dx).round() as i32, (ay + t * dy).round() as i32);
    (from <= to).then(|| (at(from), at(to)))
}
