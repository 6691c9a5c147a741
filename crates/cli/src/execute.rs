//! Runs a scenario file: all points of its sweep, all seeds, all engines, on all cores. The
//! result does not depend on how many there are, nor on whether some runs were done before
//! an interruption.

use crate::args::How;
use crate::capture::CaptureFile;
use crate::choice::{at_point, engines};
use crate::fail::Failure;
use crate::live;
use crate::output::note;
use crate::point;
use crate::progress::Progress;
use crate::qlogs::QlogDir;
use crate::skip;
use accord::language::File;
use accord::record::Run;
use accord::report::{Check, Kept, Point, checks};
use accord::scenario::{Engine, Scenario};
use accord::units::Duration;
use accord::{Catalogue, Job, run_all};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The result at one point of a sweep.
pub struct Outcome {
    /// The scenario, with the first seed.
    pub scenario: Scenario,
    /// Runs by seed, then engine.
    pub runs: Vec<Run>,
    /// The checks.
    pub checks: Vec<Check>,
}

impl Outcome {
    /// The outcome in the form that the report takes.
    pub fn point(&self) -> Point<'_> {
        Point {
            scenario: &self.scenario,
            runs: &self.runs,
            checks: &self.checks,
        }
    }
}

/// The result of `execute`.
pub struct Executed {
    /// By point of the sweep.
    pub outcomes: Vec<Outcome>,
    /// To be finished when the results are written: an error of it must not cost them.
    pub capture: Option<CaptureFile>,
    /// The same.
    pub logs: Option<QlogDir>,
}

/// Runs everything that is not in `kept`, and keeps each run there as it is done. As one `of_many`
/// experiments it has live runs only if they are asked for by name.
pub fn execute(
    file: &File,
    catalogue: &Catalogue,
    how: &How,
    of_many: bool,
    kept: &Kept,
) -> Result<Executed, Failure> {
    let first = file.points(catalogue, how.seed)?;
    let mut repetitions = vec![first];
    for k in 1..how.reps {
        let seed = repetitions[0][0].seed.wrapping_add(k);
        repetitions.push(file.points(catalogue, Some(seed))?);
    }
    let chosen = point::chosen(&repetitions[0], &how.point)?;
    for points in &mut repetitions {
        let mut i = 0;
        points.retain(|_| {
            i += 1;
            chosen.contains(&(i - 1))
        });
    }
    let engines = live::possible(
        engines(&how.engine, &repetitions[0]),
        how,
        of_many,
        &repetitions[0],
    )?;
    if how.skip.is_some() {
        skip::possible(&engines)?;
    }
    let points = repetitions[0].len();
    let jobs: Vec<(usize, &Scenario, Engine)> = (0..points)
        .flat_map(|p| repetitions.iter().map(move |r| (p, &r[p])))
        .flat_map(|(p, s)| {
            let engines = at_point(&engines, &how.engine, s);
            engines.into_iter().map(move |e| (p, s, e))
        })
        .collect();
    let capture = match &how.pcap {
        Some(path) => {
            one_that_moves("--pcap", &jobs)?;
            Some(CaptureFile::create(path)?)
        }
        None => None,
    };
    let logs = match &how.qlog {
        Some(dir) => {
            let scenario = one_that_moves("--qlog", &jobs)?;
            Some(QlogDir::create(dir, how.qlog_version, scenario)?)
        }
        None => None,
    };
    let watched = capture.is_some() || logs.is_some();
    let done: Vec<Option<Run>> = (jobs.par_iter())
        .map(|(_, scenario, engine)| match watched {
            true if moves_packets(*engine) => None,
            _ => kept.load(scenario, *engine),
        })
        .collect();
    let before = done.iter().flatten().count();
    if before > 0 && !how.quiet {
        note(format_args!(
            "{}: {before} of {} runs were done before the interruption; going on",
            jobs[0].1.id,
            jobs.len()
        ));
    }
    let left = jobs.iter().zip(&done).filter(|(_, done)| done.is_none());
    let left = left.fold(Duration::ZERO, |sum, ((_, s, _), _)| sum + s.duration);
    if !how.quiet {
        let live =
            (jobs.iter().zip(&done)).filter(|(j, done)| j.2 == Engine::Live && done.is_none());
        live::announce(live.map(|((_, s, _), _)| *s), how);
    }
    let progress = Progress::new(left, how.quiet || how.json);
    let keeper = Keeper {
        kept,
        runs: AtomicUsize::new(before),
        failed: AtomicBool::new(false),
    };
    let to_do: Vec<Job> = (jobs.iter().zip(&done))
        .filter(|(_, done)| done.is_none())
        .map(|((_, scenario, engine), _)| Job {
            scenario,
            engine: *engine,
        })
        .collect();
    let observe = |job: &Job| {
        let moves = moves_packets(job.engine);
        let capture = capture.as_ref().filter(|_| moves);
        progress.observe(capture, logs.as_ref().filter(|_| moves))
    };
    let keep = |i: usize, run: &Run| keeper.keep(to_do[i].scenario, run);
    let runs = run_all(&to_do, &how.options(), observe, keep).map_err(Failure::from);
    drop(progress);
    let after = keeper.runs.into_inner();
    if matches!(runs, Err(Failure::Interrupted)) && after > 0 {
        note(format_args!(
            "{after} of {} runs are done and kept; the same command, without --fresh, goes on",
            jobs.len()
        ));
    }
    let mut made = runs?.into_iter();
    let runs = done.into_iter().map(|done| done.or_else(|| made.next()));
    let mut by_point: Vec<Vec<Run>> = vec![Vec::new(); points];
    for ((p, ..), run) in jobs.iter().zip(runs.flatten()) {
        by_point[*p].push(run);
    }
    let scenarios = repetitions.swap_remove(0);
    let outcomes = (scenarios.into_iter().zip(by_point))
        .map(|(scenario, runs)| {
            let checks = judged(&scenario, &runs, &engines, how);
            Outcome {
                scenario,
                runs,
                checks,
            }
        })
        .collect();
    Ok(Executed {
        outcomes,
        capture,
        logs,
    })
}

