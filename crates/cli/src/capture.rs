//! The file of `--pcap`.

use crate::fail::Failure;
use accord::files::Whole;
use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A capture file in progress. If it is not finished, an earlier file is left.
pub struct CaptureFile {
    path: PathBuf,
    whole: Whole,
    state: Mutex<State>,
}

struct State {
    out: BufWriter<File>,
    failed: Option<Error>,
}

impl CaptureFile {
    pub fn create(path: &Path) -> Result<CaptureFile, Failure> {
        let cannot = |e| Failure::io(format!("cannot create {}: {e}", path.display()), &e);
        let whole = Whole::replace(path).map_err(cannot)?;
        let out = BufWriter::new(whole.open().map_err(cannot)?);
        let state = Mutex::new(State { out, failed: None });
        Ok(CaptureFile { path: path.into(), whole, state })
    }

    /// Appends a packet. An error is reported at the end, when the results are safe.
    pub fn write(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if state.failed.is_none() {
            state.failed = state.out.write_all(bytes).err();
        }
    }

    pub fn finish(self) -> Result<(), Failure> {
        let CaptureFile { path, whole, state } = self;
        let mut state = state.into_inner().unwrap_or_else(|e| e.into_inner());
        let written = state.failed.take().map_or_else(|| state.out.flush(), Err);
        written
            .and_then(|()| whole.finish())
            .map_err(|e| Failure::io(format!("cannot write {}: {e}", path.display()), &e))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}
