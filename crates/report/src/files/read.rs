//! The reader of run directories.

use super::manifest::{CertificateRecord, RunRecord, StoredManifest};
use super::place::is_remains;
use super::series::fields;
use super::{FileError, LARGEST_SCENARIO, LARGEST_TABLE, MANIFEST, PARQUET, SCENARIO, TRANSFERS};
use crate::compare::Outline;
use accord_columns::{Damaged, Reader};
use accord_files::open;
use accord_record::{Manifest, Run, Series, Statistics};
use accord_scenario::{Engine, Entity, Metric, Window};
use accord_units::Time;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A run directory in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRun {
    /// The path from which it was read.
    pub path: PathBuf,
    /// The manifest.
    pub manifest: StoredManifest,
    /// The runs, in the manifest's order. The time axis of a run without any series is not kept.
    pub runs: Vec<Run>,
}

impl LoadedRun {
    /// Returns true if another program measured the runs, so there is no scenario.
    pub fn is_measured(&self) -> bool {
        let files = &self.manifest.checksums;
        !files.is_empty() && !files.contains_key(SCENARIO)
    }

    /// Returns the values that distinguish the point from the others of its sweep, or "".
    pub fn label(&self) -> String {
        crate::axis::label(&self.manifest.scenario.point)
    }
}

/// Reads a run directory: manifest and series.
pub fn load_run_dir(path: &Path) -> Result<LoadedRun, FileError> {
    let no_run = |why| FileError::NoRun { path: path.into(), why };
    if !path.exists() {
        return Err(no_run("it does not exist"));
    }
    if !path.join(MANIFEST).exists() {
        return Err(no_run("it has no manifest.json"));
    }
    if is_remains(path) {
        return Err(no_run("its manifest.json is empty, as after a power cut"));
    }
    let manifest = StoredManifest::read(path)?;
    let file = path.join(PARQUET);
    let broken = |why: String| FileError::broken(&file, why);
    let mut runs = Vec::new();
    for record in &manifest.runs {
        runs.push(empty_run(record).map_err(|e| FileError::broken(path, e))?);
    }
    let largest =
        [(SCENARIO, LARGEST_SCENARIO), (PARQUET, LARGEST_TABLE), (TRANSFERS, LARGEST_TABLE)];
    for (name, most) in largest {
        manifest.verify(path, name, most)?;
    }
    let opened = open(&file, LARGEST_TABLE).map_err(|e| FileError::io("read", &file, e))?;
    let reader = Reader::open(opened, &fields()).map_err(|e| broken(e.to_string()))?;
    let names = names(&manifest.scenario);
    for group in 0..reader.groups() {
        let rows = Rows::read(&reader, group).map_err(|e| broken(e.to_string()))?;
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
    let mut loaded = LoadedRun { path: path.into(), manifest, runs };
    let file = path.join(TRANSFERS);
    match open(&file, LARGEST_TABLE) {
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
            version: record.version.clone(),
            scenario_hash: record.scenario_hash.clone(),
            seed: record.seed,
            digest: record.digest.clone(),
            plan: record.plan.clone(),
        },
        time: vec![],
        series: vec![],
        transfers: vec![],
        statistics: Statistics { packet_hops: record.packet_hops, steps: record.steps },
        certificates: (record.certificates.iter()).map(CertificateRecord::certificate).collect(),
        notes: record.notes.clone(),
        unfit: record.unfit.clone(),
        broken: Vec::new(),
        skipped: (record.skipped_ps.iter())
            .map(|&(start, end)| Window { start: Time::from_ps(start), end: Time::from_ps(end) })
            .collect(),
        only_over: (record.only_over_ps)
            .map(|(start, end)| Window { start: Time::from_ps(start), end: Time::from_ps(end) }),
        stalls: Vec::new(),
    })
}

/// The entities with series, by kind and name.
type Names = BTreeMap<(String, String), Entity>;

