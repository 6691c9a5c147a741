//! The dual function of a merged problem, its gradient and its curvature.
//!
//! With path prices q = Rᵀ·p, rates x(q) and loads y = R·x, the dual function is D(p) = Σ B(q) + c·p `[Low02
//! eq. 8]`. Its gradient is c − y, and its generalised Hessian is R·diag(−dx/dq)·Rᵀ. D itself is never
//! computed, because two of its values near the solution agree to all digits. [`Dual::evaluate`] returns the
//! *difference* from another point, c·(p′ − p) − Σ ∫ x dq from q to q′, piece by piece in closed form.

use crate::merge::{Bounded, Merged, Part, Visit};
use crate::parallel::{cut, parts, scatter};
use std::ops::AddAssign;

/// The inputs and sums of a link in an evaluation. They share a struct, because every row touches all of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Link {
    price: f64,
    /// The load y, at the demands of the flows.
    pub load: f64,
    /// The diagonal of the Hessian.
    pub curvature: f64,
}

impl AddAssign for Link {
    fn add_assign(&mut self, other: Self) {
        self.load += other.load;
        self.curvature += other.curvature;
    }
}

/// A point at which the dual function was evaluated.
#[derive(Clone, Default)]
pub(crate) struct Point {
    /// The prices p, per link.
    pub prices: Vec<f64>,
    /// The path prices q, per row.
    pub path_prices: Vec<f64>,
    /// The slopes −dx/dq, per row.
    pub slopes: Vec<f64>,
    /// The load and the curvature, per link.
    pub links: Vec<Link>,
}

impl Point {
    pub fn new(merged: &Merged) -> Self {
        let (rows, links) = (merged.weights.len(), merged.links());
        Self {
            prices: vec![0.0; links],
            path_prices: vec![0.0; rows],
            slopes: vec![0.0; rows],
            links: vec![Link::default(); links],
        }
    }
}

pub(crate) struct Dual<'a> {
    pub merged: &'a Merged,
    parts: Vec<Part<'a>>,
    scratch: Vec<Vec<Link>>,
    cells: Vec<Cell>,
    scratch_cells: Vec<Vec<Cell>>,
}

impl<'a> Dual<'a> {
    pub fn new(merged: &'a Merged) -> Self {
        Self {
            merged,
            parts: parts(&merged.rows, merged.links()),
            scratch: Vec::new(),
            cells: Vec::new(),
            scratch_cells: Vec::new(),
        }
    }

    /// Fills `at` from its prices, and returns D there less D at `from`.
    pub fn evaluate(&mut self, at: &mut Point, from: Option<&Point>) -> f64 {
        let merged = self.merged;
        let Point { prices, path_prices, slopes, links } = at;
        let prices = &*prices;
        let per_row = cut(&self.parts, path_prices).into_iter().zip(cut(&self.parts, slopes));
        let jobs: Vec<_> = self.parts.iter().zip(per_row).collect();
        let gains = scatter(
            jobs,
            links,
            &mut self.scratch,
            |links| {
                for (link, &price) in links.iter_mut().zip(prices) {
                    *link = Link { price, ..Link::default() };
                }
            },
            |(part, (path_prices, slopes)), links| {
                let rows = part.first_row..part.first_row + part.rows;
                let mut evaluate = Evaluate {
                    weights: &merged.weights[rows.clone()],
                    knees: &merged.knees[rows.clone()],
                    others: merged.others_of(rows.clone()),
                    first_row: part.first_row,
                    path_prices,
                    slopes,
                    links,
                    from: &[],
                    gain: 0.0,
                };
                match from {
                    Some(from) => {
                        evaluate.from = &from.path_prices[rows];
                        let mut visitor = Differing(evaluate);
                        part.visit(&mut visitor);
                        visitor.0.gain
                    }
                    None => {
                        part.visit(&mut evaluate);
                        0.0
                    }
                }
            },
        );
        let Some(from) = from else {
            return 0.0;
        };
        let moves = prices.iter().zip(&from.prices).map(|(to, from)| to - from);
        let paid: f64 = merged.capacities.iter().zip(moves).map(|(c, moved)| c * moved).sum();
        paid - gains.iter().sum::<f64>()
    }

    /// Sets the loads of `at` from its prices, and leaves its other fields unchanged.
    pub fn load(&mut self, at: &mut Point) {
        let merged = self.merged;
        let prices = &at.prices;
        self.cells.resize(prices.len(), Cell::default());
        scatter(
            self.parts.iter().collect(),
            &mut self.cells,
            &mut self.scratch_cells,
            |cells| fill(cells, prices),
            |part, cells| {
                let rows = part.first_row..part.first_row + part.rows;
                part.visit(&mut Load {
                    weights: &merged.weights[rows.clone()],
                    knees: &merged.knees[rows.clone()],
                    others: merged.others_of(rows.clone()),
                    first_row: rows.start,
                    cells,
                });
            },
        );
        for (link, cell) in at.links.iter_mut().zip(&self.cells) {
            link.load = cell.out;
        }
    }

    /// Sets out = R·diag(slopes)·Rᵀ·v.
    pub fn multiply(&self, slopes: &[f64], v: &[f64], out: &mut [f64]) {
        let mut cells = vec![Cell::default(); v.len()];
        fill(&mut cells, v);
        let cells = &mut cells[..];
        self.merged.rows.visit(&mut Product { slopes, cells });
        for (out, cell) in out.iter_mut().zip(cells) {
            *out = cell.out;
        }
    }
}

/// The inputs and sums of a link in a product. They share a struct, because every row touches both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    v: f64,
    pub out: f64,
}

