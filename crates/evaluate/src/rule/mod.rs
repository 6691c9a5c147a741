//! Rules: floors and ceilings of measures, from packs and from users.
//!
//! A rule is a text such as `rfc9743/wired: loss < 1 %`. [`Rule::parse`] reads it, and [`resolve`]
//! finds the measures that it is about.

mod asked;
mod limit;
mod resolve;

pub(crate) use asked::inside;
pub use asked::{Asked, schema};
pub use limit::{Counted, Limit};
pub use resolve::{Requirement, resolve};

use accord::form::{Source, TextError};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A floor or a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// "<".
    Below,
    /// "<=".
    AtMost,
    /// ">=".
    AtLeast,
    /// ">".
    Above,
}

impl Bound {
    /// Returns whether it is a ceiling.
    pub const fn is_ceiling(self) -> bool {
        matches!(self, Bound::Below | Bound::AtMost)
    }

    /// Returns whether a value meets the bound.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Bound::Below => value < bound,
            Bound::AtMost => value <= bound,
            Bound::AtLeast => value >= bound,
            Bound::Above => value > bound,
        }
    }

    /// The words for people, before the value.
    pub const fn words(self) -> &'static str {
        match self {
            Bound::Below => "below",
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
            Bound::Above => "above",
        }
    }
}

/// A part of a rule, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The text.
    pub text: String,
    /// The place in the source, in bytes.
    pub span: Range<usize>,
}

/// A rule as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The pack; in a pack's own rules there is none.
    pub pack: Option<Part>,
    /// The case, or none for all.
    pub case: Option<Part>,
    /// The point of the case's sweep, or none for all.
    pub point: Option<Part>,
    /// The name of the measure.
    pub measure: Part,
    /// The kind of bound.
    pub bound: Bound,
    /// The value of the bound, with its unit.
    pub value: Part,
    /// The source of the bound: a section of a standard, "ours", or where the user wrote it.
    pub source: String,
    /// The reason for the bound, or "".
    pub because: String,
    /// The text that the rule is in.
    pub origin: Arc<Source>,
    /// The place of the whole rule.
    pub span: Range<usize>,
}

/// The form of a rule, for hints.
const FORM: &str =
    "write \"PACK/CASE: MEASURE < VALUE\", for example \"rfc9743/wired: loss < 1 %\"";
/// The form of a rule in a pack.
const OWN_FORM: &str =
    "write \"CASE: MEASURE <= VALUE\", or \"MEASURE <= VALUE\" for all cases of the section";

impl Rule {
    /// Reads the rule at `span` of a text. The rule of a pack (`own`) names no pack, and may name no
    /// case: then it is about all cases of its section. The forms of other rules are
    /// `PACK: MEASURE < VALUE`, `PACK/CASE: ...` and `PACK/CASE (POINT): ...`; a bound is one of
    /// `<`, `<=`, `>=` and `>`.
    ///
    /// # Errors
    /// Fails at the part that does not have this form.
    pub fn parse(
        origin: &Arc<Source>,
        span: Range<usize>,
        own: bool,
        source: &str,
    ) -> Result<Rule, TextError> {
        let whole = Part { text: origin.text[span.clone()].to_string(), span: span.clone() };
        let form = if own { OWN_FORM } else { FORM };
        let wrong = |span: Range<usize>, message: &str| {
            TextError::at(origin, span, message, Some(form.into()))
        };
        let (target, rest) = match whole.text.find(": ") {
            Some(at) => (Some(whole.cut(0..at)), whole.cut(at + 1..whole.text.len())),
            None if own => (None, whole.cut(0..whole.text.len())),
            None => return Err(wrong(span, "the rule names no pack: there is no \": \" in it")),
        };
        let Some(at) = rest.text.find(['<', '>']) else {
            return Err(wrong(
                rest.span,
                "the rule has no bound: there is no \"<\" or \">\" in it",
            ));
        };
        let measure = rest.cut(0..at);
        let (bound, length) = match &rest.text.as_bytes()[at..] {
            [b'<', b'=', ..] => (Bound::AtMost, 2),
            [b'>', b'=', ..] => (Bound::AtLeast, 2),
            [b'<', ..] => (Bound::Below, 1),
            _ => (Bound::Above, 1),
        };
        let value = rest.cut(at + length..rest.text.len());
        if measure.text.is_empty() || value.text.is_empty() {
            return Err(wrong(rest.span, "the rule lacks the measure or the value"));
        }
        let (mut pack, mut case, mut point) = (None, None, None);
        if let Some(target) = target {
            let (name, at) = match target.text.find(" (").filter(|_| target.text.ends_with(')')) {
                Some(at) => {
                    let inside = target.cut(at + 2..target.text.len() - 1);
                    (target.cut(0..at), Some(inside))
                }
                None => (target, None),
            };
            if name.text.is_empty() {
                return Err(wrong(name.span, "the rule names no case"));
            }
            // A pack that is a directory has slashes in its name.
            match name.text.rfind('/') {
                _ if own => case = Some(name),
                Some(slash) => {
                    pack = Some(name.cut(0..slash));
                    case = Some(name.cut(slash + 1..name.text.len()));
                }
                None => pack = Some(name),
            }
            point = at;
        }
        if let (Some(point), None) = (&point, &case) {
            return Err(wrong(point.span.clone(), "a point is that of a case: name the case"));
        }
        Ok(Rule {
            pack,
            case,
            point,
            measure,
            bound,
            value,
            source: source.to_string(),
            because: String::new(),
            origin: Arc::clone(origin),
            span,
        })
    }

