//! The distance of given rates and prices from the optimum: a check independent of any solver.
//!
//! The residuals are those of the Karush-Kuhn-Tucker conditions `[Xia05 prop. 2]`. The gap rests on
//! duality alone. With x = x(q), the utility of any feasible rates is at most the dual value D(p)
//! `[Low02 eq. 8]`, and D(p) − U(x) = Σ p·(c − y). If x overloads a link it is not feasible. But
//! with f the rates that the flows insist on and k the largest (y − f)/(c − f), the rates x′ = f +
//! (x − f)/k are feasible, and U is concave. So
//!
//! U(x*) − U(x′) ≤ Σ p·(c − y) + Σ loss, where U(x) − U(x′) ≤ loss = U′(x′)·(x − x′).
//!
//! A link with a highest price P may drop the excess, so it needs no scaling. Instead, P·(y − c)⁺ is added to
//! the bound.
//!
//! A flow that its cap holds loses far more than its price if it is scaled, so the rounding of a load alone
//! would loosen the bound by U′(cap)/q. The bound is therefore also computed with the rates of such flows in
//! f, and the lower one counts.
//!
//! For `Log`, and for a contract without a limit, the loss is w·ln k exactly. With W = Σ w the whole is the closed form W·(c·p/W − 1 +
//! ln k). It is divided by Σ q·x (which is W if all demands are `Log`).
//!
//! **Rounding.** The residuals are plain floating point, accurate to about 1e-15. The gap is
//! rounded outward, so it is a proof. It assumes of q only that it is within [`PRICE`], and of
//! x(q) only that demands decrease with the price, so x at either end of that interval
//! encloses it ([`Enclosed`]). Loads are summed without rounding loss ([`Sum`]). Every inequality
//! is evaluated at the weaker end of its intervals. The proof rests on IEEE 754 arithmetic and on
//! `ln_1p` and `powf` being within 4 units in the last place; the common libraries are within 1.
//! This adds some 4e-15 to the relative gap.

use crate::parallel::{part_count, scatter};
use crate::sum::Sum;
use crate::{Demand, Problem};
use std::ops::AddAssign;

/// Half the relative distance of adjacent floating-point numbers.
const ROUNDING: f64 = f64::EPSILON / 2.0;
/// The relative error of a computed path price, a sum without rounding loss of non-negative
/// numbers.
const PRICE: f64 = 4.0 * ROUNDING;
/// The relative error of a demand at a given price, or of a few operations here.
const OPERATIONS: f64 = 16.0 * ROUNDING;

/// The residuals of rates and prices. They are zero at the optimum, and infinite for NaN inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// Stationarity: the largest |x − x(q)| / max(x, x(q)).
    pub stationarity: f64,
    /// Primal feasibility: the largest (y − c)⁺ / c of a link below its highest price.
    pub primal: f64,
    /// Dual feasibility: the largest (−p)⁺ or (p − P)⁺, relative to the largest |p|.
    pub dual: f64,
    /// Complementary slackness: the largest p·(c − y)⁺ of a link relative to Σ q·x of its flows.
    pub complementarity: f64,
    /// The bound on the missing utility, in the unit of the weights, rounded outward. It depends on
    /// the prices only, not on the rates.
    pub gap: f64,
    /// The same bound relative to Σ q·x(q).
    pub relative_gap: f64,
}

