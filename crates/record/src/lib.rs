//! The record of a run, the same for every engine.
//!
//! An engine is a function from a scenario and an [`Observer`] to a [`Run`]. A run has series by
//! metric and entity, transfers, and a manifest by which the run can be repeated. An engine that
//! samples gives its counters as readings to a [`Recorder`], which makes the series.

mod derive;
mod fairness;
mod observer;
mod reading;
mod recorder;
mod run;
mod transfer;

pub use derive::complete;
pub use fairness::fairness_index;
pub use observer::{Interrupted, Observer, Quiet};
pub use reading::{AggregateReading, Delays, FlowReading, LinkReading};
pub use recorder::Recorder;
pub use run::{Certificate, Manifest, Run, Series, Statistics};
pub use transfer::{Transfer, Transfers};
