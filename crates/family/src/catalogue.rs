//! The catalogue of families.

use crate::Family;

/// The controllers and queue disciplines that a scenario may use.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// All controllers.
    pub controllers: &'static [&'static Family],
    /// All queue disciplines.
    pub disciplines: &'static [&'static Family],
}
