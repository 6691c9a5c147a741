//! The style of tables on a terminal.

use crate::class::Class;

/// The style of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The widest line, in characters. Names are shortened and wrapped to fit.
    pub width: u16,
    /// True if verdicts are coloured with terminal codes.
    pub colour: bool,
}

impl Style {
    /// Returns a text in the colour of results that deserve a look but are not failures.
    pub fn amber(self, text: &str) -> String {
        if self.colour { format!("\x1b[33m{text}\x1b[0m") } else { text.into() }
    }

    /// Returns a text in the colour of a verdict.
    pub fn paint(self, class: Class, text: &str) -> String {
        let code = match class {
            Class::Met => 32,
            Class::Finding | Class::Open => 36,
            Class::Unjudged => 33,
            Class::Ours | Class::Failed => 31,
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, colour: false }
    }
}
