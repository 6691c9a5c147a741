//! The rules of a user: from the command line and from files.

use super::{Limit, Rule};
use accord::form::{
    self, Checked, Default, Errors, Problem, Problems, Section, Shape, Source, TextError, Value,
    key, section,
};
use std::ops::Range;
use std::sync::Arc;

/// The rules and the limits that a user asks for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The rules.
    pub rules: Vec<Rule>,
    limits: Vec<(Arc<Source>, Range<usize>)>,
}

/// Returns the JSON Schema (2020-12) of files of rules.
pub fn schema() -> serde_json::Value {
    form::schema("Accord rules", &FILE)
}

/// The keys of a file of rules.
const FILE: Section<Checked> = section(
    "The file",
    "Rules that an evaluation has to meet, and limits of its counts.",
    &[
        key("require", LIST, Default::Nothing, "The rules, as `--require` has them."),
        key("fail_on", LIST, Default::Nothing, "The limits, as `--fail-on` has them."),
    ],
);

const LIST: Shape<Checked> = Shape::List(&Shape::Text);

impl Asked {
    /// Adds a rule of an option.
    ///
    /// # Errors
    /// Fails if the text is not a rule.
    pub fn require(&mut self, option: &str, text: &str) -> Result<(), TextError> {
        let origin = Arc::new(Source { name: option.to_string(), text: text.to_string() });
        self.rules.push(Rule::parse(&origin, 0..text.len(), false, option)?);
        Ok(())
    }

    /// Adds a limit of an option. [`Asked::limits`] reads it.
    pub fn fail_on(&mut self, option: &str, text: &str) {
        let origin = Arc::new(Source { name: option.to_string(), text: text.to_string() });
        self.limits.push((origin, 0..text.len()));
    }

    /// Adds the rules and the limits of a file: TOML with the lists `require` and `fail_on`.
    ///
    /// # Errors
    /// Fails with all faults and their places.
    pub fn file(&mut self, origin: &Arc<Source>) -> Result<(), Errors> {
        let tree = form::tree(origin, &FILE, &())?;
        let list = |key| tree.get(key).and_then(Value::list).unwrap_or_default();
        let mut problems = Problems::default();
        for text in list("require") {
            let rule = inside(origin, text);
            let rule = rule.and_then(|span| Ok(Rule::parse(origin, span, false, &origin.name)?));
            self.rules.extend(problems.keep(rule));
        }
        for text in list("fail_on") {
            let span = problems.keep(inside(origin, text));
            self.limits.extend(span.map(|span| (Arc::clone(origin), span)));
        }
        problems.check(std::slice::from_ref(origin))
    }

    /// Returns true without rules and limits.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.limits.is_empty()
    }

    /// Reads the limits, for an evaluation with `comparisons` with rivals and `sections` with rules.
    ///
    /// # Errors
    /// The errors of [`Limit::parse`].
    pub fn limits(&self, comparisons: usize, sections: usize) -> Result<Vec<Limit>, TextError> {
        let limits = self.limits.iter();
        limits
            .map(|(origin, span)| {
                Limit::parse(origin, span.clone(), &origin.name, comparisons, sections)
            })
            .collect()
    }
}

/// Returns the place of a text of TOML without its quotes, for errors that point into it.
pub(crate) fn inside(origin: &Source, text: &Value) -> Result<Range<usize>, Problem> {
    let span = text.span.range();
    let inner = span.start + 1..span.end.saturating_sub(1);
    if origin.text.get(inner.clone()) == text.text() {
        return Ok(inner);
    }
    let hint = "write it between two quotes, without escapes";
    Err(Problem::new(text.span, "a rule is a plain text in one line").hint(hint))
}
