//! The registry of Python's classes and their families.

use accord::family::{Catalogue, Family};
use pyo3::prelude::*;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A class with its family.
pub struct Own {
    pub family: &'static Family,
    pub class: Py<PyAny>,
    pub is_controller: bool,
    /// The parameter with the target accumulation of a flow, for theory.
    pub keeps: Option<String>,
}

/// All classes so far, and the catalogues of the sets in use.
pub struct Registry {
    all: Vec<&'static Own>,
    pub catalogues: Vec<(Vec<&'static Own>, Catalogue)>,
}

pub fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: Mutex<Registry> =
        Mutex::new(Registry { all: Vec::new(), catalogues: Vec::new() });
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the class of a family that [`catalogue`](super::catalogue) made.
pub fn of(family: &'static Family) -> &'static Own {
    let registry = registry();
    let own = registry.all.iter().find(|o| ptr::eq(o.family, family));
    own.expect("a family of a class is in the registry")
}

impl Registry {
    /// Returns the entry of a class, a new one if it has changed since.
    pub fn entry(&mut self, draft: Own) -> &'static Own {
        let known = self.all.iter().find(|o| o.is(&draft));
        known.copied().unwrap_or_else(|| {
            let own: &'static Own = Box::leak(Box::new(draft));
            self.all.push(own);
            own
        })
    }
}

impl Own {
    /// Returns true if it is the same class, declared in the same way.
    fn is(&self, other: &Own) -> bool {
        let (a, b) = (self.family, other.family);
        self.class.as_ptr() == other.class.as_ptr()
            && (a.name, a.doc, a.params) == (b.name, b.doc, b.params)
            && self.keeps == other.keeps
    }
}
