//! A run that is shown while it is made.

use accord::record::{Interrupted, Manifest, Observer, Run, Series};
use accord::report::{Point, checks, page_parts};
use accord::scenario::{Engine, Scenario};
use accord::units::Time;
use accord::{Error, Options};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The least time between two views of a run that is being made.
const BETWEEN: Duration = Duration::from_millis(300);

/// What the page asks for.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// The scenario.
    pub text: String,
    /// The names of the engines, in the order in which they run.
    pub engines: Vec<String>,
    /// The point of the sweep.
    #[serde(default)]
    pub point: usize,
}

/// What the page is told, one line each.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// An engine has come this far.
    Progress {
        /// The engine.
        engine: &'static str,
        /// The part of the run that is done, from 0 to 1.
        part: f64,
    },
    /// There is something to draw.
    View {
        /// The tables, as HTML.
        tables: String,
        /// The plots, as JSON.
        plots: String,
        /// True if nothing follows of the engines that are in it.
        complete: bool,
    },
    /// An engine has no result.
    Failed {
        /// The engine.
        engine: &'static str,
        /// Why.
        message: String,
    },
    /// All engines are done.
    Done {
        /// The number by which the result can be exported.
        run: u64,
        /// How long it took, in seconds.
        seconds: f64,
    },
}

/// Takes events, and says whether anybody still wants them.
pub trait Listener {
    /// Takes an event. Returns false if nobody listens any more.
    fn tell(&mut self, event: Event) -> bool;
}

impl<F: FnMut(Event) -> bool> Listener for F {
    fn tell(&mut self, event: Event) -> bool {
        self(event)
    }
}

/// Runs the engines one after the other. Returns the runs, or nothing if nobody listened.
pub fn run(
    scenario: &Scenario,
    engines: &[Engine],
    listener: &mut dyn Listener,
) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, &engine) in engines.iter().enumerate() {
        let mut watch = Watch {
            scenario,
            engine,
            done: &runs,
            listener,
            shown: Instant::now(),
            told: Instant::now(),
        };
        match accord::run(scenario, engine, &Options::default(), &mut watch) {
            Ok(run) => runs.push(run),
            Err(Error::Interrupted) => return None,
            Err(e) => {
                let (engine, message) = (engine.name(), e.to_string());
                if !listener.tell(Event::Failed { engine, message }) {
                    return None;
                }
            }
        }
        // Theory and fluid take no time to speak of: they are shown together.
        let more = engines.get(i + 1).is_some_and(|e| is_quick(*e));
        if !more && !listener.tell(view(scenario, &runs, true)) {
            return None;
        }
    }
    Some(runs)
}

fn is_quick(engine: Engine) -> bool {
    matches!(engine, Engine::Theory | Engine::Fluid)
}

fn view(scenario: &Scenario, runs: &[Run], complete: bool) -> Event {
    let checks = match complete {
        true => checks(scenario, &runs.iter().collect::<Vec<_>>()),
        false => vec![],
    };
    let point = Point {
        scenario,
        runs,
        checks: &checks,
    };
    let parts = page_parts(&[point]);
    Event::View {
        tables: parts.tables,
        plots: parts.plots,
        complete,
    }
}

/// Shows a run that is being made, together with those that are done.
struct Watch<'a> {
    scenario: &'a Scenario,
    engine: Engine,
    done: &'a [Run],
    listener: &'a mut dyn Listener,
    /// When the run was shown last.
    shown: Instant,
    /// When its progress was told last.
    told: Instant,
}

impl Watch<'_> {
    fn tell(&mut self, event: Event) -> Result<(), Interrupted> {
        match self.listener.tell(event) {
            true => Ok(()),
            false => Err(Interrupted),
        }
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        if self.told.elapsed() < BETWEEN / 3 {
            return Ok(());
        }
        self.told = Instant::now();
        let part = now.as_secs_f64() / self.scenario.duration.as_secs_f64();
        let engine = self.engine.name();
        self.tell(Event::Progress { engine, part })
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
        // If nobody listens, the next progress says so.
        let _ = self.tell(view);
        self.shown = Instant::now();
    }
}
