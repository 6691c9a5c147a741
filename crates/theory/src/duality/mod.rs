//! The duality model of Vegas `[Low02 §2-5]`: the steps of sources and links, and the delays,
//! queues, losses and fairness of their equilibrium.
//!
//! [`solve`](accord_solver::solve) finds the equilibrium by other means. This module is the model
//! itself. Units are the caller's, for example Low02's packets and milliseconds. Prices are queuing
//! delays.
//!
//! | part | source |
//! |---|---|
//! | [`GradientProjection`] | `[Low02 eqs. 11-12]`, theorem 2 and its bound on the step |
//! | [`VegasNetwork`] | `[Low02 eqs. 16-20]` |
//! | [`Thresholds`] | PF and WPF `[Low02 §3.2]` |
//! | [`backlogs`], [`overflowing`], [`fairness_inequality`], [`jain_index`] | `[Low02 §3]` |
//! | [`newcomers`], [`persistent_congestion`] | theorem 3, example 1 `[Low02 §4.2]` |
//! | [`Rem`] | `[Low02 eqs. 31-33]` |

mod gradient;
mod network;
mod newcomers;
mod properties;
mod rem;

pub use gradient::GradientProjection;
pub use network::VegasNetwork;
pub use newcomers::{Period, newcomers, persistent_congestion};
pub use properties::{Thresholds, backlogs, fairness_inequality, jain_index, overflowing};
pub use rem::Rem;