impl Certificate {
    /// Checks `rates` (one per flow) and `prices` (one per link) against the problem.
    ///
    /// # Panics
    ///
    /// Panics if the number of rates is not the number of flows, or the number of prices not that
    /// of links.
    pub fn new(problem: &Problem, rates: &[f64], prices: &[f64]) -> Self {
        assert_eq!(rates.len(), problem.routes().flows(), "one rate for each flow");
        assert_eq!(prices.len(), problem.routes().links(), "one price for each link");
        let flows = Flows::new(problem, rates, prices);
        let (capacities, limits) = (problem.capacities(), problem.price_limits());

        let largest_price = largest(prices.iter().map(|p| p.abs()));
        let outside = |(p, limit): (&f64, &f64)| largest([-p, p - limit]);
        let dual = ratio(largest(prices.iter().zip(limits).map(outside)), largest_price);
        let links = || flows.links.iter().zip(capacities).zip(prices);
        let primal = largest(links().zip(limits).map(|(((link, c), p), limit)| {
            if p < limit || p.is_nan() { (link.load - c) / c } else { 0.0 }
        }));
        let slack = |((link, c), p): ((&Link, &f64), &f64)| {
            ratio(p * largest([c - link.load]), link.spending)
        };
        let complementarity = largest(links().map(slack));

        // A link may be scaled, unless it drops data: it is at its highest price or oversubscribed.
        let parts = |kept: Kept| {
            links().zip(limits).map(move |(((link, &c), &p), &limit)| {
                let overload = link.overload(c, kept);
                let scales = limit.is_infinite() || p < limit && overload.is_finite();
                let (overload, lost) = if scales {
                    (overload, 0.0)
                } else {
                    (0.0, limit * link.most_excess(c) * (1.0 + OPERATIONS))
                };
                (overload, p * link.most_spare(c) + lost)
            })
        };
        let gap_if = |kept: Kept| {
            let overload = largest(parts(kept).map(|(overload, _)| overload));
            let unused = parts(kept).map(|(_, unused)| unused);
            let loss = flows.loss(problem, prices, overload, kept);
            largest([add_up(unused) + loss * (1.0 + OPERATIONS)])
        };
        let gap = match (dual > 0.0, flows.totals.any_held) {
            (true, _) => f64::INFINITY,
            (false, false) => gap_if(Kept::Insisted),
            (false, true) => gap_if(Kept::Insisted).min(gap_if(Kept::Held)),
        };
        Self {
            stationarity: number(flows.totals.stationarity),
            primal,
            dual,
            complementarity,
            gap,
            relative_gap: ratio(gap, flows.totals.spending),
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
}

/// The rate of a flow at a price that is known to [`PRICE`], enclosed between two rates.
#[derive(Clone, Copy)]
pub(crate) struct Enclosed {
    pub least: f64,
    pub most: f64,
}

impl Enclosed {
    pub fn new(demand: &Demand, q: f64) -> Self {
        let rate = match demand {
            // The usual case avoids a second division.
            Demand::Log { .. } => demand.rate(q),
            _ if !demand.is_elastic() => {
                return Self { least: demand.least(), most: demand.least() };
            }
            _ => {
                let (dear, cheap) =
                    (demand.rate(q * (1.0 + PRICE)), demand.rate(q * (1.0 - PRICE)));
                return Self {
                    least: dear * (1.0 - demand.rounding(dear)),
                    most: cheap * (1.0 + demand.rounding(cheap)),
                };
            }
        };
        Self {
            least: rate * (1.0 - (PRICE + OPERATIONS)),
            most: rate * (1.0 + (PRICE + OPERATIONS)),
        }
    }
}

impl Demand {
    /// Returns the relative error of a computed rate at an exact price.
    fn rounding(&self, rate: f64) -> f64 {
        match self {
            // The rounding of 1/α is that of the exponent.
            Demand::AlphaFair { .. } if rate > 0.0 => {
                OPERATIONS + 2.0 * ROUNDING * libm::log(rate).abs()
            }
            _ => OPERATIONS,
        }
    }

    /// Returns an upper bound of U′(x) that is not less than zero.
    fn most_price(&self, x: f64) -> f64 {
        let price = self.price(x);
        let cancelled = match *self {
            Demand::Vegas { bias, .. } => 2.0 * bias.abs(),
            Demand::Surcharged { surcharge, .. } => 2.0 * surcharge.abs(),
            _ => 0.0,
        };
        (price + OPERATIONS * (price.abs() + cancelled)).max(0.0)
    }
}

/// The rates that are not scaled down.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    /// The rates that flows insist on.
    Insisted,
    /// The rates insisted on, and the rates of held flows: see [`is_held`].
    Held,
}

/// Returns true if less rate would cost a flow far more than its price, as for a flow at its cap.
fn is_held(demand: &Demand, q: f64, x: Enclosed) -> bool {
    demand.log_weight().is_none() && demand.is_elastic() && demand.price(x.least) > 2.0 * q
}

/// The sums over the flows of one link.
#[derive(Clone, Copy, Default)]
struct Link {
    /// The sum of the given rates.
    load: f64,
    /// The sum of the least values of x(q).
    demanded: Sum,
    /// The sum of the rates insisted on.
    insisted: Sum,
    /// The sum of the rates insisted on, with the largest rates of held flows.
    held: Sum,
    /// The sum of the excesses of the largest values of x(q) over the least.
    width: f64,
    /// The sum of q·x(q).
    spending: f64,
    /// The number of flows, and whether the price influences any of them.
    flows: u32,
    elastic: bool,
}

impl Link {
    /// Returns the factor by which a plain sum over the flows may exceed the exact one.
    fn rounding(&self) -> f64 {
        1.0 + OPERATIONS + 2.0 * ROUNDING * f64::from(self.flows)
    }

