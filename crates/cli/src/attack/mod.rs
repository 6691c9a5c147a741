//! `accord attack`: a search for settings that break a property of a scenario.
//!
//! Half of the runs are random points of the ranges, by a seed. The others are steps from the worst
//! point found, of decreasing size. A point that breaks the property is then moved back towards the
//! scenario, as far as it still breaks it. Points follow from the seed and the values of earlier
//! runs, so an interrupted search keeps only values.

pub mod options;
mod property;
mod ranges;

use crate::evaluate::put_at;
use crate::fail::{Failure, unwritable};
use crate::option;
use crate::output::{data, note};
use crate::progress::parts;
use crate::results::build_for;
use crate::source::load;
use accord::files::read;
use accord::form::TextError;
use accord::language::File;
use accord::record::{Interrupted, Observer};
use accord::report::{Lock, figure_values};
use accord::scenario::{Engine, Scenario, print};
use accord::units::Time;
use accord::{Catalogue, Error, Options, set};
use accord_evaluate::{Measured, Measurements};
use options::Args;
use property::Property;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use ranges::Range;
use rayon::prelude::*;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The number of points tried at once. The number of cores does not change it, and so does not
/// change the result.
const BATCH: u64 = 8;
/// The number of halvings on the way back to the scenario.
const HALVINGS: u32 = 6;

/// The key of the expectation that stands for the property.
const EXPECT: &str = "expect";

/// The largest file that is read as an earlier result, in bytes.
const LARGEST_RESULT: u64 = 8 << 20;

/// A point of the search: a value per range, or `None` for that of the scenario.
type Point = Vec<Option<f64>>;

/// Carries out the command. Returns `Ok(false)` if the property is broken.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    let mut file = load(&args.scenario, &args.set)?;
    let original = file.points(catalogue, None)?.swap_remove(0);
    let mut property = Property::parse(&args.property, &original)?;
    file.set(EXPECT, &property.expectation(args.engine))?;
    // The entities of the property must exist.
    let points = file.points(catalogue, None);
    property.settle(&points.map_err(|errors| errors.map(|e| place_of(e, args)))?[0]);
    property.check()?;
    let ranges = ranges::of(&args.vary, &original, &file)?;
    let id = format!("attack-{}", original.id);
    let path = args.output.clone().unwrap_or_else(|| Path::new(&id).with_extension("toml"));
    check_file(&path, &id)?;
    let unfinished = path.with_extension("unfinished");
    if path == unfinished {
        let message = format!("{} is for the runs of an interrupted search", path.display());
        return Err(Failure::new(message).hint("give the result another extension with -o"));
    }
    // A range that does not fit fails at once, and not in each run.
    let corner: Vec<_> = ranges.iter().map(|range| range.setting(range.axis.from)).collect();
    let mut trial = file.clone();
    match set(&mut trial, &corner) {
        Err(Error::Scenario(errors)) => Err(errors.map(|e| place_of(e, args)))?,
        done => done?,
    }
    trial.points(catalogue, None).map_err(|errors| errors.map(|e| place_of(e, args)))?;
    let _lock = Lock::take(&path)?;
    let kept = Measurements::open(&unfinished, &build_for(args.engine, None), args.fresh);
    let kept = kept.map_err(unwritable(&unfinished))?;
    if kept.known() > 0 && !args.quiet {
        note(format_args!("{} runs are known; resuming", kept.known()));
    }
    let engine = args.engine;
    let search = Search { file, catalogue, ranges, property, engine, kept, why: Mutex::default() };
    let found = search.found(args);
    if let Err(Failure::Interrupted) = found
        && !args.quiet
    {
        note("the finished runs are kept; the same command without --fresh resumes");
    }
    let (found, counts) = found?;
    // No search is left to resume. It is called when there is nothing more to write.
    let done = || drop(std::fs::remove_file(&unfinished));
    let Some((least, value)) = found else {
        if counts.unfit > 0 {
            let why = counts.says(args.runs).join("; ");
            return Err(Failure::Unable(format!("no run has a value: {why}")));
        }
        done();
        let message = format!("no run has a value of {}", search.property.metric);
        let why = search.why.into_inner().unwrap_or_else(PoisonError::into_inner);
        let usual = "accord list metrics shows which engines record it";
        return Err(Failure::new(message).hint(why.unwrap_or(usual.into())));
    };
    let text = |value| search.property.text(value);
    if !search.property.is_broken(value) {
        done();
        let (property, runs) = (&search.property.given, args.runs);
        let held = match counts.without + counts.unfit {
            0 => runs.to_string(),
            none => format!("{} of {runs}", runs - none),
        };
        data(format_args!("{property} holds in {held} runs; at its closest, {}", text(value)))?;
        counts.says(runs).iter().try_for_each(data)?;
        return Ok(true);
    }
    let mut broken = search.scenario(&least)?;
    search.property.sharpen(&mut broken);
    broken.title = format!("{} breaks {}", original.id, search.property.given);
    broken.notes = search.settings(&least).join(", ");
    broken.id = id;
    put_at(&path, print(&broken).as_bytes())?;
    done();
    data(format_args!("{} is broken: {}", search.property.given, text(value)))?;
    for setting in search.settings(&least) {
        data(format_args!("  {setting}"))?;
    }
    counts.says(args.runs).iter().try_for_each(data)?;
    let (path, engine) = (path.display(), args.engine);
    data(format_args!("accord run {path} --engine {engine}"))?;
    Ok(false)
}

