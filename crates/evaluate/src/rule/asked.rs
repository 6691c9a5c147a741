//! The rules of a user: from the command line and from files.

use super::{Limit, Rule};
use accord::language::{Errors, ScenarioError, Source};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// The rules and the limits that a user asks for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The rules.
    pub rules: Vec<Rule>,
    limits: Vec<(Arc<Source>, Range<usize>)>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    require: Vec<Spanned<String>>,
    #[serde(default)]
    fail_on: Vec<Spanned<String>>,
}

impl Asked {
    /// Adds a rule of an option.
    ///
    /// # Errors
    /// Fails if the text is not a rule.
    pub fn require(&mut self, option: &str, text: &str) -> Result<(), ScenarioError> {
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
    /// Fails at the place of a fault.
    pub fn file(&mut self, origin: &Arc<Source>) -> Result<(), Errors> {
        let file: File = toml::from_str(&origin.text).map_err(|e| {
            let hint = "a file of rules has the lists of texts `require` and `fail_on`";
            ScenarioError::at(origin, e.span().unwrap_or(0..0), e.message(), Some(hint.into()))
        })?;
        for text in &file.require {
            let span = inside(origin, text)?;
            self.rules.push(Rule::parse(origin, span, false, &origin.name)?);
        }
        for text in &file.fail_on {
            self.limits.push((Arc::clone(origin), inside(origin, text)?));
        }
        Ok(())
    }

    /// Reads the limits, for an evaluation with `comparisons` with rivals and `sections` with rules.
    ///
    /// # Errors
    /// The errors of [`Limit::parse`].
    pub fn limits(&self, comparisons: usize, sections: usize) -> Result<Vec<Limit>, ScenarioError> {
        let limits = self.limits.iter();
        limits
            .map(|(origin, span)| {
                Limit::parse(origin, span.clone(), &origin.name, comparisons, sections)
            })
            .collect()
    }
}

/// Returns the place of a text of TOML without its quotes, for errors that point into it.
pub(crate) fn inside(
    origin: &Arc<Source>,
    text: &Spanned<String>,
) -> Result<Range<usize>, ScenarioError> {
    let span = text.span();
    let inner = span.start + 1..span.end.saturating_sub(1);
    if origin.text.get(inner.clone()) == Some(text.get_ref().as_str()) {
        return Ok(inner);
    }
    let hint = "write it between two quotes, without escapes";
    Err(ScenarioError::at(origin, span, "a rule is a plain text in one line", Some(hint.into())))
}
