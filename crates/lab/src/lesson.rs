//! Lessons: a question, the reader's guess, and the result next to it.
//!
//! A guess is judged by running the lesson, as the answer to an exercise is. No result is stored.

use crate::gallery::{LESSONS, text};
use accord::record::Quiet;
use accord::report::show::{quantity, round_quantity};
use accord::report::{Check, checks};
use accord::scenario::Target;
use accord::{Catalogue, Engine, Error, File, Options, Run, run};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The prefix of the names of expectations that judge an answer.
const NAME: &str = "answer";

/// The bound of a guess, in the unit of its question.
const LARGEST_GUESS: f64 = 1e9;

/// The texts by the ids of their lessons.
static LESSON_TEXTS: LazyLock<BTreeMap<String, Lesson>> = LazyLock::new(|| {
    toml::from_str(include_str!("../lessons/texts.toml")).expect("a test reads the file")
});

/// The texts of a lesson. Names stand between backticks.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// The question of the lesson.
    pub question: String,
    /// The facts that a reader needs for a guess.
    pub about: String,
    /// The question for a guess.
    pub guess: Guess,
    /// The reason for the result.
    pub why: String,
    /// Points to look at in the plots and tables.
    pub look: String,
    /// Changes to try.
    pub tries: String,
}

/// The question for a guess, which is a number or one of several choices.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Guess {
    /// The question.
    pub ask: String,
    /// The unit of a number, or "" if there are choices.
    #[serde(default)]
    pub unit: String,
    /// The choices, or none if the guess is a number.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// The point of the lesson's sweep that is asked about.
    #[serde(default)]
    pub point: usize,
    /// The relative error at which a number still counts as right, as a scenario has it.
    #[serde(default, skip_serializing)]
    within: String,
    /// The lines of the `[[expect]]` table that measures a number, without its target.
    #[serde(default, skip_serializing)]
    expect: String,
}

/// A choice.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The text of the choice.
    pub text: String,
    /// The lines of the `[[expect]]` tables that are met if it is right.
    #[serde(skip_serializing)]
    expect: Vec<String>,
}

/// A lesson as the page shows it.
#[derive(Debug, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    lesson: &'static Lesson,
    /// The place among the lessons, from 1, and their number.
    number: usize,
    of: usize,
    previous: Option<&'static str>,
    next: Option<&'static str>,
}

/// The result next to a guess.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// True if the guess is right.
    pub right: bool,
    /// The guess in words: a number with its unit, or the text of a choice.
    pub guess: String,
    /// The measured figures: their names, and their values with units.
    pub rows: Vec<(String, String)>,
    /// A sentence on the guess.
    pub message: String,
}

