//! What is run: a network, its flows, what happens to them, and what is expected.
//!
//! A [`Scenario`] is what every engine runs: each name is resolved, each quantity has its unit and
//! each default is filled in. `accord-language` reads one from a file, and a program can make one
//! by itself. [`print`] writes one out, and its hash stands for it. [`State`] is the network
//! between two events. A [`Metric`] is what engines record and expectations speak of.

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
