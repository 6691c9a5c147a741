//! The runs of an evaluation, on all cores, without those whose results are known.

use super::options::Args;
use crate::cost;
use crate::fail::Failure;
use crate::output::note;
use crate::progress::Progress;
use accord::report::show;
use accord::scenario::{Engine, Scenario};
use accord::units::Duration;
use accord::{Catalogue, Error, Options};
use accord_evaluate::{Launch, Measured, Measurements, Order, Plan, Trial, attempt};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns the measurements, by plan and trial.
pub fn make(
    plans: &[Plan],
    order: &Order,
    options: &Options,
    launch: Option<&Launch>,
    kept: &Measurements,
    args: &Args,
    catalogue: &Catalogue,
) -> Result<Vec<Vec<Measured>>, Failure> {
    let find = |plan: &Plan| -> Vec<Option<Measured>> {
        let trials = plan.trials.par_iter();
        // A program may be another by now.
        let known = |t: &Trial| kept.get(&kept.key(plan, t, order.engine)).cloned();
        trials.map(|t| t.programs.is_none().then(|| known(t)).flatten()).collect()
    };
    let mut found: Vec<Vec<Option<Measured>>> = plans.iter().map(find).collect();
    let all: usize = found.iter().map(Vec::len).sum();
    let mut left: Vec<(usize, usize)> = (found.iter().enumerate())
        .flat_map(|(p, trials)| {
            let open = trials.iter().enumerate().filter(|(_, known)| known.is_none());
            open.map(move |(t, _)| (p, t))
        })
        .collect();
    let (known, quiet) = (all - left.len(), args.quiet || args.json);
    if known > 0 && !quiet {
        note(format_args!("{known} of {all} runs are known; resuming"));
    }
    if !quiet && !left.is_empty() {
        note(announcement(plans, order, &left, catalogue));
    }
    // The longest run begins first, so it is not alone at the end.
    left.sort_by_key(|(p, t)| Reverse(work(&plans[*p].trials[*t].scenario)));
    let scenario = |(p, t): &(usize, usize)| &plans[*p].trials[*t].scenario;
    let total = left.iter().map(scenario);
    let total = total.fold(Duration::ZERO, |sum, s| sum + s.duration);
    let progress = Progress::new(total, quiet);
    let unwritten = AtomicBool::new(false);
    let one = |&(p, t): &(usize, usize)| -> Result<((usize, usize), Measured), Error> {
        let (plan, trial): (&Plan, &Trial) = (&plans[p], &plans[p].trials[t]);
        let once = || {
            let mut observer = progress.observe(None, None);
            attempt(plan, trial, order.engine, options, launch, &mut observer)
        };
        let mut measured = once()?;
        if measured.unfit {
            measured = once()?;
        }
        if !measured.unfit
            && trial.programs.is_none()
            && let Err(e) = kept.put(&kept.key(plan, trial, order.engine), &measured)
            && !unwritten.swap(true, Ordering::Relaxed)
        {
            note(format_args!("runs cannot be saved for a resumption: {e}"));
        }
        Ok(((p, t), measured))
    };
    let made = silently(|| match order.engine {
        // Live runs are made one at a time.
        Engine::Live => left.iter().map(one).collect(),
        _ => in_pool(args.jobs, || left.par_iter().with_max_len(1).map(one).collect()),
    });
    drop(progress);
    let made: Vec<_> = made?.map_err(|e| {
        if matches!(e, Error::Interrupted) && !args.quiet {
            note("the measurements are kept; the same command without --fresh resumes");
        }
        Failure::from(e)
    })?;
    for ((p, t), measured) in made {
        found[p][t] = Some(measured);
    }
    let whole = |trials: Vec<Option<Measured>>| trials.into_iter().flatten().collect();
    Ok(found.into_iter().map(whole).collect())
}

/// Returns the number of runs left, and their time on one core, estimated from one seed.
fn announcement(
    plans: &[Plan],
    order: &Order,
    left: &[(usize, usize)],
    catalogue: &Catalogue,
) -> String {
    let mut seen = BTreeSet::new();
    let first = left.iter().filter_map(|&(p, t)| {
        let trial = &plans[p].trials[t];
        let new = seen.insert((p, trial.case, trial.subject, trial.point));
        new.then(|| (*trial.scenario).clone())
    });
    let scenarios: Vec<Scenario> = first.collect();
    let time =
        cost::estimate(&scenarios, &[order.engine], 1, true, catalogue).core_time(left.len());
    let subjects = order.subjects.len();
    let time = match order.engine {
        Engine::Live => {
            let trials = left.iter().map(|&(p, t)| plans[p].trials[t].scenario.duration);
            let all = trials.fold(Duration::ZERO, |sum, duration| sum + duration);
            format!("in real time, one by one, {all} in all")
        }
        _ => format!("about {time} of one core"),
    };
    format!(
        "{} of {} with {}: {time}",
        show::count(left.len(), "run"),
        show::count(subjects, "subject"),
        show::count(order.reps as usize, "seed"),
    )
}

type Made = Result<Vec<((usize, usize), Measured)>, Error>;

/// Runs `work` on `jobs` threads.
fn in_pool(jobs: Option<u64>, work: impl FnOnce() -> Made + Send) -> Made {
    let Some(jobs) = jobs else {
        return work();
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs as usize);
    match pool.build() {
        Ok(pool) => pool.install(work),
        Err(e) => Err(Error::Unable(format!("threads cannot be started: {e}"))),
    }
}

/// Runs `work` without the messages of panics: a subject that panics is a result.
fn silently(work: impl FnOnce() -> Made) -> Result<Made, Failure> {
    let before = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = panic::catch_unwind(panic::AssertUnwindSafe(work));
    panic::set_hook(before);
    done.map_err(|_| Failure::new("an evaluation panicked outside a run; this is a bug"))
}

/// Returns the work of a run relative to others: the packets that its fastest link can send.
fn work(scenario: &Scenario) -> u64 {
    let inner = scenario.links.iter().filter(|l| !l.attachment);
    let rate = inner.map(|l| l.rate.as_bps()).max().unwrap_or(1);
    let packet = scenario.flows.iter().map(|f| f.packet.get()).min();
    (scenario.duration.as_ps() / 1_000_000_000).saturating_mul(rate) / packet.unwrap_or(1).max(1)
}
