//! The files of `--qlog`: one per flow whose sender is a stream, and those that other stacks write.

use crate::fail::Failure;
use accord::files::{Whole, create_dirs, finish_all};
use accord::scenario::Scenario;
use serde_json::json;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The version of qlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum QlogVersion {
    /// draft-ietf-quic-qlog-main-schema-14 and draft-ietf-quic-qlog-quic-events-13.
    #[default]
    Draft,
    /// 0.3, which qvis reads.
    #[value(name = "0.3")]
    V03,
}

/// The names of events that differ in version 0.3.
const NAMES: [(&str, &str); 5] = [
    ("quic:packet_sent", "transport:packet_sent"),
    ("quic:packet_received", "transport:packet_received"),
    ("quic:packet_lost", "recovery:packet_lost"),
    ("quic:recovery_metrics_updated", "recovery:metrics_updated"),
    ("quic:congestion_state_updated", "recovery:congestion_state_updated"),
];

/// A directory of logs in progress. Unless it is finished, earlier files are left.
pub struct QlogDir {
    dir: PathBuf,
    version: QlogVersion,
    /// The scenario's id, and the names of its flows.
    id: String,
    flows: Vec<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The files, by flow and by the part of their names. They are opened per piece, since their number may exceed the limit of
    /// open files.
    files: BTreeMap<(usize, &'static str), Whole>,
    failed: Option<(PathBuf, Error)>,
}

impl QlogDir {
    /// Creates the directory if it does not exist.
    pub fn create(
        dir: &Path,
        version: QlogVersion,
        scenario: &Scenario,
    ) -> Result<QlogDir, Failure> {
        create_dirs(dir)
            .map_err(|e| Failure::io(format!("cannot create {}: {e}", dir.display()), &e))?;
        Ok(QlogDir {
            dir: dir.into(),
            version,
            id: scenario.id.clone(),
            flows: scenario.flows.iter().map(|f| f.name.clone()).collect(),
            state: Mutex::default(),
        })
    }

    /// Appends records of a flow. An error is reported at the end, when the results are safe.
    pub fn write(&self, flow: usize, records: &str) {
        if !records.is_empty() {
            let begin = |file: &mut File| self.begin(file, flow);
            self.append((flow, ""), begin, self.named(records).as_bytes());
        }
    }

    /// Appends bytes of the log that another stack writes for the sending or the receiving end of a
    /// flow, as they are. An error is reported at the end.
    pub fn write_of_stack(&self, flow: usize, end: usize, bytes: &[u8]) {
        let end = [".sender", ".receiver"][end];
        self.append((flow, end), |_| Ok(()), bytes);
    }

    fn append(
        &self,
        (flow, part): (usize, &'static str),
        begin: impl FnOnce(&mut File) -> std::io::Result<()>,
        bytes: &[u8],
    ) {
        let mut state = self.lock();
        if state.failed.is_some() {
            return;
        }
        let path = self.dir.join(file_name(&self.flows[flow], part));
        let written = match state.files.entry((flow, part)) {
            Entry::Occupied(whole) => whole.get().open(),
            Entry::Vacant(place) => Whole::replace(&path).and_then(|whole| {
                let mut file = place.insert(whole).open()?;
                begin(&mut file)?;
                Ok(file)
            }),
        };
        let written = written.and_then(|mut file| file.write_all(bytes));
        state.failed = written.err().map(|e| (path, e));
    }

    /// Writes the header of a file.
    fn begin(&self, file: &mut File, flow: usize) -> std::io::Result<()> {
        let title = format!("{}, flow {}", self.id, self.flows[flow]);
        let version = env!("CARGO_PKG_VERSION");
        let description =
            format!("The sender of a stream of Accord {version}, in the terms of QUIC");
        let vantage = json!({ "name": self.flows[flow], "type": "client" });
        let header = match self.version {
            QlogVersion::Draft => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": title,
                "description": description,
                "trace": {
                    "common_fields": {
                        "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                        "time_format": "relative_to_epoch",
                    },
                    "vantage_point": vantage,
                    "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
                },
            }),
            QlogVersion::V03 => json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "title": title,
                "description": description,
                "trace": {
                    "common_fields": { "time_format": "relative", "reference_time": 0 },
                    "vantage_point": vantage,
                },
            }),
        };
        writeln!(file, "\u{1e}{header}")
    }

    /// Returns records with the names of events of the version.
    fn named(&self, records: &str) -> String {
        match self.version {
            QlogVersion::Draft => records.to_owned(),
            QlogVersion::V03 => (NAMES.iter()).fold(records.to_owned(), |text, (new, old)| {
                let name = |name| format!("\"name\":\"{name}\"");
                text.replace(&name(new), &name(old))
            }),
        }
    }

    /// Finishes the files.
    pub fn finish(self) -> Result<(), Failure> {
        let QlogDir { dir, state, .. } = self;
        let State { files, failed } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let cannot = |path: &Path, e: &Error| {
            Failure::io(format!("cannot write {}: {e}", path.display()), e)
        };
        match failed {
            Some((path, e)) => Err(cannot(&path, &e)),
            None if files.is_empty() => {
                let why = "--qlog has nothing to write: no flow that sent data is a stream of Accord or writes a log";
                Err(Failure::new(why)
                    .hint("flows of the kernel's TCP, tunnels and datagrams have no log"))
            }
            None => finish_all(files.into_values().collect()).map_err(|e| cannot(&dir, &e)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the file name of a part of a flow, with characters replaced that are invalid in file names.
fn file_name(flow: &str, part: &str) -> String {
    let name = flow.replace(|c: char| c.is_control() || matches!(c, '/' | '\\'), "_");
    format!("{name}{part}.sqlog")
}
