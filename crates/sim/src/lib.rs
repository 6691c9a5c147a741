//! The packet engine: discrete-event simulation of every packet.
//!
//! Endpoints, controllers, ports and queue disciplines come from the crates `transport`, `control`,
//! `port` and `aqm`. This crate adds a virtual clock and wires, in two parallel engines: `events`
//! and `windows`. [`plan`] chooses one of them. Both give the same run, bit for bit, and share
//! flows, the pool of packets, the calendar and the record (`core.rs`).
//!
//! [`Machine`] is the events engine over some of the nodes, for drivers that have a clock.
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_record::Quiet;
//! use accord_scenario::{Entity, Metric};
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
//!     controller = "vegas"
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! let run = accord_sim::run(&scenario, &mut Quiet)?;
//! let rates = [0, 1].map(|f| run.mean(Metric::Throughput, Entity::Flow(f), scenario.steady));
//! assert!(rates.iter().flatten().sum::<f64>() > 7e6);
//! // The same scenario, seed and version give the same run.
//! let again = accord_sim::run(&scenario, &mut Quiet)?;
//! assert_eq!(run.manifest.digest, again.manifest.digest);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod because;
mod buffered;
mod calendar;
mod carrier;
mod core;
mod digest;
mod events;
mod flow;
mod gateway;
mod gauge;
mod hop;
mod host;
mod jump;
mod memory;
mod packet;
mod pipe;
mod plan;
mod pool;
mod sampling;
mod skip;
mod steady;
mod survey;
mod ticket;
mod windows;

pub use audit::Audit;
pub use because::Because;
#[doc(hidden)]
pub use calendar::{Calendar, EventKind};
pub use digest::Digest;
pub use events::{
    CarriedEnd, Departure, Machine, Order, Parcel, Part, SinkReading, SourceReading, Tally, Whole,
    addresses, connect, merge,
};
pub use packet::Packet;
#[doc(hidden)]
pub use plan::Shortcuts;
pub use plan::{Plan, plan};

use crate::core::Core;
use accord_record::{Interrupted, Observer, Run, Stalls};
use accord_scenario::Scenario;
use accord_units::Time;
use flow::Flow;
use skip::Skip;
use std::fmt;
use survey::Ports;
use tracing::debug_span;

/// Runs a scenario, packet by packet.
///
/// # Errors
/// Fails if the observer stops the run.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Run, Interrupted> {
    run_audited(scenario, observer).map(|(run, _, _)| run)
}

/// Runs a scenario as [`run`] does. Also returns the audits of all ports (by link, then the edge
/// queues of tunnels in the order of their flows) and of all flows' data.
///
/// # Errors
/// Fails if the observer stops the run.
pub fn run_audited(
    scenario: &Scenario,
    observer: &mut dyn Observer,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), Interrupted> {
    run_with(scenario, observer, Shortcuts::All)
}

/// Runs a scenario as [`run_audited`] does, with fewer shortcuts. Tests use it to show that
/// shortcuts do not change the result.
///
/// # Errors
/// Fails if the observer stops the run.
#[doc(hidden)]
pub fn run_with(
    scenario: &Scenario,
    observer: &mut dyn Observer,
    shortcuts: Shortcuts,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), Interrupted> {
    // Packets are observed at events, so each packet needs its events.
    let shortcuts = if observer.wants_packets() { Shortcuts::None } else { shortcuts };
    run_planned(scenario, shortcuts, None, observer)
}

/// Runs a scenario with the engine of its plan.
fn run_planned<'a>(
    scenario: &'a Scenario,
    shortcuts: Shortcuts,
    skip: Option<Skip<'a>>,
    observer: &mut dyn Observer,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), Interrupted> {
    let (mut core, plan, ports) = prepare(scenario, shortcuts);
    let point = (!scenario.point.is_empty()).then_some(Point(&scenario.point));
    let _entered = debug_span!("run", point = point.map(display), seed = scenario.seed).entered();
    core.skip = skip.map(Box::new);
    match plan {
        Plan::Windows(layout) => {
            drop(ports);
            let mut engine = windows::WindowsEngine::new(core, *layout);
            engine.run(observer)?;
            Ok(engine.finish())
        }
        Plan::Events(_) => {
            let mut engine = events::EventsEngine::new(core, ports, |_| true);
            engine.run(observer)?;
            Ok(engine.finish())
        }
    }
}

/// The point of a sweep in the log.
struct Point<'a>(&'a [(String, String)]);

impl fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (key, value) in self.0 {
            write!(f, "{separator}{key}={value}")?;
            separator = ",";
        }
        Ok(())
    }
}

/// Creates a run without its links, and chooses its engine.
fn prepare(scenario: &Scenario, shortcuts: Shortcuts) -> (Core<'_>, Plan, Ports) {
    let state = scenario.at(Time::ZERO);
    let ids = 0..scenario.flows.len();
    let mut flows = memory::collect_in_huge_pages(ids.map(|id| Flow::new(id, &state)));
    let (plan, ports) = plan::choose(scenario, &mut flows, shortcuts);
    let core = Core::new(scenario, state, flows, plan.to_string(), |_| true);
    (core, plan, ports)
}

/// Runs a scenario as [`run`] does, with links that deliver packets as late as in a live run on
/// some machine.
///
/// # Errors
/// Fails if the observer stops the run.
pub fn run_stalled(
    scenario: &Scenario,
    stalls: &[Stalls],
    observer: &mut dyn Observer,
) -> Result<Run, Interrupted> {
    // Stalls apply at events only, so each packet needs its events.
    let (core, _, ports) = prepare(scenario, Shortcuts::None);
    let mut engine = events::EventsEngine::new(core, ports, |_| true);
    engine.stall(stalls);
    engine.run(observer)?;
    Ok(engine.finish().0)
}

/// Runs a scenario as [`run`] does, but skips the time in which nothing changes (`skip.rs`). If
/// `theory` is given, no time is skipped while the rates differ from it.
///
/// # Errors
/// Fails as [`run`] does.
pub fn run_skipping(
    scenario: &Scenario,
    theory: Option<&Run>,
    observer: &mut dyn Observer,
) -> Result<Run, Interrupted> {
    run_skipping_audited(scenario, theory, observer).map(|(run, _, _)| run)
}

/// Runs a scenario as [`run_skipping`] does. Also returns the audits, as [`run_audited`] does, of
/// the time that was not skipped.
///
/// # Errors
/// Fails as [`run`] does.
#[doc(hidden)]
pub fn run_skipping_audited(
    scenario: &Scenario,
    theory: Option<&Run>,
    observer: &mut dyn Observer,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), Interrupted> {
    let skip = match Skip::new(scenario, theory, observer) {
        Ok(skip) => skip,
        Err(why) => {
            let (mut run, ports, flows) = run_audited(scenario, observer)?;
            run.notes.push(skip::nothing(&why));
            return Ok((run, ports, flows));
        }
    };
    run_planned(scenario, Shortcuts::All, Some(skip), observer)
}
