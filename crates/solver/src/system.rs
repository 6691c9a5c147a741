//! The linear system of one Newton step, on the links that are free to move.

use crate::cg::ConjugateGradients;
use crate::dual::{Dual, Point};
use crate::reduced::Reduced;

/// Conjugate gradient steps at most; the direction is then good enough to go on from.
const INNER_STEPS: usize = 500;

/// (R·X·Rᵀ + damping)·d = y − c on the free links; the pinned ones go to their bound.
#[derive(Default)]
pub(crate) struct System {
    /// d, for each link.
    pub direction: Vec<f64>,
    /// For each link.
    equations: Vec<Equation>,
    /// The matrix, and the rest for each of the free links.
    matrix: Reduced,
    damping: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    rhs: Vec<f64>,
    cg: ConjugateGradients,
}

#[derive(Clone, Copy, Default)]
struct Equation {
    /// Where the price goes if it is not free: to zero or to its limit.
    pinned: Option<f64>,
    rhs: f64,
    damping: f64,
}

impl System {
    /// Sets the system up at a point, with Levenberg's `lambda`.
    ///
    /// Pins the links with capacity to spare whose price a scaled gradient step would take to
    /// zero, and the overloaded ones whose price it would take to its limit. `usual_prices` say what a price is like where there is no curvature to say so.
    pub fn set_up(&mut self, dual: &Dual, at: &Point, usual_prices: &[f64], lambda: f64) {
        self.equations.clear();
        self.equations
            .extend(usual_prices.iter().enumerate().map(|(l, usual_price)| {
                let (price, curvature) = (at.prices[l], at.links[l].curvature);
                let capacity = dual.capacities()[l];
                let spare = capacity - at.links[l].load;
                // Where all flows of a link are at a cap there is no curvature; a demand w/q that
                // fills the link would have c/p.
                let usual = capacity / price.max(*usual_price);
                let limit = dual.price_limits()[l];
                // What moves by a power of y/c has its slope times that power for a scale.
                let likely = dual.stiffness()[l] * curvature;
                let pinned = if spare > 0.0 && price * likely <= spare {
                    Some(0.0)
                } else if spare < 0.0 && (limit - price) * curvature <= -spare {
                    Some(limit)
                } else {
                    None
                };
                Equation {
                    pinned,
                    rhs: -spare,
                    damping: lambda * curvature.max(1e-3 * usual),
                }
            }));
    }

    /// Pins all free links whose price the direction would take out of its bounds as well, and
    /// lets the others know where the prices of all pinned links will be. False if there is none.
    pub fn pin_outside(&mut self, dual: &Dual, at: &Point) -> bool {
        let mut any = false;
        for (l, equation) in self.equations.iter_mut().enumerate() {
            let next = at.prices[l] + self.direction[l];
            let bound = next.clamp(0.0, dual.price_limits()[l]);
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
                equation.rhs = at.links[l].load - dual.capacities()[l] - gone[l];
            }
        }
        any
    }

    /// Solves for the direction, to a part of the residual; how many inner steps it took.
    pub fn solve(&mut self, dual: &Dual, at: &Point, tolerance: f64) -> usize {
        let Self {
            direction,
            equations,
            matrix,
            damping,
            inverse_diagonal,
            rhs,
            cg,
        } = self;
        matrix.fill(dual.rows(), &at.slopes, equations.len(), |l| {
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
        let steps = cg.solve(
            multiply,
            inverse_diagonal,
            rhs,
            &mut found,
            tolerance,
            INNER_STEPS,
        );
        let pinned = equations.iter().map(|equation| equation.pinned);
        let moves = pinned
            .zip(&at.prices)
            .map(|(bound, price)| bound.map_or(0.0, |bound| bound - price));
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