    /// Returns the rounding loss of [`Sum`] relative to the capacity.
    fn lost(&self) -> f64 {
        let n = f64::from(self.flows);
        n * n * ROUNDING * ROUNDING
    }

    /// Returns an upper bound of c − y.
    fn most_spare(&self, capacity: f64) -> f64 {
        let spare = self.demanded.taken_from(capacity);
        spare + OPERATIONS * spare.abs() + self.lost() * capacity
    }

    /// Returns an upper bound of (y − c)⁺.
    fn most_excess(&self, capacity: f64) -> f64 {
        let spare = self.demanded.taken_from(capacity);
        let rounding = OPERATIONS * spare.abs() + self.lost() * capacity;
        largest([self.width * self.rounding() + rounding - spare])
    }

    /// Returns the factor by which the part of the demand that is not kept may exceed the capacity left
    /// for it, as k − 1.
    fn overload(&self, capacity: f64, kept: Kept) -> f64 {
        let kept = match kept {
            Kept::Insisted => &self.insisted,
            Kept::Held => &self.held,
        };
        let left = kept.taken_from(capacity);
        if !self.elastic {
            return if left >= 0.0 { 0.0 } else { f64::INFINITY };
        }
        let excess = self.most_excess(capacity);
        if excess == 0.0 {
            return 0.0;
        }
        let least_left = (left * (1.0 - OPERATIONS) - self.lost() * capacity).max(0.0);
        ratio(excess, least_left) * (1.0 + OPERATIONS)
    }
}

/// The sums over all flows.
#[derive(Clone, Copy, Default)]
struct Totals {
    stationarity: f64,
    spending: f64,
    /// The sum Σ w of the demands whose loss has a closed form.
    log_weight: Sum,
    /// True if a flow is held.
    any_held: bool,
}

impl Totals {
    #[inline(always)]
    fn add(
        &mut self,
        path: &[u32],
        demand: &Demand,
        rate: f64,
        prices: &[f64],
        links: &mut [Link],
    ) {
        let q = path_price(path, prices);
        let demanded = demand.rate(q);
        let off = ratio((rate - demanded).abs(), rate.abs().max(demanded.abs()));
        self.stationarity = self.stationarity.max(off);
        let elastic = demand.is_elastic();
        let spending = if elastic { q * demanded } else { 0.0 };
        self.spending += spending;
        self.log_weight.add(demand.log_weight().unwrap_or(0.0));
        let least = demand.least();
        let enclosed = Enclosed::new(demand, q);
        let is_held = is_held(demand, q, enclosed);
        self.any_held |= is_held;
        let held = if is_held { enclosed.most } else { least };
        for &link in path {
            let link = &mut links[link as usize];
            link.load += rate;
            link.demanded.add(enclosed.least);
            if least > 0.0 {
                link.insisted.add(least);
            }
            if held > 0.0 {
                link.held.add(held);
            }
            link.width += enclosed.most - enclosed.least;
            link.spending += spending;
            link.flows += 1;
            link.elastic |= elastic;
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.stationarity = self.stationarity.max(other.stationarity);
        self.spending += other.spending;
        self.log_weight += other.log_weight;
        self.any_held |= other.any_held;
    }
}

impl AddAssign for Link {
    fn add_assign(&mut self, other: Self) {
        self.load += other.load;
        self.demanded += other.demanded;
        self.insisted += other.insisted;
        self.held += other.held;
        self.width += other.width;
        self.spending += other.spending;
        self.flows += other.flows;
        self.elastic |= other.elastic;
    }
}

struct Flows {
    links: Vec<Link>,
    totals: Totals,
}

impl Flows {
    fn new(problem: &Problem, rates: &[f64], prices: &[f64]) -> Self {
        let routes = problem.routes();
        let mut links = vec![Link::default(); routes.links()];
        // A link's sums are large, so parts must be longer to pay off.
        let parts = part_count(routes.hops(), 4 * routes.links());
        let share = routes.flows().div_ceil(parts);
        let part = |i: usize| i * share..((i + 1) * share).min(routes.flows());
        let totals = scatter(
            (0..parts).map(part).collect(),
            &mut links,
            &mut Vec::new(),
            |links| links.fill(Link::default()),
            |flows, links| {
                let mut totals = Totals::default();
                for flow in flows {
                    let demand = &problem.demands()[flow];
                    totals.add(routes.path(flow), demand, rates[flow], prices, links);
                }
                totals
            },
        );
        let all = totals.into_iter().reduce(|mut all, part| {
            all += part;
            all
        });
        Self { links, totals: all.unwrap_or_default() }
    }

