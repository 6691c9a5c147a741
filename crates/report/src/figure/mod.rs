//! Figures for papers, from run directories: lines over time, distributions, means over a sweep.
//!
//! [`Request`] describes a figure. [`Figure::of`] gathers the data, which [`Figure::csv`] writes
//! and [`Figure::svg`] draws. PDF and PNG come from the SVG, with the cargo feature `figures`.

mod adjust;
mod canvas;
mod convert;
mod csv;
mod gather;
mod legend;
mod lines;
mod look;
mod map;
mod select;
mod states;
mod table;

use crate::cells::Markup;
use crate::files::Stored;
use accord_scenario::{Engine, Metric, Window};
use accord_units::words;
use look::Look;
use thiserror::Error;

/// A request for a figure.
#[derive(Clone, Debug)]
pub struct Request {
    /// The quantity.
    pub metric: Metric,
    /// The subject of a line. The default is the entity of the metric, and groups for metrics of
    /// flows.
    pub by: Option<By>,
    /// The names of the flows, groups or links to show. All are shown if it is empty.
    pub of: Vec<String>,
    /// The engines to show. All are shown if it is empty.
    pub engines: Vec<Engine>,
    /// The kind of figure. The default is the kind that fits the runs.
    pub kind: Option<Kind>,
    /// The part of the run. The default is the whole run for plots over time, and the steady part
    /// otherwise.
    pub time: Option<Window>,
    /// The axes that are logarithmic.
    pub log: Log,
    /// The width.
    pub width: Width,
    /// The ends of the horizontal axis, in the unit of its display.
    pub x: Option<(f64, f64)>,
    /// The ends of the vertical axis, in the unit of its display.
    pub y: Option<(f64, f64)>,
    /// Replacements for names of lines: the name, and the text for it.
    pub labels: Vec<(String, String)>,
    /// The dimension with one plot per value, stacked vertically: "engine", "of" for each flow, group, link or run,
    /// or a variable of a sweep.
    pub facet: Option<String>,
    /// A title above the plot.
    pub title: Option<String>,
    /// Other labels of the axes.
    pub axes: [Option<String>; 2],
    /// The link whose rate is drawn behind the lines.
    pub capacity: Option<String>,
}

impl Request {
    /// Returns the request for a figure of a metric, with defaults for all else.
    pub fn of(metric: Metric) -> Request {
        Request {
            metric,
            by: None,
            of: Vec::new(),
            engines: Vec::new(),
            kind: None,
            time: None,
            log: Log::None,
            width: Width::Column,
            x: None,
            y: None,
            labels: Vec::new(),
            facet: None,
            title: None,
            axes: [None, None],
            capacity: None,
        }
    }
}

words! {
    /// The subject of a line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum By by name {
        /// Each flow.
        Flow = "flow",
        /// Each group of flows, as the mean of its flows.
        Group = "group",
        /// Each link, or each aggregate at a link.
        Link = "link",
    }
}

words! {
    /// The kind of a figure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind by name {
        /// Lines over time.
        Time = "time",
        /// The share of samples up to each value.
        Cdf = "cdf",
        /// Means over the values of a sweep.
        Sweep = "sweep",
        /// Means over the values of two sweeps, as colours.
        Map = "map",
    }
}

words! {
    /// The axes that are logarithmic.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Log by name {
        /// Neither.
        None = "none",
        /// The horizontal one.
        X = "x",
        /// The vertical one.
        Y = "y",
        /// Both.
        Both = "xy",
    }
}

words! {
    /// The width of a figure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Width by name {
        /// A column of a paper: 3.5 in.
        Column = "column",
        /// A page: 7.16 in.
        Page = "page",
    }
}

/// The reason why there is no figure.
#[derive(Debug, Error)]
pub enum FigureError {
    /// The runs do not have the requested data.
    #[error("{message}")]
    Wrong {
        /// The fault.
        message: String,
        /// The remedy.
        hint: String,
    },
    /// This program or this machine cannot write the format.
    #[error("{0}")]
    Unable(String),
}

impl FigureError {
    fn wrong(message: impl Into<String>, hint: impl Into<String>) -> FigureError {
        FigureError::Wrong { message: message.into(), hint: hint.into() }
    }
}

/// A figure: its data and how it is drawn.
#[derive(Debug)]
pub struct Figure {
    pub(crate) kind: Kind,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) content: Content,
    /// The looks of lines by their numbers.
    looks: Vec<Look>,
    /// The times and rates of the link behind the lines.
    capacity: Option<(Vec<f64>, Vec<f64>)>,
    width: Width,
    title: String,
    /// The title above the plot, or "".
    heading: String,
    facet: Option<String>,
    /// The names of the states that the values index. The list is empty for other metrics.
    states: &'static [&'static str],
}

/// An axis: the name of the quantity, and the unit in which it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The quantity, in words.
    name: String,
    /// The unit for people, or "".
    unit: &'static str,
    /// The size of that unit, in the unit of the data.
    one: f64,
    /// The unit of the data, for tables.
    base: &'static str,
    /// The words at the positions 0, 1, ..., for an axis of words.
    ticks: Option<Vec<String>>,
    /// The places of the ticks, if they are given, in the unit of the data.
    at: Option<Vec<f64>>,
    /// The ends, in the unit of the data.
    ends: (f64, f64),
    log: bool,
}

