//! Fair shares of a network, with certificates: network utility maximisation and max-min.
//!
//! Flows that keep a target accumulation in the network share it as if they maximised a sum of
//! utilities within the capacities. The queuing delays are the prices of that problem `[Xia05
//! appendix]`, `[Low02 theorem 1]`. This crate computes those rates and prices to all digits, for
//! networks of up to millions of flows, and certifies them. Its inputs are only routes, demands and
//! capacities, as plain `f64` in the caller's units.
//!
//! - [`Routes`]: the links that each flow crosses.
//! - [`Demand`]: the rate that a flow sends at a price. Vegas, Monaco and contracted rates differ
//!   in it.
//! - [`Problem`]: both, and the capacities.
//! - [`solve`]: finds rates and prices, as a [`Solution`].
//! - [`solve_from`]: solves again when flows come and go, from the last prices.
//! - [`max_min`]: finds max-min fair rates, which have no prices.
//! - [`Certificate`]: the distance of any rates and prices from the optimum, independent of their
//!   origin.
//!
//! Two flows share a link of 10, and one of them crosses a second link of 3:
//!
//! ```
//! use accord_solver::{Demand, Problem, Routes, Settings, solve};
//!
//! let routes = Routes::new(2, &[vec![0], vec![0, 1]])?;
//! let demands = vec![Demand::Log { weight: 1.0 }; 2];
//! let problem = Problem::new(routes, vec![10.0, 3.0], demands)?;
//! let solution = solve(&problem, &Settings::default());
//! assert!((solution.rates[0] - 7.0).abs() < 1e-9);
//! assert!((solution.rates[1] - 3.0).abs() < 1e-9);
//! # Ok::<(), accord_solver::ProblemError>(())
//! ```

mod bounds;
mod certificate;
mod cg;
mod demand;
mod dual;
mod error;
mod max_min;
mod merge;
mod newton;
mod parallel;
mod problem;
mod reduced;
mod routes;
mod solution;
mod status;
mod sum;
mod sweep;
mod system;

pub use certificate::Certificate;
pub use demand::Demand;
pub use error::ProblemError;
pub use max_min::{Bottleneck, MaxMin, MaxMinCertificate, max_min};
pub use newton::{solve, solve_from, solve_watched};
pub use problem::Problem;
pub use routes::Routes;
pub use solution::{Progress, Settings, Solution};
pub use status::Status;
