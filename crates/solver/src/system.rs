//! The linear system of one Newton step, on the links that are free to move.

use crate::cg::ConjugateGradients;
use crate::dual::{Dual, Point};
use crate::reduced::Reduced;

/// The maximum number of conjugate gradient steps. The direction is then good enough.
const INNER_STEPS: usize = 500;

/// The system (R·X·Rᵀ + damping)·d = y − c on the free links. The prices of the pinned links move
/// to their bound.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// The direction d, per link.
    pub direction: Vec<f64>,
    /// The equations, per link.
    equations: Vec<Equation>,
    /// The matrix, and the other vectors per free link.
    matrix: Reduced,
    damping: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    rhs: Vec<f64>,
    cg: ConjugateGradients,
}

#[derive(Clone, Copy, Debug, Default)]
struct Equation {
    /// The price to which a pinned link moves: zero or its limit. It is `None` for a free link.
    pinned: Option<f64>,
    rhs: f64,
    damping: f64,
}

impl System {
    /// Sets up the system at a point, with Levenberg's `lambda`.
    ///
    /// Pins the links with unused capacity if a scaled gradient step would take their price to zero, and the
    /// overloaded links if it would take their price to its limit. `usual_prices` are typical prices, for
    /// links without curvature.
    pub fn set_up(&mut self, dual: &Dual, at: &Point, usual_prices: &[f64], lambda: f64) {
        self.equations.clear();
        self.equations.extend(usual_prices.iter().enumerate().map(|(l, usual_price)| {
            let (price, curvature) = (at.prices[l], at.links[l].curvature);
            let capacity = dual.merged.capacities[l];
            let spare = capacity - at.links[l].load;
            // There is no curvature if all flows of a link are at a cap. A demand w/q that fills the link
            // would have the curvature c/p.
            let usual = capacity / price.max(*usual_price);
            let limit = dual.merged.price_limits[l];
            // For a price that moves by a power of y/c, the scale is the slope times that
            // power.
            let likely = dual.merged.stiffness[l] * curvature;
            let pinned = if spare > 0.0 && price * likely <= spare {
                Some(0.0)
            } else if spare < 0.0 && (limit - price) * curvature <= -spare {
                Some(limit)
            } else {
                None
            };
            Equation { pinned, rhs: -spare, damping: lambda * curvature.max(1e-3 * usual) }
        }));
    }

    /// Also pins all free links whose price the direction would take out of its bounds, and
    /// corrects the equations of the other links for the prices of all pinned links. Returns false
    /// if there is no such link.
    pub fn pin_outside(&mut self, dual: &Dual, at: &Point) -> bool {
        let mut any = false;
        for (l, equation) in self.equations.iter_mut().enumerate() {
            let next = at.prices[l] + self.direction[l];
            let bound = next.clamp(0.0, dual.merged.price_limits[l]);
            if equation.pinned.is_none() && next != bound {
                equation.pinned = Some(bound);
                any = true;
            }
            self.direction[l] = equation.pinned.map_or(0.0, |bound| bound - at.prices[l]);
        }
        if any {
            let mut gone = vec![0.0; self.equations.len()];
            dual.multiply(&at.slopes, &self.direction, &mut gone);
            for (l, equation) in self.equations.iter_mut().enumerate() {
                equation.rhs = at.links[l].load - dual.merged.capacities[l] - gone[l];
            }
        }
        any
    }

    /// Solves for the direction, to a fraction of the residual. Returns the number of inner steps.
    pub fn solve(&mut self, dual: &Dual, at: &Point, tolerance: f64) -> usize {
        let Self { direction, equations, matrix, damping, inverse_diagonal, rhs, cg } = self;
        matrix.fill(&dual.merged.rows, &at.slopes, equations.len(), |l| {
            equations[l].pinned.is_none()
        });
        let free = || {
            let free = matrix.free.iter();
            free.map(|&l| (equations[l as usize], at.links[l as usize]))
        };
        refill(rhs, free().map(|(equation, _)| equation.rhs));
        refill(damping, free().map(|(equation, _)| equation.damping));
        let inverses = free().map(|(equation, link)| (link.curvature + equation.damping).recip());
        refill(inverse_diagonal, inverses);

        let multiply = |v: &[f64], out: &mut [f64]| {
            matrix.multiply(v, out);
            for ((out, v), damping) in out.iter_mut().zip(v).zip(&*damping) {
                *out += damping * v;
            }
        };
        let mut found = vec![0.0; rhs.len()];
        let steps = cg.solve(multiply, inverse_diagonal, rhs, &mut found, tolerance, INNER_STEPS);
        let pinned = equations.iter().map(|equation| equation.pinned);
        let moves =
            pinned.zip(&at.prices).map(|(bound, price)| bound.map_or(0.0, |bound| bound - price));
        refill(direction, moves);
        for (&l, found) in matrix.free.iter().zip(found) {
            direction[l as usize] = found;
        }
        steps
    }
}

fn refill(to: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    to.clear();
    to.extend(values);
}
