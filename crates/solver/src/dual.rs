//! The dual function of a merged problem, its gradient and its curvature.
//!
//! With path prices q = Rᵀ·p, rates x(q) and loads y = R·x, the dual function is D(p) = Σ B(q) +
//! c·p `[Low02 eq. 8]`. Its gradient is c − y, and its generalised Hessian is R·diag(−dx/dq)·Rᵀ. D
//! itself is never computed, because near the solution two of its values agree to all digits.
//! [`Dual::evaluate`] returns the *difference* from another point, c·(p′ − p) − Σ ∫ x dq from q to
//! q′, piece by piece in closed form.

use crate::merge::{Bounded, Merged, Part, Rows, Visit};
use crate::parallel::{cut, parts, scatter};
use std::ops::AddAssign;

/// The load and the curvature of a link. They are together because every row touches both.
#[derive(Clone, Copy, Default)]
pub(crate) struct Link {
    /// The load y, at the rates that the flows want to send.
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
    merged: &'a Merged,
    parts: Vec<Part<'a>>,
    scratch: Vec<Vec<Link>>,
}

impl<'a> Dual<'a> {
    pub fn new(merged: &'a Merged) -> Self {
        Self {
            merged,
            parts: parts(&merged.rows, merged.links()),
            scratch: Vec::new(),
        }
    }

    /// Fills `at` from its prices, and returns D there less D at `from`.
    pub fn evaluate(&mut self, at: &mut Point, from: Option<&Point>) -> f64 {
        let merged = self.merged;
        let Point {
            prices,
            path_prices,
            slopes,
            links,
        } = at;
        let prices = &*prices;
        let per_row = cut(&self.parts, path_prices)
            .into_iter()
            .zip(cut(&self.parts, slopes));
        let jobs: Vec<_> = self.parts.iter().zip(per_row).collect();
        let gains = scatter(
            jobs,
            links,
            &mut self.scratch,
            |(part, (path_prices, slopes)), links| {
                let rows = part.first_row..part.first_row + part.rows;
                let others = |row: usize| merged.others.partition_point(|(at, _)| *at < row as u32);
                let mut evaluate = Evaluate {
                    weights: &merged.weights[rows.clone()],
                    knees: &merged.knees[rows.clone()],
                    others: &merged.others[others(rows.start)..others(rows.end)],
                    first_row: part.first_row,
                    prices,
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
        match from {
            Some(from) => {
                self.change_without_rows(prices, &from.prices) - gains.iter().sum::<f64>()
            }
            None => 0.0,
        }
    }

    /// Returns c·(p′ − p).
    fn change_without_rows(&self, to: &[f64], from: &[f64]) -> f64 {
        let capacities = &self.merged.capacities;
        capacities
            .iter()
            .zip(to.iter().zip(from))
            .map(|(c, (to, from))| c * (to - from))
            .sum()
    }

    /// Sets out = R·diag(slopes)·Rᵀ·v.
    pub fn multiply(&self, slopes: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.merged.rows.visit(&mut Multiply { slopes, v, out });
    }

    /// The capacity of each link.
    pub fn capacities(&self) -> &[f64] {
        &self.merged.capacities
    }

    /// The highest price of each link.
    pub fn price_limits(&self) -> &[f64] {
        &self.merged.price_limits
    }

    /// The power of y/c in the update of each link's price.
    pub fn stiffness(&self) -> &[f64] {
        &self.merged.stiffness
    }

    pub fn rows(&self) -> &'a Rows {
        &self.merged.rows
    }
}

/// Adds R·diag(slopes)·Rᵀ·v to `out`.
pub(crate) struct Multiply<'a> {
    pub slopes: &'a [f64],
    pub v: &'a [f64],
    pub out: &'a mut [f64],
}

impl Visit for Multiply<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        let sum: f64 = links.iter().map(|&link| self.v[link as usize]).sum();
        let flow = self.slopes[row] * sum;
        for &link in links {
            self.out[link as usize] += flow;
        }
    }
}

/// Fills a point, for some of the rows.
struct Evaluate<'a> {
    weights: &'a [f64],
    knees: &'a [f64],
    /// The other demands of these rows, each with the number of its row among all.
    others: &'a [(u32, Bounded)],
    first_row: usize,
    prices: &'a [f64],
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
        let q: f64 = links.iter().map(|&link| self.prices[link as usize]).sum();
        let (weight, knee) = (self.weights[row], self.knees[row]);
        let above = q.max(knee);
        let per_price = above.recip();
        let mut rate = weight * per_price;
        let mut slope = rate * per_price;
        if DIFFERENCE {
            let from = self.from[row];
            let from_above = from.max(knee);
            let cut = weight / knee * (q.min(knee) - from.min(knee));
            self.gain += cut + weight * ((above - from_above) / from_above).ln_1p();
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
