//! The page of a map of stability.

use super::shell;
use crate::axis::with_unit;
use crate::markup::{escape, table};
use crate::range;
use crate::show;
use crate::stability::{Cell, Parameter, StabilityMap};
use accord_scenario::MetricUnit;
use std::fmt::Write;

const SCRIPT: &str = include_str!("../../web/map.js");

/// The factor on all gains at which the scale of colours ends.
const FULL: f64 = 4.0;
/// The number of cells up to which the page also has them as a table.
const MOST_ROWS: usize = 700;

/// The plot, in units of the drawing.
const LEFT: f64 = 64.0;
const TOP: f64 = 22.0;
const WIDTH: f64 = 400.0;
/// The height of a map of one parameter, and of two.
const HEIGHT: [f64; 2] = [60.0, 320.0];

impl StabilityMap {
    /// Returns the map as a self-contained page.
    pub fn page(&self) -> String {
        let title = format!("Stability of {}", self.id);
        let stable = self.cells.iter().filter(|c| c.growth_per_s < 0.0).count();
        let dots = if self.cells.iter().any(|c| c.packet_queue_variation.is_some()) {
            " Dots: packet simulations; the larger, the more the longest queue varies."
        } else {
            ""
        };
        let body = format!(
            "<header><h1>{}</h1>\n<p>No known mode grows at {stable} of {} places</p></header>\n<main>\n<section \
             aria-label=\"Map\">\n<p class=\"signs\">Colour: the gain margin, by what all gains can be \
             multiplied before small deviations grow. Blue: more than 1, stable. Red: less, not \
             stable. Grey: no linearisation.{dots}</p>\n<div class=\"panel\">{}<p class=\"reading \
             hint\">Point at a place to read its margins.</p></div>\n{}</section>\n</main>\n<script>{SCRIPT}</script>\n",
            escape(&title, 200),
            self.cells.len(),
            self.drawing(),
            self.table()
        );
        shell(&title, &body)
    }

    /// Returns all cells as a table.
    fn table(&self) -> String {
        if self.cells.len() > MOST_ROWS {
            return "<p class=\"signs\">All places are in <code>map.csv</code>.</p>\n".into();
        }
        let mut out = String::new();
        for cell in &self.cells {
            out.push_str("<tr>");
            for value in &cell.at {
                _ = write!(out, "<td class=\"n\">{}</td>", digits(*value));
            }
            _ = match &cell.error {
                Some(why) => write!(out, "<td colspan=\"3\">{}</td>", escape(why, 200)),
                None => write!(
                    out,
                    "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.3} /s</td>",
                    margin(cell),
                    delay(cell.delay_margin_s),
                    cell.growth_per_s
                ),
            };
            out.push_str("</tr>\n");
        }
        let axes = self.axes.iter().map(|axis| escape(&axis.named(), 100));
        let headings = axes.chain(["gain margin", "delay margin", "growth"].map(String::from));
        let table = table(headings.map(|text| (text, true)), &out);
        format!("<details><summary>As a table</summary>\n{}</details>\n", table.trim_end())
    }

    fn drawing(&self) -> String {
        let height = HEIGHT[self.axes.len().clamp(1, 2) - 1];
        let columns = self.axes[0].values.len();
        let rows = self.axes.get(1).map_or(1, |y| y.values.len());
        let (w, h) = (WIDTH / columns as f64, height / rows as f64);
        let place = |c: &Cell| {
            let [i, j] = c.place;
            (LEFT + i as f64 * w, TOP + (rows - 1 - j) as f64 * h)
        };
        let mut svg = String::new();
        for c in &self.cells {
            let (x, y) = place(c);
            let (class, part) = colour(c.gain_margin);
            _ = writeln!(
                svg,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{:.2}\" class=\"{class}\" \
                 style=\"--part:{part:.3}\"><title>{}</title></rect>",
                w + 0.3,
                h + 0.3,
                escape(&self.says(c), 300)
            );
        }
        for c in &self.cells {
            if let Some(swing) = c.packet_queue_variation {
                let (x, y) = place(c);
                let radius = 2.0 + 0.4 * w.min(h) * swing.clamp(0.0, 1.0);
                _ = writeln!(
                    svg,
                    "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius:.2}\"><title>{}; packets: the \
                     queue varies by {}</title></circle>",
                    x + w / 2.0,
                    y + h / 2.0,
                    escape(&self.says(c), 300),
                    show::quantity(swing, MetricUnit::Ratio)
                );
            }
        }
        _ = writeln!(
            svg,
            "<rect class=\"axis\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{height}\" \
             pointer-events=\"none\"/>"
        );
        self.labels(&mut svg, height);
        scale(&mut svg, TOP + height + 62.0);
        let all = TOP + height + 92.0;
        let right = LEFT + WIDTH + 24.0;
        format!(
            "<svg class=\"map\" viewBox=\"0 0 {right:.0} {all:.0}\" role=\"img\" aria-label=\"map of gain margins\">\n{svg}</svg>\n"
        )
    }

