//! `accord plot`: figures for papers, from run directories.

use crate::fail::{Failure, unwritable};
use crate::output::{data, note};
use accord::files::write;
use accord::report::{
    By, Figure, FigureError, FigureKind, Log, Markup, Request, Width, load_stored,
};
use accord::scenario::{Engine, Metric, MetricUnit, Window};
use accord::units::{Duration, Time, Words};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Run directories, or directories of sweeps.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// The quantity, such as throughput; `accord list metrics` lists them. Several, separated by commas, are
    /// plotted below each other.
    #[arg(short, long, value_delimiter = ',', required = true)]
    pub metric: Vec<String>,
    /// The entities to draw as a line each; by default group for metrics of flows.
    #[arg(long, value_name = "WHAT", value_parser = one_of::<By>())]
    pub by: Option<By>,
    /// The flows, groups or links to show, separated by commas; by default all.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub of: Vec<String>,
    /// The engines to show, separated by commas; by default all that ran.
    #[arg(short, long, value_delimiter = ',', value_parser = crate::names::engine(), hide_possible_values = true)]
    pub engine: Vec<Engine>,
    /// The type of plot; by default time for a run, map for a full grid of two sweeps, and sweep
    /// for other sweeps.
    #[arg(short, long, value_parser = one_of::<FigureKind>())]
    pub kind: Option<FigureKind>,
    /// The part of the run, in seconds; by default all of it for plots over time, and otherwise the
    /// steady part.
    #[arg(long, value_name = "A..B")]
    pub time: Option<String>,
    /// The logarithmic axes.
    #[arg(long, value_name = "AXES", default_value = "none", value_parser = one_of::<Log>())]
    pub log: Log,
    /// The width: a column of a paper (3.5 in) or a page (7.16 in).
    #[arg(long, default_value = "column", value_parser = one_of::<Width>())]
    pub width: Width,
    /// The ends of the horizontal axis, in its unit, such as 0..50.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = limits)]
    pub xlim: Option<(f64, f64)>,
    /// The ends of the vertical axis, in its unit.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = limits)]
    pub ylim: Option<(f64, f64)>,
    /// Another name for a line in the plot. May be repeated.
    #[arg(long = "label", value_name = "NAME=TEXT", value_parser = label)]
    pub labels: Vec<(String, String)>,
    /// The dimension that gets a plot per value, below each other and with the same axes: engine, of, or a
    /// variable of a sweep.
    #[arg(long, value_name = "WHAT")]
    pub facet: Option<String>,
    /// Draws the rate of this link in grey behind rates over time.
    #[arg(long, value_name = "LINK")]
    pub capacity: Option<String>,
    /// A title above the plot.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Another label for the horizontal axis, with its unit.
    #[arg(long, value_name = "TEXT")]
    pub xlabel: Option<String>,
    /// Another label for the vertical axis, with its unit.
    #[arg(long, value_name = "TEXT")]
    pub ylabel: Option<String>,
    /// The file for the plot, which ends in .svg, .pdf or .png, or "-" for SVG on stdout. A name that ends in
    /// .md or .tex gives a table with the means of a sweep instead.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Also writes the data of the plot as CSV.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Prints nothing.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Parses the ends of an axis.
fn limits(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    let ends = text.split_once("..");
    let ends = ends.and_then(|(from, to)| number(from).zip(number(to)));
    ends.filter(|(from, to)| from < to)
        .ok_or("expected two numbers, the smaller first, such as 0..50".into())
}

/// Parses another name of a line.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, text) = text.split_once('=').ok_or("expected NAME=TEXT")?;
    Ok((name.trim().into(), text.trim().into()))
}

/// Parses one of several names.
fn one_of<T: Words + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::words()).try_map(|name| T::read_word(&name))
}

