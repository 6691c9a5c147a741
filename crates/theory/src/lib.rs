//! Equilibria of scenarios: the rates, queues and prices at which congestion-controlled flows
//! settle.
//!
//! - [`run`]: the theory engine. It finds the equilibrium of each phase of a scenario with
//!   `accord-solver`, and records it as a run.
//! - [`unmet_contracts`]: contracted rates that the network cannot hold.
//! - [`bat`]: the rates that a BAT queue gives to aggregates, and the convergence of CLCC.
//! - [`GradientProjection`]: the same equilibrium through the steps of sources and links.
//!
//! Keys of the sources: `[Xia05]` Xia, Harrison, Kalyanaraman, Ramachandran, Venkatesan,
//! *Accumulation-based Congestion Control*; `[Low02]` Low, Peterson, Wang, *Understanding TCP
//! Vegas: A Duality Model*; `[Har02]` Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop
//! Scheme for Expected Minimum Rate and Weighted Rate Services*.
//!
//! Two Vegas flows share a link of 8 Mbps:
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_record::Quiet;
//! use accord_scenario::{Entity, Metric};
//!
//! let (controllers, disciplines) = (accord_control::FAMILIES, accord_aqm::FAMILIES);
//! let catalogue = Catalogue { controllers, disciplines };
//! let text = r#"
//!     duration = "10 s"
//!     topology.dumbbell = { rate = "8 Mbps", delay = "20 ms" }
//!     flow.a = { count = 2, from = "left", to = "right", controller = "vegas" }
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! let run = accord_theory::run(&scenario, &mut Quiet)?;
//! let rate = run.mean(Metric::Throughput, Entity::Flow(0), scenario.steady).expect("it has one");
//! assert!((rate - 4e6).abs() < 1.0);
//! // The certificate shows that this is the equilibrium.
//! assert!(run.certificates[0].gap < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bat;
mod doubts;
mod equilibrium;
mod gradient;
mod left_out;
mod run;
mod services;
mod shortfall;
mod signals;
mod table;
mod transfers;
mod tunnels;
mod warm;
mod way_back;

pub use equilibrium::EquilibriumError;
pub use gradient::GradientProjection;
pub use run::run;
pub use services::unmet_contracts;
pub use shortfall::{Held, Outcome, Oversubscribed, Shortfall};
