//! The packet engine: discrete-event simulation of every packet.
//!
//! Endpoints, controllers, ports and queue disciplines are those of the crates `transport`,
//! `control`, `port` and `aqm`; this crate adds a virtual clock, wires, applications and
//! a recorder. How a packet-hop stays cheap is told in `engine.rs` and `calendar.rs`.

mod application;
mod calendar;
mod endpoint;
mod engine;
mod packet;
mod recorder;
mod wire;

pub use engine::{Audit, run, run_audited};

use accord_scenario::Interrupted;

/// Why a simulation gave no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The observer stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for SimError {
    fn from(_: Interrupted) -> SimError {
        SimError::Interrupted
    }
}
