//! The packet engine: discrete-event simulation of every packet.
//!
//! Endpoints, controllers, ports and queue disciplines are those of the crates `transport`,
//! `control`, `port` and `aqm`; this crate adds a virtual clock and wires. How a
//! packet-hop stays cheap is told in `engine.rs`, `wiring.rs` and `calendar.rs`.

mod audit;
mod calendar;
mod digest;
mod engine;
mod flow;
mod host;
mod packet;
mod pipe;
mod pool;
mod sampling;
mod wire;
mod wiring;

pub use audit::Audit;
#[doc(hidden)]
pub use calendar::{Calendar, Kind};
#[doc(hidden)]
pub use wiring::Shortcuts;

use accord_record::{Interrupted, Observer, Run};
use accord_scenario::Scenario;

/// Runs a scenario, packet by packet.
///
/// # Errors
/// When the observer stops it.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Run, SimError> {
    run_audited(scenario, observer).map(|(run, _, _)| run)
}

/// Like [`run`]; gives the books of all ports (by link) and of all flows' data as well.
///
/// # Errors
/// When the observer stops it.
pub fn run_audited(
    scenario: &Scenario,
    observer: &mut dyn Observer,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), SimError> {
    run_with(scenario, observer, Shortcuts::All)
}

/// Like [`run_audited`], with fewer shortcuts: for tests that they change nothing.
///
/// # Errors
/// When the observer stops it.
#[doc(hidden)]
pub fn run_with(
    scenario: &Scenario,
    observer: &mut dyn Observer,
    shortcuts: Shortcuts,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), SimError> {
    // A packet is seen where it has an event, and the result is the same.
    let shortcuts = match observer.wants_packets() {
        true => Shortcuts::None,
        false => shortcuts,
    };
    let mut simulation = engine::Simulation::new(scenario, shortcuts);
    simulation.run(observer)?;
    Ok(simulation.finish())
}

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
