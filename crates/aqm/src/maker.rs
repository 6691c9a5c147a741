//! Makers of disciplines, for the engines that move packets.

use crate::{AnyAqm, Aqm};
use accord_family::{Family, Values};
use dyn_clone::DynClone;
use std::fmt;

/// The [`Family::maker`] of a family of disciplines.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Builds the discipline from its parameters.
    pub build: fn(&Values) -> AnyAqm,
}

impl Maker {
    /// Returns the maker of a family of disciplines.
    ///
    /// # Panics
    /// Panics if the family has no maker.
    pub fn of(family: &Family) -> &'static Maker {
        let maker = family.maker.downcast_ref();
        maker.unwrap_or_else(|| panic!("the family {} has no maker of disciplines", family.name))
    }
}

impl AnyAqm {
    /// Builds the discipline from `values`.
    pub fn build(values: &Values) -> AnyAqm {
        (Maker::of(values.family()).build)(values)
    }

    /// Wraps a discipline of another crate. Its calls are dispatched dynamically.
    pub fn foreign(discipline: impl Foreign + 'static) -> AnyAqm {
        AnyAqm::Foreign(Box::new(discipline))
    }
}

/// A discipline of another crate: an [`Aqm`] that is cloneable, printable and thread-safe. Every
/// such type implements it.
pub trait Foreign: Aqm + DynClone + fmt::Debug + Send + Sync {}

impl<A: Aqm + DynClone + fmt::Debug + Send + Sync> Foreign for A {}

dyn_clone::clone_trait_object!(Foreign);
