//! Accord as a library: one scenario, four engines, and the results as plain data.
//!
//! [`load`] reads a scenario, [`run`] runs it in an engine, and [`report`] compares and shows the
//! results. The program `accord` is a thin user of this crate.
//!
//! ```
//! use accord::{Catalogue, Engine, Options, load, run};
//! use accord::record::Quiet;
//! use accord::scenario::{Entity, Metric};
//!
//! let catalogue = accord::catalogue();
//! let mut file = load("xia05-fig6")?;
//! file.set("seed", "2")?;
//! let scenario = &file.points(&catalogue, None)?[0];
//! let run = run(scenario, Engine::Theory, &Options::default(), &mut Quiet)?;
//! let rate = run.mean(Metric::Throughput, Entity::Flow(0), scenario.steady);
//! assert!(rate.is_some_and(|bps| bps > 0.0));
//! # Ok::<(), accord::Error>(())
//! ```
//!
//! Targets without sockets, such as WebAssembly, lack only the live engine and run directories.
//!
//! The rest is in the modules below. Each is a separate crate that can be used by itself.
//!
//! | module | content |
//! |---|---|
//! | [`units`], [`family`] | quantities; the declarations of controllers and disciplines |
//! | [`control`], [`aqm`] | controllers; queue disciplines |
//! | [`traffic`], [`scenario`], [`language`] | applications; the network model; scenario files |
//! | [`form`], [`draft`] | the reader of files of tables that people write; templates of scenarios |
//! | [`port`], [`transport`] | output ports; endpoints and the wire format |
//! | [`record`], [`columns`] | the record of a run; tables as Parquet and CSV |
//! | [`files`] | files that are written whole or not at all, and a reader with a limit |
//! | [`solver`], [`theory`], [`fluid`], [`sim`], [`live`] | fair shares; the engines |
//! | [`margins`] | the distance of equilibria from cycling |
//! | [`report`], [`explain`] | checks, tables, pages; why engines differ |

mod built_in;
mod catalogue;
mod cell;
pub mod draft;
mod engine;
mod error;
#[cfg(not(target_family = "wasm"))]
mod lateness;
mod source;

pub use accord_aqm as aqm;
#[cfg(not(target_family = "wasm"))]
pub use accord_columns as columns;
pub use accord_control as control;
pub use accord_explain as explain;
pub use accord_family as family;
pub use accord_files as files;
pub use accord_fluid as fluid;
pub use accord_form as form;
pub use accord_language as language;
#[cfg(not(target_family = "wasm"))]
pub use accord_live as live;
pub use accord_margins as margins;
pub use accord_port as port;
pub use accord_record as record;
pub use accord_report as report;
pub use accord_scenario as scenario;
pub use accord_sim as sim;
pub use accord_solver as solver;
pub use accord_theory as theory;
pub use accord_traffic as traffic;
pub use accord_transport as transport;
pub use accord_units as units;

pub use accord_family::Catalogue;
pub use accord_language::File;
pub use accord_record::Run;
pub use accord_scenario::{Engine, Scenario};
pub use built_in::{
    BUILT_IN, EXAMPLES, PACK_FILES, RECORDED, RECORDED_READINGS, RECORDED_VERDICTS, papers,
};
pub use catalogue::{catalogue, catalogue_with};
pub use cell::cell as stability_cell;
#[cfg(not(target_family = "wasm"))]
pub use engine::live_mode;
pub use engine::{Job, Options, run, run_all};
pub use error::Error;
#[cfg(not(target_family = "wasm"))]
pub use lateness::settle;
pub use source::{load, set};
