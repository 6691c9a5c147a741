//! The linear system of one Newton step, on the links that are free to move.

use crate::cg::ConjugateGradients;
use crate::dual::{Dual, Point};

/// Conjugate gradient steps at most; the direction is then good enough to go on from.
const INNER_STEPS: usize = 500;

/// (R·X·Rᵀ + damping)·d = y − c on the free links, d = −p on the pinned ones.
pub(crate) struct System {
    /// d, for each link.
    pub direction: Vec<f64>,
    rhs: Vec<f64>,
    damping: Vec<f64>,
    /// Zero for the pinned links.
    inverse_diagonal: Vec<f64>,
    cg: ConjugateGradients,
}

impl System {
    pub fn new(links: usize) -> Self {
        let zeros = || vec![0.0; links];
        Self {
            direction: zeros(),
            rhs: zeros(),
            damping: zeros(),
            inverse_diagonal: zeros(),
            cg: ConjugateGradients::new(links),
        }
    }

    /// Sets the system up at a point, with Levenberg's `lambda`.
    ///
    /// Pins the links with capacity to spare whose price a scaled gradient step would take to
    /// zero. `usual_prices` say what a price is like where there is no curvature to say so.
    pub fn set_up(&mut self, dual: &Dual, at: &Point, usual_prices: &[f64], lambda: f64) {
        for l in 0..self.rhs.len() {
            let (price, curvature) = (at.prices[l], at.links[l].curvature);
            let spare = dual.merged.capacities[l] - at.links[l].load;
            // Where all flows of a link are at a cap there is no curvature; a demand w/q that
            // fills the link would have c/p.
            let usual = dual.merged.capacities[l] / price.max(usual_prices[l]);
            self.damping[l] = lambda * curvature.max(1e-3 * usual);
            self.rhs[l] = -spare;
            let pinned = spare > 0.0 && price * curvature <= spare;
            self.inverse_diagonal[l] = if pinned {
                0.0
            } else {
                (curvature + self.damping[l]).recip()
            };
        }
    }

    /// Pins all free links whose price the direction would make negative as well, and lets the
    /// others know that the prices of all pinned links will be gone. False if there is none.
    pub fn pin_negative(&mut self, dual: &Dual, at: &Point) -> bool {
        let mut any = false;
        for l in 0..self.rhs.len() {
            if self.inverse_diagonal[l] != 0.0 && at.prices[l] + self.direction[l] < 0.0 {
                self.inverse_diagonal[l] = 0.0;
                any = true;
            }
            self.direction[l] = if self.inverse_diagonal[l] == 0.0 {
                -at.prices[l]
            } else {
                0.0
            };
        }
        if any {
            dual.multiply(&at.slopes, &self.direction, &mut self.rhs);
            for (l, rhs) in self.rhs.iter_mut().enumerate() {
                *rhs = at.links[l].load - dual.merged.capacities[l] - *rhs;
            }
        }
        any
    }

    /// Solves for the direction, to a part of the residual; how many inner steps it took.
    pub fn solve(&mut self, dual: &Dual, at: &Point, tolerance: f64) -> usize {
        let Self {
            direction,
            rhs,
            damping,
            inverse_diagonal,
            cg,
        } = self;
        let multiply = |v: &[f64], out: &mut [f64]| {
            dual.multiply(&at.slopes, v, out);
            for (l, out) in out.iter_mut().enumerate() {
                *out = if inverse_diagonal[l] == 0.0 {
                    0.0
                } else {
                    *out + damping[l] * v[l]
                };
            }
        };
        let steps = cg.solve(
            multiply,
            inverse_diagonal,
            rhs,
            direction,
            tolerance,
            INNER_STEPS,
        );
        for (l, direction) in direction.iter_mut().enumerate() {
            if inverse_diagonal[l] == 0.0 {
                *direction = -at.prices[l];
            }
        }
        steps
    }
}