impl AddAssign for Cell {
    fn add_assign(&mut self, other: Self) {
        self.out += other.out;
    }
}

/// Sets up the cells for a product with `v`.
pub(crate) fn fill(cells: &mut [Cell], v: &[f64]) {
    for (cell, &v) in cells.iter_mut().zip(v) {
        *cell = Cell { v, out: 0.0 };
    }
}

/// Adds R·diag(slopes)·Rᵀ·v.
pub(crate) struct Product<'a> {
    pub slopes: &'a [f64],
    pub cells: &'a mut [Cell],
}

impl Visit for Product<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        let sum: f64 = links.iter().map(|&l| self.cells[l as usize].v).sum();
        let flow = self.slopes[row] * sum;
        for &link in links {
            self.cells[link as usize].out += flow;
        }
    }
}

/// Adds up loads, for some of the rows.
struct Load<'a> {
    weights: &'a [f64],
    knees: &'a [f64],
    others: &'a [(u32, Bounded)],
    first_row: usize,
    cells: &'a mut [Cell],
}

impl Visit for Load<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        let q: f64 = links.iter().map(|&l| self.cells[l as usize].v).sum();
        let mut rate = self.weights[row] * q.max(self.knees[row]).recip();
        while let Some(((at, other), rest)) = self.others.split_first()
            && *at as usize == self.first_row + row
        {
            rate += other.rate(q);
            self.others = rest;
        }
        for &link in links {
            self.cells[link as usize].out += rate;
        }
    }
}

/// Returns ln(1 + x). Near the solution all x are small, and a polynomial suffices.
#[inline(always)]
fn ln_1p(x: f64) -> f64 {
    // The omitted term is x⁷/8 of x, which is below the rounding of x.
    const SMALL: f64 = 1.0 / 256.0;
    if x.abs() >= SMALL {
        return libm::log1p(x);
    }
    let even = -1.0 / 2.0 + x * x * (-1.0 / 4.0 - x * x * (1.0 / 6.0));
    let odd = 1.0 / 3.0 + x * x * (1.0 / 5.0 + x * x * (1.0 / 7.0));
    x + x * x * (even + x * odd)
}

/// Fills a point, for some of the rows.
struct Evaluate<'a> {
    weights: &'a [f64],
    knees: &'a [f64],
    /// The other demands of these rows, each with the number of its row among all.
    others: &'a [(u32, Bounded)],
    first_row: usize,
    path_prices: &'a mut [f64],
    slopes: &'a mut [f64],
    links: &'a mut [Link],
    /// The path prices of the other point.
    from: &'a [f64],
    /// The sum Σ ∫ x dq from there.
    gain: f64,
}

/// Fills a point and also adds up the gain.
struct Differing<'a>(Evaluate<'a>);

impl Visit for Evaluate<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        self.row::<false>(row, links);
    }
}

impl Visit for Differing<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        self.0.row::<true>(row, links);
    }
}

impl Evaluate<'_> {
    #[inline(always)]
    fn row<const DIFFERENCE: bool>(&mut self, row: usize, links: &[u32]) {
        let q: f64 = links.iter().map(|&l| self.links[l as usize].price).sum();
        let (weight, knee) = (self.weights[row], self.knees[row]);
        let above = q.max(knee);
        let per_price = above.recip();
        let mut rate = weight * per_price;
        let mut slope = rate * per_price;
        if DIFFERENCE {
            let from = self.from[row];
            let from_above = from.max(knee);
            if q < knee || from < knee {
                self.gain += weight / knee * (q.min(knee) - from.min(knee));
            }
            self.gain += weight * ln_1p((above - from_above) / from_above);
        }
        while let Some(((at, other), rest)) = self.others.split_first()
            && *at as usize == self.first_row + row
        {
            rate += other.rate(q);
            slope += other.slope(q);
            if DIFFERENCE {
                self.gain += other.integral(self.from[row], q);
            }
            self.others = rest;
        }
        self.path_prices[row] = q;
        self.slopes[row] = slope;
        for &link in links {
            let link = &mut self.links[link as usize];
            link.load += rate;
            link.curvature += slope;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Demand, Problem, Routes};

    #[test]
    fn the_polynomial_is_the_logarithm() {
        for i in -1000..=1000 {
            let x = f64::from(i) / 1000.0 / 256.0;
            let exact = x.ln_1p();
            assert!((ln_1p(x) - exact).abs() <= 2.0 * f64::EPSILON * exact.abs(), "{x}");
        }
    }

    /// A flow with x = 1/q over a link of 3 is cut off at twice that rate, below the price 1/6. From 1/12 to
    /// 1/3 its area is 6/12 below that price and ln 2 above.
    #[test]
    fn the_difference_of_two_points_has_the_area_below_a_cut() {
        let routes = Routes::new(1, [[0]]).unwrap();
        let demands = vec![Demand::Log { weight: 1.0 }];
        let merged = Merged::new(&Problem::new(routes, vec![3.0], demands).unwrap());
        let mut dual = Dual::new(&merged);
        let mut change = |from: f64, to: f64| {
            let (mut before, mut after) = (Point::new(&merged), Point::new(&merged));
            (before.prices[0], after.prices[0]) = (from, to);
            dual.evaluate(&mut before, None);
            dual.evaluate(&mut after, Some(&before))
        };
        let across = 0.75 - 0.5 - f64::ln(2.0);
        assert!((change(1.0 / 12.0, 1.0 / 3.0) - across).abs() < 1e-15);
        assert!((change(1.0 / 3.0, 1.0 / 12.0) + across).abs() < 1e-15);
        assert!((change(0.0, 1.0 / 12.0) - (0.25 - 0.5)).abs() < 1e-15);
    }
}
