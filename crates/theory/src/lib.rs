//! Equilibria of networks of congestion-controlled flows, with certificates.
//!
//! Flows that keep a target accumulation in the network share it as if they maximised a sum of
//! utilities within the capacities, and the queuing delays are the prices of that problem
//! `[Xia05 appendix]`, `[Low02 theorem 1]`. This crate computes those rates and prices, to all
//! digits, for networks of up to millions of flows, and certifies them.
//!
//! - [`Routes`]: which flow crosses which links.
//! - [`Demand`]: how much a flow sends at a price; what makes Vegas, Monaco and contracted rates
//!   differ in theory.
//! - [`Problem`]: both, and the capacities. Plain `f64` in the caller's units.
//! - [`solve`]: rates and prices, as a [`Solution`].
//! - [`max_min`]: max-min fair rates, which have no prices.
//! - [`bat`]: what a BAT queue gives to aggregates, and when CLCC converges.
//! - [`duality`]: the model behind it, Vegas step by step, and what its equilibrium is like.
//! - [`Certificate`]: how far any rates and prices are from the optimum, wherever they come from.
//!
//! Keys of the sources: `[Xia05]` Xia, Harrison, Kalyanaraman, Ramachandran, Venkatesan,
//! *Accumulation-based Congestion Control*; `[Low02]` Low, Peterson, Wang, *Understanding TCP
//! Vegas: A Duality Model*; `[Har02]` Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop
//! Scheme for Expected Minimum Rate and Weighted Rate Services*.

pub mod bat;
mod bounds;
mod certificate;
mod cg;
mod demand;
mod dual;
pub mod duality;
mod equilibrium;
mod error;
mod max_min;
mod merge;
mod newton;
mod parallel;
mod problem;
mod reduced;
mod routes;
mod services;
mod signals;
mod solution;
mod sum;
mod sweep;
mod system;

pub use certificate::Certificate;
pub use demand::Demand;
pub use equilibrium::{EquilibriumError, run};
pub use error::ProblemError;
pub use max_min::{Bottleneck, MaxMin, MaxMinCertificate, max_min};
pub use newton::{solve, solve_watched};
pub use problem::Problem;
pub use routes::Routes;
pub use services::{Held, Outcome, Oversubscribed, Shortfall, unmet_contracts};
pub use solution::{Progress, Settings, Solution, Status};
