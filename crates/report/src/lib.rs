//! Comparison, tables, files and the page of a run.
//!
//! Functions take the runs of one scenario as a slice. It holds one run per engine, or several runs of an
//! engine with different seeds (repetitions). The means and confidence intervals of repetitions are shown and
//! judged.
//!
//! - [`checks`] compares runs with the expectations of the scenario.
//! - [`table`], [`checks_table`] and, for a sweep, [`overview`] print for people, and [`experiment_record`] is JSON for programs.
//! - [`write_run_dir`] and [`load_run_dir`] keep a run on disk.
//! - [`Kept`] holds the runs of a command that has not yet ended.
//! - [`page()`] draws a run, and [`Figure`] draws for papers.
//!
//! WebAssembly has no files, so it has no run directories, nor comparisons or figures of them.

mod axis;
#[cfg(not(target_family = "wasm"))]
mod cells;
mod check;
mod class;
mod compare;
mod declared;
mod estimate;
#[cfg(not(target_family = "wasm"))]
mod figure;
#[cfg(not(target_family = "wasm"))]
mod files;
mod gap;
mod json;
mod markup;
mod measure;
mod named;
mod overview;
mod page;
mod papers;
mod range;
mod readings;
mod results;
mod schema;
pub mod show;
mod stability;
mod style;
mod table;
mod trace;
mod transfers;
mod verdict;
#[cfg(not(target_family = "wasm"))]
mod versus;

pub use axis::label;
#[cfg(not(target_family = "wasm"))]
pub use cells::{Cells, Markup};
pub use check::{Check, checks, checks_by, checks_of_runs, figure_values};
pub use class::Class;
pub use compare::{
    Column, DERIVED, GroupOutline, LinkOutline, Outline, Places, Row, Subject, WHOLE, all_rows,
    columns, mean_of, rows, with_values,
};
pub use declared::{LAW_AXIS, OUR_LAW, Open, PaperFigure, PaperLaw, Papers, Permitted};
pub use estimate::Estimate;
#[cfg(not(target_family = "wasm"))]
pub use figure::{By, Figure, FigureError, Kind as FigureKind, Line, Log, Request, Width};
#[cfg(not(target_family = "wasm"))]
pub use files::{
    CertificateRecord, FileError, Kept, LoadedRun, Lock, RunDir, RunRecord, Stored, StoredManifest,
    check_comparison_place, check_map_place, check_place, is_refused, load_run_dir, load_stored,
    replaced, write_comparison_dir, write_map_dir, write_measured_dir, write_run_dir,
    write_sweep_dir,
};
pub use gap::gap;
pub use json::{FORMAT_VERSION, Point, check_record, experiment_record, joined, settings_record};
pub use markup::escape;
pub use named::series_record;
pub use overview::overview;
#[cfg(not(target_family = "wasm"))]
pub use page::comparison_page;
pub use page::{PageParts, page, page_parts, shell};
pub use papers::{
    FigureCounts, FigureRecord, FigureVerdict, FindingRecord, OwnRecord, RivalRecord, Score, Share,
    Summary,
};
pub use readings::{
    FigureReadings, LawChoice, Never, RECORD, Reading, Readings, Row as ReadingRow, SEEDS,
};
pub use results::{ExperimentRow, Results};
pub use schema::{OUTPUTS, output_schema};
pub use stability::{Cell, Parameter, StabilityMap};
pub use style::Style;
pub use table::{AGREE, checks_table, comparison, comparison_of, remarks, table};
pub use transfers::TransferRow;
pub use verdict::{Judged, Kind, Tally, totals};
#[cfg(not(target_family = "wasm"))]
pub use versus::{
    UNNAMED, Versus, comparison_record, differences, pair_measured, unpaired, versus, versus_cells,
    versus_table,
};
