//! Maps of stability over one or two parameters: as a table (CSV) and as a page.

use crate::page::{escape, shell};
use serde::Serialize;
use std::fmt::Write;

/// The margins of an equilibrium over one or two parameters. As JSON, a number that is infinite or
/// unknown is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StabilityMap {
    /// The id of the scenario.
    pub id: String,
    /// The parameters: one or two.
    pub axes: Vec<Parameter>,
    /// A cell for each combination of values.
    pub cells: Vec<Cell>,
}

/// A parameter of a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its path in the scenario.
    pub path: String,
    /// The unit of its values, or "".
    pub unit: String,
    /// Its values, evenly spaced.
    #[serde(skip)]
    pub values: Vec<f64>,
}

/// The result at one place of a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The value of each parameter.
    pub at: Vec<f64>,
    /// The index of that value; the second is 0 in a map of one parameter.
    #[serde(skip)]
    pub place: [usize; 2],
    /// By what all gains can be multiplied before small deviations grow.
    pub gain_margin: f64,
    /// The delay that can be added before small deviations grow, in seconds.
    pub delay_margin_s: f64,
    /// The rate at which small deviations grow, in 1/s; negative where the equilibrium is stable.
    pub growth_per_s: f64,
    /// The coefficient of variation of the longest queue in packets, where packets were run.
    pub packet_queue_variation: Option<f64>,
    /// Why there is no result.
    pub error: Option<String>,
}

impl Parameter {
    fn label(&self) -> String {
        match self.unit.is_empty() {
            true => self.path.clone(),
            false => format!("{} in {}", self.path, self.unit),
        }
    }
}

impl StabilityMap {
    /// Returns the values of the parameters at a cell.
    fn values<'a>(&'a self, cell: &'a Cell) -> impl Iterator<Item = (&'a Parameter, f64)> {
        self.axes.iter().zip(cell.at.iter().copied())
    }

    /// Returns the map as CSV: the parameters, the margins, and what packets do.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        for axis in &self.axes {
            _ = write!(out, "\"{}\",", axis.label());
        }
        out += "gain_margin,delay_margin_s,growth_per_s,packet_queue_variation\n";
        for c in &self.cells {
            for (_, value) in self.values(c) {
                _ = write!(out, "{value},");
            }
            let swing = c.packet_queue_variation;
            _ = writeln!(
                out,
                "{},{},{},{}",
                known(c.gain_margin, |v| format!("{v:.6}")),
                known(c.delay_margin_s, |v| format!("{v:.6e}")),
                known(c.growth_per_s, |v| format!("{v:.6e}")),
                swing.map_or(String::new(), |s| format!("{s:.4}"))
            );
        }
        out
    }

    /// Returns the map as a page that stands alone.
    pub fn page(&self) -> String {
        let title = format!("Stability of {}", self.id);
        let body = format!(
            "<header><h1>{}</h1></header>\n<main>\n<section aria-label=\"Map\">\n<p>Colour: by \
             what all gains can be multiplied before small deviations grow (blue: more than one, \
             stable; white: at the limit; red: less; grey: no linearisation). Black dots: packet \
             simulations; the larger, the more the longest queue varies.</p>\n{}</section>\n\
             </main>\n",
            escape(&title, 200),
            self.drawing()
        );
        shell(&title, &body)
    }

    fn drawing(&self) -> String {
        let (width, height, left, top) = (720.0, 480.0, 90.0, 20.0);
        let columns = self.axes[0].values.len();
        let rows = self.axes.get(1).map_or(1, |y| y.values.len());
        let (w, h) = (width / columns as f64, height / rows as f64);
        let place = |c: &Cell| {
            let [i, j] = c.place;
            (left + i as f64 * w, top + (rows - 1 - j) as f64 * h)
        };
        let mut svg = String::new();
        for c in &self.cells {
            let (px, py) = place(c);
            let at = self.values(c);
            let at: Vec<_> = at
                .map(|(axis, v)| format!("{} = {v:.4}", axis.path))
                .collect();
            let at = at.join(", ");
            let says = match &c.error {
                None => format!(
                    "{at}: gain margin {:.3}, growth {:.3} 1/s",
                    c.gain_margin, c.growth_per_s
                ),
                Some(why) => format!("{at}: {why}"),
            };
            _ = writeln!(
                svg,
                "<rect x=\"{px:.2}\" y=\"{py:.2}\" width=\"{:.2}\" height=\"{:.2}\" \
                 fill=\"{}\"><title>{}</title></rect>",
                w + 0.3,
                h + 0.3,
                colour(c.gain_margin),
                escape(&says, 300)
            );
        }
        for c in &self.cells {
            if let Some(swing) = c.packet_queue_variation {
                let (px, py) = place(c);
                let radius = 2.0 + 0.4 * w.min(h) * swing.clamp(0.0, 1.0);
                _ = writeln!(
                    svg,
                    "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius:.2}\" fill=\"black\" \
                     fill-opacity=\"0.75\"><title>packets: variation of the queue {swing:.3}</title></circle>",
                    px + w / 2.0,
                    py + h / 2.0
                );
            }
        }
        let mut text = |at: (f64, f64), anchor: &str, text: &str| {
            _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"currentColor\" \
                 font-size=\"12\">{}</text>",
                at.0,
                at.1,
                escape(text, 120)
            );
        };
        for tick in 0..=4 {
            let part = f64::from(tick) / 4.0;
            let x = (left + part * width, top + height + 18.0);
            text(x, "middle", &self.axes[0].tick(part));
            if let Some(axis) = self.axes.get(1) {
                let y = (left - 8.0, top + (1.0 - part) * height + 4.0);
                text(y, "end", &axis.tick(part));
            }
        }
        let middle = (left + width / 2.0, top + height + 40.0);
        text(middle, "middle", &self.axes[0].label());
        if let Some(axis) = self.axes.get(1) {
            text((left, top - 6.0), "start", &axis.label());
        }
        format!(
            "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"map of gain margins\">\n\
             {svg}</svg>\n",
            left + width + 30.0,
            top + height + 50.0
        )
    }
}

