//! Constructors of parameters by the kind of their values. The first argument is the default,
//! written as in a scenario file. A parameter with the default "" is absent unless it is given.

use crate::{Kind, Meaning, Param};

/// Returns a parameter of a kind, without name, symbol, documentation and source.
const fn of(kind: Kind, default: &'static str) -> Param {
    Param { name: "", symbol: "", kind, default, meaning: Meaning::Own, doc: "", source: "" }
}

/// A number within `min..=max`.
pub const fn number(default: &'static str, min: f64, max: f64) -> Param {
    of(Kind::Number { min, max }, default)
}

/// A whole number within `min..=max`.
pub const fn integer(default: &'static str, min: u64, max: u64) -> Param {
    of(Kind::Integer { min, max }, default)
}

/// `true` or `false`.
pub const fn flag(default: &'static str) -> Param {
    of(Kind::Flag, default)
}

/// An amount in bytes or packets.
pub const fn size(default: &'static str) -> Param {
    of(Kind::Size, default)
}

/// A span of time.
pub const fn duration(default: &'static str) -> Param {
    of(Kind::Duration, default)
}

/// A rate.
pub const fn rate(default: &'static str) -> Param {
    of(Kind::Rate, default)
}

/// One of `words`.
pub const fn choice(default: &'static str, words: &'static [&'static str]) -> Param {
    of(Kind::Choice(words), default)
}

/// Tables of these parameters, by the names of aggregates.
pub const fn aggregates(params: &'static [Param]) -> Param {
    of(Kind::Aggregates(params), "")
}

/// Returns the parameter of this name in another family's table.
///
/// # Panics
///
/// Panics at compile time if there is none.
pub const fn same(params: &[Param], name: &str) -> Param {
    let mut i = 0;
    while i < params.len() {
        if is_same(params[i].name.as_bytes(), name.as_bytes()) {
            return params[i];
        }
        i += 1;
    }
    panic!("the table has no parameter of this name")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    match (a, b) {
        ([], []) => true,
        ([x, a @ ..], [y, b @ ..]) => *x == *y && is_same(a, b),
        _ => false,
    }
}

impl Param {
    /// Returns the parameter with another default.
    pub const fn default(self, default: &'static str) -> Param {
        Param { default, ..self }
    }

    /// Returns the parameter with a symbol.
    pub const fn symbol(self, symbol: &'static str) -> Param {
        Param { symbol, ..self }
    }

    /// Returns the parameter with a source.
    pub const fn source(self, source: &'static str) -> Param {
        Param { source, ..self }
    }

    /// Returns the parameter with a meaning for other code.
    pub const fn meaning(self, meaning: Meaning) -> Param {
        Param { meaning, ..self }
    }

    /// Returns the parameter with documentation.
    pub const fn doc(self, doc: &'static str) -> Param {
        Param { doc, ..self }
    }

    /// Returns the parameter with a name. The text of a documentation comment in `doc`, unless empty,
    /// replaces its documentation.
    pub const fn declared(self, name: &'static str, doc: &'static str) -> Param {
        if doc.is_empty() {
            Param { name, ..self }
        } else {
            Param { name, ..self }.doc(doc.trim_ascii_start())
        }
    }
}
