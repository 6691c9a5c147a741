//! The style of tables on a terminal.

use crate::class::Class;

/// The style of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The widest line, in characters. Names are shortened and wrapped to fit.
    pub width: u16,
    /// True if verdicts are coloured with terminal codes.
    pub colour: bool,
    /// True if verdicts are words instead of signs.
    pub words: bool,
}

impl Style {
    /// Returns the mark of a verdict.
    pub const fn mark(self, class: Class) -> &'static str {
        match self.words {
            true => class.word(),
            false => class.sign(),
        }
    }
}

impl Default for Style {
    fn default() -> Style {
        Style {
            width: 100,
            colour: false,
            words: false,
        }
    }
}
