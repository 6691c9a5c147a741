//! `accord reproduce`: the experiments that come with the program, and the verdicts on all of them.

use crate::args::Reproduce;
use crate::capture::CaptureFile;
use crate::execute::{Executed, Outcome, Work};
use crate::fail::Failure;
use crate::live;
use crate::output::{data, heading, json, note, prose, style};
use crate::point;
use crate::progress::Progress;
use crate::qlogs::QlogDir;
use crate::readings;
use crate::record;
use crate::results::{self, build, experiment, keep, warning_of_replaced, write};
use crate::run_options::RunOptions;
use crate::skip;
use crate::summary;
use accord::Catalogue;
use accord::report::show::visible;
use accord::report::{
    ExperimentRow, FORMAT_VERSION, Kept, Lock, Point, Tally, check_place, checks_table, overview,
    remarks, totals,
};
use accord::units::Duration;
use accord::{BUILT_IN, load, papers, set};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};

/// Carries out the command. `Ok(false)` means that a verdict is unknown.
pub fn run(args: Reproduce, catalogue: &Catalogue) -> Result<bool, Failure> {
    if args.summary && !args.all {
        let why = "--summary needs all figures and tables";
        return Err(Failure::new(why).hint("accord reproduce --all --summary"));
    }
    if args.recorded {
        return summary::recorded(catalogue, args.options.json);
    }
    let mut ids: Vec<String> = if args.all {
        BUILT_IN.iter().map(|(id, _)| id.to_string()).collect()
    } else {
        args.id.clone()
    };
    known(&ids)?;
    known(&args.except)?;
    ids.retain(|id| !args.except.contains(id));
    if let Some(record) = &args.readings {
        return readings::run(&ids, record, &args, catalogue);
    }
    if args.all && (args.summary || !args.options.json) {
        // A record that does not match is better found before the runs than after them.
        summary::readings()?;
    }
    // A duplicate would be written to one place by two threads.
    let mut named = BTreeSet::new();
    ids.retain(|id| named.insert(id.clone()));
    for id in &ids {
        check_place(&args.output.join(id))?;
    }
    let build = build();
    let tasks: Vec<Task> = (ids.iter())
        .map(|id| Task::of(id, &args, catalogue, &build))
        .collect::<Result<_, Failure>>()?;
    // Kept to the end, so a repeated command after an interruption shows all experiments.
    let all_kept: Vec<Kept> = tasks.iter().map(|task| task.kept.clone()).collect();
    let options = &args.options;
    // A live run needs the machine, and a capture has one run.
    let one_by_one =
        options.pcap.is_some() || options.qlog.is_some() || tasks.iter().any(|t| t.work.is_live());
    let time = (tasks.iter()).fold(Duration::ZERO, |sum, task| sum + task.work.duration());
    let progress = Progress::new(time, options.quiet || options.json);
    let (mut unfit, mut captured) = (Ok(()), Ok(()));
    let (mut experiments, mut tallies, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let take = |made: Reproduced| {
        if !args.summary {
            progress.above(|| made.print(options))?;
        }
        keep_first(&mut unfit, made.unfit);
        keep_first(&mut captured, made.captured);
        experiments.push(made.experiment);
        tallies.push((made.id, made.tally));
        rows.push(made.row);
        Ok(())
    };
    in_order(tasks, one_by_one, |task| task.make(options, &progress), take)?;
    drop(progress);
    all_kept.iter().for_each(Kept::discard);
    if args.summary {
        summary::print(&rows, args.options.json)?;
    } else if args.options.json {
        json(&json!({ "format_version": FORMAT_VERSION, "experiments": experiments }))?;
    } else if tallies.len() > 1 && !args.options.record {
        show(&tallies, &rows, args.all && args.except.is_empty())?;
    }
    captured?;
    unfit?;
    Ok(tallies.iter().all(|(_, tally)| tally.worst().passes()))
}

/// Refuses an id that is not an experiment's.
fn known(ids: &[String]) -> Result<(), Failure> {
    let Some(id) = ids.iter().find(|id| BUILT_IN.iter().all(|(known, _)| known != id)) else {
        return Ok(());
    };
    let known = BUILT_IN.iter().map(|(known, _)| *known);
    let hint = match accord::form::suggest(id, known) {
        Some(hint) => format!("{hint} accord list experiments shows all"),
        None => "accord list experiments shows them".into(),
    };
    Err(Failure::new(format!("unknown experiment \"{id}\"")).hint(hint))
}

/// Keeps the first error.
fn keep_first(known: &mut Result<(), Failure>, new: Result<(), Failure>) {
    if known.is_ok() {
        *known = new;
    }
}

/// An experiment to reproduce.
struct Task<'a> {
    id: &'a str,
    work: Work<'a>,
    dir: PathBuf,
    kept: Kept,
    _lock: Lock,
}

