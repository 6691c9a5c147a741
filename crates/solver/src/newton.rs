//! The solver: Newton's method on the dual, with an active set on p ≥ 0.
//!
//! Minimises D(p) over p ≥ 0 `[Low02 eq. 8]`, which shares the capacities as in `[Xia05 eq. 13]`.
//! The gradient projection of `[Low02 eqs. 11-12]` has the same solution and models the behaviour
//! of the network, but needs too many steps for a solver.
//!
//! 1. *Warm-up*: p ← p·(y/c)^α, a few times, where α is the smallest of the link's flows (1 if not
//!    α-fair). On a single link this reaches c at once. If all demands are `Log` this is the EM
//!    iteration of a mixture, which keeps c·p = W and never raises D. Otherwise it is merely a good
//!    guess.
//! 2. *Active set* (Bertsekas' two-metric projection): a link with capacity to spare is pinned to
//!    price zero if a scaled gradient step would take its price there. Likewise an overloaded link
//!    is pinned to its highest price. The other links move by Newton.
//! 3. *Direction*: (R·X·Rᵀ + λ·diag)·d = y − c on the other links, with X = diag(−dx/dq), which is
//!    diag(x²/w) for `Log`. Conjugate gradients solve it as exactly as the residual warrants. At
//!    the kinks of a demand X takes a one-sided slope (semismooth Newton).
//! 4. *Line search* along the projection of p + α·d on the bounds of p, on the difference of D. If
//!    the full step fails, the links that it would take outside are also pinned, and the direction
//!    of the others is corrected for them. Nearly redundant links need this. Only then is the step
//!    shortened.
//! 5. *Polish*: two steps of the warm-up while some link is overloaded by more than 1 %. They immediately
//!    correct the few short routes whose price is far off in the quadratic model.
//! 6. *Single links*: [`sweep`], if the steps above find no solution and a demand is stiff (α > 1).
//!
//! The solver stops when [`Certificate::worst`] of the original problem is within the tolerance.
//! The constants below were tuned on random networks of 10³ to 10⁶ flows. They are not critical: a
//! factor of three in warm-up, damping or looseness changed the time by at most a third.

use crate::dual::{Dual, Link, Point};
use crate::merge::Merged;
use crate::sweep::{sweep, users};
use crate::system::System;
use crate::{Certificate, Demand, Problem, Progress, Settings, Solution, Status};
use std::ops::ControlFlow;

/// The number of multiplicative steps before the first Newton step.
const WARM_UP: usize = 12;
/// The number of multiplicative steps from prices near the solution, because a change of one flow
/// mostly concerns its own links.
const WARM_UP_AGAIN: usize = 2;
/// The number of multiplicative steps after a Newton step, and the relative overload that triggers
/// them.
const POLISH: usize = 2;
const POLISH_ABOVE: f64 = 0.01;
/// Levenberg's λ as a fraction of the residual, within bounds.
const DAMPING: f64 = 0.1;
const DAMPING_BOUNDS: (f64, f64) = (1e-13, 0.05);
/// The bounds of the boost that also multiplies λ. The boost falls with each full step and rises with any
/// other, so directions of little curvature are not damped permanently. The solver gives up above the upper
/// bound.
const LEAST_BOOST: f64 = 1e-6;
const LARGEST_BOOST: f64 = 1e8;
/// The largest tolerance of conjugate gradients, which stop at residual^¾ ...
const LOOSEST: f64 = 0.1;
/// ... and the fraction of the solver's tolerance that bounds it from below.
const LAST_STEP: f64 = 0.1;
/// The fraction of the predicted decrease that a step must achieve (Armijo).
const SUFFICIENT: f64 = 1e-4;
const HALVINGS: usize = 30;
/// The number of retries, with more links pinned, of a step that fails at full length, before it is shortened.
const PINNINGS: usize = 8;
/// The relative change of D below which it is rounding and carries no information.
const ROUNDING: f64 = 1e-15;
/// The number of Newton steps allowed for the residuals of single links after those over all links
/// are within the tolerance. It is also the number of rounds over single links without an
/// improvement.
const PATIENCE: usize = 8;