fn names(outline: &Outline) -> Names {
    let flows = outline.groups.iter().flat_map(|g| &g.flows);
    let flows = flows.enumerate().map(|(i, f)| (("flow", f.clone()), Entity::Flow(i)));
    let groups = outline.groups.iter().enumerate();
    let groups = groups.map(|(i, g)| (("group", g.name.clone()), Entity::Group(i)));
    let quantiles = outline.quantiles().map(|(name, entity)| (("quantile", name), entity));
    let links = outline.links.iter().enumerate();
    let links = links.map(|(i, l)| (("link", l.name.clone()), Entity::Link(i)));
    let aggregates = outline.aggregates(|_| true);
    let aggregates = aggregates.map(|(name, entity)| (("aggregate", name), entity));
    let all = flows.chain(groups).chain(quantiles).chain(links).chain(aggregates);
    all.map(|((kind, name), entity)| ((kind.to_string(), name), entity)).collect()
}

/// A group of rows: texts and integers with the number of rows to which they apply.
struct Rows {
    run: Vec<(i32, usize)>,
    kind: Vec<(String, usize)>,
    entity: Vec<(String, usize)>,
    metric: Vec<(String, usize)>,
    time: Vec<f64>,
    value: Vec<f64>,
}

impl Rows {
    fn read(reader: &Reader, group: usize) -> Result<Rows, Damaged> {
        Ok(Rows {
            run: reader.counts(group, "run")?,
            kind: reader.texts(group, "entity_kind")?,
            entity: reader.texts(group, "entity")?,
            metric: reader.texts(group, "metric")?,
            time: reader.numbers(group, "time_s")?,
            value: reader.numbers(group, "value")?,
        })
    }

    /// Adds the rows to the runs' series. Samples of a series follow each other.
    fn append_to(&self, runs: &mut [Run], names: &Names) -> Result<(), String> {
        let mut columns = (
            Steps::of(&self.run),
            Steps::of(&self.kind),
            Steps::of(&self.entity),
            Steps::of(&self.metric),
        );
        let rows = self.time.len();
        let lengths = [columns.0.rows(), columns.1.rows(), columns.2.rows()];
        if lengths != [rows; 3] || [columns.3.rows(), self.value.len()] != [rows; 2] {
            return Err("its columns differ in length".into());
        }
        let mut start = 0;
        while start < rows {
            let (index, a) = columns.0.at(start);
            let (kind, b) = columns.1.at(start);
            let (entity, c) = columns.2.at(start);
            let (metric, d) = columns.3.at(start);
            let (first, end) = (start, a.min(b).min(c).min(d));
            let run = usize::try_from(*index).ok().and_then(|i| runs.get_mut(i));
            let run = run.ok_or_else(|| format!("the manifest has no run {index}"))?;
            if run.series.is_empty() {
                run.time = self.time[first..end].to_vec();
            }
            start = end;
            let metric = match metric.parse::<Metric>() {
                Ok(metric) => metric,
                // The metric belongs to a controller of another program.
                Err(_) if metric.contains('.') => continue,
                Err(why) => return Err(why),
            };
            let named = names.get(&(kind.clone(), entity.clone())).copied();
            run.series.push(Series {
                metric,
                entity: named.ok_or_else(|| format!("the manifest has no {kind} \"{entity}\""))?,
                values: self.value[first..end].to_vec(),
            });
        }
        Ok(())
    }
}

/// A column whose values apply to several rows, read from the first row to the last.
struct Steps<'a, T> {
    steps: &'a [(T, usize)],
    /// The first row after the first of `steps`.
    end: usize,
}

impl<'a, T> Steps<'a, T> {
    fn of(steps: &'a [(T, usize)]) -> Steps<'a, T> {
        let end = steps.first().map_or(0, |(_, n)| *n);
        Steps { steps, end }
    }

    fn rows(&self) -> usize {
        self.steps.iter().map(|(_, n)| n).sum()
    }

    /// Returns the value in a row, and the first row with a different value.
    fn at(&mut self, row: usize) -> (&'a T, usize) {
        while row >= self.end {
            self.steps = &self.steps[1..];
            self.end += self.steps[0].1;
        }
        (&self.steps[0].0, self.end)
    }
}
