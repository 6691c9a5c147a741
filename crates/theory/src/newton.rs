//! The solver: Newton's method on the dual, with an active set on p ≥ 0.
//!
//! Minimises D(p) over p ≥ 0 `[Low02 eq. 8]`, which shares the capacities out as
//! `[Xia05 eq. 13]`. The gradient projection of `[Low02 eqs. 11-12]` has the same solution and is
//! the model of what the network does; it needs too many steps to be the method.
//!
//! 1. *Warm-up*: p ← p·y/c, some times. If all demands are `Log` this is the EM iteration of a
//!    mixture (it keeps c·p = W and never raises D); otherwise just a good guess.
//! 2. *Active set* (Bertsekas' two-metric projection): a link with capacity to spare whose price
//!    a scaled gradient step would take to zero goes to zero; the rest moves by Newton.
//! 3. *Direction*: (R·X·Rᵀ + λ·diag)·d = y − c on the other links, X = diag(−dx/dq), that is
//!    diag(x²/w) for `Log`; by conjugate gradients, as exactly as the residual deserves.
//!    At the kinks of a demand X takes one of the slopes beside it (semismooth Newton).
//! 4. *Line search* along the projection of p + α·d on p ≥ 0, on the difference of D.
//! 5. *Polish*: two steps of the warm-up while some link is overloaded by more than 1 %. They
//!    mend at once the few short routes whose price the quadratic model has got badly wrong.
//!
//! It stops when [`Certificate::worst`] of the problem as it was given is within the tolerance.
//! The constants below were tuned on random networks of 10³ to 10⁶ flows; each may be changed by
//! a factor of three without doubling the work.

use crate::cg::ConjugateGradients;
use crate::dual::{Dual, Point};
use crate::merge::Merged;
use crate::{Certificate, Demand, Problem, Settings, Solution, Status};

/// Multiplicative steps before the first Newton step.
const WARM_UP: usize = 16;
/// Multiplicative steps after a Newton step, and the relative overload that calls for them.
const POLISH: usize = 2;
const POLISH_ABOVE: f64 = 0.01;
/// Levenberg's λ is this part of the residual, within bounds.
const DAMPING: f64 = 0.1;
const DAMPING_BOUNDS: (f64, f64) = (1e-13, 0.05);
/// λ is multiplied up to this before the solver gives up.
const LARGEST_BOOST: f64 = 1e8;
/// Conjugate gradients stop at residual^¾, at most this...
const LOOSEST: f64 = 0.1;
/// ...and never below what takes the residual to this part of the tolerance.
const LAST_STEP: f64 = 0.1;
const INNER_STEPS: usize = 500;
/// Part of the predicted decrease that a step must achieve (Armijo).
const SUFFICIENT: f64 = 1e-4;
const HALVINGS: usize = 30;
/// Relative changes of D below this are rounding, and prove nothing.
const ROUNDING: f64 = 1e-15;
/// Newton steps allowed after the residuals over all links are within the tolerance, for those of
/// single links to follow.
const PATIENCE: usize = 8;

/// Finds the rates and prices of the equilibrium.
///
/// The result depends on the problem and the settings only. Time grows with the hops of all
/// routes times some hundred passes; memory is about 40 bytes a route, 4 a hop, 100 a link.
///
/// ```
/// use accord_theory::{Demand, Problem, Routes, Settings, Status, solve};
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
/// # Ok::<(), accord_theory::ProblemError>(())
/// ```
pub fn solve(problem: &Problem, settings: &Settings) -> Solution {
    if let Some(status) = oversubscribed(problem) {
        let rates = problem.demands().iter().map(Demand::least).collect();
        let prices = vec![0.0; problem.routes().links()];
        return finish(problem, rates, prices, status, (0, 0));
    }
    let merged = Merged::new(problem);
    Solver::new(problem, settings, &merged).run()
}

