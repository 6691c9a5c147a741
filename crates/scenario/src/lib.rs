//! The scenario language and the record of a run.
//!
//! A [`Scenario`] is what every engine runs: a checked network model in which each name
//! is resolved, each quantity has its unit and each default is filled in. A [`Run`] is
//! what every engine returns: the same series, by the same names.

mod application;
mod browsing;
mod derive;
mod draw;
mod engine;
mod expectation;
mod fairness;
mod language;
mod metric;
mod network;
mod random;
mod reading;
mod recorder;
mod run;
mod sizes;
mod state;
mod transfer;
mod web;

pub use application::{Application, Step, UnderWay};
pub use derive::complete;
pub use engine::{Engine, Interrupted, Observer, Quiet};
pub use expectation::{
    Across, Cause, Claim, Expectation, KnownFailure, Measured, Over, Subject, Target, Window,
};
pub use fairness::fairness_index;
pub use language::{
    Catalogue, Errors, File, KeyTable, ScenarioError, Source, print, print_figure, print_text,
    reference, schema,
};
pub use metric::{Entity, Fold, Metric, MetricUnit, Of};
pub use network::{
    Change, Demand, Draw, Event, Flow, Fluid, Group, Limit, Link, LinkId, LinkModel, MIN_RTO, Node,
    NodeId, Phase, Queue, Recorded, Scenario,
};
pub use random::{Dice, Purpose, secret, stream};
pub use reading::{AggregateReading, Delays, FlowReading, LinkReading};
pub use recorder::Recorder;
pub use run::{Certificate, Manifest, Run, Series, Statistics};
pub use sizes::{PacketSizes, Sizer};
pub use state::State;
pub use transfer::{Transfer, Transfers};
pub use web::Web;
