//! Fair shares of a network, with certificates: network utility maximisation and max-min.
//!
//! Flows that keep a target accumulation in the network share it as if they maximised a sum of
//! utilities within the capacities. The queuing delays are the prices of that problem `[Xia05
//! appendix]`, `[Low02 theorem 1]`. This crate computes those rates and prices to all digits, for
//! networks of up to millions of flows, and certifies them. Its inputs are only routes, demands and
//! capacities, as plain `f64` in the caller's units.
//!
//! - [`Routes`]: the links that each flow crosses.
//! - [`Demand`]: the rate that a flow sends at a price. Vegas, Monaco and contracted rates have
//!   different demands.
//! - [`Problem`]: routes, demands and capacities.
//! - [`solve`]: finds rates and prices, as a [`Solution`].
//! - [`solve_from`]: solves again from the last prices, when flows come and go.
//! - [`max_min`]: finds max-min fair rates, which have no prices.
//! - [`Certificate`]: the distance of any rates and prices from the optimum, independent of their
//!   origin.

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
