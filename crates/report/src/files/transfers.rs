//! Completion times as a table, with a row per transfer.

use super::LoadedRun;
use crate::compare::Outline;
use accord_columns::{Cells, Damaged, Field, Format, Kind, Reader, Writer};
use accord_record::{Run, Transfer};
use accord_units::Bytes;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};

/// Returns the columns.
fn fields() -> [Field; 7] {
    [
        ("run", "index of the run in manifest.json", Kind::Count),
        ("engine", "the engine that ran", Kind::Text),
        (
            "group",
            "name of the group of the flow that carried it",
            Kind::Text,
        ),
        (
            "flow",
            "name of that flow; of web users, the user",
            Kind::Text,
        ),
        (
            "start_s",
            "when the application handed it to the sender, in seconds since the start of the run",
            Kind::Number,
        ),
        ("size_bytes", "its size in bytes", Kind::Long),
        (
            "duration_s",
            "seconds until the sender knew that all had arrived; null if that was not before the end of the run",
            Kind::Optional,
        ),
    ]
    .map(|(name, doc, kind)| Field::new(name, doc, kind))
}

pub(super) fn write(
    out: &mut (dyn Write + Send),
    format: Format,
    outline: &Outline,
    runs: &[&Run],
) -> io::Result<()> {
    let flows: Vec<&str> =
        (outline.groups.iter()).flat_map(|g| g.flows.iter().map(String::as_str)).collect();
    let all: Vec<(usize, &Transfer)> = (runs.iter().enumerate())
        .flat_map(|(i, run)| run.transfers.iter().map(move |t| (i, t)))
        .collect();
    let number = |of: fn(&Transfer) -> f64| all.iter().map(|(_, t)| of(t)).collect();
    let cells = [
        Cells::counts(all.iter().map(|(run, _)| *run as i32)),
        Cells::text(all.iter().map(|(run, _)| runs[*run].manifest.engine.name())),
        Cells::text((all.iter()).map(|(_, t)| outline.groups[t.group].name.as_str())),
        Cells::text(all.iter().map(|(_, t)| flows[t.flow])),
        Cells::Number(number(|t| t.start)),
        Cells::Long(all.iter().map(|(_, t)| t.size.get() as i64).collect()),
        Cells::Number(number(|t| t.duration)),
    ];
    let mut table = Writer::new(out, format, "transfers", &fields(), &[])?;
    table.group(&cells)?;
    table.finish()
}

/// Adds the transfers in `file` to the runs of `loaded`.
pub(super) fn read(file: File, loaded: &mut LoadedRun) -> Result<(), String> {
    let reader = Reader::open(file, &fields()).map_err(|e| e.to_string())?;
    let mut places = BTreeMap::new();
    for (g, group) in loaded.manifest.scenario.groups.iter().enumerate() {
        for flow in &group.flows {
            places.insert(flow.clone(), (places.len(), g));
        }
    }
    for group in 0..reader.groups() {
        let rows = Rows::read(&reader, group).map_err(|e| e.to_string())?;
        rows.append_to(&mut loaded.runs, &places)?;
    }
    for run in &mut loaded.runs {
        run.transfers.sort_by_key(|t| t.flow);
    }
    Ok(())
}

/// A group of rows.
struct Rows {
    /// Runs and flows, each with the number of rows to which it applies.
    run: Vec<(i32, usize)>,
    flow: Vec<(String, usize)>,
    start: Vec<f64>,
    size: Vec<i64>,
    duration: Vec<f64>,
}

impl Rows {
    fn read(reader: &Reader, group: usize) -> Result<Rows, Damaged> {
        Ok(Rows {
            run: reader.counts(group, "run")?,
            flow: reader.texts(group, "flow")?,
            start: reader.numbers(group, "start_s")?,
            size: reader.longs(group, "size_bytes")?,
            duration: reader.numbers(group, "duration_s")?,
        })
    }

    fn append_to(
        self,
        runs: &mut [Run],
        places: &BTreeMap<String, (usize, usize)>,
    ) -> Result<(), String> {
        let runs_of_rows: Vec<i32> = each_row(&self.run).copied().collect();
        let flows: Vec<&String> = each_row(&self.flow).collect();
        let n = runs_of_rows.len();
        let lengths = [flows.len(), self.start.len(), self.size.len()];
        if lengths != [n; 3] || self.duration.len() != n {
            return Err("its columns differ in length".into());
        }
        for i in 0..n {
            let name = flows[i];
            let &(flow, group) =
                (places.get(name)).ok_or_else(|| format!("the manifest has no flow \"{name}\""))?;
            let index = runs_of_rows[i];
            let run = usize::try_from(index).ok().and_then(|i| runs.get_mut(i));
            let run = run.ok_or_else(|| format!("the manifest has no run {index}"))?;
            let size = u64::try_from(self.size[i]).map_err(|_| "a size is negative".to_string())?;
            run.transfers.push(Transfer {
                flow,
                group,
                start: self.start[i],
                size: Bytes::new(size),
                duration: self.duration[i],
            });
        }
        Ok(())
    }
}

fn each_row<T>(runs: &[(T, usize)]) -> impl Iterator<Item = &T> {
    (runs.iter()).flat_map(|(value, n)| std::iter::repeat_n(value, *n))
}
