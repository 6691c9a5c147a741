//! A run that is shown in progress.

use accord::record::{Interrupted, Manifest, Observer, Run, Series};
use accord::report::{Point, checks, page_parts};
use accord::scenario::{Engine, Scenario};
use accord::units::Time;
use accord::{Error, Options};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The minimum interval between views of a run in progress.
const BETWEEN: Duration = Duration::from_millis(300);

/// A request of the page.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// The scenario.
    pub text: String,
    /// The key of the file that it is from.
    pub file: Option<String>,
    /// The names of the engines, in the order of their runs.
    pub engines: Vec<String>,
    /// The point of the sweep.
    #[serde(default)]
    pub point: usize,
}

/// An event for the page, one line each.
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
    /// All engines are done.
    Done {
        /// The number of the result for an export.
        run: u64,
        /// The duration in seconds.
        seconds: f64,
    },
}

/// The receiver of events. It returns false if the page has gone.
pub type Listener<'a> = dyn FnMut(Event) -> bool + 'a;

/// Runs the engines one after the other. Returns the runs, or `None` if the page has gone.
pub fn run(scenario: &Scenario, engines: &[Engine], listener: &mut Listener) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, &engine) in engines.iter().enumerate() {
        let mut watch = Watch {
            scenario,
            engine,
            done: &runs,
            listener,
            shown: Instant::now(),
            reported: Instant::now(),
        };
        match accord::run(scenario, engine, &Options::default(), &mut watch) {
            Ok(run) => runs.push(run),
            Err(Error::Interrupted) => return None,
            Err(e) => {
                let (engine, message) = (engine.name(), e.to_string());
                if !listener(Event::Failed { engine, message }) {
                    return None;
                }
            }
        }
        // Theory and fluid are fast, so that they are shown together.
        let more = engines.get(i + 1).is_some_and(|e| is_quick(*e));
        if !more && !listener(view(scenario, &runs, true)) {
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
    engine: Engine,
    done: &'a [Run],
    listener: &'a mut Listener<'a>,
    /// The time of the latest view.
    shown: Instant,
    /// The time of the latest progress event.
    reported: Instant,
}

impl Watch<'_> {
    fn send(&mut self, event: Event) -> Result<(), Interrupted> {
        if (self.listener)(event) { Ok(()) } else { Err(Interrupted) }
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        if self.reported.elapsed() < BETWEEN / 3 {
            return Ok(());
        }
        self.reported = Instant::now();
        let part = now.as_secs_f64() / self.scenario.duration.as_secs_f64();
        let engine = self.engine.name();
        self.send(Event::Progress { engine, part })
    }

    fn wants_record(&mut self) -> bool {
        self.shown.elapsed() >= BETWEEN
    }

    fn recorded(&mut self, time: Vec<f64>, series: Vec<Series>) {
        let manifest = Manifest::new(self.engine, self.scenario, String::new());
        let so_far = Run::new(manifest, time, series);
        let mut runs = self.done.to_vec();
        runs.push(so_far);
        let view = view(self.scenario, &runs, false);
        // If the page has gone, the next progress event reports it.
        let _ = self.send(view);
        self.shown = Instant::now();
    }
}
