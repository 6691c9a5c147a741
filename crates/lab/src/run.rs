//! A run that is shown in progress.

use accord::fluid;
use accord::record::{Interrupted, Manifest, Observer, Quiet, Run, Series};
use accord::report::{Point, checks_of_runs, page_parts};
use accord::scenario::{Engine, Scenario};
use accord::units::Time;
use accord::{Error, Options};
use serde::Serialize;
use serde_json::Value;

/// The minimum interval between views of a run in progress, in seconds.
const BETWEEN: f64 = 0.3;

/// The work of a fluid run that a page need not wait for: steps times flows and queues. A browser takes some
/// 50 ms for it.
const QUICK: f64 = 1.5e5;
/// The work from which on a preview leaves the fluid out.
const FAR_TOO_MUCH: f64 = 1000.0 * QUICK;
/// The time of theory and the fluid in a preview, and the least time of the fluid, in seconds.
const SOON: f64 = 0.025;
const LEAST: f64 = 0.015;
/// The largest factor by which a preview lengthens the steps: to a quarter of the shortest round-trip time.
const COARSEST: f64 = 4.0;
/// The maximum number of flows of a preview with the fluid.
const MOST_FLOWS: usize = 1000;

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

/// Returns the work of the fluid's integration, or `None` if there is none or it is far too much.
fn work(scenario: &Scenario) -> Option<f64> {
    if scenario.flows.len() > MOST_FLOWS {
        return None;
    }
    let step = fluid::step(scenario).ok()?;
    let model = fluid::Model::new(scenario).ok()?;
    let parts = model.classes.len() + model.queues.len();
    Some(scenario.duration.as_secs_f64() / step * parts as f64)
}

/// Returns the factor by which a preview lengthens the steps of the fluid, and the part of the run that it shows on
/// the slowest machine. `None` leaves the fluid out.
fn coarser(scenario: &Scenario) -> Option<(f64, f64)> {
    let work = work(scenario).filter(|work| *work <= FAR_TOO_MUCH)?;
    let factor = (work / QUICK).clamp(1.0, COARSEST);
    Some((factor, (0.25 * QUICK * factor / work).min(1.0)))
}

/// Shows theory, and the fluid with longer steps, once and without an error estimate, for a slider that
/// moves. A fluid that takes longer is shown up to the time that it has reached. Nothing is kept. Returns false if the
/// page has gone.
pub fn preview(scenario: &Scenario, page: &mut dyn Page) -> bool {
    let soon = page.now() + SOON;
    let mut runs = Vec::new();
    runs.extend(accord::run(scenario, Engine::Theory, &Options::default(), &mut Quiet).ok());
    if let Some((factor, part)) = coarser(scenario)
        && let Ok(step) = fluid::step(scenario)
    {
        let until = soon.max(page.now() + LEAST);
        let least = part * scenario.duration.as_secs_f64();
        let mut hurry = Hurry { page, until, least, reached: 0.0, record: None };
        let run = fluid::run_with_step(scenario, factor * step, &mut hurry);
        runs.extend(run.ok().or_else(|| {
            let (time, series) = hurry.record?;
            Some(Run::new(Manifest::new(Engine::Fluid, scenario, String::new()), time, series))
        }));
    }
    // Without either the page keeps its plots.
    runs.is_empty() || page.show(view(scenario, &runs, Detail::Sketch))
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
        // Fast engines are shown together.
        let more = engines.get(i + 1).is_some_and(|e| is_quick(*e, scenario));
        if !more && !page.show(view(scenario, &runs, Detail::Complete)) {
            return None;
        }
    }
    Some(runs)
}

fn is_quick(engine: Engine, scenario: &Scenario) -> bool {
    match engine {
        Engine::Theory => true,
        Engine::Fluid => work(scenario).is_none_or(|work| work <= 2.0 * QUICK),
        _ => false,
    }
}

/// The contents of a view.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    /// A preview: plots that are drawn soon.
    Sketch,
    /// Runs in progress.
    Partial,
    /// Runs at their end, with their checks.
    Complete,
}

fn view(scenario: &Scenario, runs: &[Run], detail: Detail) -> Event {
    let complete = detail == Detail::Complete;
    let all: Vec<&Run> = runs.iter().collect();
    let checks = if complete { checks_of_runs(scenario, &all) } else { vec![] };
    let point = Point { scenario, runs, checks: &checks };
    let parts = page_parts(&[point], detail == Detail::Sketch);
    Event::View { tables: parts.tables, plots: parts.plots, complete }
}

