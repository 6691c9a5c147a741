//! The answers to the page's requests. The server gives them on localhost, and a worker of the browser in the
//! laboratory in one file.

use crate::draft::{draft, read};
use crate::exercise::Exercise;
use crate::gallery::{gallery, text};
use crate::hand_in::Work;
use crate::lesson::Lesson;
use crate::run::{Event, Page, Progress, preview, run};
use accord::explain::{Job, Pair, Which, attribute};
use accord::report::{Point, checks_of_runs, figure_values, series_record};
use accord::scenario::Scenario;
use accord::{Catalogue, Engine, Error, Options, Run};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The number of results kept for export.
const KEPT: usize = 8;
/// The number of seeds of an explanation, and the factor by which packets are made smaller for it.
const REPETITIONS: usize = 3;
const FINER: u64 = 4;

/// A request of the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Ask {
    /// The lessons and experiments, and the lesson to show at first with its text.
    Gallery,
    /// The JSON Schema of scenarios.
    Schema,
    /// The text of a lesson or an experiment.
    Scenario {
        /// The name of the entry.
        id: String,
    },
    /// The errors and the network of a scenario.
    Check {
        /// The scenario.
        text: String,
    },
    /// A run, which is shown while it is made. The answer has the number of the result.
    Run {
        /// The scenario.
        text: String,
        /// The names of the engines, in the order of their runs.
        engines: Vec<String>,
        /// The index of the point of the sweep, from 0.
        #[serde(default)]
        point: usize,
        /// True to draw theory and a coarse fluid only, as fast as possible. The result has no number.
        #[serde(default)]
        preview: bool,
    },
    /// The margins of the equilibria, as `accord stability` prints them.
    Stability {
        /// The scenario.
        text: String,
        /// The index of the point of the sweep, from 0.
        #[serde(default)]
        point: usize,
    },
    /// The reasons why packets differ from theory, as `accord explain --standard --reps 3`
    /// prints them. Finding them takes runs.
    Explain {
        /// The scenario.
        text: String,
        /// The index of the point of the sweep, from 0.
        #[serde(default)]
        point: usize,
    },
    /// The page of a result, as `accord run` writes it.
    Page {
        /// The number of the result.
        run: u64,
    },
    /// The series of a result as plain data, run by run.
    Series {
        /// The number of the result.
        run: u64,
        /// True to keep the result no longer: it may take much memory.
        #[serde(default)]
        release: bool,
    },
    /// The exercise of a lesson for a student, or null if the lesson has none.
    Exercise {
        /// The lesson.
        id: String,
        /// The name of the student.
        seed: String,
    },
    /// The grade of an answer, which takes a run of the lesson.
    Grade {
        /// The lesson.
        id: String,
        /// The name of the student.
        seed: String,
        /// The answer, in the exercise's unit.
        answer: f64,
    },
    /// The texts of a lesson, or null for another entry.
    Lesson {
        /// The entry.
        id: String,
    },
    /// The result next to a guess, which takes a run of the lesson.
    Guess {
        /// The lesson.
        id: String,
        /// The guess: a number in the question's unit, or the index of a choice.
        guess: f64,
    },
    /// The line that a student hands in.
    HandIn {
        /// The student's work. The version is that of the engines.
        work: Work,
    },
}

/// The state that answers all requests except those about the page's files.
#[derive(Debug)]
pub struct Desk {
    catalogue: Catalogue,
    results: Mutex<Results>,
}

#[derive(Debug, Default)]
struct Results {
    last: u64,
    kept: BTreeMap<u64, (Scenario, Vec<Run>)>,
}

impl Desk {
    /// Creates a desk without results.
    pub fn new(catalogue: Catalogue) -> Desk {
        Desk { catalogue, results: Mutex::default() }
    }

    /// Answers a request: shows events, the last of which is [`Event::Answer`] or [`Event::Refused`].
    /// `name` is the path of the file that has the scenario. Its stem is the id of a scenario without
    /// one, and its folder holds the files that the scenario names.
    pub fn serve(&self, ask: Ask, name: &str, page: &mut dyn Page) {
        match self.answer(ask, name, page) {
            Ok(Some(answer)) => page.show(Event::Answer { answer }),
            Ok(None) => false,
            Err(message) => page.show(Event::Refused { message }),
        };
    }

