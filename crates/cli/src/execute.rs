//! The runs of a scenario file: all points of its sweep, all seeds, all engines, on all cores. The
//! result depends neither on the number of cores nor on an interruption.

use crate::capture::CaptureFile;
use crate::choice::{at_point, engines};
use crate::fail::Failure;
use crate::live;
use crate::point;
use crate::progress::Progress;
use crate::qlogs::QlogDir;
use crate::run_options::RunOptions;
use crate::skip;
use accord::language::File;
use accord::record::Run;
use accord::report::{Check, Kept, Point, checks_by};
use accord::scenario::{Engine, Scenario};
use accord::units::Duration;
use accord::{Catalogue, Job, run_all};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The most runs of a command whose samples are all kept. Beyond that only the first points keep theirs, for the
/// plots of the page.
pub const MOST_SAMPLED: usize = 200;
/// The runs that are made together, and then reduced to their means.
pub const AT_ONCE: usize = 64;

/// The result at one point of a sweep.
pub struct Outcome {
    /// The scenario, with the first seed.
    pub scenario: Scenario,
    /// Runs by seed, then engine.
    pub runs: Vec<Run>,
    pub checks: Vec<Check>,
}

impl Outcome {
    /// Returns the outcome for the report.
    pub fn point(&self) -> Point<'_> {
        Point { scenario: &self.scenario, runs: &self.runs, checks: &self.checks }
    }
}

/// The result of `execute`.
pub struct Executed {
    /// By point of the sweep.
    pub outcomes: Vec<Outcome>,
    /// Finished after the results are written, since its error must not cost them.
    pub capture: Option<CaptureFile>,
    /// Also finished after the results are written.
    pub logs: Option<QlogDir>,
}

/// The runs of a scenario file.
pub struct Work<'a> {
    options: &'a RunOptions,
    /// The chosen points of the sweep, with each seed.
    repetitions: Vec<Vec<Scenario>>,
    engines: Vec<Engine>,
}

impl<'a> Work<'a> {
    /// Returns the runs requested by `options`. As one `of_many` experiments it has live runs only
    /// if live is named.
    pub fn of(
        file: &File,
        catalogue: &Catalogue,
        options: &'a RunOptions,
        of_many: bool,
    ) -> Result<Work<'a>, Failure> {
        let mut repetitions = options.repetitions(file, catalogue)?;
        let chosen = point::chosen(&repetitions[0], &options.point)?;
        repetitions.iter_mut().for_each(|points| point::retain(points, &chosen));
        let first = &repetitions[0];
        let engines = live::possible(engines(&options.engine, first), options, of_many, first)?;
        if options.skip.is_some() {
            skip::possible(&engines)?;
        }
        let work = Work { options, repetitions, engines };
        let jobs = work.jobs();
        for (option, is_given) in [("--pcap", &options.pcap), ("--qlog", &options.qlog)] {
            if is_given.is_some() {
                one_that_moves(option, &jobs)?;
            }
        }
        drop(jobs);
        Ok(work)
    }

    /// Returns true if there is a live run.
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
                let engines = at_point(&self.engines, &self.options.engine, scenario);
                let job = move |engine| (p, Job { scenario, engine });
                engines.into_iter().map(job)
            })
            .collect()
    }

    /// Makes the runs that are not in `kept`, and saves each there when it is done.
    pub fn execute(mut self, kept: &Kept, progress: &Progress) -> Result<Executed, Failure> {
        let options = self.options;
        let jobs = self.jobs();
        let capture = options.pcap.as_deref().map(CaptureFile::create).transpose()?;
        let logs = match &options.qlog {
            Some(dir) => {
                let scenario = one_that_moves("--qlog", &jobs)?;
                Some(QlogDir::create(dir, options.qlog_version, scenario)?)
            }
            None => None,
        };
        let watched = capture.is_some() || logs.is_some();
        let load = |job: &Job| match watched {
            true if moves_packets(job.engine) => None,
            _ => kept.load(job.scenario, job.engine),
        };
        let sampled = options.series || jobs.len() <= MOST_SAMPLED;
        let id = &jobs[0].1.scenario.id;
        let there: Vec<bool> = match kept.left() {
            Some(_) => jobs.par_iter().map(|(_, job)| load(job).is_some()).collect(),
            None => vec![false; jobs.len()],
        };
        let before = there.iter().filter(|there| **there).count();
        if before > 0 && !options.quiet {
            progress.note(format_args!(
                "{id}: {before} of {} runs were done before the interruption; resuming",
                jobs.len()
            ));
        }
        let were_done = jobs.iter().zip(&there).filter(|(_, there)| **there);
        progress.pass(total(were_done.map(|(job, _)| job)));
        if !options.quiet {
            let live = jobs
                .iter()
                .zip(&there)
                .filter(|((_, job), there)| !**there && job.engine == Engine::Live);
            progress.above(|| live::announce(live.map(|((_, job), _)| job.scenario), options));
        }
        let (kept_runs, failed) = (AtomicUsize::new(before), AtomicBool::new(false));
        let observe = |job: &Job| {
            let moves = moves_packets(job.engine);
            let capture = capture.as_ref().filter(|_| moves);
            progress.observe(capture, logs.as_ref().filter(|_| moves))
        };
        // If a run cannot be saved the work continues, and only an interruption would lose it.
        let keep = |scenario: &Scenario, run: &Run| match kept.keep(scenario, run) {
            Ok(()) => {
                kept_runs.fetch_add(1, Ordering::Relaxed);
            }
            Err(e) if !failed.swap(true, Ordering::Relaxed) => {
                progress.note(format_args!("runs cannot be saved for a resumption: {e}"));
            }
            Err(_) => {}
        };
        // A point in which no engine runs stays without a result here.
        let mut results: Vec<Option<(Vec<Run>, Vec<Check>)>> = Vec::new();
        results.resize_with(self.repetitions[0].len(), || None);
        let mut means = 0;
        for now in parts(&jobs, sampled) {
            let (first, last) = (jobs[now.start].0, jobs[now.end - 1].0);
            let (some, there) = (&jobs[now.clone()], &there[now.clone()]);
            let done: Vec<Option<Run>> = (some.par_iter().zip(there))
                .map(|((_, job), there)| there.then(|| load(job)).flatten())
                .collect();
            let left = some.iter().zip(&done).filter(|(_, done)| done.is_none());
            let to_do: Vec<Job> = left.map(|((_, job), _)| *job).collect();
            let keep = |i: usize, run: &Run| keep(to_do[i].scenario, run);
            let made = run_all(&to_do, &options.engine_settings(), observe, keep);
            let made = made.map_err(Failure::from);
            let after = kept_runs.load(Ordering::Relaxed);
            if matches!(made, Err(Failure::Interrupted)) && after > 0 {
                progress.note(format_args!(
                    "{id}: {after} of {} runs are done and kept; the same command without --fresh resumes",
                    jobs.len()
                ));
            }
            let mut made = made?.into_iter();
            let runs = done.into_iter().map(|done| done.or_else(|| made.next()));
            let mut by_point: Vec<Vec<Run>> = vec![Vec::new(); last - first + 1];
            for ((p, _), run) in some.iter().zip(runs.flatten()) {
                by_point[p - first].push(run);
            }
            let points = by_point.into_par_iter().zip(&self.repetitions[0][first..]);
            let judged: Vec<_> = points
                .map(|(runs, scenario)| {
                    let checks = judged(scenario, &runs, &self.engines, options);
                    let means = |run: &Run| run.means_over(scenario.steady);
                    match sampled || now.start == 0 {
                        true => (runs, checks),
                        false => (runs.iter().map(means).collect(), checks),
                    }
                })
                .collect();
            let runs = judged.iter().flat_map(|(runs, _)| runs);
            means += runs.filter(|run| run.only_over.is_some()).count();
            for (result, judged) in results[first..].iter_mut().zip(judged) {
                *result = Some(judged);
            }
        }
        if means > 0 && !options.quiet {
            progress.note(format_args!(
                "{id}: of {means} of {} runs only the means are kept; --series keeps all samples",
                jobs.len()
            ));
        }
        let scenarios = self.repetitions.swap_remove(0);
        let outcomes = (scenarios.into_iter().zip(results))
            .map(|(scenario, result)| {
                let none = || (vec![], judged(&scenario, &[], &self.engines, options));
                let (runs, checks) = result.unwrap_or_else(none);
                Outcome { scenario, runs, checks }
            })
            .collect();
        Ok(Executed { outcomes, capture, logs })
    }
}