    /// Returns the result at a place, in one line.
    fn says(&self, c: &Cell) -> String {
        let at = self.values(c).map(|(axis, v)| {
            format!("{} = {} {}", axis.path, digits(v), axis.unit).trim_end().to_string()
        });
        let at = at.collect::<Vec<_>>().join(", ");
        match &c.error {
            Some(why) => format!("{at}: {why}"),
            None => format!(
                "{at}: gain margin {}, delay margin {}, small deviations {} by e in {}",
                margin(c),
                delay(c.delay_margin_s),
                if c.growth_per_s < 0.0 { "decay" } else { "grow" },
                show::quantity(1.0 / c.growth_per_s.abs(), MetricUnit::Seconds),
            ),
        }
    }

    /// Draws the numbers and names of the axes.
    fn labels(&self, svg: &mut String, height: f64) {
        let mut text = |(x, y): (f64, f64), anchor: &str, text: &str| {
            _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                escape(text, 120)
            );
        };
        for (part, tick) in self.axes[0].ticks() {
            text((LEFT + part * WIDTH, TOP + height + 15.0), "middle", &tick);
        }
        let middle = LEFT + WIDTH / 2.0;
        text((middle, TOP + height + 32.0), "middle", &self.axes[0].named());
        if let Some(axis) = self.axes.get(1) {
            for (part, tick) in axis.ticks() {
                text((LEFT - 6.0, TOP + (1.0 - part) * height + 4.0), "end", &tick);
            }
            text((4.0, TOP - 8.0), "start", &axis.named());
        }
    }
}

impl Parameter {
    fn named(&self) -> String {
        with_unit(&self.path, &self.unit)
    }

    /// Returns round numbers along the axis, each with its place from 0 to 1.
    fn ticks(&self) -> Vec<(f64, String)> {
        let [from, to] = [self.values.first(), self.values.last()].map(|v| *v.unwrap_or(&0.0));
        // A value is in the middle of its cell.
        let half = (to - from) / (2.0 * (self.values.len() - 1).max(1) as f64);
        let part = |v: f64| (v - from + half) / (to - from + 2.0 * half);
        let ticks = range::ticks(from, to, 5).into_iter();
        ticks.map(|v| (part(v), digits(v))).collect()
    }
}

/// Returns a number with at most four decimals.
fn digits(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn margin(c: &Cell) -> String {
    match (c.gain_margin.is_finite(), c.growth_per_s < 0.0) {
        (true, _) => format!("{:.3}", c.gain_margin),
        (false, true) => "without limit".into(),
        (false, false) => show::NONE.into(),
    }
}

fn delay(seconds: f64) -> String {
    if seconds.is_finite() {
        show::quantity(seconds, MetricUnit::Seconds)
    } else {
        show::NONE.into()
    }
}

/// Returns the class of the colour and its strength: blue for stable, red for unstable, and neither
/// at the limit.
fn colour(gain: f64) -> (&'static str, f64) {
    if gain.is_nan() {
        return ("none", 0.0);
    }
    let part = (gain.clamp(1e-3, 1e3).ln() / FULL.ln()).clamp(-1.0, 1.0);
    (if part > 0.0 { "good" } else { "bad" }, part.abs())
}

/// Draws the scale of colours.
fn scale(svg: &mut String, y: f64) {
    let steps = 40;
    let wide = 240.0;
    let left = LEFT + (WIDTH - wide) / 2.0;
    for i in 0..steps {
        let part = 2.0 * (f64::from(i) + 0.5) / f64::from(steps) - 1.0;
        let (class, strength) = colour(FULL.powf(part));
        let x = left + wide * f64::from(i) / f64::from(steps);
        _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"{:.1}\" height=\"9\" class=\"{class}\" \
             style=\"--part:{strength:.3}\" pointer-events=\"none\"/>",
            wide / f64::from(steps) + 0.2
        );
    }
    for (place, text) in [(0.0, "≤ 1/4"), (0.25, "1/2"), (0.5, "1"), (0.75, "2"), (1.0, "≥ 4")]
    {
        let x = left + wide * place;
        _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.0}\" dy=\"22\" text-anchor=\"middle\">{text}</text>"
        );
    }
    _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{y:.0}\" dy=\"8\" text-anchor=\"end\">gain margin</text>",
        left - 8.0
    );
}

#[cfg(test)]
mod tests {
    use crate::stability::tests::map;

    #[test]
    fn the_page_escapes_what_it_says() {
        let page = map().page();
        assert_eq!(page.matches("</title></rect>").count(), 3);
        assert_eq!(page.matches("<circle").count(), 1);
        assert!(page.contains("a&lt;b") && !page.contains("a<b"));
        assert!(page.contains("no &lt;law&gt;"));
        assert!(page.contains("default-src 'none'"), "as all pages");
    }
}