impl Parameter {
    /// Returns the label of the tick at this part of the axis.
    fn tick(&self, part: f64) -> String {
        let [from, to] = [self.values.first(), self.values.last()].map(|v| *v.unwrap_or(&0.0));
        let text = format!("{:.4}", from + part * (to - from));
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

/// Returns an empty text if there is no value.
fn known(value: f64, text: impl Fn(f64) -> String) -> String {
    match value.is_nan() {
        true => String::new(),
        false => text(value),
    }
}

/// Returns blue where it is stable, red where not, and white at the limit.
fn colour(gain: f64) -> String {
    if gain.is_nan() {
        return "#cccccc".into();
    }
    let part = (gain.clamp(1e-3, 1e3).log10() / 0.6).clamp(-1.0, 1.0);
    let fade = |to: f64| (255.0 - (255.0 - to) * part.abs()) as u8;
    match part > 0.0 {
        true => format!("#{:02x}{:02x}{:02x}", fade(40.0), fade(100.0), fade(190.0)),
        false => format!("#{:02x}{:02x}{:02x}", fade(190.0), fade(50.0), fade(40.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> StabilityMap {
        let cell = |i: usize, gain_margin, error: Option<&str>| Cell {
            at: vec![0.5 * (i + 1) as f64],
            place: [i, 0],
            gain_margin,
            delay_margin_s: f64::INFINITY,
            growth_per_s: 1.0 - gain_margin,
            packet_queue_variation: (i == 0).then_some(0.25),
            error: error.map(str::to_string),
        };
        StabilityMap {
            id: "a<b".into(),
            axes: vec![Parameter {
                path: "flow.f.controller.gain".into(),
                unit: String::new(),
                values: vec![0.5, 1.0, 1.5],
            }],
            cells: vec![
                cell(0, 2.0, None),
                cell(1, 0.5, None),
                cell(2, f64::NAN, Some("no <law>")),
            ],
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_cell() {
        assert_eq!(
            map().csv(),
            "\"flow.f.controller.gain\",gain_margin,delay_margin_s,growth_per_s,packet_queue_variation\n\
             0.5,2.000000,inf,-1.000000e0,0.2500\n\
             1,0.500000,inf,5.000000e-1,\n\
             1.5,,inf,,\n"
        );
    }

    #[test]
    fn the_page_escapes_what_it_says() {
        let page = map().page();
        assert_eq!(page.matches("<rect").count(), 3);
        assert_eq!(page.matches("<circle").count(), 1);
        assert!(page.contains("a&lt;b") && !page.contains("a<b"));
        assert!(page.contains("no &lt;law&gt;"));
        assert!(page.contains("default-src 'none'"), "as all pages");
    }
}