/// The parts in which runs are made: whole points, as many as make [`AT_ONCE`] runs, or all if their samples
/// are kept anyway.
fn parts(jobs: &[(usize, Job)], sampled: bool) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < jobs.len() {
        let point = jobs.get(start + AT_ONCE).filter(|_| !sampled).map(|(p, _)| *p);
        let next = point.map_or(jobs.len(), |point| {
            let point = point.max(jobs[start].0 + 1);
            jobs.partition_point(|(p, _)| *p < point)
        });
        parts.push(start..next);
        start = next;
    }
    parts
}

/// The simulated time of runs.
fn total<'a>(jobs: impl Iterator<Item = &'a (usize, Job<'a>)>) -> Duration {
    jobs.fold(Duration::ZERO, |sum, (_, job)| sum + job.scenario.duration)
}

fn moves_packets(engine: Engine) -> bool {
    matches!(engine, Engine::Packet | Engine::Live)
}

/// Returns the scenario of the only run that moves packets, or an error.
fn one_that_moves<'a>(option: &str, jobs: &[(usize, Job<'a>)]) -> Result<&'a Scenario, Failure> {
    let moving: Vec<_> =
        (jobs.iter().map(|(_, job)| job)).filter(|job| moves_packets(job.engine)).collect();
    match moving[..] {
        [job] => Ok(job.scenario),
        _ => {
            let hint = "use --engine packet or --engine live, no --reps, and one point \
                        of a sweep with --set sweep.NAME.values=...";
            let n = moving.len();
            let why =
                format!("{option} needs exactly one packet or live run; this command makes {n}");
            Err(Failure::new(why).hint(hint))
        }
    }
}

/// Returns the checks of the engines that ran. The recorded figures of known failures belong to the
/// scenario as written, and do not apply if the command line changes it.
fn judged(
    scenario: &Scenario,
    runs: &[Run],
    engines: &[Engine],
    options: &RunOptions,
) -> Vec<Check> {
    let mut scenario = scenario.clone();
    if options.seed.is_some()
        || options.reps > 1
        || !options.set.is_empty()
        || options.skip.is_some()
    {
        let known = scenario.expectations.iter_mut().flat_map(|e| &mut e.fails);
        known.for_each(|known| known.record = None);
    }
    checks_by(&scenario, &runs.iter().collect::<Vec<_>>(), engines)
}
