//! Equilibria of scenarios: the rates, queues and prices at which congestion-controlled flows
//! settle.
//!
//! - [`run`]: the theory engine. It finds the equilibrium of each phase of a scenario, by
//!   `accord-solver`, and records it as a run.
//! - [`unmet_contracts`]: contracted rates that the network cannot hold.
//! - [`bat`]: the rates that a BAT queue gives to aggregates, and the convergence of CLCC.
//! - [`duality`]: the model behind it, Vegas step by step, and the properties of its equilibrium.
//!
//! Keys of the sources: `[Xia05]` Xia, Harrison, Kalyanaraman, Ramachandran, Venkatesan,
//! *Accumulation-based Congestion Control*; `[Low02]` Low, Peterson, Wang, *Understanding TCP
//! Vegas: A Duality Model*; `[Har02]` Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop
//! Scheme for Expected Minimum Rate and Weighted Rate Services*.

pub mod bat;
pub mod duality;
mod equilibrium;
mod services;
mod shortfall;
mod signals;

pub use equilibrium::{EquilibriumError, run};
pub use services::unmet_contracts;
pub use shortfall::{Held, Outcome, Oversubscribed, Shortfall};
