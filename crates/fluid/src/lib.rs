//! Congestion control as a fluid: trajectories and stability margins.
//!
//! Windows move by differential equations, queues by what the windows send, and each sees the
//! other after a delay. [`run`] integrates a scenario and returns the same record as the other
//! engines; [`stability`] linearises it and says how far it is from cycling.
//!
//! Keys of the sources: `[Xia05]`, `[Xia03]` Xia, Harrison, Kalyanaraman, Ramachandran,
//! Venkatesan, *Accumulation-based Congestion Control* (journal and conference version);
//! `[Low02]` Low, Peterson, Wang, *Understanding TCP Vegas: A Duality Model*; `[Har02]`
//! Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop Scheme for Expected Minimum Rate and
//! Weighted Rate Services*.
//!
//! Two Monaco flows share a link of 8 Mbps:
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_record::Quiet;
//! use accord_scenario::{Entity, Metric};
//! use accord_units::Time;
//!
//! let catalogue = Catalogue {
//!     controllers: accord_control::FAMILIES,
//!     disciplines: accord_aqm::FAMILIES,
//! };
//! let text = r#"
//!     duration = "10 s"
//!     [topology.dumbbell]
//!     rate = "8 Mbps"
//!     delay = "20 ms"
//!     [flow.a]
//!     count = 2
//!     from = "left"
//!     to = "right"
//!     controller = "monaco"
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! let run = accord_fluid::run(&scenario, &mut Quiet)?;
//! let rate = run.mean(Metric::Throughput, Entity::Flow(0), scenario.steady).expect("it has one");
//! assert!((rate / 4e6 - 1.0).abs() < 0.01);
//! // Small deviations from the equilibrium decay.
//! assert!(accord_fluid::stability(&scenario, Time::ZERO)?.is_stable());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod balance;
mod codel;
mod cohorts;
mod conserve;
mod cubic;
mod discipline;
mod error;
mod feeds;
mod flow;
mod history;
mod integrate;
mod law;
mod linear;
mod linearise;
mod margins;
mod model;
mod motion;
mod path;
mod queue;
mod record;
mod repair;
mod rest;
mod roots;
mod rounds;
mod run;
mod signal;
mod slow_start;
mod spares;
mod stability;
mod trouble;
mod wide;
mod wire;

pub use background::{Background, Crowd, Shared};
pub use error::FluidError;
pub use linear::{Linear, Term};
pub use linearise::linearise;
pub use margins::{Margins, margins};
pub use nalgebra::Complex;
pub use rest::Rest;
pub use roots::rightmost_roots;
pub use rounds::{Loop, largest};
pub use run::{run, run_with_step, step};
pub use stability::{Stability, stability};
