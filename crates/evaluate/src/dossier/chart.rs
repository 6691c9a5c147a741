//! Plots of a dossier: means with their intervals, and ellipses of delay and goodput.
//!
//! The charts are as wide as a telephone's screen, so their text has one size everywhere. They
//! take their colours from the page.

use crate::evaluation::Row;
use crate::pack::Better;
use accord::report::{Estimate, escape, show};
use accord::scenario::MetricUnit;
use std::fmt::Write;

/// A plot.
pub(super) struct Chart {
    /// The title for people who do not see it.
    says: String,
    height: f64,
    content: String,
}

const WIDTH: f64 = 360.0;
/// The width of the names at the left, and the room at the right.
const LEFT: f64 = 112.0;
const RIGHT: f64 = 16.0;
/// The height of a subject's line, and of the title.
const LINE: f64 = 18.0;
const HEAD: f64 = 26.0;
/// The maximum number of points of a plot.
const MOST_POINTS: usize = 24;
/// The number of colours.
const COLOURS: usize = 8;

impl Chart {
    /// Returns a plot of a measure: a line per point and subject. Returns `None` without values.
    pub fn dots(name: &str, better: Better, rows: &[&Row], subjects: &[&str]) -> Option<Chart> {
        let shown = &rows[..rows.len().min(MOST_POINTS)];
        let estimates = |row: &Row| (0..subjects.len()).map(|i| row.estimate(i)).collect();
        let all: Vec<Vec<Option<Estimate>>> = shown.iter().map(|row| estimates(row)).collect();
        let ends = all.iter().flatten().flatten().flat_map(|e| {
            let half = e.half_width.unwrap_or(0.0);
            [e.mean - half, e.mean + half]
        });
        let axis = Axis::of(ends, rows.first()?.unit, LEFT, WIDTH - RIGHT, true)?;
        let several = rows.len() > 1;
        let mut content = String::new();
        let mut y = HEAD;
        for (row, estimates) in shown.iter().zip(&all) {
            if several {
                y += LINE - 3.0;
                let point = escape(&row.point, 54);
                _ = write!(content, "<text class=\"s\" x=\"8\" y=\"{y:.1}\">{point}</text>");
                y += 3.0;
            }
            for (i, (estimate, subject)) in estimates.iter().zip(subjects).enumerate() {
                let middle = y + LINE / 2.0;
                let colour = i % COLOURS;
                let label = escape(&short(subject, 17), 40);
                let bold = if i == 0 { " font-weight=\"600\"" } else { "" };
                _ = write!(
                    content,
                    "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\"{bold}>{label}</text>",
                    LEFT - 8.0,
                    middle + 4.0
                );
                match estimate {
                    Some(e) => {
                        let half = e.half_width.unwrap_or(0.0);
                        let [a, x, b] = [e.mean - half, e.mean, e.mean + half].map(|v| axis.at(v));
                        _ = write!(
                            content,
                            "<line x1=\"{a:.1}\" x2=\"{b:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"var(--line-{colour})\" stroke-width=\"2\"/><circle cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"{}\" fill=\"var(--line-{colour})\"><title>{label}: {}</title></circle>",
                            if i == 0 { 4.5 } else { 3.5 },
                            escape(&show::estimate(*e, row.unit), 60)
                        );
                    }
                    None => {
                        _ = write!(
                            content,
                            "<text class=\"s\" x=\"{:.0}\" y=\"{:.1}\">no value</text>",
                            LEFT + 4.0,
                            middle + 4.0
                        );
                    }
                }
                y += LINE;
            }
        }
        let bottom = y + 4.0;
        let grid = axis.vertical(HEAD - 2.0, bottom);
        let cut = if rows.len() > shown.len() {
            format!(", first {MOST_POINTS} of {} points", rows.len())
        } else {
            String::new()
        };
        let sign = better.sign();
        let head = format!("{name}{cut} {sign} ({})", axis.symbol);
        Some(Chart {
            says: format!("{name}: means with 95 % confidence intervals"),
            height: bottom + 22.0,
            content: format!("{}{grid}{content}", heading(&head)),
        })
    }

    /// Returns a plot of goodput over delay: the values of each seed, and the ellipse of one standard
    /// deviation of the normal distribution that fits them.
    pub fn ellipses(names: [&str; 2], x: &Row, y: &Row, subjects: &[&str]) -> Option<Chart> {
        let pairs: Vec<Vec<(f64, f64)>> = (0..subjects.len())
            .map(|i| {
                let with_rate = x.values[i].iter().filter_map(|(seed, delay)| {
                    let rate = y.values[i].iter().find(|(s, _)| s == seed)?;
                    Some((*delay, rate.1))
                });
                with_rate.collect()
            })
            .collect();
        let curves: Vec<Vec<(f64, f64)>> = pairs.iter().map(|p| ellipse(p)).collect();
        let all = || pairs.iter().chain(&curves).flatten();
        let (top, bottom) = (HEAD + 8.0, 220.0);
        let across = Axis::of(all().map(|p| p.0), x.unit, 58.0, WIDTH - RIGHT, false)?;
        let up = Axis::of(all().map(|p| p.1), y.unit, bottom, top, false)?;
        let mut content = across.vertical(top, bottom) + &up.horizontal(58.0, WIDTH - RIGHT);
        let mut key = bottom + 40.0;
        for (i, (points, curve)) in pairs.iter().zip(&curves).enumerate() {
            let colour = i % COLOURS;
            for (delay, rate) in points {
                _ = write!(
                    content,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"var(--line-{colour})\"/>",
                    across.at(*delay),
                    up.at(*rate)
                );
            }
            let path: Vec<String> = (curve.iter())
                .map(|(delay, rate)| format!("{:.1},{:.1}", across.at(*delay), up.at(*rate)))
                .collect();
            if !path.is_empty() {
                _ = write!(
                    content,
                    "<polygon points=\"{}\" fill=\"var(--line-{colour})\" fill-opacity=\"0.15\" stroke=\"var(--line-{colour})\" stroke-width=\"1.5\"/>",
                    path.join(" ")
                );
            }
            let label = escape(&short(subjects[i], 40), 60);
            _ = write!(
                content,
                "<circle cx=\"64\" cy=\"{:.1}\" r=\"4\" fill=\"var(--line-{colour})\"/><text x=\"74\" y=\"{key:.1}\">{label}</text>",
                key - 4.0
            );
            key += LINE;
        }
        let point = match x.point.as_str() {
            "" => String::new(),
            point => format!(", {point}"),
        };
        let title = format!("{} over {}{point}", names[1], names[0]);
        let head = heading(&format!("{} ({})", names[1], up.symbol));
        let foot = format!(
            "<text class=\"s\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{} ({})</text>",
            WIDTH - RIGHT,
            bottom + 27.0,
            escape(names[0], 60),
            across.symbol
        );
        Some(Chart {
            says: format!("{title}: a point per seed, and ellipses of one standard deviation"),
            height: key,
            content: head + &content + &foot,
        })
    }

