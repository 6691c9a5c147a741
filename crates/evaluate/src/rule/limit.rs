//! Limits of counts: how many measures may be worse, and how many sections may be undecided.

use accord::form::{Source, TextError, suggest};
use std::ops::Range;
use std::sync::Arc;

/// A count that fails the evaluation, such as `worse > 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The things that are counted.
    pub counted: Counted,
    /// The least count that fails.
    pub from: usize,
    /// The text of the limit.
    pub text: String,
    /// The place where the user wrote it.
    pub source: String,
}

/// A count of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Measures that are worse than those of a rival, over all rivals.
    Worse,
    /// Comparisons that vary too much from seed to seed.
    Unclear,
    /// Sections whose rules no data decides.
    Inconclusive,
}

const WORDS: [(&str, Counted); 3] = [
    ("worse", Counted::Worse),
    ("unclear", Counted::Unclear),
    ("inconclusive", Counted::Inconclusive),
];

impl Limit {
    /// Reads `worse > 0`: a count, `>` or `>=`, and a number. An evaluation has `comparisons`
    /// comparisons with rivals and `sections` with rules.
    ///
    /// # Errors
    /// Fails if the text has another form, names no count, or can never or always fail.
    pub fn parse(
        origin: &Arc<Source>,
        span: Range<usize>,
        source: &str,
        comparisons: usize,
        sections: usize,
    ) -> Result<Limit, TextError> {
        let text = &origin.text[span.clone()];
        let wrong = |message: String, hint: Option<String>| {
            Err(TextError::at(origin, span.clone(), message, hint))
        };
        let form = || Some("write \"worse > 0\" or \"inconclusive >= 3\"".to_string());
        let Some((name, rest)) = text.split_once('>') else {
            return wrong("the limit has no \">\"".into(), form());
        };
        let (name, or_equal) = (name.trim(), rest.starts_with('='));
        let Some((_, counted)) = WORDS.into_iter().find(|(word, _)| *word == name) else {
            let hint = suggest(name, WORDS.iter().map(|(word, _)| *word));
            return wrong(format!("there is no count \"{name}\""), hint);
        };
        let Ok(number) = rest.trim_start_matches('=').trim().parse::<usize>() else {
            return wrong("the limit is not a whole number".into(), form());
        };
        let from = if or_equal { number } else { number.saturating_add(1) };
        let (most, what) = match counted {
            Counted::Inconclusive => (sections, "sections with rules"),
            Counted::Worse | Counted::Unclear => (comparisons, "comparisons with rivals"),
        };
        if from == 0 {
            return wrong("a count is never below 0: this always fails".into(), form());
        }
        if from > most {
            let hint = match counted {
                _ if most > 0 => format!("name at most {most}"),
                Counted::Inconclusive => "a pack has its rules in pack.toml".into(),
                _ => "name rivals by --against that can run these cases".into(),
            };
            return wrong(format!("this can never fail: there are {most} {what}"), Some(hint));
        }
        Ok(Limit { counted, from, text: text.trim().to_string(), source: source.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_or_refused() {
        let read = |text: &str, comparisons| {
            let origin = Arc::new(Source { name: "--fail-on".into(), text: text.into() });
            let limit = Limit::parse(&origin, 0..text.len(), "--fail-on", comparisons, 3);
            limit.map(|l| (l.counted, l.from)).map_err(|e| e.to_string())
        };
        assert_eq!(read("worse > 0", 9), Ok((Counted::Worse, 1)));
        assert_eq!(read("inconclusive>=2", 0), Ok((Counted::Inconclusive, 2)));
        assert_eq!(read("unclear > 3", 9), Ok((Counted::Unclear, 4)));
        for (text, message) in [
            ("worse < 1", "has no \">\""),
            ("wrose > 1", "did you mean \"worse\"?"),
            ("worse > 1.5", "not a whole number"),
            ("worse > -1", "not a whole number"),
            ("worse >= 0", "always fails"),
            ("worse > 9", "can never fail: there are 9 comparisons"),
            ("inconclusive > 3", "there are 3 sections"),
        ] {
            let error = read(text, 9).expect_err(text);
            assert!(error.contains(message) && error.contains("hint"), "{error}");
        }
        assert!(read("worse > 0", 0).expect_err("no rivals").contains("--against"));
    }
}
