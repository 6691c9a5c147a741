//! The reader of run directories.

use super::column::column;
use super::manifest::{CertificateRecord, RunRecord, StoredManifest};
use super::series::COLUMNS;
use super::{FileError, PARQUET, TRANSFERS};
use crate::compare::{Column, Outline};
use crate::contain::contained;
use accord_record::{Manifest, Run, Series, Statistics};
use accord_scenario::{Engine, Entity, Metric};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A run directory in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRun {
    /// The path that it was read from.
    pub path: PathBuf,
    /// The manifest.
    pub manifest: StoredManifest,
    /// The runs, in the manifest's order. The time axis of a run without any series is not kept.
    pub runs: Vec<Run>,
}

impl LoadedRun {
    /// Returns the values that distinguish the point from the others of its sweep, or "".
    pub fn label(&self) -> String {
        crate::axis::label(&self.manifest.scenario.point)
    }

    /// Returns columns to compare, one per engine: "directory: engine".
    pub fn columns(&self) -> Vec<Column<'_>> {
        let runs: Vec<&Run> = self.runs.iter().collect();
        let mut columns = crate::compare::columns(&self.manifest.scenario, &runs);
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        for column in &mut columns {
            column.label = format!("{}: {}", name.display(), column.label);
        }
        columns
    }
}

/// Reads a run directory: manifest and series.
pub fn load_run_dir(path: &Path) -> Result<LoadedRun, FileError> {
    contained(|| load(path))
        .unwrap_or_else(|| Err(FileError::broken(path, "a damaged Parquet file")))
}

fn load(path: &Path) -> Result<LoadedRun, FileError> {
    let manifest = StoredManifest::read(path)?;
    let file = path.join(PARQUET);
    let broken = |why: String| FileError::broken(&file, why);
    let mut runs = Vec::new();
    for record in &manifest.runs {
        runs.push(empty_run(record).map_err(|e| FileError::broken(path, e))?);
    }
    for name in [PARQUET, TRANSFERS] {
        manifest.verify(path, name)?;
    }
    let opened = File::open(&file).map_err(|e| FileError::io("read", &file, e))?;
    let reader = SerializedFileReader::new(opened).map_err(|e| broken(e.to_string()))?;
    let names = Names::of(&manifest.scenario);
    check_schema(&reader).map_err(broken)?;
    for i in 0..reader.num_row_groups() {
        let rows = reader
            .get_row_group(i)
            .and_then(|group| Rows::read(&*group))
            .map_err(|e| broken(e.to_string()))?;
        rows.append_to(&mut runs, &names).map_err(broken)?;
    }
    for run in &mut runs {
        run.series.sort_by_key(|s| (s.entity, s.metric));
        if let Some(s) = run.series.iter().find(|s| s.values.len() != run.time.len()) {
            let (got, expected) = (s.values.len(), run.time.len());
            let why = format!("a series of {} has {got} of {expected} samples", s.metric);
            return Err(broken(why));
        }
    }
    let mut loaded = LoadedRun {
        path: path.into(),
        manifest,
        runs,
    };
    let file = path.join(TRANSFERS);
    match File::open(&file) {
        Ok(opened) => {
            let read = super::transfers::read(opened, &mut loaded);
            read.map_err(|why| FileError::broken(&file, why))?;
        }
        // The run had no transfers.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(FileError::io("read", &file, e)),
    }
    Ok(loaded)
}

fn empty_run(record: &RunRecord) -> Result<Run, String> {
    Ok(Run {
        manifest: Manifest {
            engine: record.engine.parse::<Engine>()?,
            // Engines give their version as a literal, so the field has that type. A program reads
            // few directories of other versions, and each leaks a few bytes.
            version: match record.version == env!("CARGO_PKG_VERSION") {
                true => env!("CARGO_PKG_VERSION"),
                false => String::leak(record.version.clone()),
            },
            scenario_hash: record.scenario_hash.clone(),
            seed: record.seed,
            digest: record.digest.clone(),
        },
        time: vec![],
        series: vec![],
        transfers: vec![],
        statistics: Statistics {
            packet_hops: record.packet_hops,
            steps: record.steps,
        },
        certificates: (record.certificates.iter())
            .map(CertificateRecord::certificate)
            .collect(),
        notes: record.notes.clone(),
        unfit: record.unfit.clone(),
        stalls: Vec::new(),
    })
}

