//! The logs of connections, in the run that is captured.

use accord::files;
use accord::transport::{Connect, Ends, Log, Setup};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The byte before each record of a JSON text sequence [RFC 7464 §2.2], as in qlog files.
const RECORD: u8 = 0x1e;

/// The logs of all connections of a flow or group, one after the other. `None` if they are not kept.
#[derive(Clone, Debug, Default)]
pub struct Logs(Arc<Mutex<Option<Vec<[Log; 2]>>>>);

impl Logs {
    fn all(&self) -> MutexGuard<'_, Option<Vec<[Log; 2]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the logs of connections from now on.
    pub fn keep(&self) {
        *self.all() = Some(Vec::new());
    }

    /// Creates a connection, with logs if they are kept.
    pub fn connect(&self, connect: &Connect, setup: &Setup<'_>) -> Result<Ends, String> {
        let pair = self.all().as_mut().map(|all| {
            all.push(Default::default());
            all[all.len() - 1].clone()
        });
        connect(&Setup { logs: pair.as_ref(), ..*setup })
    }

    /// Writes the logs that are not empty, stops keeping logs and returns the paths of the files. Their
    /// names begin with `stem`; `names` has the names of the flows of these connections, in their order.
    pub fn write(&self, folder: &Path, stem: &str, names: &[&str]) -> Result<Vec<PathBuf>, String> {
        let all = self.all().take().unwrap_or_default();
        let mut paths = Vec::new();
        for (name, pair) in names.iter().zip(all) {
            for (log, end) in pair.iter().zip(["sender", "receiver"]) {
                let bytes = log.take();
                if bytes.is_empty() {
                    continue;
                }
                let path = folder.join(format!("{stem}.{name}.{end}.{}", suffix(&bytes)));
                let written: io::Result<()> = files::write(&path, &bytes);
                written.map_err(|e| format!("{}: {e}", path.display()))?;
                paths.push(path);
            }
        }
        Ok(paths)
    }
}

/// Returns the suffix that tools expect: qlog files are sequences of JSON texts, or JSON.
fn suffix(bytes: &[u8]) -> &'static str {
    match bytes[0] {
        RECORD => "sqlog",
        b'{' => "qlog",
        _ => "log",
    }
}
