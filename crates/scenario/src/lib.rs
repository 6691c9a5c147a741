//! Scenarios: a network, its flows, its events and its expectations.
//!
//! A [`Scenario`] is what every engine runs. Each name in it is resolved, each quantity has its
//! unit and each default is filled in. `accord-language` reads one from a file, and a program can
//! make one by itself. [`print()`] writes a scenario as text, and the hash of that text identifies
//! the scenario. [`State`] is the network between two events. A [`Metric`] is a quantity that
//! engines record and that expectations are about.

mod engine;
mod expectation;
mod figure;
mod metric;
mod network;
mod print;
mod state;

pub use engine::Engine;
pub use expectation::{
    Across, Cause, Claim, Expectation, KnownFailure, Measured, Over, Subject, Target, Window,
};
pub use figure::{percent, percentile, print_figure};
pub use metric::{Entity, Fold, Metric, MetricUnit, Of};
pub use network::{
    Change, Event, Flow, Fluid, Group, Limit, Link, LinkId, LinkModel, MIN_RTO, Node, NodeId,
    Phase, Queue, Recorded, Scenario,
};
pub use print::{print, text as print_text};
pub use state::State;
