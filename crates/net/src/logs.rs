//! The logs of connections, in the run that is captured, and in live runs.

use accord::files;
use accord::transport::{Connect, Ends, Log, Setup};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The byte before each record of a JSON text sequence [RFC 7464 §2.2], as in qlog files.
const RECORD: u8 = 0x1e;

/// The logs of both ends of connections, one after the other.
pub type Kept = Vec<[Log; 2]>;

/// The logs of all connections of a flow or group. `None` if they are not kept.
#[derive(Clone, Debug, Default)]
pub struct Logs(Arc<Mutex<Option<Kept>>>);

impl Logs {
    fn all(&self) -> MutexGuard<'_, Option<Kept>> {
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

    /// Stops keeping logs, and returns those of the connections since.
    pub fn take(&self) -> Kept {
        self.all().take().unwrap_or_default()
    }
}

/// Writes the logs that are not empty, and returns the paths of the files. Their names begin with `stem`;
/// `names` has the names of the flows of these connections, in their order.
pub fn write(
    kept: &[[Log; 2]],
    folder: &Path,
    stem: &str,
    names: &[&str],
) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for (name, pair) in names.iter().zip(kept) {
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

/// Returns the suffix that tools expect: qlog files are sequences of JSON texts, or JSON.
fn suffix(bytes: &[u8]) -> &'static str {
    match bytes[0] {
        RECORD => "sqlog",
        b'{' => "qlog",
        _ => "log",
    }
}