#[derive(Debug)]
pub(crate) enum Content {
    Lines(Vec<Line>),
    Map(MapOf),
}

/// Means over two variables: a value for each place, row by row, from the bottom.
#[derive(Debug)]
pub(crate) struct MapOf {
    across: Vec<String>,
    up: Vec<String>,
    /// One map per engine or subject, with its title.
    panels: Vec<(String, Vec<f64>)>,
}

/// A line of a figure. A figure keeps it in the units of the data.
#[derive(Clone, Debug)]
pub struct Line {
    /// The group, flow or link, or "" if there is only one.
    pub of: String,
    /// The settings of the point of a sweep, by variable, without the one along the axis.
    pub settings: Vec<(String, String)>,
    /// The number of the group, flow or link, for its look.
    pub colour: usize,
    /// The engine.
    pub engine: Engine,
    /// The horizontal places.
    pub x: Vec<f64>,
    /// The values. A missing one is NaN.
    pub y: Vec<f64>,
    /// The lower ends of a band or of intervals. The list is as long as `y`, or empty.
    pub low: Vec<f64>,
    /// The upper ends.
    pub high: Vec<f64>,
}

impl Figure {
    /// Returns the lines of a figure that has lines, in the order in which they are drawn and in the
    /// units of the axes.
    pub fn lines(&self) -> Vec<Line> {
        let Content::Lines(lines) = &self.content else {
            return Vec::new();
        };
        let mut lines = lines.clone();
        lines.sort_by_key(|line| canvas::order(line.engine));
        for line in &mut lines {
            line.x.iter_mut().for_each(|v| *v /= self.x.one);
            let values = [&mut line.y, &mut line.low, &mut line.high];
            values.into_iter().flatten().for_each(|v| *v /= self.y.one);
        }
        lines
    }

    /// Returns the labels of the horizontal and the vertical axis, with their units.
    pub fn labels(&self) -> [String; 2] {
        [self.x.label(), self.y.label()]
    }

    /// Returns the ends of the vertical axis, in its unit.
    pub fn ends(&self) -> (f64, f64) {
        (self.y.ends.0 / self.y.one, self.y.ends.1 / self.y.one)
    }

    /// Gathers the data of a figure.
    pub fn of(stored: &[Stored], request: &Request) -> Result<Figure, FigureError> {
        gather::figure(stored, request)
    }

    /// Returns the data as a table, in the units of the series. Its header names them.
    pub fn csv(&self) -> String {
        csv::table(self)
    }

    /// Returns the figure as SVG.
    pub fn svg(&self) -> String {
        let svg = match &self.content {
            Content::Lines(traces) if self.kind == Kind::Time && !self.states.is_empty() => {
                states::draw(self, traces)
            }
            Content::Lines(traces) => lines::draw(self, traces),
            Content::Map(map) => map::draw(self, map),
        };
        let svg = match self.heading.as_str() {
            "" => svg,
            heading => canvas::stack(&[canvas::heading(heading, self.width), svg]),
        };
        canvas::in_inches(&svg, &self.title)
    }

    /// Returns several figures stacked vertically as one.
    pub fn stacked(figures: &[Figure]) -> String {
        match figures {
            [one] => one.svg(),
            _ => {
                let titles: Vec<&str> = figures.iter().map(|f| f.title.as_str()).collect();
                let all: Vec<String> = figures.iter().map(Figure::svg).collect();
                canvas::in_inches(&canvas::stack(&all), &titles.join("; "))
            }
        }
    }

    /// Returns an SVG as PDF, with its fonts.
    pub fn pdf(svg: &str) -> Result<Vec<u8>, FigureError> {
        convert::pdf(svg)
    }

    /// Returns an SVG as PNG, with 300 dots per inch.
    pub fn png(svg: &str) -> Result<Vec<u8>, FigureError> {
        convert::png(svg)
    }

    /// Returns means over a sweep as a table for a paper.
    ///
    /// # Errors
    /// Fails for figures of other kinds.
    pub fn table(&self, markup: Markup) -> Result<String, FigureError> {
        table::table(self, markup)
    }

    fn look(&self, number: usize) -> Look {
        self.looks.get(number).copied().unwrap_or(Look::plain(number))
    }
}

impl Axis {
    /// Returns a linear axis, drawn in the unit of the data.
    fn linear(name: impl Into<String>, unit: &'static str, ends: (f64, f64)) -> Axis {
        let name = name.into();
        Axis { name, unit, one: 1.0, base: unit, ticks: None, at: None, ends, log: false }
    }

    fn label(&self) -> String {
        crate::axis::with_unit(&self.name, self.unit)
    }

    /// Returns the heading of a column with the axis' values: "throughput [bit/s]".
    fn heading(&self) -> String {
        if self.base.is_empty() {
            self.name.to_lowercase()
        } else {
            format!("{} [{}]", self.name.to_lowercase(), self.base)
        }
    }
}
