//! Text and verdicts as HTML.

use crate::class::Class;
use crate::show;

/// Text from a file as HTML text or attribute value, at most `limit` characters.
pub fn escape(text: &str, limit: usize) -> String {
    html_escape::encode_quoted_attribute(&show::clean(text, limit)).into_owned()
}

/// The style of a verdict.
pub const fn style_of(class: Class) -> &'static str {
    match class {
        Class::Met => "pass",
        Class::Finding | Class::Open => "known",
        Class::Ours | Class::Unknown => "fail",
    }
}
