//! Comparison, tables, files and the page of a run.
//!
//! Runs of one scenario come in as a slice: one run for each engine, or several of an
//! engine that differ in their seed (repetitions), of which means and confidence
//! intervals are shown and judged.
//!
//! - [`checks`] holds runs against what the scenario expects;
//! - [`table`] and [`checks_table`] print for people, [`Experiment`] for programs;
//! - [`write_run_dir`] and [`load_run_dir`] keep a run on disk;
//! - [`Kept`] holds the runs of a command that is not at its end yet;
//! - [`page()`] draws it.

mod check;
mod class;
mod compare;
mod contain;
mod engines;
mod estimate;
mod failing;
mod files;
mod json;
mod markdown;
mod measure;
mod page;
mod results;
pub mod show;
mod stability;
mod style;
mod table;
mod transfers;
mod verdict;

pub use check::{Check, checks, figure_values};
pub use class::Class;
pub use compare::{Column, GroupOutline, LinkOutline, Outline, Row, Subject, columns, rows};
pub use contain::contained;
pub use estimate::Estimate;
pub use files::{
    CertificateRecord, FileError, Kept, LoadedRun, RunDir, RunRecord, StoredManifest, check_place,
    load_run_dir, write_run_dir, write_sweep_dir,
};
pub use json::{CheckRecord, Experiment, Point, RowRecord, ValueRecord};
pub use markdown::{ExperimentRow, rewrite};
pub use page::page;
pub use results::Results;
pub use stability::{Cell, Parameter, StabilityMap};
pub use style::Style;
pub use table::{checks_table, comparison, remarks, table};
pub use transfers::TransferRow;
pub use verdict::{Kind, Tally, kinds, totals};
