//! A map of stability over one or two parameters: a table (CSV), a page, and packet
//! simulations on top.

use super::{record, steady};
use crate::args::Stability as Args;
use crate::fail::Failure;
use crate::output::{data, json, note};
use accord::Catalogue;
use accord::record::{Quiet, Run};
use accord::scenario::{Entity, Metric, Scenario};
use accord::{load, set};
use html_escape::encode_text as escape;
use rayon::prelude::*;
use std::fmt::Write;
use std::path::Path;

/// One axis: PATH=FROM..TO.
pub struct Axis {
    pub path: String,
    from: f64,
    to: f64,
    pub unit: String,
    count: usize,
}

impl Axis {
    fn parse(text: &str, count: usize) -> Result<Axis, Failure> {
        let wrong = |why: &str| {
            Failure::new(format!("\"{text}\" is not an axis: {why}"))
                .hint("write PATH=FROM..TO, such as flow.f.controller.gain=0.1..2 or link.bottleneck.delay=\"1 ms..50 ms\"")
        };
        let (path, range) = text
            .split_once('=')
            .ok_or_else(|| wrong("it has no \"=\""))?;
        let (from, to) = range
            .trim_matches('"')
            .split_once("..")
            .ok_or_else(|| wrong("it has no \"..\""))?;
        let (from, unit) = number(from).ok_or_else(|| wrong("it begins with no number"))?;
        let (to, other) = number(to).ok_or_else(|| wrong("it ends with no number"))?;
        if unit != other && !unit.is_empty() {
            return Err(wrong("its ends have different units"));
        }
        if !(from.is_finite() && to.is_finite() && from < to) {
            return Err(wrong("it has to go from a smaller to a larger value"));
        }
        Ok(Axis {
            path: path.trim().into(),
            from,
            to,
            unit: other,
            count,
        })
    }

    /// The value of a step.
    pub fn value(&self, i: usize) -> f64 {
        let part = i as f64 / (self.count - 1).max(1) as f64;
        self.from + part * (self.to - self.from)
    }

    /// The value in the form of the scenario language.
    fn text(&self, i: usize) -> String {
        // Nine digits, so that no rounding of the steps shows.
        let value = format!("{:.9e}", self.value(i))
            .parse::<f64>()
            .unwrap_or(0.0);
        match self.unit.is_empty() {
            // A whole number as one, so that counts can be an axis.
            true => format!("{value}"),
            false => format!("\"{value} {}\"", self.unit),
        }
    }

    fn label(&self) -> String {
        match self.unit.is_empty() {
            true => self.path.clone(),
            false => format!("{} in {}", self.path, self.unit),
        }
    }
}

/// "1.5 ms" as 1.5 and "ms".
fn number(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text
        .find(|c: char| c.is_ascii_alphabetic() && c != 'e' || c == '%')
        .unwrap_or(text.len());
    let value = text[..end].trim().parse().ok()?;
    Some((value, text[end..].trim().to_string()))
}

/// The result of one point.
pub struct Cell {
    pub x: usize,
    pub y: usize,
    pub gain: f64,
    pub growth: f64,
    pub delay: f64,
    /// Coefficient of variation of the longest queue, in packets.
    pub swing: Option<f64>,
    /// Why there is no result, or "".
    pub error: String,
}

