//! Systems of linear equations with delays.

use nalgebra::{Complex, DMatrix};

/// A term of z′(t) = Σ coefficient · z_column(t − delay), row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The unknown that changes.
    pub row: usize,
    /// The unknown by which it changes.
    pub column: usize,
    /// The delay of that unknown, in seconds.
    pub delay: f64,
    /// The coefficient per second, in the units of the unknowns.
    pub coefficient: f64,
    /// The number of times that the signal of the queues returns to a source on the way. An additional
    /// feedback delay applies to each return.
    pub feedbacks: u32,
}

/// A linear system with delays. Unknowns 0 to `windows` are windows.
#[derive(Clone, Debug)]
pub struct Linear {
    /// The number of unknowns that are windows.
    pub windows: usize,
    /// True if windows also move by themselves. A gain multiplies only their feedback and not this
    /// motion.
    pub open: bool,
    /// The number of all unknowns.
    pub size: usize,
    /// The equations.
    pub terms: Vec<Term>,
}

impl Linear {
    /// Returns the system with only some of the terms.
    pub(crate) fn part(&self, of: impl Fn(&Term) -> bool) -> Linear {
        Linear { terms: self.terms.iter().copied().filter(of).collect(), ..*self }
    }

    /// The longest delay.
    pub fn longest(&self) -> f64 {
        self.terms.iter().map(|t| t.delay).fold(0.0, f64::max)
    }

    /// Returns Σ coefficient·e^(−s·delay), with gains multiplied by `gain`.
    pub(crate) fn at(&self, s: Complex<f64>, gain: f64) -> DMatrix<Complex<f64>> {
        let mut a = DMatrix::zeros(self.size, self.size);
        for t in &self.terms {
            a[(t.row, t.column)] += (-s * t.delay).exp() * (t.coefficient * self.scale(t, gain));
        }
        a
    }

    pub(crate) fn scale(&self, t: &Term, gain: f64) -> f64 {
        if self.gained(t) { gain } else { 1.0 }
    }

    /// Returns true if a gain multiplies a term.
    pub(crate) fn gained(&self, t: &Term) -> bool {
        t.row < self.windows && !(self.open && t.feedbacks == 0)
    }
}
