//! An interval that contains each flow's optimal rate, given prices and their gap.
//!
//! D(p) − U(x*) is a sum of non-negative parts: p·(c − y*) per link, and an area per flow. With
//! price q and marginal utility q* = U′(x*) at the optimum, the part of a flow is the area between
//! its demand curve and its optimal rate,
//!
//! E(q*) = ∫ (x(s) − x*) ds from q to q*, which grows on either side of q.
//!
//! No part exceeds the whole, so E(q*) ≤ gap. This bounds the prices, and hence the rates. For
//! `Log`, with r = x*/x, it reads w·(r − 1 − ln r) ≤ gap. A gap of 1e-6 of all weights thus does
//! not bound one flow among a million. A gap of 1e-12 bounds its rate to 0.14 %.
//!
//! The interval is widened until the area exceeds the gap by [`SURPLUS`], which covers the rounding
//! of E. As the gap is at least its own rounding (4e-15 of the flow's own spending), an interval is
//! never narrower than 5e-8 of a price. The area then has a relative error of 1e-7.

use crate::certificate::{Enclosed, path_price};
use crate::{Certificate, Demand, Problem};

/// The relative excess over the gap at which an area counts as greater.
const SURPLUS: f64 = 1e-6;
/// The precision of the ends of an interval of rates, relative to its width.
const PRECISION: f64 = 1e-3;

impl Certificate {
    /// Returns an interval that contains the optimal rate of `flow`, independent of the rates that were
    /// checked. The interval is as rigorous as the [`gap`](Self::gap).
    ///
    /// `prices` must be those of the certificate. Without a finite gap the interval is the whole
    /// range of the flow's rates.
    ///
    /// # Panics
    ///
    /// Panics if there is no such flow.
    pub fn rate_bounds(&self, problem: &Problem, prices: &[f64], flow: usize) -> (f64, f64) {
        let q = path_price(problem.routes().path(flow), prices);
        let (low, high) = bounds(&problem.demands()[flow], q, self.gap);
        // No optimum overloads a link that must not lose data.
        let links = problem.routes().path(flow).iter().map(|&link| link as usize);
        let links = links.filter(|&link| problem.price_limits()[link].is_infinite());
        let narrowest = links.map(|link| problem.capacities()[link]);
        (low, high.min(narrowest.fold(f64::INFINITY, f64::min)))
    }
}

fn bounds(demand: &Demand, q: f64, gap: f64) -> (f64, f64) {
    if !demand.is_elastic() {
        return (demand.least(), demand.least());
    }
    if !(gap.is_finite() && q >= 0.0) {
        return (demand.least(), demand.rate(0.0).max(0.0));
    }
    let most = gap * (1.0 + SURPLUS);
    // The distance is computed after rounding, so both parts of the area refer to the same
    // price.
    let dearer = |by: f64| {
        let to = q + by;
        demand.integral(q, to) - demand.rate(to) * (to - q) > most
    };
    let cheaper = |by: f64| {
        let to = q - by;
        let rate = demand.rate(to);
        rate.is_infinite() || rate * (q - to) - demand.integral(to, q) > most
    };
    let start = match q {
        0.0 => gap.max(f64::MIN_POSITIVE),
        q => 1e-8 * q,
    };
    let rate = demand.rate(q);
    let same = |a: f64, b: f64| {
        let (a, b) = (demand.rate(a), demand.rate(b));
        (a - b).abs() < PRECISION * (a - rate).abs()
    };
    let up = reach(start, f64::INFINITY, dearer, |a, b| same(q + b, q + a));
    let down = reach(start, q, cheaper, |a, b| same(q - b, q - a));
    (
        up.map_or(demand.least(), |by| Enclosed::new(demand, q + by).least),
        Enclosed::new(demand, down.map_or(0.0, |by| q - by)).most,
    )
}

/// Returns approximately the smallest distance up to `limit` at which `beyond` holds: it is not the
/// `same` as a distance at which `beyond` fails. Returns `None` if `beyond` fails up to `limit`.
fn reach(
    start: f64,
    limit: f64,
    beyond: impl Fn(f64) -> bool,
    same: impl Fn(f64, f64) -> bool,
) -> Option<f64> {
    let (mut inside, mut outside) = (0.0, start.min(limit));
    while !beyond(outside) {
        if outside >= limit || outside > 1e300 {
            return None;
        }
        (inside, outside) = (outside, (8.0 * outside).min(limit));
    }
    while !same(inside, outside)
        && let middle = 0.5 * (inside + outside)
        && middle > inside
        && middle < outside
    {
        *(if beyond(middle) { &mut outside } else { &mut inside }) = middle;
    }
    Some(outside)
}