/// The link that cannot give what is insisted on, if there is one `[Har02 eq. 15]`.
///
/// This is the only way to be infeasible: if every link has something left over for the flows
/// that want more than they insist on, then there are rates strictly within all capacities.
fn oversubscribed(problem: &Problem) -> Option<Status> {
    let (insisted, elastic) = problem.insisted();
    let links = insisted
        .into_iter()
        .zip(problem.capacities())
        .zip(elastic)
        .enumerate();
    links
        .filter(|&(_, ((insisted, &capacity), elastic))| {
            insisted > capacity || elastic && insisted >= capacity
        })
        .map(|(link, ((insisted, &capacity), _))| Status::Infeasible {
            link,
            insisted,
            capacity,
        })
        .reduce(|worst, next| {
            if factor(&next) > factor(&worst) {
                next
            } else {
                worst
            }
        })
}

fn factor(status: &Status) -> f64 {
    match status {
        Status::Infeasible {
            insisted, capacity, ..
        } => insisted / capacity,
        _ => 0.0,
    }
}

fn finish(
    problem: &Problem,
    rates: Vec<f64>,
    prices: Vec<f64>,
    status: Status,
    (iterations, inner_iterations): (usize, usize),
) -> Solution {
    let certificate = Certificate::new(problem, &rates, &prices);
    Solution {
        rates,
        prices,
        status,
        certificate,
        iterations,
        inner_iterations,
    }
}

/// Residuals over all links.
struct Residuals {
    /// Σ |p·(c − y)| / Σ p·y, plus the overload.
    total: f64,
    /// The largest (y − c)⁺ / c.
    overload: f64,
    /// Σ p·y = Σ q·x.
    spending: f64,
}

