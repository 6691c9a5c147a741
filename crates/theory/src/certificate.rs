//! How far given rates and prices are from the optimum: a check that needs no trust in a solver.
//!
//! The residuals are those of the Karush-Kuhn-Tucker conditions `[Xia05 prop. 2]`. The gap rests
//! on duality alone: with x = x(q), the utility of any feasible rates is at most the dual value
//! D(p) `[Low02 eq. 8]`, and D(p) − U(x) = Σ p·(c − y). If x overloads a link it is no candidate,
//! but with f the rates that the flows insist on and k the largest (y − f)/(c − f), the rates
//! x′ = f + (x − f)/k are one, and U is concave, so
//!
//! U(x*) − U(x′) ≤ Σ p·(c − y) + Σ loss, where U(x) − U(x′) ≤ loss = U′(x′)·(x − x′).
//!
//! For `Log` the loss is w·ln k exactly, and with W = Σ w the whole is the closed form
//! W·(c·p/W − 1 + ln k). It is divided by Σ q·x (that is W if all demands are `Log`).
//! The arithmetic is plain floating point: good to about 1e-15, not rounded outward.

use crate::{Demand, Problem};

/// Residuals of rates and prices: zero at the optimum, infinite where not even a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// Stationarity: the largest |x − x(q)| / max(x, x(q)).
    pub stationarity: f64,
    /// Primal feasibility: the largest (y − c)⁺ / c.
    pub primal: f64,
    /// Dual feasibility: the largest (−p)⁺, relative to the largest |p|.
    pub dual: f64,
    /// Complementary slackness: the largest p·(c − y)⁺ of a link relative to Σ q·x of its flows.
    pub complementarity: f64,
    /// Bound on the utility that is missing, in the unit of the weights. A statement on the
    /// prices, whatever the rates.
    pub gap: f64,
    /// The same relative to Σ q·x(q).
    pub relative_gap: f64,
}

impl Certificate {
    /// Checks `rates` (one for each flow) and `prices` (one for each link) against the problem.
    ///
    /// # Panics
    ///
    /// If there are not as many rates as flows, or prices as links.
    pub fn new(problem: &Problem, rates: &[f64], prices: &[f64]) -> Self {
        assert_eq!(
            rates.len(),
            problem.routes().flows(),
            "one rate for each flow"
        );
        assert_eq!(
            prices.len(),
            problem.routes().links(),
            "one price for each link"
        );
        let capacities = problem.capacities();
        let mut flows = Flows::new(problem);
        for (i, path) in problem.routes().iter().enumerate() {
            flows.add(path, &problem.demands()[i], rates[i], prices);
        }

        let largest_price = largest(prices.iter().map(|p| p.abs()));
        let dual = ratio(largest(prices.iter().map(|p| -p)), largest_price);
        let links = || flows.links.iter().zip(capacities).zip(prices);
        let primal = largest(links().map(|((link, c), _)| (link.load - c) / c));
        let slack = |((link, c), p): ((&Link, &f64), &f64)| {
            ratio(p * largest([c - link.load]), link.spending)
        };
        let complementarity = largest(links().map(slack));

        let unused: f64 = links().map(|((link, c), p)| p * (c - link.demanded)).sum();
        let overload = largest(links().map(|((link, c), _)| link.overload(*c)));
        let gap = if dual > 0.0 {
            f64::INFINITY
        } else {
            largest([unused + flows.loss(problem, prices, overload)])
        };
        Self {
            stationarity: number(flows.stationarity),
            primal,
            dual,
            complementarity,
            gap,
            relative_gap: ratio(gap, flows.spending),
        }
    }

    /// The largest of the relative residuals.
    pub fn worst(&self) -> f64 {
        largest([
            self.stationarity,
            self.primal,
            self.dual,
            self.complementarity,
            self.relative_gap,
        ])
    }

    /// Where the optimal rate of a flow with x = w/q must lie, as multiples of w/q at these prices.
    ///
    /// With r the optimal rate over w/q: r − 1 − ln r ≤ gap/w, because each flow's share in
    /// D(p) − D(p*) is w·(r − 1 − ln r), and none is negative. A gap of 1e-6 of W thus says
    /// nothing of a flow among a million; 1e-12 says 0.14 %.
    pub fn rate_bounds(&self, weight: f64) -> (f64, f64) {
        ratio_bounds(self.gap / weight)
    }
}

