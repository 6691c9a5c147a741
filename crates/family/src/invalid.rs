//! The error of parameters.

use std::error::Error;
use std::fmt;

/// The reason why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The names of the parameter and of all that contains it, from the outside: an aggregate, and its parameter.
    /// Nothing, if parameters contradict each other.
    pub path: Vec<String>,
    /// The fault, and the form that is expected.
    pub reason: String,
}

impl Invalid {
    /// Returns the error within something of this name.
    pub fn within(mut self, name: &str) -> Invalid {
        self.path.insert(0, name.into());
        self
    }
}

/// An error without a place.
impl From<String> for Invalid {
    fn from(reason: String) -> Invalid {
        Invalid { path: Vec::new(), reason }
    }
}

/// An error without a place.
impl From<&str> for Invalid {
    fn from(reason: &str) -> Invalid {
        Invalid::from(reason.to_string())
    }
}

/// As in "gain: 2 is out of range".
impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.path {
            write!(f, "{name}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl Error for Invalid {}