struct Solver<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    merged: &'a Merged,
    dual: Dual<'a>,
    /// Where the solver is, and where it might go.
    at: Point,
    trial: Point,
    start: Vec<f64>,
    /// The linear system, for each link. A zero in `inverse_diagonal` marks the active ones.
    rhs: Vec<f64>,
    damping: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    direction: Vec<f64>,
    cg: ConjugateGradients,
    steps: (usize, usize),
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings, merged: &'a Merged) -> Self {
        let links = merged.links();
        let start = merged.starting_prices();
        let mut at = Point::new(merged);
        at.prices.copy_from_slice(&start);
        Self {
            problem,
            settings,
            merged,
            dual: Dual { merged },
            trial: at.clone(),
            at,
            start,
            rhs: vec![0.0; links],
            damping: vec![0.0; links],
            inverse_diagonal: vec![0.0; links],
            direction: vec![0.0; links],
            cg: ConjugateGradients::new(links),
            steps: (0, 0),
        }
    }

    fn run(mut self) -> Solution {
        self.warm_up();
        let mut boost = 1.0;
        let mut patience = PATIENCE;
        loop {
            let residuals = self.residuals();
            let near = residuals.total <= self.settings.tolerance;
            let last = self.steps.0 >= self.settings.max_iterations
                || boost > LARGEST_BOOST
                || near && patience == 0;
            if near || last {
                let solution = self.solution();
                if last || solution.status == Status::Solved {
                    return solution;
                }
                patience -= 1;
            }
            self.steps.0 += 1;
            self.set_up(&residuals, boost);
            self.steps.1 += self.find_direction(&residuals);
            match self.search(residuals.spending) {
                Some(1) => boost = f64::max(boost / 4.0, 1.0),
                Some(_) => boost *= 4.0,
                None => boost *= 100.0,
            }
            self.polish();
        }
    }

    fn warm_up(&mut self) {
        for _ in 0..WARM_UP {
            self.dual.evaluate(&mut self.at, None);
            for (l, price) in self.at.prices.iter_mut().enumerate() {
                *price *= self.at.links[l].load / self.merged.capacities[l];
            }
        }
        self.dual.evaluate(&mut self.at, None);
    }

    /// (p, c, y) of each link.
    fn links(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let loads = self.at.links.iter().map(|link| link.load);
        let priced = self.at.prices.iter().zip(&self.merged.capacities);
        priced
            .zip(loads)
            .map(|((&price, &capacity), load)| (price, capacity, load))
    }

    fn residuals(&self) -> Residuals {
        let (mut spending, mut slack, mut overload) = (0.0, 0.0, 0.0);
        for (price, capacity, load) in self.links() {
            spending += price * load;
            slack += (price * (capacity - load)).abs();
            overload = f64::max(overload, (load - capacity) / capacity);
        }
        let slack = if slack == 0.0 { 0.0 } else { slack / spending };
        Residuals {
            total: slack + overload,
            overload,
            spending,
        }
    }

    /// Chooses the active links and sets up the linear system for the others.
    fn set_up(&mut self, residuals: &Residuals, boost: f64) {
        let (least, most) = DAMPING_BOUNDS;
        let lambda = boost * (DAMPING * residuals.total).clamp(least, most);
        for l in 0..self.start.len() {
            let (price, capacity) = (self.at.prices[l], self.merged.capacities[l]);
            let (gradient, curvature) =
                (capacity - self.at.links[l].load, self.at.links[l].curvature);
            if gradient > 0.0 && price * curvature <= gradient {
                (self.rhs[l], self.damping[l], self.inverse_diagonal[l]) = (0.0, 0.0, 0.0);
            } else {
                // Where all flows of a link are at a cap there is no curvature; a demand w/q
                // that fills the link would have c/p.
                let usual = 1e-3 * capacity / price.max(self.start[l]);
                self.damping[l] = lambda * curvature.max(usual);
                self.rhs[l] = -gradient;
                self.inverse_diagonal[l] = (curvature + self.damping[l]).recip();
            }
        }
    }

    /// Solves for the direction; how many steps it took.
    fn find_direction(&mut self, residuals: &Residuals) -> usize {
        let Self {
            dual,
            at,
            damping,
            inverse_diagonal,
            rhs,
            direction,
            ..
        } = self;
        let enough = LAST_STEP * self.settings.tolerance / residuals.total;
        let tolerance = residuals.total.powf(0.75).max(enough).min(LOOSEST);
        let multiply = |v: &[f64], out: &mut [f64]| {
            dual.multiply(&at.slopes, v, out);
            for (l, out) in out.iter_mut().enumerate() {
                let active = inverse_diagonal[l] == 0.0;
                *out = if active {
                    0.0
                } else {
                    *out + damping[l] * v[l]
                };
            }
        };
        let steps = self.cg.solve(
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

    /// Moves along the direction as far as D falls enough; how many lengths it tried.
    fn search(&mut self, spending: f64) -> Option<usize> {
        let mut length = 1.0;
        for tried in 1..=HALVINGS {
            let mut predicted = 0.0;
            for l in 0..self.direction.len() {
                let (price, capacity) = (self.at.prices[l], self.merged.capacities[l]);
                let next = (price + length * self.direction[l]).max(0.0);
                predicted += (capacity - self.at.links[l].load) * (next - price);
                self.trial.prices[l] = next;
            }
            let change = self.dual.evaluate(&mut self.trial, Some(&self.at));
            let falls = predicted < 0.0 && change <= SUFFICIENT * predicted;
            if falls || predicted.abs() <= ROUNDING * spending {
                std::mem::swap(&mut self.at, &mut self.trial);
                return Some(tried);
            }
            length *= 0.5;
        }
        None
    }

    fn polish(&mut self) {
        for _ in 0..POLISH {
            if self.residuals().overload <= POLISH_ABOVE {
                return;
            }
            for (l, next) in self.trial.prices.iter_mut().enumerate() {
                *next = self.at.prices[l] * self.at.links[l].load / self.merged.capacities[l];
            }
            let change = self.dual.evaluate(&mut self.trial, Some(&self.at));
            if !(change < 0.0) {
                return;
            }
            std::mem::swap(&mut self.at, &mut self.trial);
        }
    }

    /// The solution as it stands.
    fn solution(&self) -> Solution {
        let prices = self.at.prices.clone();
        let path_prices = self.problem.routes().path_prices(&prices);
        let demands = self.problem.demands().iter();
        let rates = demands
            .zip(path_prices)
            .map(|(demand, q)| demand.rate(q))
            .collect();
        let mut solution = finish(
            self.problem,
            rates,
            prices,
            Status::NotConverged,
            self.steps,
        );
        if solution.certificate.worst() <= self.settings.tolerance {
            solution.status = Status::Solved;
        }
        solution
    }
}