/// Returns an error with the option in place of a text made from it.
fn place_of(error: TextError, args: &Args) -> TextError {
    let of = |setting: &str| setting.split_once('=').map(|(path, _)| path.trim().to_string());
    let Some(path) = of(&error.origin.text).filter(|_| error.origin.name == "--set") else {
        return error;
    };
    let is_given = args.set.iter().any(|setting| of(setting).as_ref() == Some(&path));
    let vary = args.vary.iter().find(|range| of(range).as_ref() == Some(&path));
    match vary {
        Some(range) => option::at("--vary", range, &error),
        None if path == EXPECT && !is_given => option::at("--property", &args.property, &error),
        None => error,
    }
}

/// Refuses to replace a file not written by an attack of this scenario, before the long search.
fn check_file(path: &Path, id: &str) -> Result<(), Failure> {
    let there = match read(path, LARGEST_RESULT) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|e| Failure::new(format!("{}: {e}", path.display())))?,
    };
    if there.starts_with(format!("id = \"{id}\"\n").as_bytes()) {
        return Ok(());
    }
    let message =
        format!("{} exists, and was not written by an attack of this scenario", path.display());
    Err(Failure::new(message).hint("give the result another name with -o"))
}

struct Search<'a> {
    file: File,
    catalogue: &'a Catalogue,
    ranges: Vec<Range>,
    property: Property,
    engine: Engine,
    /// The values of finished runs.
    kept: Measurements,
    /// The engine's reason for a run without a value.
    why: Mutex<Option<String>>,
}

/// A point and its figure.
type Found = (Point, f64);

/// The numbers of runs without a figure.
#[derive(Default)]
struct Counts {
    /// The runs without a value.
    without: u64,
    /// The runs that this machine did not keep up with.
    unfit: u64,
}