pub fn run(args: &Args) -> Result<bool, Failure> {
    // Errors of the command line are reported before anything is read.
    let to_stdout = args.output.as_os_str() == "-";
    let ending = args.output.extension().and_then(|e| e.to_str());
    let ending = if to_stdout { Some("svg") } else { ending };
    // --csv has the data of a plot.
    let markup = ending.and_then(|e| Markup::read_word(e).ok()).filter(|m| *m != Markup::Csv);
    if markup.is_none() && !matches!(ending, Some("svg" | "pdf" | "png")) {
        let why = format!("the format of {} is unknown", args.output.display());
        let hint = "expected a name that ends in .svg, .pdf or .png, or .md or .tex for a table";
        return Err(Failure::new(why).hint(hint));
    }
    let of_one = [
        (args.csv.is_some(), "--csv"),
        (markup.is_some(), "a table"),
        (args.ylabel.is_some(), "--ylabel"),
        (args.ylim.is_some(), "--ylim"),
    ];
    if let Some((_, what)) = of_one.into_iter().find(|(given, _)| *given && args.metric.len() > 1) {
        let why = format!("{what} is of one metric");
        return Err(Failure::new(why).hint("one command per metric"));
    }
    let metrics = args.metric.iter().map(|name| metric(name)).collect::<Result<Vec<_>, _>>()?;
    let request = |metric: Metric| -> Result<Request, Failure> {
        Ok(Request {
            metric,
            by: args.by,
            of: args.of.clone(),
            engines: args.engine.clone(),
            kind: args.kind.or(markup.map(|_| FigureKind::Sweep)),
            time: args.time.as_deref().map(window).transpose()?,
            log: args.log,
            width: args.width,
            x: args.xlim,
            y: args.ylim,
            labels: args.labels.clone(),
            facet: args.facet.clone(),
            // The title is above the first plot.
            title: args.title.clone().filter(|_| metric == metrics[0]),
            axes: [args.xlabel.clone(), args.ylabel.clone()],
            capacity: args
                .capacity
                .clone()
                .filter(|_| metric.unit() == MetricUnit::BitPerSecond || metrics.len() == 1),
        })
    };
    let stored = args.runs.iter().map(|dir| load_stored(dir));
    let stored: Vec<_> = stored.collect::<Result<_, _>>()?;
    let figures = metrics.iter().map(|&m| Ok::<_, Failure>(Figure::of(&stored, &request(m)?)?));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    let svg = || Figure::stacked(&figures);
    let bytes = match (markup, ending) {
        (Some(markup), _) => figures[0].table(markup)?.into_bytes(),
        (None, Some("pdf")) => Figure::pdf(&svg())?,
        (None, Some("png")) => Figure::png(&svg())?,
        _ => svg().into_bytes(),
    };
    if let Some(path) = &args.csv {
        write(path, figures[0].csv().as_bytes()).map_err(unwritable(path))?;
    }
    if to_stdout {
        data(String::from_utf8_lossy(&bytes).trim_end())?
    } else {
        write(&args.output, &bytes).map_err(unwritable(&args.output))?;
        if !args.quiet {
            let what = if markup.is_some() { "table" } else { "plot" };
            note(format_args!("{what}: {}", args.output.display()));
        }
    }
    Ok(true)
}

/// Parses the name of a metric. Words may also be joined by "-".
pub fn metric(name: &str) -> Result<Metric, Failure> {
    name.replace(['-', ' '], "_").parse().map_err(|why: String| {
        let known = Metric::known().into_iter().map(Metric::name);
        let hint = accord::form::suggest(name, known);
        let hint = hint.map_or(String::new(), |hint| format!("{hint} "));
        Failure::new(why).hint(format!("{hint}`accord list metrics` lists them"))
    })
}

/// Parses a part of a run: "20..30", "20 s..30 s" or "500ms..2s".
fn window(text: &str) -> Result<Window, Failure> {
    let wrong = || {
        Failure::new(format!("\"{text}\" is not a part of a run"))
            .hint("expected seconds, such as --time 20..30, the smaller first")
    };
    let time = |text: &str| -> Option<Time> {
        let seconds = match text.trim().parse::<f64>() {
            Ok(seconds) => seconds,
            Err(_) => text.trim().parse::<Duration>().ok()?.as_secs_f64(),
        };
        (0.0..1e9).contains(&seconds).then(|| Time::from_secs_f64(seconds))
    };
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let (start, end) = time(start).zip(time(end)).ok_or_else(wrong)?;
    if start < end { Ok(Window { start, end }) } else { Err(wrong()) }
}

impl From<FigureError> for Failure {
    fn from(e: FigureError) -> Failure {
        match e {
            FigureError::Wrong { message, hint } => Failure::new(message).hint(hint),
            FigureError::Unable(message) => Failure::Unable(message),
        }
    }
}
