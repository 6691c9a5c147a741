//! The work that a student hands in: a line with the guesses and the attempts at exercises, and its signature.
//!
//! The key of the signature is in every page, so a signature reveals changes by accident or by hand, but does not
//! prove who wrote the line. Grading does not trust it: it runs each attempt again.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The beginning of a line.
const BEGIN: &str = "accord-lab 1";
/// The purpose of the key, which makes it differ from those of other hashes.
const PURPOSE: &str = "accord laboratory, results of a student, 1";
/// The number of letters of a signature.
const LETTERS: usize = 32;
/// The maximum length of a student's name, in characters.
pub(crate) const LONGEST_NAME: usize = 60;
/// The maximum number of attempts at an exercise that are graded.
pub(crate) const MOST_ATTEMPTS: usize = 200;

/// The work of a student.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The student's name. It is the seed of the numbers in exercises.
    pub student: String,
    /// The version of Accord in which the work was done.
    #[serde(default)]
    pub version: String,
    /// The first guesses by the ids of their lessons.
    #[serde(default)]
    pub guesses: BTreeMap<String, f64>,
    /// The answers to exercises in the order in which they were given, by the ids of their lessons.
    #[serde(default)]
    pub attempts: BTreeMap<String, Vec<f64>>,
}

impl Work {
    /// Returns the line to hand in.
    pub fn line(&self) -> String {
        let text = serde_json::to_string(self).expect("plain data");
        format!("{BEGIN} {} {text}", signature(&text))
    }

    /// Reads a line. Returns the work, and whether its signature is right. Returns `None` for a line of another
    /// kind.
    ///
    /// # Errors
    /// Fails if the line begins like one that is handed in, but cannot be read.
    pub fn read(line: &str) -> Option<Result<(Work, bool), String>> {
        let rest = line.trim().strip_prefix(BEGIN)?.strip_prefix(' ')?;
        Some(Work::parse(rest))
    }

    fn parse(rest: &str) -> Result<(Work, bool), String> {
        let (signed, text) = rest.split_once(' ').ok_or("the line is cut off")?;
        let work: Work =
            serde_json::from_str(text).map_err(|e| format!("the line is damaged: {e}"))?;
        let name = work.student.trim();
        if name.is_empty() {
            return Err("the line has no name of a student".into());
        }
        if name.chars().count() > LONGEST_NAME {
            return Err(format!("the student's name is longer than {LONGEST_NAME} characters"));
        }
        if let Some((lesson, _)) = work.attempts.iter().find(|(_, all)| all.len() > MOST_ATTEMPTS) {
            return Err(format!("{lesson} has more than {MOST_ATTEMPTS} attempts"));
        }
        Ok((work, signed == signature(text)))
    }
}

/// Returns the signature of a text.
fn signature(text: &str) -> String {
    let key = blake3::derive_key(PURPOSE, b"");
    let mut hex = blake3::keyed_hash(&key, text.as_bytes()).to_hex().to_string();
    hex.truncate(LETTERS);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> Work {
        Work {
            student: "Ada \"Countess\" Łovelace".into(),
            version: "0.1.0".into(),
            guesses: [("01-aimd".to_string(), 4.5)].into(),
            attempts: [("02-vegas".to_string(), vec![0.1, 9.0, 1e-300])].into(),
        }
    }

    #[test]
    fn a_line_is_read_back_with_its_signature() {
        let line = work().line();
        assert!(!line.contains('\n'));
        assert_eq!(Work::read(&format!("  {line}\r\n")), Some(Ok((work(), true))));
    }

    #[test]
    fn each_change_of_a_line_shows() {
        let line = work().line();
        for (old, new) in [("9.0", "8.0"), ("Ada", "Eve"), ("4.5", "4.6"), ("0.1.0", "0.1.1")] {
            let (_, signed) =
                Work::read(&line.replacen(old, new, 1)).expect("a line").expect("readable");
            assert!(!signed, "{old}");
        }
    }

    #[test]
    fn what_is_no_line_is_no_work_or_an_error() {
        for other in ["", "Dear teacher,", "accord-lab 2 x {}", "accord-lab 11 x {}"] {
            assert_eq!(Work::read(other), None, "{other:?}");
        }
        let line = work().line();
        let many =
            Work { attempts: [("02-vegas".into(), vec![1.0; MOST_ATTEMPTS + 1])].into(), ..work() };
        let long = Work { student: "a".repeat(LONGEST_NAME + 1), ..work() };
        let none = Work { student: " ".into(), ..work() };
        for wrong in [
            &line[..line.len() - 1],
            "accord-lab 1 abc",
            "accord-lab 1 abc []",
            "accord-lab 1 abc {\"student\":\"a\",\"attempts\":{\"x\":[1e999]}}",
            &many.line(),
            &long.line(),
            &none.line(),
        ] {
            assert!(matches!(Work::read(wrong), Some(Err(_))), "{wrong}");
        }
    }
}