    /// Returns an upper bound of Σ loss, for rates scaled down by 1 + `overload`.
    fn loss(&self, problem: &Problem, prices: &[f64], overload: f64, kept: Kept) -> f64 {
        if overload == 0.0 || !overload.is_finite() {
            return overload;
        }
        let log = self.totals.log_weight.value() * libm::log1p(overload) * (1.0 + OPERATIONS);
        let flows = problem.routes().iter().zip(problem.demands());
        let others =
            flows.filter(|(_, demand)| demand.log_weight().is_none() && demand.is_elastic());
        log + add_up(others.map(|(path, demand)| {
            let q = path_price(path, prices);
            let x = Enclosed::new(demand, q);
            if kept == Kept::Held && is_held(demand, q, x) {
                return 0.0;
            }
            // The utility is `Log` of the part above the floor.
            if let Demand::Contract { weight, limit: f64::INFINITY, .. } = *demand {
                return weight * libm::log1p(overload) * (1.0 + OPERATIONS);
            }
            let least = demand.least();
            let scaled = least + (x.least - least).max(0.0) / (1.0 + overload);
            let cut = (x.most - least) * (overload / (1.0 + overload));
            demand.most_price(scaled * (1.0 - OPERATIONS)) * cut * (1.0 + OPERATIONS)
        }))
    }
}

/// Returns an upper bound of a plain sum.
fn add_up(terms: impl Iterator<Item = f64>) -> f64 {
    let (sum, size, count) = terms.fold((0.0, 0.0, 0usize), |(sum, size, count), term| {
        (sum + term, size + f64::abs(term), count + 1)
    });
    sum + 2.0 * ROUNDING * (count as f64 + 8.0) * size
}

/// Returns the sum of the prices of a path, within [`PRICE`] if none is negative.
pub(crate) fn path_price(path: &[u32], prices: &[f64]) -> f64 {
    let of_path = path.iter().map(|&link| prices[link as usize]);
    if path.len() <= 4 {
        return of_path.sum();
    }
    let mut sum = Sum::default();
    of_path.for_each(|price| sum.add(price));
    sum.value()
}

/// Returns a/b for residuals. 0/0 is zero, and any other NaN result is infinitely bad.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { number(a / b) }
}

fn number(residual: f64) -> f64 {
    if residual.is_nan() { f64::INFINITY } else { residual }
}

/// Returns the largest residual, at least zero. It is infinite if one is NaN.
fn largest(residuals: impl IntoIterator<Item = f64>) -> f64 {
    residuals.into_iter().map(number).fold(0.0, f64::max)
}
