//! Gradient projection on the dual `[Low02 eqs. 11-12]`: the algorithm that Vegas approximates.
//!
//! Links raise their prices if the demand exceeds the capacity. Sources send their demand at the price of
//! their path. The algorithm converges slowly, and only if the step is small enough (theorem 2). It serves as
//! a model, and is not the method of [`solve`](accord_solver::solve).

use accord_solver::{Demand, Problem, ProblemError};

/// Scaled gradient projection with θ = 1/c, on `Log` flows whose rates stay below x̄.
#[derive(Clone, Debug)]
pub struct GradientProjection<'a> {
    problem: &'a Problem,
    largest_rate: f64,
    largest_step: f64,
}

impl<'a> GradientProjection<'a> {
    /// Creates the algorithm on `problem`, with rates held at or below `largest_rate` (x̄), as the
    /// bound on the step requires. The equilibrium is that of the problem if x̄ is above its rates.
    ///
    /// # Errors
    ///
    /// Fails for a demand other than `Log`.
    pub fn new(problem: &'a Problem, largest_rate: f64) -> Result<Self, ProblemError> {
        let mut least_weight = f64::INFINITY;
        for (flow, demand) in problem.demands().iter().enumerate() {
            let Demand::Log { weight } = *demand else {
                let expected = "gradient projection is for flows of weighted log utility";
                return Err(ProblemError::WrongDemand { flow, expected });
            };
            least_weight = least_weight.min(weight);
        }
        let routes = problem.routes();
        let mut sharing = vec![0_u32; routes.links()];
        for &link in routes.iter().flatten() {
            sharing[link as usize] += 1;
        }
        let most_sharing = f64::from(sharing.into_iter().max().unwrap_or(0));
        let longest = routes.iter().map(<[u32]>::len).max().unwrap_or(0) as f64;
        let narrowest = (problem.capacities().iter().copied()).fold(f64::INFINITY, f64::min);
        let square = largest_rate * largest_rate;
        Ok(Self {
            problem,
            largest_rate,
            largest_step: 2.0 * least_weight * narrowest / (longest * most_sharing * square),
        })
    }

    /// Returns the largest step γ for which the algorithm provably converges: 2·αd·c/(L̄·S̄·x̄²),
    /// with the least target and capacity, the longest path, and the most flows of a link
    /// `[Low02 theorem 2]`.
    pub fn largest_step(&self) -> f64 {
        self.largest_step
    }

    /// Returns the rates at given link prices `[Low02 eq. 12]`.
    pub fn rates(&self, prices: &[f64]) -> Vec<f64> {
        let path_prices = self.problem.routes().path_prices(prices);
        let demands = self.problem.demands().iter();
        demands.zip(path_prices).map(|(demand, q)| demand.rate(q).min(self.largest_rate)).collect()
    }

    /// Makes one step of size γ for all prices `[Low02 eq. 11]`.
    pub fn step(&self, gamma: f64, prices: &mut [f64]) {
        let loads = self.problem.routes().loads(&self.rates(prices));
        let links = prices.iter_mut().zip(self.problem.capacities()).zip(loads);
        for ((price, capacity), load) in links {
            *price = (*price + gamma / capacity * (load - capacity)).max(0.0);
        }
    }
}