/// Finds the rates and prices of the equilibrium.
///
/// The result depends only on the problem and the settings. It takes as long as a few hundred passes
/// over the hops of all routes. Memory is about 50 bytes per route, 4 per hop and 140 per link.
///
/// ```
/// use accord_solver::{Demand, Problem, Routes, Settings, Status, solve};
///
/// // A long flow over two links of 9 Mbit/s, and a short one on each: the parking lot
/// // [Xia05 §III]. Each wants to keep 24 kbit in the network; the prices are delays.
/// let routes = Routes::new(2, [vec![0, 1], vec![0], vec![1]])?;
/// let demands = vec![Demand::Log { weight: 24e3 }; 3];
/// let problem = Problem::new(routes, vec![9e6; 2], demands)?;
///
/// let solution = solve(&problem, &Settings::default());
/// assert_eq!(solution.status, Status::Solved);
/// assert!((solution.rates[0] - 3e6).abs() < 1.0);
/// assert!((solution.prices[0] - 4e-3).abs() < 1e-9); // 36 kbit queued at 9 Mbit/s
/// # Ok::<(), accord_solver::ProblemError>(())
/// ```
pub fn solve(problem: &Problem, settings: &Settings) -> Solution {
    solve_watched(problem, settings, &mut |_| ControlFlow::Continue(()))
}

