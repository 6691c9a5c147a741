//! The manifest of a run directory, `manifest.json`.

use super::{FileError, MANIFEST};
use crate::compare::Outline;
use accord_record::{Certificate, Run};
use accord_units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

const FORMAT: &str = "accord-run";
/// The version of the layout. It is raised when a reader of the last version would misread the
/// directory.
const VERSION: u32 = 2;
/// The version whose manifests had no checksum of their own.
const UNSEALED: u32 = 1;

/// The largest manifest that is read, in bytes. The manifest of a million flows has a fifth of this size.
pub(super) const LARGEST: u64 = 256 << 20;

/// The beginning of the last field.
const SEAL: &str = ",\n  \"checksum\": \"";

/// The runs, and the names of their parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredManifest {
    /// The mark of a run directory: "accord-run".
    pub format: String,
    /// The version of the directory's layout.
    pub format_version: u32,
    /// The names of the scenario's parts.
    pub scenario: Outline,
    /// The runs, in the numbering of the series' column `run`.
    pub runs: Vec<RunRecord>,
    /// The BLAKE3 hashes of the data files, in hexadecimal. Directories of earlier programs have
    /// none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checksums: BTreeMap<String, String>,
}

/// The data needed to repeat a run, and the amount of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The engine.
    pub engine: String,
    /// The version of Accord.
    pub version: String,
    /// The hash of the resolved scenario, in hexadecimal.
    pub scenario_hash: String,
    /// The seed.
    pub seed: u64,
    /// The digest of everything that happened, in hexadecimal.
    pub digest: String,
    /// The plan of the packet engine: "windows", or "events: " and the reason for events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The packets that crossed a link, summed over links.
    pub packet_hops: u64,
    /// The number of events or iterations.
    pub steps: u64,
    /// The residuals of its equilibria, phase by phase.
    pub certificates: Vec<CertificateRecord>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The reason, if any, why the run allows no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    /// The starts and ends of the skipped parts, in picoseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_ps: Vec<(u64, u64)>,
    /// The window over which each series has its single value, in picoseconds, for a run without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_over_ps: Option<(u64, u64)>,
}

/// A [`Certificate`] as numbers, whose meanings are described there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertificateRecord {
    /// The start and the end of the phase, in picoseconds.
    pub phase_ps: (u64, u64),
    /// The residual of the rates.
    pub stationarity: f64,
    /// The residual of the capacities.
    pub feasibility: f64,
    /// The residual of the prices.
    pub complementarity: f64,
    /// The gap of the utility.
    pub gap: f64,
}

impl CertificateRecord {
    pub(super) fn of(c: &Certificate) -> CertificateRecord {
        CertificateRecord {
            phase_ps: (c.start.as_ps(), c.end.as_ps()),
            stationarity: c.stationarity,
            feasibility: c.feasibility,
            complementarity: c.complementarity,
            gap: c.gap,
        }
    }

    pub(super) fn certificate(&self) -> Certificate {
        Certificate {
            start: Time::from_ps(self.phase_ps.0),
            end: Time::from_ps(self.phase_ps.1),
            stationarity: self.stationarity,
            feasibility: self.feasibility,
            complementarity: self.complementarity,
            gap: self.gap,
        }
    }
}

impl StoredManifest {
    pub(super) fn of(outline: &Outline, runs: &[&Run]) -> StoredManifest {
        StoredManifest {
            format: FORMAT.into(),
            format_version: VERSION,
            scenario: outline.clone(),
            runs: runs
                .iter()
                .map(|run| RunRecord {
                    engine: run.manifest.engine.to_string(),
                    version: run.manifest.version.clone(),
                    scenario_hash: run.manifest.scenario_hash.clone(),
                    seed: run.manifest.seed,
                    digest: run.manifest.digest.clone(),
                    plan: run.manifest.plan.clone(),
                    packet_hops: run.statistics.packet_hops,
                    steps: run.statistics.steps,
                    certificates: run.certificates.iter().map(CertificateRecord::of).collect(),
                    notes: run.notes.clone(),
                    unfit: run.unfit.clone(),
                    skipped_ps: (run.skipped.iter())
                        .map(|part| (part.start.as_ps(), part.end.as_ps()))
                        .collect(),
                    only_over_ps: (run.only_over)
                        .map(|window| (window.start.as_ps(), window.end.as_ps())),
                })
                .collect(),
            checksums: BTreeMap::new(),
        }
    }

    /// Checks the data file `name` of the directory `dir`, if the manifest has checksums. A missing file is
    /// an error only if it should exist. A file of more than `most` bytes is always an error.
    pub(super) fn verify(&self, dir: &Path, name: &str, most: u64) -> Result<(), FileError> {
        if self.checksums.is_empty() {
            return Ok(());
        }
        let path = dir.join(name);
        let expected = self.checksums.get(name);
        let mut hash = blake3::Hasher::new();
        let file = accord_files::open(&path, most);
        let read = file.and_then(|file| hash.update_reader(file.take(most)).map(drop));
        match (read, expected) {
            (Ok(()), Some(sum)) if *sum == *hash.finalize().to_hex() => Ok(()),
            (Ok(()), Some(_)) => {
                let why = format!(
                    "its checksum is not the one in {MANIFEST}, so it was changed or damaged \
                     after it was written; run the scenario again"
                );
                Err(FileError::broken(&path, why))
            }
            (Ok(()), None) => {
                let why = format!("{MANIFEST} has no checksum of it, so it is of another run");
                Err(FileError::broken(&path, why))
            }
            (Err(e), None) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            (Err(e), _) => Err(FileError::io("read", &path, e)),
        }
    }

    /// Returns the text of the file. Its last field is the checksum of the text before it.
    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        let text = serde_json::to_string_pretty(self)?;
        let fields = text.trim_end_matches("\n}");
        let sum = blake3::hash(fields.as_bytes()).to_hex();
        Ok(format!("{fields}{SEAL}{sum}\"\n}}\n"))
    }

    /// Returns whether the text of a manifest is unchanged since it was written.
    fn is_sealed(text: &[u8]) -> bool {
        let text = std::str::from_utf8(text).ok();
        let parts = text.and_then(|t| t.strip_suffix("\"\n}\n")?.rsplit_once(SEAL));
        parts.is_some_and(|(fields, sum)| *sum == *blake3::hash(fields.as_bytes()).to_hex())
    }

    pub(super) fn read(dir: &Path) -> Result<StoredManifest, FileError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            format_version: u32,
        }
        let path = dir.join(MANIFEST);
        let text =
            accord_files::read(&path, LARGEST).map_err(|e| FileError::io("read", &path, e))?;
        // The head is read first, because "a newer version" is a clearer message than a missing
        // field.
        let head: Head = serde_json::from_slice(&text).map_err(|e| FileError::broken(&path, e))?;
        if head.format != FORMAT {
            return Err(FileError::broken(&path, "it is not the manifest of a run"));
        }
        match head.format_version {
            VERSION if !StoredManifest::is_sealed(&text) => {
                let why = "its checksum does not hold, so it was changed or damaged after it was \
                           written; run the scenario again";
                return Err(FileError::broken(&path, why));
            }
            VERSION | UNSEALED => {}
            other => {
                let why =
                    format!("it has format version {other}; this program reads version {VERSION}");
                return Err(FileError::broken(&path, why));
            }
        }
        serde_json::from_slice(&text).map_err(|e| FileError::broken(&path, e))
    }
}