impl Search<'_> {
    /// Returns the worst point, moved back if it breaks the property, and its value. Also returns the runs
    /// of the search without a figure.
    fn found(&self, args: &Args) -> Result<(Option<Found>, Counts), Failure> {
        let (worst, counts) = self.worst(args)?;
        let found = match worst {
            Some((worst, value)) if self.property.is_broken(value) => {
                Some(self.shrink(worst, value)?)
            }
            held => held,
        };
        Ok((found, counts))
    }

    fn settings(&self, point: &Point) -> Vec<String> {
        let pairs = self.ranges.iter().zip(point);
        pairs.filter_map(|(range, value)| Some(range.setting((*value)?))).collect()
    }

    fn scenario(&self, point: &Point) -> Result<Scenario, Failure> {
        let mut file = self.file.clone();
        set(&mut file, &self.settings(point))?;
        Ok(file.points(self.catalogue, None)?.swap_remove(0))
    }

    /// Returns the figure of the property for the run at a point. Known points are not run again.
    fn value(&self, point: &Point) -> Result<Figure, Failure> {
        let scenario = self.scenario(point)?;
        let key = self.kept.key_of(&scenario, self.engine, &self.property.given);
        let known = self.kept.get(&key).map(|known| known.values.clone());
        let values = match known {
            Some(known) => known,
            None => {
                let Some(values) = self.measured(&scenario)? else { return Ok(Figure::Unfit) };
                self.keep(&key, values.clone())?;
                values
            }
        };
        Ok(self.property.figure(&values).map_or(Figure::None, Figure::Value))
    }

    fn keep(&self, key: &str, values: Vec<Option<f64>>) -> Result<(), Failure> {
        let (digest, failure) = (String::new(), String::new());
        let measured = Measured { values, digest, failure, unfit: false };
        self.kept.put(key, &measured).map_err(|e| {
            let message = format!("the runs of the search cannot be kept: {e}");
            Failure::io(message, &e)
        })
    }

    /// Keeps a reason for a run without a value.
    fn give(&self, why: Option<String>) {
        let mut first = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        *first = first.take().or(why);
    }

    /// Makes a run and returns the values of the property, or `None` if this machine did not keep up.
    fn measured(&self, scenario: &Scenario) -> Result<Option<Vec<Option<f64>>>, Failure> {
        let run = accord::run(scenario, self.engine, &Options::default(), &mut Watch);
        match run {
            Ok(run) if run.unfit.is_some() => Ok(None),
            Ok(run) => {
                let values = figure_values(scenario, &run).swap_remove(0);
                let explains = matches!(self.engine, Engine::Theory | Engine::Fluid);
                if explains && values.iter().all(Option::is_none) {
                    self.give(run.notes.first().cloned());
                }
                Ok(Some(values))
            }
            // There is no equilibrium, for example, and so no result.
            Err(e @ (Error::Theory(_) | Error::Fluid(_))) => {
                self.give(Some(e.to_string()));
                Ok(Some(Vec::new()))
            }
            Err(e) => Err(e.into()),
        }
    }

    /// Returns the worst point of all runs with its value, and the runs without one.
    fn worst(&self, args: &Args) -> Result<(Option<Found>, Counts), Failure> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let progress = parts(args.runs as usize, args.quiet);
        let (mut worst, mut counts): (Option<Found>, _) = (None, Counts::default());
        let (mut done, mut step) = (0, 0.25);
        while done < args.runs {
            let many = BATCH.min(args.runs - done);
            let near = worst.as_ref().filter(|_| done >= args.runs / 2).map(|(p, _)| p.clone());
            let points: Vec<Point> = (0..many)
                .map(|_| {
                    let ranges = self.ranges.iter().enumerate();
                    let value = |(i, range): (usize, &Range)| match near.as_ref().and_then(|p| p[i])
                    {
                        Some(from) => range.moved(from, step * (2.0 * unit() - 1.0)),
                        None => range.at(unit()),
                    };
                    ranges.map(value).map(Some).collect()
                })
                .collect();
            let one = |point: &Point| {
                let value = self.value(point);
                progress.done();
                value
            };
            let figures: Result<Vec<_>, Failure> = match self.engine {
                // Live runs share the time of the machine.
                Engine::Live => points.iter().map(one).collect(),
                _ => points.par_iter().map(one).collect(),
            };
            let mut better = false;
            for (point, figure) in points.into_iter().zip(figures?) {
                let excess = |v| self.property.excess(v);
                counts.add(figure);
                if let Figure::Value(value) = figure
                    && worst.as_ref().is_none_or(|(_, w)| excess(value) > excess(*w))
                {
                    worst = Some((point, value));
                    better = true;
                }
            }
            if near.is_some() && !better {
                step = (step * 0.7).max(0.005);
            }
            done += many;
        }
        drop(progress);
        if !args.quiet {
            note(format_args!("{done} runs searched"));
        }
        Ok((worst, counts))
    }

    /// Moves a point that breaks the property back towards the scenario, value by value.
    fn shrink(&self, mut point: Point, mut value: f64) -> Result<(Point, f64), Failure> {
        let mut adopt = |point: &mut Point, i: usize, new: Option<f64>| {
            let mut tried = point.clone();
            tried[i] = new;
            let found = match self.value(&tried)? {
                Figure::Value(found) if self.property.is_broken(found) => found,
                _ => return Ok::<bool, Failure>(false),
            };
            (*point, value) = (tried, found);
            Ok(true)
        };
        for (i, range) in self.ranges.iter().enumerate() {
            if adopt(&mut point, i, None)? {
                continue;
            }
            if let (Some(far), Some(own)) = (point[i], range.original) {
                let (mut broken, mut whole) = (far, own);
                for _ in 0..HALVINGS {
                    let middle = range.between(whole, broken);
                    if adopt(&mut point, i, Some(middle))? {
                        broken = middle
                    } else {
                        whole = middle
                    }
                }
            }
            // Fewer digits are easier to read.
            if let Some(now) = point[i] {
                let short = format!("{now:.1e}").parse().unwrap_or(now);
                adopt(&mut point, i, Some(short))?;
            }
        }
        Ok((point, value))
    }
}

/// The figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// The value that is nearest to breaking the property.
    Value(f64),
    /// The run has no value.
    None,
    /// This machine did not keep up with the run.
    Unfit,
}

impl Counts {
    fn add(&mut self, figure: Figure) {
        match figure {
            Figure::Value(_) => {}
            Figure::None => self.without += 1,
            Figure::Unfit => self.unfit += 1,
        }
    }

    /// Returns the lines about these runs, out of all of the search.
    fn says(&self, runs: u64) -> Vec<String> {
        let Counts { without, unfit } = self;
        let none = (*without > 0).then(|| format!("{without} of {runs} runs had no value"));
        let late = format!("this machine did not keep up with {unfit} of {runs} runs");
        none.into_iter().chain((*unfit > 0).then_some(late)).collect()
    }
}

/// An observer that ends a run at an interrupt.
struct Watch;

impl Observer for Watch {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        if crate::progress::interrupted() { Err(Interrupted) } else { Ok(()) }
    }
}
