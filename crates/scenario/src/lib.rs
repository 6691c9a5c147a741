//! Scenarios: a network, its flows, its events and its expectations.
//!
//! Every engine runs a [`Scenario`]. In a scenario, each name is resolved, each quantity has its unit and
//! each default is filled in. `accord-language` reads a scenario from a file. A program can also make or
//! change one. [`Scenario::check`] then checks that it is sound. [`print()`] writes a scenario as text, and
//! the hash of that text identifies the scenario. [`State`] is the network between two events. A [`Metric`]
//! is a quantity that engines record and expectations refer to.
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_scenario::{Change, Event};
//! use accord_units::{Duration, Rate, Time};
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
//!     from = "left"
//!     to = "right"
//!     controller = "vegas"
//! "#;
//! let mut scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! // The bottleneck fails after 4 s.
//! let bottleneck = scenario.links.iter().position(|l| l.name == "bottleneck").expect("it is there");
//! let at = Time::ZERO + Duration::from_secs(4);
//! scenario.events.push(Event { at, change: Change::Rate(bottleneck, Rate::ZERO) });
//! assert_eq!(scenario.phases().count(), 2);
//! assert_eq!(scenario.at(Time::ZERO).rate[bottleneck], Rate::from_bps(8_000_000));
//! assert_eq!(scenario.at(at).rate[bottleneck], Rate::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod engine;
mod expectation;
mod figure;
mod metric;
mod network;
mod parts;
mod print;
mod shallow;
mod sound;
mod state;

pub use answers::Answers;
pub use engine::Engine;
pub use expectation::{
    Across, Cause, Claim, Expectation, KnownFailure, Measured, Over, Subject, Target, Window,
};
pub use figure::{percentile, print_figure};
pub use metric::{Entity, Fold, Metric, MetricUnit, Of, QUANTILES, Row, Table};
pub use network::{
    Carrier, Change, Congestion, Direction, Event, Flow, FlowSettings, Fluid, GREEDY, Group, Limit,
    Link, LinkId, LinkModel, MIN_RTO, Node, NodeId, OFF, Phase, Queue, Recorded, Scenario, Tunnel,
    UNLIMITED,
};
pub use parts::{Bucket, Jitter, OPPORTUNITY, Parts, Reorder, Trace};
pub use print::{print, text as print_text};
pub use sound::LARGEST_PACKET;
pub use state::State;
