//! The dual function of a merged problem, its gradient and its curvature.
//!
//! With path prices q = Rᵀ·p, rates x(q) and loads y = R·x, the dual function is
//! D(p) = Σ B(q) + c·p `[Low02 eq. 8]`. Its gradient is c − y, its generalised Hessian
//! R·diag(−dx/dq)·Rᵀ. D itself is never computed: near the solution two of its values agree to
//! all digits. [`Dual::evaluate`] gives the *difference* from another point,
//! c·(p′ − p) − Σ ∫ x dq from q to q′, piece by piece in closed form.

use crate::merge::{Merged, Visit};

/// Load and curvature of a link, together because every row touches both.
#[derive(Clone, Copy, Default)]
pub(crate) struct Link {
    /// y, what the flows want to send.
    pub load: f64,
    /// Diagonal of the Hessian.
    pub curvature: f64,
}

/// A point at which the dual function was looked at.
#[derive(Clone, Default)]
pub(crate) struct Point {
    /// p, for each link.
    pub prices: Vec<f64>,
    /// q, for each row.
    pub path_prices: Vec<f64>,
    /// −dx/dq, for each row.
    pub slopes: Vec<f64>,
    /// Load and curvature, for each link.
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
}

impl Dual<'_> {
    /// Fills `at` from its prices, and gives D there less D at `from`.
    pub fn evaluate(&self, at: &mut Point, from: Option<&Point>) -> f64 {
        at.links.fill(Link::default());
        let mut change = match from {
            // The visitor subtracts what the rows gain.
            Some(from) => self.change_without_rows(&at.prices, &from.prices),
            None => 0.0,
        };
        match from {
            Some(from) => {
                let mut visitor = Evaluate::<true>::new(self.merged, at, &from.path_prices);
                self.merged.rows.visit(&mut visitor);
                change -= visitor.gain;
            }
            None => self
                .merged
                .rows
                .visit(&mut Evaluate::<false>::new(self.merged, at, &[])),
        }
        change
    }

    /// c·(p′ − p).
    fn change_without_rows(&self, to: &[f64], from: &[f64]) -> f64 {
        let capacities = &self.merged.capacities;
        capacities
            .iter()
            .zip(to.iter().zip(from))
            .map(|(c, (to, from))| c * (to - from))
            .sum()
    }

    /// out = R·diag(slopes)·Rᵀ·v.
    pub fn multiply(&self, slopes: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.merged.rows.visit(&mut Multiply { slopes, v, out });
    }
}

/// Adds R·diag(slopes)·Rᵀ·v to out.
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

/// `DIFFERENCE`: whether to compute the change of D as well.
struct Evaluate<'a, const DIFFERENCE: bool> {
    merged: &'a Merged,
    prices: &'a [f64],
    path_prices: &'a mut [f64],
    slopes: &'a mut [f64],
    links: &'a mut [Link],
    from: &'a [f64],
    /// Σ ∫ x dq.
    gain: f64,
    next_other: usize,
}

impl<'a, const DIFFERENCE: bool> Evaluate<'a, DIFFERENCE> {
    fn new(merged: &'a Merged, at: &'a mut Point, from: &'a [f64]) -> Self {
        Self {
            merged,
            prices: &at.prices,
            path_prices: &mut at.path_prices,
            slopes: &mut at.slopes,
            links: &mut at.links,
            from,
            gain: 0.0,
            next_other: 0,
        }
    }
}

impl<const DIFFERENCE: bool> Visit for Evaluate<'_, DIFFERENCE> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        let q: f64 = links.iter().map(|&link| self.prices[link as usize]).sum();
        let (weight, knee) = (self.merged.weights[row], self.merged.knees[row]);
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
        while let Some((_, other)) = self
            .merged
            .others
            .get(self.next_other)
            .filter(|(at, _)| *at as usize == row)
        {
            rate += other.rate(q);
            slope += other.slope(q);
            if DIFFERENCE {
                self.gain += other.integral(self.from[row], q);
            }
            self.next_other += 1;
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
