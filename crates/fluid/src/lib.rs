//! Congestion control as a fluid: trajectories.
//!
//! Windows and queues follow coupled delay-differential equations. [`run`] integrates a scenario
//! and returns the same record as the other engines. Stability margins are in `accord-margins`,
//! which uses [`Model`].
//!
//! Keys of the sources: `[Xia05]`, `[Xia03]` Xia, Harrison, Kalyanaraman, Ramachandran,
//! Venkatesan, *Accumulation-based Congestion Control* (journal and conference version);
//! `[Low02]` Low, Peterson, Wang, *Understanding TCP Vegas: A Duality Model*; `[Har02]`
//! Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop Scheme for Expected Minimum Rate and
//! Weighted Rate Services*.

mod advance;
mod codel;
mod conserve;
mod cubic;
mod discipline;
mod doubts;
mod error;
mod feeds;
mod flow;
mod history;
mod integrate;
mod law;
mod model;
mod motion;
mod path;
mod queue;
mod record;
mod run;
mod slow_start;
mod wide;
mod wire;

pub use discipline::Discipline;
pub use error::FluidError;
pub use law::{Control, Service};
pub use model::{Class, Model};
pub use path::{Hop, Network, Path};
pub use run::{run, run_with_step, step};