/// Solves as [`solve`] does, and notifies `watch` of the progress before each Newton step. Returns the
/// present prices on `Break`. The status is then [`Status::NotConverged`], unless they happen to be a
/// solution.
pub fn solve_watched(
    problem: &Problem,
    settings: &Settings,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Solution {
    match problem.oversubscribed() {
        Some(status) => oversubscribed(problem, status),
        None => Solver::new(problem, settings, &Merged::new(problem), None).solve(watch),
    }
}

/// Solves as [`solve_watched`] does, from prices near the solution, such as those before a few
/// flows came or went. This takes fewer steps.
///
/// ```
/// use accord_solver::{Demand, Problem, Routes, Settings, Status, solve, solve_from};
/// use std::ops::ControlFlow;
///
/// // Two flows share a link of 10. One of them crosses a second link of 3.
/// let with = |paths: &[&[u32]]| {
///     let demands = vec![Demand::Log { weight: 1.0 }; paths.len()];
///     Problem::new(Routes::new(2, paths)?, vec![10.0, 3.0], demands)
/// };
/// let before = solve(&with(&[&[0], &[0, 1]])?, &Settings::default());
/// // What if a third flow came to the second link?
/// let three = with(&[&[0], &[0, 1], &[1]])?;
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let now = solve_from(&three, &Settings::default(), &before.prices, go_on);
/// assert_eq!(now.status, Status::Solved);
/// assert!(now.rates[2] > 1.5); // It pays for one link, and the second flow for two.
/// # Ok::<(), accord_solver::ProblemError>(())
/// ```
pub fn solve_from(
    problem: &Problem,
    settings: &Settings,
    prices: &[f64],
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Solution {
    if let Some(status) = problem.oversubscribed() {
        return oversubscribed(problem, status);
    }
    let merged = Merged::new(problem);
    let mut stopped = false;
    let found = Solver::new(problem, settings, &merged, Some(prices)).solve(&mut |progress| {
        let flow = watch(progress);
        stopped = flow.is_break();
        flow
    });
    if stopped || found.status == Status::Solved {
        return found;
    }
    Solver::new(problem, settings, &merged, None).solve(watch)
}

/// Returns the fixed and contracted rates, where they exceed a capacity.
fn oversubscribed(problem: &Problem, status: Status) -> Solution {
    let rates = problem.demands().iter().map(Demand::least).collect();
    let prices = vec![0.0; problem.routes().links()];
    finish(problem, rates, prices, status, (0, 0))
}

fn finish(
    problem: &Problem,
    rates: Vec<f64>,
    prices: Vec<f64>,
    status: Status,
    (iterations, inner_iterations): (usize, usize),
) -> Solution {
    let certificate = Certificate::new(problem, &rates, &prices);
    Solution { rates, prices, status, certificate, iterations, inner_iterations }
}

/// The residuals over all links.
struct Residuals {
    /// Σ |p·(c − y)| / Σ p·y, plus the overload.
    total: f64,
    /// The largest (y − c)⁺ / c.
    overload: f64,
    /// Σ p·y = Σ q·x.
    spending: f64,
}

/// Returns the price of a link after a multiplicative step, or the old price if the new one would
/// be NaN.
fn multiplied(merged: &Merged, links: &[Link], link: usize, price: f64) -> f64 {
    let overload = links[link].load / merged.capacities[link];
    let factor = match merged.stiffness[link] {
        1.0 => overload,
        alpha => libm::pow(overload, alpha),
    };
    match price * factor {
        next if next.is_finite() => next.min(merged.price_limits[link]),
        _ => price,
    }
}

/// The state of Newton's method.
struct Solver<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    merged: &'a Merged,
    dual: Dual<'a>,
    /// The current point, and the possible next one.
    at: Point,
    trial: Point,
    /// The typical prices, for links without informative curvature.
    usual: Vec<f64>,
    system: System,
    /// The numbers of Newton steps and of conjugate gradient steps.
    steps: (usize, usize),
}

impl<'a> Solver<'a> {
    /// Starts from prices near the solution, or from the demands alone. `merged` is made from the problem.
    fn new(
        problem: &'a Problem,
        settings: &'a Settings,
        merged: &'a Merged,
        from: Option<&[f64]>,
    ) -> Self {
        let usual = merged.starting_prices();
        let mut at = Point::new(merged);
        let start = from.unwrap_or(&usual).iter().zip(&merged.price_limits);
        for (price, (start, limit)) in at.prices.iter_mut().zip(start) {
            *price = start.min(*limit);
        }
        let mut solver = Self {
            problem,
            settings,
            merged,
            dual: Dual::new(merged),
            trial: at.clone(),
            at,
            usual,
            system: System::default(),
            steps: (0, 0),
        };
        solver.warm_up(if from.is_none() { WARM_UP } else { WARM_UP_AGAIN });
        solver
    }

    fn solve(mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Solution {
        let found = self.run(watch);
        match found.status {
            Status::Solved => found,
            _ => self.swept(found, watch),
        }
    }

    /// Returns the solution at the given prices.
    fn solution(&self) -> Solution {
        let path_prices = self.problem.routes().path_prices(&self.at.prices);
        let demands = self.problem.demands().iter();
        let rates = demands.zip(path_prices).map(|(demand, q)| demand.rate(q)).collect();
        let prices = self.at.prices.clone();
        let mut solution = finish(self.problem, rates, prices, Status::NotConverged, self.steps);
        if solution.certificate.worst() <= self.settings.tolerance {
            solution.status = Status::Solved;
        }
        solution
    }

    /// Makes Newton steps until the residuals over all links and the certificate are within the
    /// tolerance.
    fn run(&mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Solution {
        self.dual.evaluate(&mut self.at, None);
        let mut boost = 1.0;
        let mut patience = PATIENCE;
        loop {
            let residuals = self.residuals(&self.at);
            let near = residuals.total <= self.settings.tolerance;
            let progress = Progress { iterations: self.steps.0, residual: residuals.total };
            let last = self.steps.0 >= self.settings.max_iterations
                || boost > LARGEST_BOOST
                || near && patience == 0
                || watch(progress).is_break();
            if near || last {
                let found = self.solution();
                if last || found.status == Status::Solved {
                    return found;
                }
                patience -= 1;
            }
            self.steps.0 += 1;
            match self.step(&residuals, boost) {
                Some(1) => boost = f64::max(boost / 4.0, LEAST_BOOST),
                Some(_) => boost *= 4.0,
                None => boost *= 100.0,
            }
            self.polish();
        }
    }

    /// Improves the prices of `found`, which Newton's method could not solve, link by link, as long as the
    /// residuals fall.
    fn swept(
        mut self,
        found: Solution,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Solution {
        if self.merged.stiffness.iter().all(|alpha| *alpha <= 1.0) {
            return found;
        }
        let users = users(self.problem);
        let (mut best, mut patience) = (found, PATIENCE);
        while patience > 0 && best.status != Status::Solved {
            let progress =
                Progress { iterations: self.steps.0, residual: best.certificate.worst() };
            if watch(progress).is_break() {
                break;
            }
            self.steps.0 += 1;
            sweep(self.problem, &users, &mut self.at.prices);
            let swept = self.solution();
            if swept.certificate.worst() < best.certificate.worst() {
                (best, patience) = (swept, PATIENCE);
            } else {
                patience -= 1;
            }
        }
        best
    }

    /// Makes multiplicative steps.
    fn warm_up(&mut self, steps: usize) {
        for _ in 0..steps {
            self.dual.load(&mut self.at);
            for (l, price) in self.at.prices.iter_mut().enumerate() {
                *price = multiplied(self.merged, &self.at.links, l, *price);
            }
        }
    }

    /// Returns (p, c, y) of each link. A link that is overloaded at its highest price counts as
    /// full.
    fn links<'b>(&'b self, at: &'b Point) -> impl Iterator<Item = (f64, f64, f64)> + 'b {
        let loads = at.links.iter().map(|link| link.load);
        let priced = at.prices.iter().zip(&self.merged.capacities);
        let limits = &self.merged.price_limits;
        priced.zip(loads).zip(limits).map(|(((&price, &capacity), load), limit)| {
            if price < *limit {
                (price, capacity, load)
            } else {
                (price, capacity, load.min(capacity))
            }
        })
    }

    fn residuals(&self, at: &Point) -> Residuals {
        let (mut spending, mut slack, mut overload) = (0.0, 0.0, 0.0);
        for (price, capacity, load) in self.links(at) {
            spending += price * load;
            slack += (price * (capacity - load)).abs();
            overload = f64::max(overload, (load - capacity) / capacity);
        }
        let slack = if slack == 0.0 { 0.0 } else { slack / spending };
        Residuals { total: slack + overload, overload, spending }
    }

    /// Makes one Newton step. Returns the number of lengths tried, or `None` if none succeeded.
    fn step(&mut self, residuals: &Residuals, boost: f64) -> Option<usize> {
        let (least, most) = DAMPING_BOUNDS;
        let lambda = boost * (DAMPING * residuals.total).clamp(least, most);
        let enough = LAST_STEP * self.settings.tolerance / residuals.total;
        let tolerance = libm::pow(residuals.total, 0.75).max(enough).min(LOOSEST);

        self.system.set_up(&self.dual, &self.at, &self.usual, lambda);
        self.steps.1 += self.system.solve(&self.dual, &self.at, tolerance);
        if self.advance(1.0, residuals) {
            return Some(1);
        }
        let first = self.system.direction.clone();
        for _ in 0..PINNINGS {
            if !self.system.pin_outside(&self.dual, &self.at) {
                break;
            }
            self.steps.1 += self.system.solve(&self.dual, &self.at, tolerance);
            if self.advance(1.0, residuals) {
                return Some(1);
            }
        }
        self.system.direction = first;
        let mut length = 1.0;
        (2..=HALVINGS).find(|_| {
            length *= 0.5;
            self.advance(length, residuals)
        })
    }

    /// Moves along the direction if D falls enough.
    fn advance(&mut self, length: f64, residuals: &Residuals) -> bool {
        let mut predicted = 0.0;
        for (l, direction) in self.system.direction.iter().enumerate() {
            let (price, capacity) = (self.at.prices[l], self.merged.capacities[l]);
            let next = (price + length * direction).clamp(0.0, self.merged.price_limits[l]);
            predicted += (capacity - self.at.links[l].load) * (next - price);
            self.trial.prices[l] = next;
        }
        let change = self.dual.evaluate(&mut self.trial, Some(&self.at));
        let falls = predicted < 0.0 && change <= SUFFICIENT * predicted;
        // D does not resolve links with a negligible share of all spending, but their loads do.
        let moved = falls
            || predicted.abs() <= ROUNDING * residuals.spending
                && self.residuals(&self.trial).overload <= residuals.total.max(POLISH_ABOVE);
        if moved {
            std::mem::swap(&mut self.at, &mut self.trial);
        }
        moved
    }

    fn polish(&mut self) {
        for _ in 0..POLISH {
            if self.residuals(&self.at).overload <= POLISH_ABOVE {
                return;
            }
            for (l, next) in self.trial.prices.iter_mut().enumerate() {
                *next = multiplied(self.merged, &self.at.links, l, self.at.prices[l]);
            }
            let change = self.dual.evaluate(&mut self.trial, Some(&self.at));
            let falls = change < 0.0;
            if !falls {
                return;
            }
            std::mem::swap(&mut self.at, &mut self.trial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;

    /// Returns the residuals of a flow of weight 1 over a link of 1 at a price. The highest price
    /// is `limit`.
    fn residuals(price: f64, limit: f64) -> Residuals {
        let routes = Routes::new(1, [[0]]).unwrap();
        let problem = Problem::new(routes, vec![1.0], vec![Demand::Log { weight: 1.0 }]).unwrap();
        let problem = problem.with_price_limits(vec![limit]).unwrap();
        let (merged, settings) = (Merged::new(&problem), Settings::default());
        let mut solver = Solver::new(&problem, &settings, &merged, None);
        solver.at.prices = vec![price];
        solver.dual.evaluate(&mut solver.at, None);
        solver.residuals(&solver.at)
    }

    /// At the price 2 the flow sends ½, and half of the link is unused. At ½ it sends 2.
    #[test]
    fn residuals_count_capacity_that_is_paid_and_unused_and_overload() {
        let of = |price| residuals(price, f64::INFINITY);
        assert_eq!((of(1.0).total, of(1.0).spending), (0.0, 1.0));
        assert_eq!((of(2.0).total, of(2.0).overload), (1.0, 0.0));
        assert_eq!((of(0.5).total, of(0.5).overload), (1.5, 1.0));
    }

    /// Beyond the highest price the excess is dropped, and is not a residual.
    #[test]
    fn an_overload_at_the_highest_price_is_no_residual() {
        assert_eq!((residuals(0.5, 0.5).total, residuals(0.5, 0.5).overload), (0.0, 0.0));
    }
}