/// Ends a run at a time of the page, with its record so far, if the run has reached some time of its own.
struct Hurry<'a> {
    page: &'a dyn Page,
    until: f64,
    /// The least time to reach, and the time that is reached, in seconds.
    least: f64,
    reached: f64,
    record: Option<(Vec<f64>, Vec<Series>)>,
}

impl Observer for Hurry<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        self.reached = now.as_secs_f64();
        if self.record.is_some() { Err(Interrupted) } else { Ok(()) }
    }

    fn wants_record(&mut self) -> bool {
        self.reached >= self.least && self.page.now() >= self.until
    }

    fn recorded(&mut self, time: Vec<f64>, series: Vec<Series>) {
        self.record = Some((time, series));
    }
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
        let view = view(self.scenario, &runs, Detail::Partial);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::LESSONS;
    use accord::File;
    use std::cell::Cell;
    use std::collections::BTreeMap;

    struct Drawn(Vec<Event>);

    impl Page for Drawn {
        fn now(&self) -> f64 {
            0.0
        }

        fn show(&mut self, event: Event) -> bool {
            self.0.push(event);
            true
        }
    }

    fn scenario(text: &str) -> Scenario {
        let file = File::parse("lab.toml", text).expect("it is TOML");
        file.points(&accord::catalogue(), None).expect("it is a scenario").swap_remove(0)
    }

    /// A page whose clock advances with every reading.
    struct Slow(Cell<f64>, Vec<Event>);

    impl Page for Slow {
        fn now(&self) -> f64 {
            self.0.set(self.0.get() + 1e-3);
            self.0.get()
        }

        fn show(&mut self, event: Event) -> bool {
            self.1.push(event);
            true
        }
    }

    /// Returns the times of the last values of the engines' lines in a view.
    fn ends(event: &Event) -> BTreeMap<String, f64> {
        let Event::View { plots, .. } = event else { panic!("{event:?}") };
        let plots: Value = serde_json::from_str(plots).expect("it is JSON");
        let point = &plots["points"][0];
        let end = |axis: &Value| {
            let n = |i: usize| axis[i].as_f64().expect("a number");
            n(0) + n(1) * (n(2) - 1.0)
        };
        let engines = point["engines"].as_array().expect("a list").iter();
        let axes = point["axes"].as_array().expect("a list").iter();
        engines.zip(axes).map(|(e, a)| (e.as_str().expect("a name").into(), end(a))).collect()
    }

    /// A preview on a slow machine shows the beginning of the fluid, and on a fast one all of it.
    #[test]
    fn previews_of_lessons_have_the_fluid_and_end_soon() {
        for (id, text) in LESSONS {
            let scenario = scenario(text);
            let fluid = accord::fluid::step(&scenario).is_ok();
            let mut slow = Slow(Cell::new(0.0), Vec::new());
            assert!(preview(&scenario, &mut slow));
            // Looks at the clock: two, then one per sample until the time has come.
            assert!(slow.0.get() <= SOON + 0.01, "{id}: {}", slow.0.get());
            assert_eq!(slow.1.len(), 1, "{id}");
            let short = ends(&slow.1[0]);
            assert_eq!(short.contains_key("fluid"), fluid, "{id}: {short:?}");
            if let Some((_, part)) = coarser(&scenario) {
                let least = part * scenario.duration.as_secs_f64();
                assert!(short["fluid"] >= 0.99 * least, "{id}: {short:?}, {least}");
            }
            if coarser(&scenario).is_some_and(|(factor, _)| factor == 1.0) {
                let mut fast = Drawn(Vec::new());
                assert!(preview(&scenario, &mut fast));
                assert!(ends(&fast.0[0])["fluid"] > 0.99 * scenario.duration.as_secs_f64(), "{id}");
            }
        }
    }

    #[test]
    fn a_preview_is_one_view_of_theory_and_the_fluid_without_checks() {
        let (_, text) = LESSONS[1];
        let mut page = Drawn(Vec::new());
        assert!(preview(&scenario(text), &mut page));
        let [Event::View { tables, plots, complete: false }] = &page.0[..] else {
            panic!("{:?}", page.0);
        };
        assert!(plots.contains("\"theory\"") && plots.contains("\"fluid\""));
        assert!(!tables.contains("id=\"checks\""));
    }

    #[test]
    fn a_preview_of_a_million_flows_or_a_month_has_no_fluid() {
        let (_, text) = LESSONS[1];
        let many = text.replacen("[flow.a]", "[flow.a]\ncount = 100000", 1);
        let long = text.replacen("30 s", "720 h", 1);
        for text in [many, long.replacen("\"30 s\"]", "\"720 h\"]", 1)] {
            assert_eq!(coarser(&scenario(&text)), None);
        }
    }
}