    /// Returns an error at a part of the rule.
    fn wrong(&self, part: &Part, message: String, hint: Option<String>) -> TextError {
        TextError::at(&self.origin, part.span.clone(), message, hint)
    }
}

impl Part {
    /// Returns a range of it without the spaces around.
    fn cut(&self, range: Range<usize>) -> Part {
        let text = &self.text[range.clone()];
        let start = self.span.start + range.start + (text.len() - text.trim_start().len());
        let text = text.trim();
        Part { text: text.to_string(), span: start..start + text.len() }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (&self.pack, &self.case, &self.point) {
            (Some(pack), Some(case), Some(at)) => {
                format!("{}/{} ({}): ", pack.text, case.text, at.text)
            }
            (Some(pack), Some(case), None) => format!("{}/{}: ", pack.text, case.text),
            (Some(pack), None, _) => format!("{}: ", pack.text),
            (None, Some(case), Some(at)) => format!("{} ({}): ", case.text, at.text),
            (None, Some(case), None) => format!("{}: ", case.text),
            (None, None, _) => String::new(),
        };
        write!(f, "{place}{} {} {}", self.measure.text, self.bound.words(), self.value.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, own: bool) -> Result<Rule, String> {
        let origin = Arc::new(Source { name: "--require".into(), text: text.into() });
        Rule::parse(&origin, 0..text.len(), own, "ours").map_err(|e| e.to_string())
    }

    #[test]
    fn rules_are_read_in_all_their_forms() {
        for (text, own, shown) in [
            ("rfc9743/wired: loss < 1 %", false, "rfc9743/wired: loss below 1 %"),
            ("rfc9743:loss>=1 %", false, ""),
            ("rfc9743: loss>=1 %", false, "rfc9743: loss at least 1 %"),
            (
                "./packs/mine/one (buffer = 0.5 BDP): queuing delay, 95th percentile <= 5 ms",
                false,
                "./packs/mine/one (buffer = 0.5 BDP): queuing delay, 95th percentile at most 5 ms",
            ),
            ("loss <= 5 %", true, "loss at most 5 %"),
            ("one: goodput > 5 Mbps", true, "one: goodput above 5 Mbps"),
            ("one (flows = 2): goodput > 5 Mbps", true, "one (flows = 2): goodput above 5 Mbps"),
        ] {
            match read(text, own) {
                Ok(rule) => assert_eq!(rule.to_string(), shown),
                Err(e) => assert_eq!(shown, "", "{text}: {e}"),
            }
        }
    }

    #[test]
    fn other_texts_are_refused_with_their_place() {
        for (text, place, message) in [
            ("loss < 1 %", "1:1", "names no pack"),
            ("rfc9743: loss = 1 %", "1:10", "has no bound"),
            ("rfc9743: < 1 %", "1:10", "lacks the measure"),
            ("rfc9743: loss <", "1:10", "lacks the measure or the value"),
            ("rfc9743 (buffer = 2): loss < 1 %", "1:10", "name the case"),
            (" : loss < 1 %", "1:2", "names no case"),
            ("", "1:1", "names no pack"),
        ] {
            let error = read(text, false).expect_err(text);
            assert!(error.starts_with(&format!("--require:{place}: ")), "{text}: {error}");
            assert!(error.contains(message) && error.contains("hint: write"), "{text}: {error}");
        }
    }
}
