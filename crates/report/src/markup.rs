//! Text and verdicts as HTML.

use crate::class::Class;
use crate::show;
use std::fmt::Display;

/// Returns text from a file as HTML text or an attribute value, at most `limit` characters.
pub fn escape(text: &str, limit: usize) -> String {
    html_escape::encode_quoted_attribute(&show::clean(text, limit)).into_owned()
}

/// The style of a verdict.
pub const fn style_of(class: Class) -> &'static str {
    match class {
        Class::Met => "pass",
        Class::Finding | Class::Open | Class::Unjudged => "known",
        Class::Ours | Class::Failed => "fail",
    }
}

/// Returns a table. A heading is HTML and a flag for a column of numbers. Rows are HTML.
pub fn table(headings: impl IntoIterator<Item = (impl Display, bool)>, rows: &str) -> String {
    let class = |numbers| if numbers { " class=\"n\"" } else { "" };
    let headings = headings.into_iter().map(|(text, n)| format!("<th{}>{text}</th>", class(n)));
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        headings.collect::<String>()
    )
}