    /// Returns the answer, or `None` if the page has gone.
    fn answer(&self, ask: Ask, name: &str, page: &mut dyn Page) -> Result<Option<Value>, String> {
        Ok(Some(match ask {
            Ask::Gallery => gallery(),
            Ask::Schema => accord::language::schema(&self.catalogue),
            Ask::Scenario { id } => text(&id).ok_or(format!("unknown scenario \"{id}\""))?.into(),
            Ask::Check { text } => draft(name, &text, &self.catalogue),
            Ask::Run { text, point, preview: true, .. } => {
                let begun = page.now();
                if !preview(&self.point(name, &text, point, None)?, page) {
                    return Ok(None);
                }
                json!({ "run": null, "seconds": page.now() - begun, "digests": {} })
            }
            Ask::Run { text, engines, point, preview: false } => {
                let begun = page.now();
                let engines: Result<Vec<Engine>, String> =
                    engines.iter().map(|e| e.parse()).collect();
                let engines = engines?;
                let scenario = self.point(name, &text, point, None)?;
                let Some(runs) = run(&scenario, &engines, page) else {
                    return Ok(None);
                };
                let digests: BTreeMap<&str, &str> = runs
                    .iter()
                    .map(|r| (r.manifest.engine.name(), r.manifest.digest.as_str()))
                    .collect();
                let seconds = page.now() - begun;
                let digests = json!(digests);
                json!({ "run": self.keep(scenario, runs), "seconds": seconds, "digests": digests })
            }
            Ask::Stability { text, point } => {
                stability(&self.point(name, &text, point, None)?).into()
            }
            Ask::Explain { text, point } => {
                let seed = self.point(name, &text, point, None)?.seed;
                let seeds = (seed..).take(REPETITIONS);
                let scenarios: Result<Vec<Scenario>, String> =
                    seeds.map(|seed| self.point(name, &text, point, Some(seed))).collect();
                match explain(&scenarios?, page) {
                    Err(Error::Interrupted) => return Ok(None),
                    found => found.map_err(|e| e.to_string())?.into(),
                }
            }
            Ask::Page { run } => {
                let (scenario, runs) = self.result(run)?;
                let all: Vec<&Run> = runs.iter().collect();
                let checks = checks_of_runs(&scenario, &all);
                let point = Point { scenario: &scenario, runs: &runs, checks: &checks };
                json!({ "id": scenario.id, "page": accord::report::page(&[point]) })
            }
            Ask::Series { run, release } => {
                let (scenario, runs) = if release { self.taken(run)? } else { self.result(run)? };
                let series: Vec<Value> =
                    runs.iter().map(|run| series_record(&scenario, run)).collect();
                series.into()
            }
            Ask::Exercise { id, seed } => json!(Exercise::of(&id).map(|e| e.task(&seed))),
            Ask::Grade { id, seed, answer } => {
                let exercise = Exercise::of(&id).ok_or(format!("{id} has no exercise"))?;
                let graded = exercise.grade(&id, &seed, answer, &self.catalogue);
                let (right, message) = graded.map_err(|e| refused(&e))?;
                json!({ "right": right, "message": message })
            }
            Ask::Lesson { id } => json!(Lesson::shown(&id)),
            Ask::Guess { id, guess } => {
                let lesson = Lesson::of(&id).ok_or(format!("{id} is not a lesson"))?;
                json!(lesson.judge(&id, guess, &self.catalogue)?)
            }
            Ask::HandIn { work } => {
                Work { version: env!("CARGO_PKG_VERSION").into(), ..work }.line().into()
            }
        }))
    }

    /// Returns a point of a scenario, with its own seed or another one.
    fn point(
        &self,
        name: &str,
        text: &str,
        point: usize,
        seed: Option<u64>,
    ) -> Result<Scenario, String> {
        let read = read(name, text, &self.catalogue, seed);
        let (_, mut points) = read.map_err(|e| e.to_string())?;
        if point < points.len() {
            return Ok(points.swap_remove(point));
        }
        let n = points.len();
        let number = point.saturating_add(1);
        Err(format!("the sweep has no point {number}; its {n} points count from 1"))
    }

    fn keep(&self, scenario: Scenario, runs: Vec<Run>) -> u64 {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.last += 1;
        let number = results.last;
        results.kept.insert(number, (scenario, runs));
        while results.kept.len() > KEPT {
            results.kept.pop_first();
        }
        number
    }

    /// Returns a result by its number.
    ///
    /// # Errors
    /// Fails if the result is no longer kept.
    pub fn result(&self, run: u64) -> Result<(Scenario, Vec<Run>), String> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.kept.get(&run).cloned().ok_or_else(gone)
    }

    /// Returns a result by its number, and keeps it no longer.
    fn taken(&self, run: u64) -> Result<(Scenario, Vec<Run>), String> {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.kept.remove(&run).ok_or_else(gone)
    }
}

/// Returns the error that a result is no longer kept.
fn gone() -> String {
    "this result is no longer kept; run it again".into()
}

/// Returns why a lesson does not run with an answer. The place of the error would not help a student, who does not
/// see the settings.
fn refused(error: &Error) -> String {
    let first = match error {
        Error::Scenario(errors) => errors.iter().map(|e| e.message.clone()).next(),
        _ => None,
    };
    let why = first.unwrap_or_else(|| error.to_string());
    format!("the lesson does not run with this answer: {why}")
}

/// Returns the margins of all phases of a scenario as text.
fn stability(scenario: &Scenario) -> String {
    let texts = scenario.phases().map(|phase| {
        let found = match accord::margins::stability(scenario, phase.start) {
            Ok(found) => accord::margins::text(scenario, &found),
            Err(e) => format!("{e}\n"),
        };
        format!("{} to {}: {found}", phase.start, phase.end)
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the reasons why packets differ from theory as text.
fn explain(seeds: &[Scenario], page: &mut dyn Page) -> Result<String, Error> {
    let pair = Pair { reference: Engine::Theory, measured: Engine::Packet };
    let mut make = |job: Job| {
        let mut progress = Progress::new(&job.scenario, job.engine, page);
        let run = accord::run(&job.scenario, job.engine, &Options::default(), &mut progress)?;
        Ok(figure_values(&job.scenario, &run))
    };
    let mut runs = |jobs: Vec<Job>| jobs.into_iter().map(&mut make).collect();
    let found = attribute::<Error>(seeds, pair, Which::Standard, FINER, &mut runs)?;
    if found.findings.is_empty() {
        return Ok("Theory and packets have no value in common here.".into());
    }
    Ok(accord::explain::text(&found))
}
