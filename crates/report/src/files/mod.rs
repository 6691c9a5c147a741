//! A run directory: the complete results of a run, and enough to repeat it.
//!
//! | file | content |
//! |---|---|
//! | `scenario.toml` | the scenario |
//! | `manifest.json` | the runs, with their version and seed, and the names of the parts |
//! | `summary.json` | comparison and checks |
//! | `series.parquet` | all series, one row per sample |
//! | `transfers.parquet` | completion times, if there are transfers |
//! | `series.csv`, `transfers.csv` | the same, on request |
//! | `page.html` | the plots, on request |
//!
//! The runs of a sweep are run directories `001`, `002`, ... in one directory, together with the
//! page and the means of all points (`summary.csv`, `summary.parquet`).
//!
//! While a command is running, finished runs are [`Kept`] next to the directory.
//!
//! A directory is written under another name. It is renamed once the disk holds all of it, so it is either
//! complete or absent, even after a power cut.

mod error;
mod kept;
mod lock;
mod manifest;
mod marked;
mod place;
mod read;
mod series;
mod stored;
mod summary;
mod transfers;

pub use error::{FileError, is_refused};
pub use kept::Kept;
pub use lock::Lock;
pub use manifest::{CertificateRecord, RunRecord, StoredManifest};
pub use marked::{check_comparison_place, check_map_place, write_comparison_dir, write_map_dir};
pub use read::{LoadedRun, load_run_dir};
pub use stored::{Stored, load_stored, replaced};

use crate::compare::{Outline, columns, data_rows, with_values};
use crate::json::{Point, check_record, row_records};
use crate::transfers::transfer_rows;
use crate::verdict::Tally;
use accord_columns::Format;
use accord_files::create_within;
use accord_record::Run;
pub(crate) use place::is_point;
use place::{Place, missing, remove_empty};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const SCENARIO: &str = "scenario.toml";
const MANIFEST: &str = "manifest.json";
const SUMMARY: &str = "summary.json";
/// The means of all points of a sweep.
const SUMMARY_CSV: &str = "summary.csv";
const SUMMARY_PARQUET: &str = "summary.parquet";
const PARQUET: &str = "series.parquet";
const CSV: &str = "series.csv";
const TRANSFERS: &str = "transfers.parquet";
const TRANSFERS_CSV: &str = "transfers.csv";
/// The connections of an emulation.
const CONNECTIONS: &str = "connections.parquet";
const CONNECTIONS_CSV: &str = "connections.csv";
/// The largest table that is read, in bytes.
const LARGEST_TABLE: u64 = 16 << 30;
/// The largest scenario that is read, in bytes. With its traces and all links of a generated
/// topology, a scenario is larger than those written by people.
const LARGEST_SCENARIO: u64 = 1 << 30;
const PAGE: &str = "page.html";
/// The names of everything in the directory of a comparison, and in that of a map of stability.
const COMPARISON_OWN: [&str; 3] = [MANIFEST, "comparison.json", PAGE];
const MAP_OWN: [&str; 3] = [MANIFEST, "map.csv", "map.html"];

/// The content of a run directory.
#[derive(Clone, Copy, Debug)]
pub struct RunDir<'a> {
    /// The text of the scenario file.
    pub scenario_toml: &'a str,
    /// The scenario, the runs and the checks.
    pub point: Point<'a>,
    /// The page, if the directory should have one.
    pub page: Option<&'a str>,
    /// True if the series are also written as CSV.
    pub csv: bool,
}

/// Writes a run directory. An earlier run directory or sweep at `dir` is replaced. Anything else
/// there is left alone, and is an error.
pub fn write_run_dir(dir: &Path, contents: &RunDir) -> Result<(), FileError> {
    let place = Place::claim(dir)?;
    fill(place.path(), contents)?;
    place.publish()
}

/// Writes a run directory for a run without a scenario, because it was measured elsewhere: the
/// series and the manifest. Replaces the same directories as [`write_run_dir`].
pub fn write_measured_dir(dir: &Path, outline: &Outline, run: &Run) -> Result<(), FileError> {
    let place = Place::claim(dir)?;
    record(place.path(), outline, &[run], BTreeMap::new())?;
    place.publish()
}

/// Writes the run directories of a sweep into `dir`, with a common page. Replaces the same
/// directories as [`write_run_dir`].
pub fn write_sweep_dir(dir: &Path, points: &[RunDir], page: &str) -> Result<(), FileError> {
    let place = Place::claim(dir)?;
    (points.par_iter().enumerate()).try_for_each(|(i, contents)| {
        let point = place.path().join(format!("{:03}", i + 1));
        std::fs::create_dir(&point).map_err(|e| FileError::io("create", &point, e))?;
        fill(&point, contents)
    })?;
    let all: Vec<Point> = points.iter().map(|contents| contents.point).collect();
    let table = summary::summary(&all);
    for (name, format) in [(SUMMARY_CSV, Format::Csv), (SUMMARY_PARQUET, Format::Parquet)] {
        write(place.path(), name, |out| table.write(out, format, "summary"))?;
    }
    write(place.path(), PAGE, |out| out.write_all(page.as_bytes()))?;
    place.publish()
}

