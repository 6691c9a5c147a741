//! The record of a run, the same for every engine.
//!
//! An engine is a function from a scenario and an [`Observer`] to a [`Run`]. A run has series by
//! metric and entity, transfers, and a manifest for repeating the run. An engine that samples
//! passes its counters as readings to a [`Recorder`], which forms the series.
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_record::{FlowReading, LinkReading, Recorder};
//! use accord_scenario::{Entity, Metric};
//! use accord_units::Time;
//!
//! let catalogue = Catalogue {
//!     controllers: accord_control::FAMILIES,
//!     disciplines: accord_aqm::FAMILIES,
//! };
//! let text = r#"
//!     duration = "2 s"
//!     sample = "1 s"
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
//! // An engine that delivers 500 kB per second of each flow.
//! let mut recorder = Recorder::new(&scenario);
//! for second in 1..=2 {
//!     let now = Time::from_secs_f64(second as f64);
//!     let delivered = 500_000 * second;
//!     recorder.sample(
//!         now,
//!         (0..2).map(|flow| (flow, FlowReading { active: true, delivered, ..FlowReading::default() })),
//!         |_flow| accord_family::InnerState::default(),
//!         |_link| LinkReading::default(),
//!     );
//! }
//! let (time, series) = recorder.finish(&scenario);
//! assert_eq!(time, [1.0, 2.0]);
//! let throughput = |s: &&accord_record::Series| {
//!     s.metric == Metric::Throughput && s.entity == Entity::Flow(1)
//! };
//! assert_eq!(series.iter().find(throughput).expect("it is recorded").values, [4e6, 4e6]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod derive;
mod fairness;
mod inner;
mod means;
mod notes;
mod observer;
mod quantiles;
mod reading;
mod recorder;
mod run;
mod transfer;

pub use derive::complete;
pub use fairness::fairness_index;
pub use notes::Notes;
pub use observer::{Interrupted, Observer, Quiet};
pub use quantiles::Quantiles;
pub use reading::{AggregateReading, Delays, FlowReading, LinkReading};
pub use recorder::Recorder;
pub use run::{Broken, Certificate, Manifest, Run, Series, Stalls, Statistics};
pub use transfer::{Transfer, Transfers};
