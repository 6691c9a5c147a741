//! The results of a class: the work of its students, with each attempt run again.

use crate::exercise::Exercise;
use crate::hand_in::Work;
use crate::lesson::Lesson;
use accord::Catalogue;
use accord::columns::csv_text;
use accord::files::read_text;
use accord::report::show::{NONE, clean};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The maximum size of a file that is handed in, in bytes.
const LARGEST: u64 = 1 << 20;
/// The maximum number of characters of a name of a file in the table.
const NAME: usize = 60;

/// The results of a class.
#[derive(Debug, Default)]
pub struct Class {
    /// The students in the order of their names.
    pub students: Vec<Student>,
    /// A sentence for everything that cannot be graded: files without a line, and damaged lines.
    pub refused: Vec<String>,
}

/// The results of a student.
#[derive(Clone, Debug)]
pub struct Student {
    /// The name that drew the numbers of the exercises.
    pub name: String,
    /// The file with the line.
    pub file: String,
    /// The marks by the ids of the lessons.
    pub marks: BTreeMap<String, Mark>,
    /// The number of lessons for which the student guessed.
    pub guesses: usize,
    /// Remarks for the teacher, such as a line that was changed.
    pub remarks: Vec<String>,
}

/// The result of an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The number of attempts, at least one.
    pub attempts: usize,
    /// The number of the first right attempt, from 1.
    pub right: Option<usize>,
}

impl Class {
    /// Grades the files in a folder. Subfolders and hidden files are left out.
    ///
    /// # Errors
    /// Fails if the folder cannot be read. A file that cannot be read is in [`Class::refused`].
    pub fn grade(folder: &Path, catalogue: &Catalogue) -> io::Result<Class> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && !entry.file_type()?.is_dir() {
                paths.push((name, entry.path()));
            }
        }
        paths.sort();
        let mut class = Class::default();
        for (name, path) in paths {
            let file = clean(&name, NAME);
            match read_text(&path, LARGEST) {
                Ok(text) => class.add(&file, &text, catalogue),
                Err(e) => class.refused.push(format!("{file}: {e}")),
            }
        }
        class.mark_doubles();
        class.students.sort_by_cached_key(|student| (key(&student.name), student.file.clone()));
        Ok(class)
    }

    fn add(&mut self, file: &str, text: &str, catalogue: &Catalogue) {
        let mut found = false;
        for line in text.lines() {
            match Work::read(line) {
                None => continue,
                Some(Ok((work, signed))) => {
                    self.students.push(graded(work, signed, file, catalogue))
                }
                Some(Err(why)) => self.refused.push(format!("{file}: {why}")),
            }
            found = true;
        }
        if !found {
            self.refused.push(format!("{file}: no line of the laboratory's button Hand in"));
        }
    }

    /// Adds a remark to lines that share a name.
    fn mark_doubles(&mut self) {
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for student in &self.students {
            files.entry(key(&student.name)).or_default().push(student.file.clone());
        }
        for student in &mut self.students {
            let all = &files[&key(&student.name)];
            if all.len() > 1 {
                student.remarks.push(format!(
                    "{} lines have this name: {}",
                    all.len(),
                    all.join(", ")
                ));
            }
        }
    }

    /// Returns the table as CSV: a line per student, two columns per exercise.
    pub fn csv(&self) -> String {
        let lessons: Vec<&str> = Exercise::lessons().collect();
        let mut out = String::from("student,right,guesses");
        for lesson in &lessons {
            out += &format!(",{lesson} right at,{lesson} attempts");
        }
        out += ",remarks,file\n";
        for student in &self.students {
            let counts = [student.right(), student.guesses].map(|n| n.to_string());
            let marks = lessons.iter().flat_map(|lesson| {
                let mark = student.marks.get(*lesson);
                let right = mark.and_then(|m| m.right);
                [
                    right.map_or_else(String::new, |n| n.to_string()),
                    mark.map_or(0, |m| m.attempts).to_string(),
                ]
            });
            let cells = [student.name.clone()].into_iter().chain(counts).chain(marks);
            let last = [student.remarks.join("; "), student.file.clone()];
            let cells: Vec<String> = cells.chain(last).map(|cell| quoted(&cell)).collect();
            out += &format!("{}\n", cells.join(","));
        }
        out
    }

    /// Returns the table for a terminal: per exercise the number of the right attempt, or the count of attempts if
    /// none is right.
    pub fn text(&self) -> String {
        let lessons: Vec<&str> = Exercise::lessons().collect();
        let head = ["student", "right", "guesses"].into_iter().chain(lessons.iter().copied());
        let mut rows: Vec<Vec<String>> =
            vec![head.chain(["remarks"]).map(str::to_string).collect()];
        for student in &self.students {
            let mut row = vec![
                student.name.clone(),
                format!("{}/{}", student.right(), lessons.len()),
                student.guesses.to_string(),
            ];
            row.extend(lessons.iter().map(|lesson| match student.marks.get(*lesson) {
                None => NONE.to_string(),
                Some(Mark { right: Some(n), .. }) => format!("right at {n}"),
                Some(Mark { attempts, .. }) => format!("wrong, {attempts}"),
            }));
            row.push(student.remarks.join("; "));
            rows.push(row);
        }
        let widths: Vec<usize> = (0..rows[0].len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("   ").trim_end().to_string()
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Student {
    /// Returns the number of exercises with a right attempt.
    pub fn right(&self) -> usize {
        self.marks.values().filter(|mark| mark.right.is_some()).count()
    }
}

/// Reruns each attempt of a student's work, up to the first right one of each exercise.
fn graded(work: Work, signed: bool, file: &str, catalogue: &Catalogue) -> Student {
    let mut remarks = Vec::new();
    if !signed {
        remarks.push("the line was changed after it was signed".to_string());
    }
    let ours = env!("CARGO_PKG_VERSION");
    if work.version != ours {
        remarks
            .push(format!("made with version {}, graded with {ours}", clean(&work.version, NAME)));
    }
    let mut marks = BTreeMap::new();
    for (lesson, answers) in &work.attempts {
        let Some(exercise) = Exercise::of(lesson) else {
            remarks.push(format!("{} has no exercise", clean(lesson, NAME)));
            continue;
        };
        // An answer with which the lesson cannot run is wrong.
        let right = |answer: &f64| {
            exercise.grade(lesson, &work.student, *answer, catalogue).is_ok_and(|(right, _)| right)
        };
        if !answers.is_empty() {
            let right = answers.iter().position(right).map(|i| i + 1);
            marks.insert(lesson.clone(), Mark { attempts: answers.len(), right });
        }
    }
    let guesses = work.guesses.keys().filter(|id| Lesson::of(id).is_some()).count();
    Student {
        name: clean(work.student.trim(), NAME),
        file: file.to_string(),
        marks,
        guesses,
        remarks,
    }
}

/// Returns the form of a name that is the same for all names that draw the same numbers.
fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns a cell of CSV.
fn quoted(cell: &str) -> String {
    let cell = csv_text(cell);
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into_owned()
    }
}
