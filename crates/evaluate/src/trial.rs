//! One run of an evaluation, made so that a subject that fails is a result and not the end.

use crate::measure::values;
use crate::pack::Pack;
use crate::plan::{Plan, Planned, Trial};
use crate::program::Launch;
use accord::control::LARGEST_WINDOW;
use accord::record::{Interrupted, Observer, Run};
use accord::scenario::{Engine, Metric};
use accord::units::Time;
use accord::{Error, Options};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The values of the case's measures.
    pub values: Vec<Option<f64>>,
    /// The digest of all that happened, or "" if the run failed.
    pub digest: String,
    /// Why the run failed, with the time, or "".
    pub failure: String,
    /// True if it failed because this machine did not keep up: that is not a fault of the subject.
    #[serde(default)]
    pub unfit: bool,
}

impl Measured {
    fn failed(measures: usize, failure: String) -> Measured {
        Measured { values: vec![None; measures], digest: String::new(), failure, unfit: false }
    }
}

impl Plan {
    /// Returns the part of the plan that has one of its subjects alone, and its results out of those of all
    /// runs.
    pub fn alone(&self, subject: usize, measured: &[Measured]) -> (Plan, Vec<Measured>) {
        let cases = self.cases.iter().map(|case| Planned {
            impossible: vec![case.impossible[subject].clone()],
            margins: case.margins.get(subject).cloned().into_iter().collect(),
            ..case.clone()
        });
        let own = self.trials.iter().zip(measured).filter(|(trial, _)| trial.subject == subject);
        let (trials, measured) =
            own.map(|(trial, m)| (Trial { subject: 0, ..trial.clone() }, m.clone())).unzip();
        (Plan { pack: self.pack.clone(), cases: cases.collect(), trials }, measured)
    }
}

/// Makes a run and measures it. A panic of the subject, a value that is not finite and an impossible
/// window are failures in the result. `launch` is for subjects that are programs.
///
/// # Errors
/// Fails if the observer stops the run, or if this machine cannot make it.
pub fn attempt(
    plan: &Plan,
    trial: &Trial,
    engine: Engine,
    options: &Options,
    launch: Option<&Launch>,
    observer: &mut dyn Observer,
) -> Result<Measured, Error> {
    let (_, case) = plan.cases[trial.case].within(&plan.pack);
    let count = case.measures.len();
    let mut watched = Watched { observer, now: Time::ZERO };
    let run = catch_unwind(AssertUnwindSafe(|| match (trial.programs.as_deref(), launch) {
        (Some(programs), Some(launch)) => programs.run(launch, &mut watched),
        (Some(_), None) => Err(Error::Unable("programs are not run here".into())),
        (None, _) => accord::run(&trial.scenario, engine, options, &mut watched).map(Ok),
    }));
    let now = watched.now.as_secs_f64();
    let run = match run {
        Ok(Ok(Ok(run))) => run,
        Ok(Ok(Err(failure))) => return Ok(Measured::failed(count, failure)),
        Ok(Err(e @ (Error::Interrupted | Error::Unable(_)))) => return Err(e),
        Ok(Err(e)) => return Ok(Measured::failed(count, e.to_string())),
        Err(panic) => {
            let why = text_of(&*panic);
            let failure = format!("panicked after {now:.3} s of the run: {why}");
            return Ok(Measured::failed(count, failure));
        }
    };
    Ok(judged(&plan.pack, &case.measures, trial, &run))
}

fn judged(pack: &Pack, wanted: &[usize], trial: &Trial, run: &Run) -> Measured {
    let values = values(&pack.measures, wanted, &trial.scenario, run);
    if let Some(why) = &run.unfit {
        return Measured { unfit: true, ..Measured::failed(wanted.len(), why.clone()) };
    }
    let failure = no_window(trial, run).or_else(|| {
        let at = values.iter().position(|v| v.is_some_and(|v| !v.is_finite()))?;
        let name = &pack.measures[wanted[at]].name;
        Some(format!("{name} is {}, not a finite number", values[at]?))
    });
    match failure {
        Some(failure) => Measured::failed(wanted.len(), failure),
        None => Measured {
            values,
            digest: run.manifest.digest.clone(),
            failure: String::new(),
            unfit: false,
        },
    }
}

/// Returns when a congestion window was zero, endless or larger than any path holds.
fn no_window(trial: &Trial, run: &Run) -> Option<String> {
    let windows = run.series.iter().filter(|s| s.metric == Metric::Cwnd);
    for series in windows {
        let wrong = |v: f64| !(v.is_nan() || v > 0.0 && v <= LARGEST_WINDOW.as_f64());
        if let Some(i) = series.values.iter().position(|v| wrong(*v)) {
            let flow = match series.entity {
                accord::scenario::Entity::Flow(flow) => &trial.scenario.flows[flow].name,
                _ => "a group",
            };
            let (value, time) = (series.values[i], run.time[i]);
            return Some(format!("the window of {flow} is {value} B at {time:.3} s"));
        }
    }
    None
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "no message".into());
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// An observer that remembers how far the run has come.
struct Watched<'a> {
    observer: &'a mut dyn Observer,
    now: Time,
}

impl Observer for Watched<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        self.now = now;
        self.observer.progress(now)
    }
}