/// Checks whether [`write_run_dir`] and [`write_sweep_dir`] could write at `dir`. Call this before
/// hours of work.
pub fn check_place(dir: &Path) -> Result<(), FileError> {
    let made = missing(dir);
    let claimed = Place::claim(dir).map(drop);
    remove_empty(&made);
    claimed
}

/// Writes the files of a run into the directory `dir`.
fn fill(dir: &Path, contents: &RunDir) -> Result<(), FileError> {
    let runs = contents.point.runs();
    let outline = Outline::of(contents.point.scenario);
    let sum = write(dir, SCENARIO, |out| out.write_all(contents.scenario_toml.as_bytes()))?;
    let sums = BTreeMap::from([(SCENARIO.to_string(), sum)]);
    record(dir, &outline, &runs, sums)?;
    write(dir, SUMMARY, |out| put_json(out, &summary_record(&outline, &contents.point)))?;
    if contents.csv {
        write(dir, CSV, |out| series::write(out, Format::Csv, &outline, &runs))?;
        if has_transfers(&runs) {
            write(dir, TRANSFERS_CSV, |out| transfers::write(out, Format::Csv, &outline, &runs))?;
        }
    }
    if let Some(page) = contents.page {
        write(dir, PAGE, |out| out.write_all(page.as_bytes()))?;
    }
    Ok(())
}

/// Writes the files that [`load_run_dir`] reads. The manifest is last, because it contains their
/// checksums, and those of any others.
fn record(
    dir: &Path,
    outline: &Outline,
    runs: &[&Run],
    checksums: BTreeMap<String, String>,
) -> Result<(), FileError> {
    let mut manifest = StoredManifest::of(outline, runs);
    manifest.checksums = checksums;
    let mut add = |name: &str, sum: String| manifest.checksums.insert(name.into(), sum);
    if has_transfers(runs) {
        let sum =
            write(dir, TRANSFERS, |out| transfers::write(out, Format::Parquet, outline, runs))?;
        add(TRANSFERS, sum);
    }
    let sum = write(dir, PARQUET, |out| series::write(out, Format::Parquet, outline, runs))?;
    add(PARQUET, sum);
    write(dir, MANIFEST, |out| out.write_all(manifest.text()?.as_bytes())).map(drop)
}

fn has_transfers(runs: &[&Run]) -> bool {
    runs.iter().any(|run| !run.transfers.is_empty())
}

/// A file, and the hash of the bytes written to it, which reveals later damage when it is read.
struct Hashed {
    file: File,
    hash: blake3::Hasher,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes the file `name` in `dir`, and returns its checksum in hexadecimal.
fn write(
    dir: &Path,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<Hashed>) -> std::io::Result<()>,
) -> Result<String, FileError> {
    let path = dir.join(name);
    create_within(dir, name)
        .and_then(|file| {
            let hash = blake3::Hasher::new();
            let mut out = BufWriter::new(Hashed { file, hash });
            fill(&mut out)?;
            out.flush()?;
            Ok(out.get_ref().hash.finalize().to_hex().to_string())
        })
        .map_err(|source| FileError::io("write", &path, source))
}

/// Returns the content of `summary.json`: the content of the tables, as numbers, and the precision of
/// theory, phase by phase.
fn summary_record(outline: &Outline, point: &Point) -> Value {
    let runs = point.runs();
    let columns = with_values(&columns(outline, &runs));
    let mut record = json!({
        "id": outline.id,
        "title": outline.title,
        "point": outline.point,
        "pass": point.checks.iter().all(|c| c.pass),
        "class": Tally::of(point.checks.iter().map(|c| c.class)).worst(),
        "checks": point.checks.iter().map(check_record).collect::<Vec<_>>(),
        "steady_s": outline.steady_s,
        "comparison": row_records(&columns, &data_rows(&columns)),
    });
    let transfers = transfer_rows(outline, &runs);
    if !transfers.is_empty() {
        record["transfers"] = json!(transfers);
    }
    let certified = runs.iter().find(|r| !r.certificates.is_empty());
    let certificates = certified.map_or(&[][..], |r| &r.certificates);
    let certificates = certificates.iter().map(CertificateRecord::of);
    record["certificates"] = certificates.map(|c| json!(c)).collect();
    record
}

fn put_json(out: &mut impl Write, value: &Value) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}
