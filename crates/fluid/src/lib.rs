//! Congestion control as a fluid: trajectories and stability margins.
//!
//! Windows move by differential equations, queues by what the windows send, and each sees the
//! other after a delay. [`run`] integrates a scenario and returns the same record as the other
//! engines.
//!
//! Keys of the sources: `[Xia05]`, `[Xia03]` Xia, Harrison, Kalyanaraman, Ramachandran,
//! Venkatesan, *Accumulation-based Congestion Control* (journal and conference version);
//! `[Low02]` Low, Peterson, Wang, *Understanding TCP Vegas: A Duality Model*; `[Har02]`
//! Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop Scheme for Expected Minimum Rate and
//! Weighted Rate Services*.

mod conserve;
mod error;
mod history;
mod integrate;
mod law;
mod model;
mod queue;
mod record;
mod run;

pub use error::FluidError;
pub use run::{run, run_with_step, step};
