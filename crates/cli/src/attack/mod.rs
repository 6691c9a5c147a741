//! `accord attack`: a search for settings that break a property of a scenario.
//!
//! Half of the runs are random points of the ranges, by a seed. The others are steps from the worst
//! point found, of decreasing size. A point that breaks the property is then moved back towards the
//! scenario, as far as it still breaks it. Points follow from the seed and from figures of earlier
//! runs, so an interrupted search keeps figures only.

pub mod options;
mod property;
mod ranges;

use crate::evaluate::put_at;
use crate::fail::{Failure, unwritable};
use crate::output::{data, note};
use crate::progress::parts;
use crate::results::build;
use crate::source::load;
use accord::files::read;
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

/// The number of points tried at once. It is the same for any number of cores, so the result
/// is, too.
const BATCH: u64 = 8;
/// The number of halvings on the way back to the scenario.
const HALVINGS: u32 = 6;

/// The largest file that is looked at as an earlier result, in bytes.
const LARGEST_RESULT: u64 = 8 << 20;

/// A point of the search: a value per range, or `None` for that of the scenario.
type Point = Vec<Option<f64>>;

/// Carries out the command. Returns `Ok(false)` if the property is broken.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    let mut file = load(&args.scenario, &args.set)?;
    let original = file.points(catalogue, None)?.swap_remove(0);
    let mut property = Property::parse(&args.property, &original)?;
    file.set("expect", &property.expectation(args.engine))?;
    // The entities of the property must exist.
    property.settle(&file.points(catalogue, None)?[0]);
    let ranges = ranges::of(&args.vary, &original, &file)?;
    let id = format!("attack-{}", original.id);
    let path = args.output.clone().unwrap_or_else(|| Path::new(&id).with_extension("toml"));
    check_file(&path, &id)?;
    // A range that does not fit fails at once, and not in each run.
    let corner: Vec<_> = ranges.iter().map(|range| range.setting(range.axis.from)).collect();
    let mut trial = file.clone();
    set(&mut trial, &corner)?;
    trial.points(catalogue, None)?;
    let _lock = Lock::take(&path)?;
    let unfinished = path.with_extension("unfinished");
    let kept = Measurements::open(&unfinished, &build(), args.fresh);
    let kept = kept.map_err(unwritable(&unfinished))?;
    if kept.known() > 0 && !args.quiet {
        note(format_args!("{} runs are known; resuming", kept.known()));
    }
    let search = Search { file, catalogue, ranges, property, engine: args.engine, kept };
    let found = search.found(args);
    if let Err(Failure::Interrupted) = found
        && !args.quiet
    {
        note("the finished runs are kept; the same command without --fresh resumes");
    }
    let found = found?;
    // No search is left to resume. It is called when there is nothing more to write.
    let done = || drop(std::fs::remove_file(&unfinished));
    let Some((least, value)) = found else {
        done();
        let message = format!("no run has a value of {}", search.property.metric);
        return Err(Failure::new(message).hint("accord list metrics shows which engines record it"));
    };
    let text = |value| search.property.text(value);
    if !search.property.is_broken(value) {
        done();
        let (runs, property) = (args.runs, &search.property.given);
        data(format_args!(
            "{property} holds in {runs} runs; the closest value is {}",
            text(value)
        ))?;
        return Ok(true);
    }
    let mut broken = search.scenario(&least)?;
    broken.title = format!("{} breaks {}", original.id, search.property.given);
    broken.notes = search.settings(&least).join(", ");
    broken.id = id;
    put_at(&path, print(&broken).as_bytes())?;
    done();
    data(format_args!("{} is broken: {}", search.property.given, text(value)))?;
    for setting in search.settings(&least) {
        data(format_args!("  {setting}"))?;
    }
    let (path, engine) = (path.display(), args.engine);
    data(format_args!("accord run {path} --engine {engine}"))?;
    Ok(false)
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
    /// The figures of finished runs.
    kept: Measurements,
}

impl Search<'_> {
    /// Returns the worst point, moved back if it breaks the property, and its value.
    fn found(&self, args: &Args) -> Result<Option<(Point, f64)>, Failure> {
        match self.worst(args)? {
            Some((worst, value)) if self.property.is_broken(value) => {
                self.shrink(worst, value).map(Some)
            }
            held => Ok(held),
        }
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

    /// Returns the figure of the property that is nearest to breaking it, or `None` if the run has
    /// none. Known points are not run again.
    fn value(&self, point: &Point) -> Result<Option<f64>, Failure> {
        let scenario = self.scenario(point)?;
        let key = self.kept.key_of(&scenario, self.engine, &self.property.given);
        if let Some(known) = self.kept.get(&key) {
            return Ok(known.values.first().copied().flatten());
        }
        let value = self.measured(&scenario)?;
        let measured = Measured {
            values: vec![value],
            digest: String::new(),
            failure: String::new(),
            unfit: false,
        };
        self.kept.put(&key, &measured).map_err(|e| {
            let message = format!("the runs of the search cannot be kept: {e}");
            Failure::io(message, &e)
        })?;
        Ok(value)
    }

    fn measured(&self, scenario: &Scenario) -> Result<Option<f64>, Failure> {
        let run = accord::run(scenario, self.engine, &Options::default(), &mut Watch);
        let run = match run {
            Ok(run) => run,
            // There is no equilibrium, for example.
            Err(Error::Theory(_) | Error::Fluid(_)) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let values = figure_values(scenario, &run).swap_remove(0);
        let worse =
            |a: f64, b: f64| if self.property.excess(b) > self.property.excess(a) { b } else { a };
        Ok(values.into_iter().flatten().reduce(worse))
    }

    /// Returns the worst point of all runs, and its value.
    fn worst(&self, args: &Args) -> Result<Option<(Point, f64)>, Failure> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let progress = parts(args.runs as usize, args.quiet);
        let mut worst: Option<(Point, f64)> = None;
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
            let values: Result<Vec<_>, Failure> = points.par_iter().map(one).collect();
            let mut better = false;
            for (point, value) in points.into_iter().zip(values?) {
                let excess = |v| self.property.excess(v);
                if let Some(value) = value
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
        Ok(worst)
    }

    /// Moves a point that breaks the property back towards the scenario, value by value.
    fn shrink(&self, mut point: Point, mut value: f64) -> Result<(Point, f64), Failure> {
        let mut adopt = |point: &mut Point, i: usize, new: Option<f64>| {
            let mut tried = point.clone();
            tried[i] = new;
            let found = self.value(&tried)?;
            let Some(found) = found.filter(|v| self.property.is_broken(*v)) else {
                return Ok::<bool, Failure>(false);
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

/// An observer that ends a run at an interrupt.
struct Watch;

impl Observer for Watch {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        if crate::progress::interrupted() { Err(Interrupted) } else { Ok(()) }
    }
}
