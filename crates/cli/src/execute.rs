//! The runs of a scenario file: all points of its sweep, all seeds, all engines, on all cores. The
//! result does not depend on how many there are, nor on whether some runs were done before
//! an interruption.

use crate::args::How;
use crate::capture::CaptureFile;
use crate::choice::{at_point, engines};
use crate::fail::Failure;
use crate::live;
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

/// The runs of a scenario file that are to be made.
pub struct Work<'a> {
    how: &'a How,
    /// The chosen points of the sweep, with each seed.
    repetitions: Vec<Vec<Scenario>>,
    engines: Vec<Engine>,
}

impl<'a> Work<'a> {
    /// Returns the runs that `how` asks for. As one `of_many` experiments it has live runs only if
    /// they are asked for by name.
    pub fn of(
        file: &File,
        catalogue: &Catalogue,
        how: &'a How,
        of_many: bool,
    ) -> Result<Work<'a>, Failure> {
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
        Ok(Work {
            how,
            repetitions,
            engines,
        })
    }

    /// Returns whether any run has the machine for itself.
    pub fn is_live(&self) -> bool {
        self.engines.contains(&Engine::Live)
    }

    /// Returns the simulated time over all runs.
    pub fn duration(&self) -> Duration {
        total(self.jobs().iter())
    }

    /// Returns the runs with the index of their point: by point, seed and engine.
    fn jobs(&self) -> Vec<(usize, Job<'_>)> {
        let points = self.repetitions[0].len();
        (0..points)
            .flat_map(|p| self.repetitions.iter().map(move |r| (p, &r[p])))
            .flat_map(|(p, scenario)| {
                let engines = at_point(&self.engines, &self.how.engine, scenario);
                let job = move |engine| (p, Job { scenario, engine });
                engines.into_iter().map(job)
            })
            .collect()
    }

    /// Makes the runs that are not in `kept`, and keeps each there as it is done.
    pub fn execute(mut self, kept: &Kept, progress: &Progress) -> Result<Executed, Failure> {
        let how = self.how;
        let jobs = self.jobs();
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
            .map(|(_, job)| match watched {
                true if moves_packets(job.engine) => None,
                _ => kept.load(job.scenario, job.engine),
            })
            .collect();
        let id = &jobs[0].1.scenario.id;
        let before = done.iter().flatten().count();
        if before > 0 && !how.quiet {
            progress.note(format_args!(
                "{id}: {before} of {} runs were done before the interruption; going on",
                jobs.len()
            ));
        }
        let left = jobs.iter().zip(&done).filter(|(_, done)| done.is_none());
        let to_do: Vec<Job> = left.map(|((_, job), _)| *job).collect();
        let were_done = jobs.iter().zip(&done).filter(|(_, done)| done.is_some());
        progress.pass(total(were_done.map(|(job, _)| job)));
        if !how.quiet {
            let live = to_do.iter().filter(|job| job.engine == Engine::Live);
            progress.above(|| live::announce(live.map(|job| job.scenario), how));
        }
        let keeper = Keeper {
            kept,
            progress,
            runs: AtomicUsize::new(before),
            failed: AtomicBool::new(false),
        };
        let observe = |job: &Job| {
            let moves = moves_packets(job.engine);
            let capture = capture.as_ref().filter(|_| moves);
            progress.observe(capture, logs.as_ref().filter(|_| moves))
        };
        let keep = |i: usize, run: &Run| keeper.keep(to_do[i].scenario, run);
        let runs = run_all(&to_do, &how.options(), observe, keep).map_err(Failure::from);
        let after = keeper.runs.into_inner();
        if matches!(runs, Err(Failure::Interrupted)) && after > 0 {
            progress.note(format_args!(
                "{id}: {after} of {} runs are done and kept; the same command, without --fresh, goes on",
                jobs.len()
            ));
        }
        let mut made = runs?.into_iter();
        let runs = done.into_iter().map(|done| done.or_else(|| made.next()));
        let mut by_point: Vec<Vec<Run>> = vec![Vec::new(); self.repetitions[0].len()];
        for ((p, _), run) in jobs.iter().zip(runs.flatten()) {
            by_point[*p].push(run);
        }
        let scenarios = self.repetitions.swap_remove(0);
        let outcomes = (scenarios.into_par_iter().zip(by_point))
            .map(|(scenario, runs)| {
                let checks = judged(&scenario, &runs, &self.engines, how);
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
}

/// The simulated time of runs.
fn total<'a>(jobs: impl Iterator<Item = &'a (usize, Job<'a>)>) -> Duration {
    jobs.fold(Duration::ZERO, |sum, (_, job)| sum + job.scenario.duration)
}

fn moves_packets(engine: Engine) -> bool {
    matches!(engine, Engine::Packet | Engine::Live)
}

/// Returns the scenario of the run that moves packets: there has to be one.
fn one_that_moves<'a>(option: &str, jobs: &[(usize, Job<'a>)]) -> Result<&'a Scenario, Failure> {
    let moving: Vec<_> = (jobs.iter().map(|(_, job)| job))
        .filter(|job| moves_packets(job.engine))
        .collect();
    match moving[..] {
        [job] => Ok(job.scenario),
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
    progress: &'a Progress,
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
                self.progress.note(format_args!(
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