impl Lesson {
    /// Returns the texts of a lesson, or `None` if there is no lesson with this id.
    pub fn of(id: &str) -> Option<&'static Lesson> {
        LESSON_TEXTS.get(id)
    }

    /// Returns a lesson as the page shows it.
    pub fn shown(id: &str) -> Option<Shown> {
        let lesson = Lesson::of(id)?;
        let place = LESSONS.iter().position(|(name, _)| *name == id)?;
        let at = |i: usize| LESSONS.get(i).map(|(name, _)| *name);
        Some(Shown {
            lesson,
            number: place + 1,
            of: LESSONS.len(),
            previous: place.checked_sub(1).and_then(at),
            next: at(place + 1),
        })
    }

    /// Judges a guess: a number in the unit of the question, or the index of a choice.
    ///
    /// # Errors
    /// Fails if the guess is not a number above zero or not a choice, and if the lesson cannot run.
    pub fn judge(&self, id: &str, guess: f64, catalogue: &Catalogue) -> Result<Judged, String> {
        let asked = &self.guess;
        let measure = |expects: &[&str]| {
            judged(id, &[], expects, asked.point, catalogue).map_err(|e| e.to_string())
        };
        if asked.choices.is_empty() {
            // A quantity of a scenario has an upper bound, and its error names a file that the reader does not see.
            if !(guess > 0.0 && guess < LARGEST_GUESS) {
                return Err("a guess is a number above zero and below 1e9".into());
            }
            let Guess { expect, unit, within, .. } = asked;
            let all = measure(&[&format!(
                "{expect}\nequals = \"{guess} {unit}\"\nwithin = \"{within}\"\n"
            )])?;
            let target = |check: &Check| match check.target {
                Target::Value { value, .. } => round_quantity(value, check.unit),
                _ => format!("{guess} {unit}"),
            };
            let right = all.iter().any(|check| check.pass);
            let nearest =
                all.iter().filter_map(|c| c.error).min_by(|a, b| a.abs().total_cmp(&b.abs()));
            return Ok(Judged {
                right,
                guess: all.first().map_or_else(String::new, target),
                message: if right {
                    "Right.".into()
                } else {
                    nearest.map_or_else(String::new, apart)
                },
                rows: rows(&all),
            });
        }
        let chosen = Some(guess)
            .filter(|g| g.fract() == 0.0 && (0.0..asked.choices.len() as f64).contains(g))
            .ok_or("this is not one of the choices")? as usize;
        let expects: Vec<&str> =
            asked.choices.iter().flat_map(|c| &c.expect).map(String::as_str).collect();
        let all = measure(&expects)?;
        // The checks of an expectation by several engines have its name in common.
        let mut first = 0;
        let mut found = None;
        for (i, choice) in asked.choices.iter().enumerate() {
            let names: Vec<String> =
                (first..first + choice.expect.len()).map(|n| format!("{NAME} {n}")).collect();
            first += choice.expect.len();
            let own: Vec<Check> =
                (all.iter().filter(|c| names.contains(&c.name))).cloned().collect();
            if !own.is_empty() && own.iter().all(|c| c.pass) {
                found = Some((i, own));
            }
        }
        let (right, own) = found.ok_or("the run meets none of the choices")?;
        let said = asked.choices[right].text.trim_end_matches('.');
        Ok(Judged {
            right: chosen == right,
            guess: asked.choices[chosen].text.clone(),
            message: if chosen == right {
                "Right.".into()
            } else {
                format!("The answer is: {said}.")
            },
            rows: rows(&own),
        })
    }
}

/// Returns the measured figures of checks.
fn rows(checks: &[Check]) -> Vec<(String, String)> {
    let row = |c: &Check| {
        let value = c.measured().map_or_else(|| "no value".into(), |e| quantity(e.mean, c.unit));
        let over =
            if c.over == accord::scenario::Over::Variation { "variation of the " } else { "" };
        (format!("{over}{} of {}, {}", c.metric, c.of, c.engine), value)
    };
    checks.iter().map(row).collect()
}

/// Returns a sentence on a guess from the measured value's error relative to it.
fn apart(error: f64) -> String {
    let times = 1.0 + error;
    match times {
        t if t >= 2.0 => format!("The result is {t:.1} times as much."),
        t if t > 1.0 => format!("The result is {:.0} % more.", 100.0 * (t - 1.0)),
        t if t > 0.5 => format!("The result is {:.0} % less.", 100.0 * (1.0 - t)),
        t if t > 0.0 => format!("Your guess is {:.1} times as much.", 1.0 / t),
        _ => "The result is zero.".into(),
    }
}

/// Runs a lesson with some values set, and returns the checks of further expectations at a point. The `n`-th is
/// named "answer n".
///
/// # Errors
/// Fails if the lesson cannot run with these values.
pub(crate) fn judged(
    lesson: &str,
    set: &[(&str, &str)],
    expects: &[&str],
    point: usize,
    catalogue: &Catalogue,
) -> Result<Vec<Check>, Error> {
    let mut lines = text(lesson).unwrap_or_default().to_string();
    for (n, expect) in expects.iter().enumerate() {
        lines += &format!("\n[[expect]]\nname = \"{NAME} {n}\"\n{expect}");
    }
    let mut file = File::parse(&format!("{lesson}.toml"), &lines)?;
    for (path, value) in set {
        file.set(path, value)?;
    }
    let mut points = file.points(catalogue, None)?;
    let mut scenario = points.swap_remove(point.min(points.len() - 1));
    let ours = |name: &str| name.starts_with(NAME);
    scenario.expectations.retain(|expectation| ours(&expectation.name));
    let mut engines: Vec<Engine> = scenario.expectations.iter().map(|e| e.engine).collect();
    engines.sort();
    engines.dedup();
    let runs: Result<Vec<Run>, Error> = engines
        .into_iter()
        .map(|engine| run(&scenario, engine, &Options::default(), &mut Quiet))
        .collect();
    Ok(checks(&scenario, &runs?.iter().collect::<Vec<_>>()))
}