/// The entities that have series, by kind and name.
struct Names(BTreeMap<(&'static str, String), Entity>);

impl Names {
    fn of(outline: &Outline) -> Names {
        let flows = outline.groups.iter().flat_map(|g| &g.flows);
        let flows = flows
            .enumerate()
            .map(|(i, f)| (("flow", f.clone()), Entity::Flow(i)));
        let groups = outline.groups.iter().enumerate();
        let groups = groups.map(|(i, g)| (("group", g.name.clone()), Entity::Group(i)));
        let links = outline.links.iter().enumerate();
        let links = links.map(|(i, l)| (("link", l.name.clone()), Entity::Link(i)));
        let aggregates = outline.aggregates(|_| true);
        let aggregates = aggregates.map(|(name, entity)| (("aggregate", name), entity));
        let all = flows.chain(groups).chain(links).chain(aggregates);
        Names(all.collect())
    }

    fn find(&self, kind: &str, name: &str) -> Result<Entity, String> {
        let kind = match kind {
            "flow" => "flow",
            "group" => "group",
            "link" => "link",
            "aggregate" => "aggregate",
            _ => return Err(format!("there is no entity kind \"{kind}\"")),
        };
        let entity = self.0.get(&(kind, name.to_string()));
        let missing = || format!("the manifest has no {kind} \"{name}\"");
        entity.copied().ok_or_else(missing)
    }
}

fn check_schema(reader: &SerializedFileReader<File>) -> Result<(), String> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let got: Vec<&str> = schema.columns().iter().map(|c| c.name()).collect();
    let expected = COLUMNS.map(|(name, _)| name);
    if got != expected {
        return Err(format!("its columns are {got:?}, not {expected:?}"));
    }
    let types = super::series::schema().map_err(|e| e.to_string())?;
    match schema.root_schema().get_fields() == types.get_fields() {
        true => Ok(()),
        false => Err("its columns have other types".into()),
    }
}

/// The rows of one row group.
struct Rows {
    run: Vec<i32>,
    kind: Vec<ByteArray>,
    entity: Vec<ByteArray>,
    metric: Vec<ByteArray>,
    time: Vec<f64>,
    value: Vec<f64>,
}

impl Rows {
    fn read(group: &dyn RowGroupReader) -> parquet::errors::Result<Rows> {
        let place = |name| COLUMNS.iter().position(|(column, _)| *column == name);
        let place = |name| place(name).expect("one of COLUMNS");
        let (value, there) = column::<DoubleType>(group, place("value"))?;
        let mut values = value.into_iter();
        Ok(Rows {
            run: column::<Int32Type>(group, place("run"))?.0,
            kind: column::<ByteArrayType>(group, place("entity_kind"))?.0,
            entity: column::<ByteArrayType>(group, place("entity"))?.0,
            metric: column::<ByteArrayType>(group, place("metric"))?.0,
            time: column::<DoubleType>(group, place("time_s"))?.0,
            value: there
                .into_iter()
                .map(|there| match there {
                    1 => values.next().unwrap_or(f64::NAN),
                    _ => f64::NAN,
                })
                .collect(),
        })
    }

    /// Adds the rows to the runs' series. Samples of a series follow each other.
    fn append_to(&self, runs: &mut [Run], names: &Names) -> Result<(), String> {
        let n = self.run.len();
        let lengths = [self.kind.len(), self.entity.len(), self.metric.len()];
        if lengths != [n; 3] || [self.time.len(), self.value.len()] != [n; 2] {
            return Err("its columns differ in length".into());
        }
        let key = |i: usize| (self.run[i], &self.kind[i], &self.entity[i], &self.metric[i]);
        let mut start = 0;
        while start < n {
            let end = (start..n).find(|&i| key(i) != key(start)).unwrap_or(n);
            let text = |column: &[ByteArray]| -> Result<String, String> {
                let text = column[start].as_utf8().map_err(|e| e.to_string())?;
                Ok(text.to_string())
            };
            let index = self.run[start];
            let run = usize::try_from(index).ok().and_then(|i| runs.get_mut(i));
            let run = run.ok_or_else(|| format!("the manifest has no run {index}"))?;
            let metric: Metric = text(&self.metric)?.parse()?;
            let entity = names.find(&text(&self.kind)?, &text(&self.entity)?)?;
            let values = self.value[start..end].to_vec();
            if run.series.is_empty() {
                run.time = self.time[start..end].to_vec();
            }
            run.series.push(Series {
                metric,
                entity,
                values,
            });
            start = end;
        }
        Ok(())
    }
}