/// Computes the map, writes it, and prints where it is.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    let count = args.points;
    let x = Axis::parse(args.x.as_deref().unwrap_or_default(), count)?;
    let y = match &args.y {
        Some(text) => Some(Axis::parse(text, count)?),
        None => None,
    };
    if y.as_ref().is_some_and(|y| y.path == x.path) {
        return Err(Failure::new(format!("both axes set \"{}\"", x.path))
            .hint("give --y another path, or leave it out"));
    }
    let rows = y.as_ref().map_or(1, |y| y.count);
    let every = match args.packets {
        0 => usize::MAX,
        n => (count / n).max(1),
    };
    let jobs: Vec<(usize, usize)> = (0..rows)
        .flat_map(|j| (0..count).map(move |i| (i, j)))
        .collect();
    let cells: Vec<Cell> = (jobs.par_iter())
        .map(|&(i, j)| {
            let mut set = args.set.clone();
            set.push(format!("{}={}", x.path, x.text(i)));
            set.extend(y.as_ref().map(|y| format!("{}={}", y.path, y.text(j))));
            let scenario = single(args, catalogue, &set)?;
            let packets = i % every == every / 2 && (y.is_none() || j % every == every / 2);
            Ok(cell(
                &scenario,
                i,
                j,
                args.packets > 0 && (packets || every == 1),
            ))
        })
        .collect::<Result<_, Failure>>()?;
    let id = single(args, catalogue, &args.set)?.id;
    let dir = match &args.output {
        Some(dir) => dir.clone(),
        None => Path::new("runs").join(format!("{id}-stability")),
    };
    std::fs::create_dir_all(&dir).map_err(Failure::new)?;
    let table = csv(&x, y.as_ref(), &cells);
    std::fs::write(dir.join("map.csv"), &table).map_err(Failure::new)?;
    let map = page(&id, &x, y.as_ref(), &cells);
    std::fs::write(dir.join("map.html"), map).map_err(Failure::new)?;
    let stable = cells.iter().filter(|c| c.growth < 0.0).count();
    if args.json {
        json(&record::map(&id, &x, y.as_ref(), &cells))?;
        return Ok(true);
    }
    data(format_args!(
        "{id}: {stable} of {} points stable",
        cells.len()
    ))?;
    if let Some(e) = cells.iter().find(|c| !c.error.is_empty()) {
        data(format_args!("without a result, for example: {}", e.error))?;
    }
    if y.is_none() || args.csv {
        data(table.trim_end())?;
    }
    note(format_args!(
        "map:   {}\ntable: {}",
        dir.join("map.html").display(),
        dir.join("map.csv").display()
    ));
    Ok(true)
}

/// The scenario with what the map sets. A sweep of the file would go over that.
fn single(args: &Args, catalogue: &Catalogue, settings: &[String]) -> Result<Scenario, Failure> {
    let mut file = load(&args.scenario)?;
    set(&mut file, settings)?;
    let scenario = file.points(catalogue, args.seed)?.swap_remove(0);
    let names: Vec<&str> = scenario.point.iter().map(|(name, _)| &name[..]).collect();
    if names.is_empty() {
        return Ok(scenario);
    }
    let wrong = format!(
        "{} has the sweep {}, and a map has its own axes",
        args.scenario,
        names.join(", ")
    );
    Err(Failure::new(wrong).hint(
        "take the sweep out of a copy of the file, and give what it sets by --x, --y or --set",
    ))
}

fn cell(scenario: &Scenario, x: usize, y: usize, packets: bool) -> Cell {
    let mut cell = Cell {
        x,
        y,
        gain: f64::NAN,
        growth: f64::NAN,
        delay: f64::NAN,
        swing: None,
        error: String::new(),
    };
    match accord::fluid::stability(scenario, steady(scenario)) {
        Ok(found) => {
            cell.gain = found.margins.gain;
            cell.delay = found.margins.delay;
            cell.growth = found.roots.first().map_or(f64::NEG_INFINITY, |r| r.re);
        }
        Err(e) => cell.error = e.to_string(),
    }
    if packets && let Ok(run) = accord::sim::run(scenario, &mut Quiet) {
        cell.swing = swing(scenario, &run);
    }
    cell
}