/// The interval of r with r − 1 − ln r ≤ `excess`.
fn ratio_bounds(excess: f64) -> (f64, f64) {
    if !(excess.is_finite() && excess >= 0.0) {
        return (0.0, f64::INFINITY);
    }
    // With r = e^t: e^t − 1 − t = excess, on either side of t = 0; t² / 2 for small t.
    let cost = |t: f64| {
        if t.abs() < 1e-4 {
            t * t * (0.5 + t / 6.0)
        } else {
            t.exp_m1() - t
        }
    };
    let reach = |sign: f64| {
        let (mut inside, mut outside) = (0.0, 1.0 + 2.0 * excess);
        while let middle = 0.5 * (inside + outside)
            && middle > inside
            && middle < outside
        {
            *(if cost(sign * middle) <= excess {
                &mut inside
            } else {
                &mut outside
            }) = middle;
        }
        (sign * outside).exp()
    };
    (reach(-1.0), reach(1.0))
}

/// Sums over the flows of one link.
#[derive(Clone, Copy, Default)]
struct Link {
    /// Of the rates given.
    load: f64,
    /// Of x(q).
    demanded: f64,
    /// Of the rates insisted on.
    insisted: f64,
    /// Of q·x(q).
    spending: f64,
}

impl Link {
    /// By how much the elastic part of the demand exceeds what is left for it, as k − 1.
    fn overload(&self, capacity: f64) -> f64 {
        let excess = self.demanded - capacity;
        if excess <= 0.0 {
            0.0
        } else {
            ratio(excess, (capacity - self.insisted).max(0.0))
        }
    }
}

struct Flows {
    links: Vec<Link>,
    stationarity: f64,
    spending: f64,
    /// Σ w of the demands whose loss has a closed form.
    log_weight: f64,
}

impl Flows {
    fn new(problem: &Problem) -> Self {
        let links = vec![Link::default(); problem.routes().links()];
        Self {
            links,
            stationarity: 0.0,
            spending: 0.0,
            log_weight: 0.0,
        }
    }

    fn add(&mut self, path: &[u32], demand: &Demand, rate: f64, prices: &[f64]) {
        let q = path_price(path, prices);
        let demanded = demand.rate(q);
        let off = ratio((rate - demanded).abs(), rate.abs().max(demanded.abs()));
        self.stationarity = self.stationarity.max(off);
        let spending = if demand.is_elastic() {
            q * demanded
        } else {
            0.0
        };
        self.spending += spending;
        self.log_weight += demand.log_weight().unwrap_or(0.0);
        let least = demand.least();
        for &link in path {
            let link = &mut self.links[link as usize];
            link.load += rate;
            link.demanded += demanded;
            link.insisted += least;
            link.spending += spending;
        }
    }

    /// Σ loss, for rates scaled down by 1 + `overload`.
    fn loss(&self, problem: &Problem, prices: &[f64], overload: f64) -> f64 {
        if overload == 0.0 || !overload.is_finite() {
            return overload;
        }
        let mut loss = self.log_weight * overload.ln_1p();
        for (path, demand) in problem.routes().iter().zip(problem.demands()) {
            if demand.log_weight().is_none() && demand.is_elastic() {
                let (rate, least) = (demand.rate(path_price(path, prices)), demand.least());
                let scaled = least + (rate - least) / (1.0 + overload);
                loss += demand.price(scaled) * (rate - scaled);
            }
        }
        loss
    }
}

fn path_price(path: &[u32], prices: &[f64]) -> f64 {
    path.iter().map(|&link| prices[link as usize]).sum()
}

/// a/b for residuals: 0/0 is fine, anything else that is no number is infinitely bad.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { number(a / b) }
}

fn number(residual: f64) -> f64 {
    if residual.is_nan() {
        f64::INFINITY
    } else {
        residual
    }
}

/// The largest residual, not less than zero; infinite if one is no number.
fn largest(residuals: impl IntoIterator<Item = f64>) -> f64 {
    residuals.into_iter().map(number).fold(0.0, f64::max)
}
