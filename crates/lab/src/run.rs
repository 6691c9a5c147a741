//! A run that is shown in progress.

use accord::fluid;
use accord::record::{Interrupted, Manifest, Observer, Quiet, Run, Series};
use accord::report::{Point, checks, page_parts};
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

/// Returns the factor by which a preview lengthens the steps of the fluid, or `None` if it leaves the fluid
/// out, since it would still be slow.
pub fn coarser(scenario: &Scenario) -> Option<f64> {
    let factor = (work(scenario)? / QUICK).max(1.0);
    (factor <= COARSEST).then_some(factor)
}

/// Shows theory, and the fluid with longer steps, once and without an error estimate, for a slider that
/// moves. Nothing is kept. Returns false if the page has gone.
pub fn preview(scenario: &Scenario, page: &mut dyn Page) -> bool {
    let mut runs = Vec::new();
    runs.extend(accord::run(scenario, Engine::Theory, &Options::default(), &mut Quiet).ok());
    if let Some(factor) = coarser(scenario)
        && let Ok(step) = fluid::step(scenario)
    {
        runs.extend(fluid::run_with_step(scenario, factor * step, &mut Quiet).ok());
    }
    // Without either the page keeps its plots.
    runs.is_empty() || page.show(view(scenario, &runs, false))
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
        if !more && !page.show(view(scenario, &runs, true)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::LESSONS;
    use accord::File;

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

    /// A preview takes a bounded number of steps, however busy the machine is.
    #[test]
    fn previews_of_lessons_take_little_work() {
        let with: Vec<&str> = (LESSONS.iter())
            .filter_map(|(id, text)| {
                let scenario = scenario(text);
                let factor = coarser(&scenario)?;
                let work = work(&scenario)?;
                assert!(work / factor <= 1.001 * QUICK, "{id}: {work} / {factor}");
                println!("{id}: steps {factor:.1} times as long, work {:.0}", work / factor);
                Some(*id)
            })
            .collect();
        assert!(with.len() >= 7, "lessons with the fluid in a preview: {with:?}");
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