/// Standard deviation over mean of the longest queue over the steady part.
fn swing(scenario: &Scenario, run: &Run) -> Option<f64> {
    let longest = (0..scenario.links.len())
        .filter_map(|l| {
            let entity = Entity::Link(l);
            let mean = run.mean(Metric::BacklogPackets, entity, scenario.steady)?;
            Some((entity, mean))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let series = run.series(Metric::BacklogPackets, longest.0)?;
    let part = &series.values[run.within(scenario.steady)];
    let variance = part.iter().map(|v| (v - longest.1).powi(2)).sum::<f64>() / part.len() as f64;
    Some(variance.sqrt() / longest.1)
}

fn csv(x: &Axis, y: Option<&Axis>, cells: &[Cell]) -> String {
    let mut out = format!("\"{}\",", x.label());
    if let Some(y) = y {
        _ = write!(out, "\"{}\",", y.label());
    }
    out += "gain_margin,delay_margin_s,growth_per_s,packet_queue_variation\n";
    for c in cells {
        _ = write!(out, "{},", x.value(c.x));
        if let Some(y) = y {
            _ = write!(out, "{},", y.value(c.y));
        }
        let swing = c.swing.map_or(String::new(), |s| format!("{s:.4}"));
        _ = writeln!(
            out,
            "{},{},{},{swing}",
            known(c.gain, |v| format!("{v:.6}")),
            known(c.delay, |v| format!("{v:.6e}")),
            known(c.growth, |v| format!("{v:.6e}"))
        );
    }
    out
}

/// Returns an empty text if there is no value.
fn known(value: f64, text: impl Fn(f64) -> String) -> String {
    match value.is_nan() {
        true => String::new(),
        false => text(value),
    }
}

/// Blue where it is stable, red where not, white at the limit.
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

fn page(id: &str, x: &Axis, y: Option<&Axis>, cells: &[Cell]) -> String {
    let (width, height, left, top) = (720.0, 480.0, 90.0, 20.0);
    let rows = y.map_or(1, |y| y.count);
    let (w, h) = (width / x.count as f64, height / rows as f64);
    let mut svg = String::new();
    let place = |c: &Cell| (left + c.x as f64 * w, top + (rows - 1 - c.y) as f64 * h);
    for c in cells {
        let (px, py) = place(c);
        let at = y.map_or(String::new(), |y| {
            format!(", {} = {:.4}", y.path, y.value(c.y))
        });
        _ = writeln!(
            svg,
            "<rect x=\"{px:.2}\" y=\"{py:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"><title>{}</title></rect>",
            w + 0.3,
            h + 0.3,
            colour(c.gain),
            escape(&match &c.error[..] {
                "" => format!(
                    "{} = {:.4}{at}: gain margin {:.3}, growth {:.3} 1/s",
                    x.path,
                    x.value(c.x),
                    c.gain,
                    c.growth
                ),
                why => format!("{} = {:.4}{at}: {why}", x.path, x.value(c.x)),
            })
        );
    }
    for c in cells {
        if let Some(swing) = c.swing {
            let (px, py) = place(c);
            let radius = 2.0 + 0.4 * w.min(h) * swing.clamp(0.0, 1.0);
            _ = writeln!(
                svg,
                "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius:.2}\" fill=\"black\" fill-opacity=\"0.75\"><title>packets: variation of the queue {swing:.3}</title></circle>",
                px + w / 2.0,
                py + h / 2.0
            );
        }
    }
    let mut text = |at: (f64, f64), anchor: &str, t: &str| {
        _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            escape(t)
        );
    };
    for i in 0..=4 {
        let part = f64::from(i) / 4.0;
        let value = |a: &Axis| format!("{:.4}", a.from + part * (a.to - a.from));
        let trim = |t: String| t.trim_end_matches('0').trim_end_matches('.').to_string();
        text(
            (left + part * width, top + height + 18.0),
            "middle",
            &trim(value(x)),
        );
        if let Some(y) = y {
            text(
                (left - 8.0, top + (1.0 - part) * height + 4.0),
                "end",
                &trim(value(y)),
            );
        }
    }
    text(
        (left + width / 2.0, top + height + 40.0),
        "middle",
        &x.label(),
    );
    if let Some(y) = y {
        text((left, top - 6.0), "start", &y.label());
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Stability of {id}</title>\n<style>body{{font:14px system-ui,sans-serif;margin:2em;max-width:60em}}svg text{{font:12px system-ui,sans-serif}}</style></head><body>\n<h1>Stability of {id}</h1>\n<p>Colour: by what all gains can be multiplied before small deviations grow (blue: more than one, stable; white: at the limit; red: less; grey: no linearisation). Black dots: packet simulations; the larger, the more the longest queue varies.</p>\n<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"map of gain margins\">\n{svg}</svg>\n</body></html>\n",
        left + width + 30.0,
        top + height + 50.0,
        id = escape(id)
    )
}
