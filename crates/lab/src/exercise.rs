//! Exercises: a student meets a target by choosing one number of a lesson.
//!
//! The numbers of an exercise depend on the lesson and the student's seed. An answer is graded by
//! running the lesson with it. No right answer is stored.

use crate::lesson::judged;
use accord::{Catalogue, Error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The exercises by the ids of their lessons.
static EXERCISES: LazyLock<BTreeMap<String, Exercise>> = LazyLock::new(|| {
    toml::from_str(include_str!("../lessons/exercises.toml")).expect("a test reads the file")
});

/// The exercise of a lesson. `{NAME}` in its texts stands for a number of the student's case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    question: String,
    /// The help after a wrong answer.
    hint: String,
    /// The unit of the answer, or "" for a plain number.
    unit: String,
    /// The paths that the answer sets.
    answer: Vec<String>,
    /// The values at other paths of the lesson.
    #[serde(default)]
    set: BTreeMap<String, String>,
    /// The lines of the `[[expect]]` table that a right answer meets.
    expect: String,
    /// The numbers by name, one table per case.
    cases: Vec<BTreeMap<String, String>>,
}

/// An exercise as a student sees it.
#[derive(Debug, Serialize)]
pub struct Task {
    /// The question, with the numbers of the student's case.
    pub question: String,
    /// The unit of the answer, or "" for a plain number.
    pub unit: String,
}

impl Exercise {
    /// Returns the exercise of a lesson, if it has one.
    pub fn of(lesson: &str) -> Option<&'static Exercise> {
        EXERCISES.get(lesson)
    }

    /// Returns the ids of the lessons with an exercise.
    pub fn lessons() -> impl Iterator<Item = &'static str> {
        EXERCISES.keys().map(String::as_str)
    }

    /// Returns the exercise for a student. A seed is any text. It always gives the same case.
    pub fn task(&self, seed: &str) -> Task {
        Task { question: self.fill(&self.question, seed), unit: self.unit.clone() }
    }

    /// Grades an answer in the exercise's unit. Returns true if it is right, and a sentence for the
    /// student.
    ///
    /// # Errors
    /// Fails if the lesson cannot run with this answer.
    pub fn grade(
        &self,
        lesson: &str,
        seed: &str,
        answer: f64,
        catalogue: &Catalogue,
    ) -> Result<(bool, String), Error> {
        let set: Vec<(&str, String)> =
            self.set.iter().map(|(path, value)| (path.as_str(), self.fill(value, seed))).collect();
        let given = format!("{answer} {}", self.unit);
        let answers = self.answer.iter().map(|path| (path.as_str(), given.trim()));
        let set: Vec<(&str, &str)> =
            set.iter().map(|(path, value)| (*path, value.as_str())).chain(answers).collect();
        let expect = self.fill(&self.expect, seed);
        let checks = judged(lesson, &set, &[&expect], 0, catalogue)?;
        let right = checks.iter().any(|c| c.pass);
        Ok(match right {
            true => (true, "Right.".into()),
            false => (false, format!("Not yet. {}", self.fill(&self.hint, seed))),
        })
    }

    /// Replaces the names in a text by the numbers of the student's case.
    fn fill(&self, text: &str, seed: &str) -> String {
        let key = format!("{}\n{}", self.question, seed.trim().to_lowercase());
        let hash = blake3::hash(key.as_bytes());
        let first: [u8; 8] = hash.as_bytes()[..8].try_into().expect("a hash is longer");
        let case = u64::from_le_bytes(first) % self.cases.len() as u64;
        let numbers = &self.cases[case as usize];
        (numbers.iter()).fold(text.to_string(), |text, (name, number)| {
            text.replace(&format!("{{{name}}}"), number)
        })
    }
}
