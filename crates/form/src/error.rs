//! Errors of files, with their place and a hint.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text with a name, to which errors point.
#[derive(PartialEq, Eq)]
pub struct Source {
    /// The name of the file, or of another origin of the text.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Prints only the name, because texts are long.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?})", self.name)
    }
}

/// An error at a place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The fault and the expectation.
    pub message: String,
    /// A hint at the remedy, if one is known.
    pub hint: Option<String>,
    /// The name that nothing has, if the error is about one.
    pub unknown: Option<String>,
    /// The text with the error.
    pub origin: Arc<Source>,
    /// The place in the text, in bytes.
    pub span: Range<usize>,
    /// The line of the start of `span`, from one.
    pub line: usize,
    /// The character of that line at the start of `span`, from one.
    pub column: usize,
}

impl TextError {
    /// Returns an error at a place of a text.
    pub fn at(
        origin: &Arc<Source>,
        span: Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> TextError {
        let text = &origin.text;
        let start = text.floor_char_boundary(span.start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        TextError {
            message: message.into(),
            hint,
            unknown: None,
            span: start..text.floor_char_boundary(span.end).max(start),
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            origin: Arc::clone(origin),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.origin.name;
        write!(f, "{name}:{}:{}: {}", self.line, self.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TextError {}

/// The errors of a text, in the order of the text. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(Vec<TextError>);

impl Errors {
    /// The errors.
    pub fn iter(&self) -> std::slice::Iter<'_, TextError> {
        self.0.iter()
    }

    /// Returns the errors, each replaced by the result of `each`.
    pub fn map(self, each: impl FnMut(TextError) -> TextError) -> Errors {
        Errors(self.0.into_iter().map(each).collect())
    }

    /// Returns the first of the errors at each place of a text.
    pub fn first_per_place(self) -> Errors {
        let mut first: Vec<TextError> = Vec::new();
        for error in self.0 {
            let is_same = |e: &TextError| e.origin == error.origin && e.span == error.span;
            if !first.iter().any(is_same) {
                first.push(error);
            }
        }
        Errors(first)
    }
}

impl IntoIterator for Errors {
    type Item = TextError;
    type IntoIter = std::vec::IntoIter<TextError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<TextError> for Errors {
    fn from(error: TextError) -> Errors {
        Errors(vec![error])
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// A place in one of a file's sources, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The index of the source. The file itself is 0.
    pub source: u32,
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// Creates the place of a range of a source.
    pub fn new(source: usize, range: Range<usize>) -> Span {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { source: narrow(source), start: narrow(range.start), end: narrow(range.end) }
    }

    /// The range in its source.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An error that is not yet attached to its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The place.
    pub span: Span,
    /// The fault and the expectation.
    pub message: String,
    /// A hint at the remedy, if one is known.
    pub hint: Option<String>,
    /// The name that nothing has, if the problem is one.
    pub unknown: Option<String>,
}

impl Problem {
    /// Creates a problem without a hint.
    pub fn new(span: Span, message: impl Into<String>) -> Problem {
        Problem { span, message: message.into(), hint: None, unknown: None }
    }

    /// Sets the name that nothing has.
    pub fn unknown(self, name: &str) -> Problem {
        Problem { unknown: Some(name.into()), ..self }
    }

    /// Sets the hint.
    pub fn hint(self, hint: impl Into<String>) -> Problem {
        Problem { hint: Some(hint.into()), ..self }
    }

    /// Adds "did you mean" if `word` is close to a known word. Otherwise adds the list of known
    /// words if it is short enough to read.
    pub fn known<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
        match suggest(word, known) {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Turns the problem into an error that includes its text.
    pub fn locate(self, sources: &[Arc<Source>]) -> TextError {
        let origin = &sources[self.span.source as usize];
        let error = TextError::at(origin, self.span.range(), self.message, self.hint);
        TextError { unknown: self.unknown, ..error }
    }
}

/// An error in the file itself, to be kept with others.
impl From<TextError> for Problem {
    fn from(error: TextError) -> Problem {
        let TextError { span, message, hint, unknown, .. } = error;
        Problem { span: Span::new(0, span), message, hint, unknown }
    }
}

/// Returns a failure at a place.
///
/// # Errors
/// Always.
pub fn fail<T>(span: Span, message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::new(span, message))
}

/// The number of errors that are kept. In a file with more errors, most of them have a common
/// cause.
const MOST: usize = 20;

/// The problems found so far.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Returns whether further problems would be discarded, so the search can stop.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Adds a problem, unless it is already known or the list is full.
    pub fn push(&mut self, problem: Problem) {
        if !self.is_full() && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// Returns the value of a success, and keeps the problem of a failure.
    pub fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.push(problem)).ok()
    }

    /// Returns the first problem, which should exist. Otherwise, returns a problem at `span`.
    pub fn first(self, span: Span) -> Problem {
        let mut found = self.0.into_iter();
        found.next().unwrap_or_else(|| Problem::new(span, "this cannot be read"))
    }

    /// Returns whether no problem was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Ends the search for problems in a text.
    ///
    /// # Errors
    /// Fails if a problem was found.
    pub fn check(self, sources: &[Arc<Source>]) -> Result<(), Errors> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut problems = self.0;
        problems.sort_by_key(|p| p.span);
        let locate = |p: Problem| p.locate(sources);
        Err(Errors(problems.into_iter().map(locate).collect()))
    }
}

/// Quotes a text of a file for use in a message, clipped.
pub fn quote(text: &str) -> String {
    let clipped: String = text.chars().take(60).collect();
    let more = if clipped.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", clipped.escape_debug())
}

/// Returns a hint for an unknown word: the known word closest to it, or else all known words if
/// they are few enough to read.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const LISTED: usize = 30;
    const NEAR: usize = 3;
    let names: Vec<&str> = known.into_iter().take(COMPARED).collect();
    // "bbr" is an abbreviation of several words.
    let is_short = |name: &&&str| word.len() > 1 && name.starts_with(word);
    let mut near: Vec<&str> = names.iter().filter(is_short).take(NEAR).copied().collect();
    if near.is_empty() {
        near.extend(nearest(word, names.iter().copied()));
    }
    match (near.is_empty(), names.len()) {
        (false, _) => Some(format!("did you mean \"{}\"?", near.join("\" or \""))),
        (true, 1..=LISTED) => Some(format!("there are: {}", names.join(", "))),
        (true, _) => None,
    }
}

/// The maximum number of words with which a word is compared: more than a person would declare.
const COMPARED: usize = 2_000;

/// Returns the known word that was probably meant, if one is close enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The time of a comparison is proportional to the product of the lengths. Long, hostile words
    // are therefore not compared.
    const LONGEST: usize = 100;
    let known = known.into_iter().take(COMPARED);
    let near = known
        .filter(|name| word.len() <= LONGEST && name.len() <= LONGEST)
        .map(|name| (strsim::damerau_levenshtein(word, name), name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    let close = distance < word.chars().count() && distance <= (word.len() / 3).max(1);
    close.then_some(name)
}