fn moves_packets(engine: Engine) -> bool {
    matches!(engine, Engine::Packet | Engine::Live)
}

/// Returns the scenario of the run that moves packets: there has to be one.
fn one_that_moves<'a>(
    option: &str,
    jobs: &[(usize, &'a Scenario, Engine)],
) -> Result<&'a Scenario, Failure> {
    let moving: Vec<_> = jobs.iter().filter(|j| moves_packets(j.2)).collect();
    match moving[..] {
        [(_, scenario, _)] => Ok(scenario),
        _ => {
            let hint = "name one of --engine packet and --engine live, no --reps, and a point \
                        of a sweep with --set sweep.NAME.values=...";
            let n = moving.len();
            let why = format!("{option} is for one run that moves packets, and here are {n}");
            Err(Failure::new(why).hint(hint))
        }
    }
}

/// Keeps runs. Where that fails the work goes on, and only an interruption would lose it.
struct Keeper<'a> {
    kept: &'a Kept,
    runs: AtomicUsize,
    failed: AtomicBool,
}

impl Keeper<'_> {
    fn keep(&self, scenario: &Scenario, run: &Run) {
        match self.kept.keep(scenario, run) {
            Ok(()) => {
                self.runs.fetch_add(1, Ordering::Relaxed);
            }
            Err(e) if !self.failed.swap(true, Ordering::Relaxed) => {
                note(format_args!(
                    "runs cannot be kept against an interruption: {e}"
                ));
            }
            Err(_) => {}
        }
    }
}

/// The checks of the engines that ran. What a file has as measured of known failures is of the
/// scenario as written: it does not hold where the command line changes that.
fn judged(scenario: &Scenario, runs: &[Run], engines: &[Engine], how: &How) -> Vec<Check> {
    let mut scenario = scenario.clone();
    if how.seed.is_some() || how.reps > 1 || !how.set.is_empty() || how.skip.is_some() {
        let known = scenario.expectations.iter_mut().flat_map(|e| &mut e.fails);
        known.for_each(|known| known.record = None);
    }
    scenario
        .expectations
        .retain(|e| engines.contains(&e.engine));
    checks(&scenario, &runs.iter().collect::<Vec<_>>())
}