impl<'a> Task<'a> {
    fn of(
        id: &'a str,
        args: &'a Reproduce,
        catalogue: &Catalogue,
        build: &str,
    ) -> Result<Task<'a>, Failure> {
        let mut file = load(id)?;
        set(&mut file, &args.options.set)?;
        let scenarios = file.points(catalogue, args.options.seed)?;
        let chosen = point::chosen(&scenarios, &args.options.point)?;
        let name = point::directory(id, scenarios.len(), &chosen);
        let dir = args.output.join(name);
        check_place(&dir)?;
        let lock = Lock::take(&dir)?;
        let warning = warning_of_replaced(&dir, &file, catalogue, &args.options)?;
        let live = results::has_live(&args.options, &scenarios);
        let kept = keep(&dir, &args.options, live, build)?;
        let work = Work::of(&file, catalogue, &args.options, args.all)?;
        warning.iter().for_each(note);
        Ok(Task { id, work, dir, kept, _lock: lock })
    }

    /// Makes the runs and writes them.
    fn make(self, options: &RunOptions, progress: &Progress) -> Result<Reproduced, Failure> {
        let Executed { outcomes, capture, logs } = self.work.execute(&self.kept, progress)?;
        let page = write(&self.dir, &outcomes, false);
        if page.is_err() {
            results::report_kept(&self.kept);
        }
        let page = page?;
        let captured = capture
            .map_or(Ok(()), CaptureFile::finish)
            .and_then(|()| logs.map_or(Ok(()), QlogDir::finish));
        let points: Vec<Point> = outcomes.iter().map(|o| o.point()).collect();
        let (mut text, mut notes) = (Vec::new(), Vec::new());
        if options.record {
            text = record::lines(&outcomes);
        } else if !options.json {
            text = tables(&outcomes, options);
        }
        if !options.quiet && !options.record && !options.json {
            notes.extend(results::short_queues(&outcomes));
            notes.extend(points.iter().flat_map(live::remarks));
            if options.skip.is_some() {
                notes.extend(points.iter().flat_map(skip::remarks));
            }
            notes.push(results::ending(&outcomes, &page));
        }
        Ok(Reproduced {
            id: self.id.into(),
            tally: Tally::of(outcomes.iter().flat_map(|o| &o.checks).map(|c| c.class)),
            experiment: experiment(self.id, &outcomes, &self.dir),
            row: ExperimentRow::of(self.id, &points),
            text,
            notes,
            unfit: live::fit(outcomes.iter().flat_map(|o| &o.runs)),
            captured,
        })
    }
}

/// The parts of an experiment that are kept after its series are written.
struct Reproduced {
    id: String,
    tally: Tally,
    experiment: Value,
    row: ExperimentRow,
    text: Vec<String>,
    notes: Vec<String>,
    unfit: Result<(), Failure>,
    captured: Result<(), Failure>,
}

impl Reproduced {
    fn print(&self, options: &RunOptions) -> Result<(), Failure> {
        for text in &self.text {
            if options.record { data(text)? } else { prose(text)? }
        }
        self.notes.iter().for_each(note);
        Ok(())
    }
}

/// Returns the verdicts of an experiment as text. A sweep has an overview, and its points with
/// `--details`.
fn tables(outcomes: &[Outcome], options: &RunOptions) -> Vec<String> {
    let mut text = vec![heading(&outcomes[0].scenario)];
    if outcomes.len() > 1 {
        let points: Vec<Point> = outcomes.iter().map(Outcome::point).collect();
        text.push(overview(&points, &options.show, style()));
    }
    let details = options.details || outcomes.len() == 1;
    for outcome in outcomes.iter().filter(|_| details) {
        if !outcome.scenario.point.is_empty() {
            text.push(visible(&outcome.point().label()));
        }
        text.push(checks_table(&outcome.checks, style()));
        let remarks = remarks(&outcome.runs.iter().collect::<Vec<_>>());
        if !remarks.is_empty() {
            text.push(visible(&remarks));
        }
    }
    text
}

/// Calls `make` for each task, for as many at once as there are threads, or `one_by_one`, and
/// `take` for the results in the order of the tasks. The first error in that order ends it.
fn in_order<T: Send, M: Send>(
    tasks: Vec<T>,
    one_by_one: bool,
    make: impl Fn(T) -> Result<M, Failure> + Sync,
    mut take: impl FnMut(M) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if one_by_one {
        return tasks.into_iter().try_for_each(|task| take(make(task)?));
    }
    let tasks = Mutex::new(tasks.into_iter().enumerate());
    let next = &|| tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let make = &make;
    let (to, made) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        // Threads without a task help with the runs of the others.
        scope.spawn_broadcast(move |_, _| {
            while let Some((i, task)) = next() {
                let result = make(task);
                if result.is_err() {
                    while next().is_some() {}
                }
                // After an error nothing takes results.
                _ = to.send((i, result));
            }
        });
        let (mut waiting, mut first) = (BTreeMap::new(), 0);
        for (i, result) in made {
            waiting.insert(i, result);
            while let Some(result) = waiting.remove(&first) {
                first += 1;
                take(result?)?;
            }
        }
        Ok(())
    })
}

/// Prints a line for each experiment, and the counts over all. Figures and tables of papers are
/// counted only if the experiments are `all`.
fn show(tallies: &[(String, Tally)], rows: &[ExperimentRow], all: bool) -> Result<(), Failure> {
    for (id, tally) in tallies {
        let line = format!("{id:12}  {}", tally.sentence());
        data(style().paint(tally.worst(), &line))?;
    }
    data("")?;
    if all {
        data(papers().summary(rows, &summary::readings()?).counts().join("\n"))?
    } else {
        data(totals(rows.iter().flat_map(ExperimentRow::checks)))?
    }
    Ok(())
}
