//! The solver's options and its result.

use crate::{Certificate, Status};

/// The tolerance and the limits of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The largest residual ([`Certificate::worst`]) that counts as solved, as a fraction. The
    /// default is 1e-12. Rounding alone causes about 1e-15.
    pub tolerance: f64,
    /// The maximum number of Newton steps. The default is 100, although ten to twenty usually suffice.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-12, max_iterations: 100 }
    }
}

/// The progress of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of Newton steps done.
    pub iterations: usize,
    /// The relative residual over all links. It falls ever faster, from about 1 at the start to the tolerance.
    pub residual: f64,
}

/// The rates and prices of an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The rate x of each flow: its demand at the price of its path.
    pub rates: Vec<f64>,
    /// The price p ≥ 0 of each link.
    pub prices: Vec<f64>,
    /// The outcome.
    pub status: Status,
    /// The distance of rates and prices from the optimum, computed from the problem alone.
    pub certificate: Certificate,
    /// The number of Newton steps done.
    pub iterations: usize,
    /// The number of conjugate gradient steps done within them.
    pub inner_iterations: usize,
}