    /// Returns the plot as SVG.
    pub fn svg(&self) -> String {
        let (height, content) = (self.height, &self.content);
        let says = escape(&self.says, 300);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{says}\" font-family=\"system-ui, sans-serif\" font-size=\"11.5\" fill=\"var(--text)\"><style>.s{{fill:var(--soft);font-size:10.5px}}.g{{stroke:var(--grid)}}</style>{content}</svg>"
        )
    }
}

fn heading(text: &str) -> String {
    format!("<text x=\"8\" y=\"17\" font-weight=\"600\">{}</text>", escape(&short(text, 58), 120))
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() > most {
        text.chars().take(most - 1).chain(['…']).collect()
    } else {
        text.to_string()
    }
}

/// Returns the ellipse of one standard deviation of the normal distribution that fits the points,
/// by maximum likelihood; nothing for fewer than three points or points on a line.
fn ellipse(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return Vec::new();
    }
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let of = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let xx = of(&|p| (p.0 - mx).powi(2));
    let xy = of(&|p| (p.0 - mx) * (p.1 - my));
    let yy = of(&|p| (p.1 - my).powi(2));
    if xx <= 0.0 || yy <= 0.0 {
        return Vec::new();
    }
    // The factor of Cholesky turns the unit circle into the ellipse.
    let a = xx.sqrt();
    let b = xy / a;
    let c = (yy - b * b).max(0.0).sqrt();
    (0..48)
        .map(|k| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 48.0).sin_cos();
            (mx + a * cos, my + b * cos + c * sin)
        })
        .collect()
}

/// A linear axis with round ticks.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
    scale: f64,
    symbol: &'static str,
}

impl Axis {
    /// Returns the axis of some values from one place to another, from zero if that is near or
    /// `zero` asks for it and no value is below.
    fn of(
        values: impl Iterator<Item = f64>,
        unit: MetricUnit,
        from: f64,
        to: f64,
        zero: bool,
    ) -> Option<Axis> {
        let (mut low, mut high) = values
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return None;
        }
        if low > 0.0 && (zero || low < 0.3 * high) {
            low = 0.0;
        }
        let (scale, symbol) = show::scale(high.abs().max(low.abs()), unit);
        if high - low <= 1e-9 * high.abs().max(scale * 1e-3) {
            (low, high) = (low.min(0.0), high.max(scale));
        }
        let span = (high - low) / scale;
        let rough = 10f64.powf((span / 4.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|k| k * rough);
        let step = steps.into_iter().find(|s| span / s <= 4.5).unwrap_or(10.0 * rough) * scale;
        // Rounding errors of a round value take no room.
        let first = (low / step + 1e-6).floor() as i64;
        let last = ((high / step - 1e-6).ceil() as i64).max(first + 1);
        let ticks: Vec<f64> = (first..=last).map(|k| k as f64 * step).collect();
        Some(Axis {
            low: ticks[0],
            high: *ticks.last().expect("two at least"),
            from,
            to,
            ticks,
            scale,
            symbol,
        })
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn label(&self, tick: f64) -> String {
        let value = tick / self.scale;
        let text = format!("{value:.3}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_string()
    }

    fn vertical(&self, top: f64, bottom: f64) -> String {
        let line = |tick: &f64| {
            let x = self.at(*tick);
            format!(
                "<line class=\"g\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/><text class=\"s\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 13.0,
                self.label(*tick)
            )
        };
        self.ticks.iter().map(line).collect()
    }

    fn horizontal(&self, left: f64, right: f64) -> String {
        let line = |tick: &f64| {
            let y = self.at(*tick);
            format!(
                "<line class=\"g\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text class=\"s\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 5.0,
                y + 4.0,
                self.label(*tick)
            )
        };
        self.ticks.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ellipse;

    /// Four points at (±1, ±2) have variances 1 and 4 and no covariance.
    #[test]
    fn an_ellipse_has_the_deviations_of_its_points() {
        let curve = ellipse(&[(1.0, 2.0), (1.0, -2.0), (-1.0, 2.0), (-1.0, -2.0)]);
        let most = |f: fn(&(f64, f64)) -> f64| curve.iter().map(f).fold(0.0, f64::max);
        assert!((most(|p| p.0) - 1.0).abs() < 1e-9);
        assert!((most(|p| p.1) - 2.0).abs() < 1e-9);
        assert!(ellipse(&[(1.0, 2.0), (2.0, 2.0)]).is_empty());
        assert!(ellipse(&[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)]).is_empty());
    }
}
