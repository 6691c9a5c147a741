//! A run that is shown in progress.

use accord::record::{Interrupted, Manifest, Observer, Run, Series};
use accord::report::{Point, checks, page_parts};
use accord::scenario::{Engine, Scenario};
use accord::units::Time;
use accord::{Error, Options};
use serde::Serialize;
use serde_json::Value;

/// The minimum interval between views of a run in progress, in seconds.
const BETWEEN: f64 = 0.3;

/// An event for the page: a line of JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The progress of an engine.
    Progress {
        /// The engine.
        engine: &'static str,
        /// The fraction of the run that is done, from 0 to 1.
        part: f64,
    },
    /// A view to draw.
    View {
        /// The tables, as HTML.
        tables: String,
        /// The plots, as JSON.
        plots: String,
        /// True if the view is final for its engines.
        complete: bool,
    },
    /// An engine without a result.
    Failed {
        /// The engine.
        engine: &'static str,
        /// The reason.
        message: String,
    },
    /// The answer to a request, which ends it.
    Answer {
        /// The answer.
        answer: Value,
    },
    /// A request without an answer.
    Refused {
        /// The reason, a sentence.
        message: String,
    },
}

/// The page that waits for an answer.
pub trait Page {
    /// Returns the seconds since some moment.
    fn now(&self) -> f64;

    /// Shows an event. Returns false if the page has gone.
    fn show(&mut self, event: Event) -> bool;
}

/// Runs the engines one after the other. Returns the runs, or `None` if the page has gone.
pub fn run(scenario: &Scenario, engines: &[Engine], page: &mut dyn Page) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, &engine) in engines.iter().enumerate() {
        let now = page.now();
        let mut watch = Watch {
            scenario,
            done: &runs,
            progress: Progress::new(scenario, engine, page),
            shown: now,
            pause: BETWEEN,
        };
        match accord::run(scenario, engine, &Options::default(), &mut watch) {
            Ok(run) => runs.push(run),
            Err(Error::Interrupted) => return None,
            Err(e) => {
                let (engine, message) = (engine.name(), e.to_string());
                if !page.show(Event::Failed { engine, message }) {
                    return None;
                }
            }
        }
        // Theory and fluid are fast, so they are shown together.
        let more = engines.get(i + 1).is_some_and(|e| is_quick(*e));
        if !more && !page.show(view(scenario, &runs, true)) {
            return None;
        }
    }
    Some(runs)
}

fn is_quick(engine: Engine) -> bool {
    matches!(engine, Engine::Theory | Engine::Fluid)
}

fn view(scenario: &Scenario, runs: &[Run], complete: bool) -> Event {
    let checks = if complete { checks(scenario, &runs.iter().collect::<Vec<_>>()) } else { vec![] };
    let point = Point { scenario, runs, checks: &checks };
    let parts = page_parts(&[point]);
    Event::View { tables: parts.tables, plots: parts.plots, complete }
}

/// Shows a run in progress, together with those that are done.
struct Watch<'a> {
    scenario: &'a Scenario,
    done: &'a [Run],
    progress: Progress<'a>,
    /// The time of the latest view.
    shown: f64,
    /// The seconds until the next view: longer if views take long, so the run goes on.
    pause: f64,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        self.progress.progress(now)
    }

    fn wants_record(&mut self) -> bool {
        self.progress.page.now() - self.shown >= self.pause
    }

    fn recorded(&mut self, time: Vec<f64>, series: Vec<Series>) {
        let begun = self.progress.page.now();
        let manifest = Manifest::new(self.progress.engine, self.scenario, String::new());
        let so_far = Run::new(manifest, time, series);
        let mut runs = self.done.to_vec();
        runs.push(so_far);
        let view = view(self.scenario, &runs, false);
        // If the page has gone, the next progress event reports it.
        self.progress.page.show(view);
        self.shown = self.progress.page.now();
        self.pause = BETWEEN.max(3.0 * (self.shown - begun));
    }
}

/// Shows the progress of a run.
pub struct Progress<'a> {
    page: &'a mut dyn Page,
    engine: Engine,
    /// The length of the run, in seconds.
    duration: f64,
    /// The time of the latest event.
    reported: f64,
}

impl<'a> Progress<'a> {
    /// Creates the observer of a run that begins now.
    pub fn new(scenario: &Scenario, engine: Engine, page: &'a mut dyn Page) -> Progress<'a> {
        let (duration, reported) = (scenario.duration.as_secs_f64(), page.now());
        Progress { page, engine, duration, reported }
    }
}

impl Observer for Progress<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        let at = self.page.now();
        if at - self.reported < BETWEEN / 3.0 {
            return Ok(());
        }
        self.reported = at;
        let (engine, part) = (self.engine.name(), now.as_secs_f64() / self.duration);
        if self.page.show(Event::Progress { engine, part }) { Ok(()) } else { Err(Interrupted) }
    }
}
