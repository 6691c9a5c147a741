//! The file of `--pcap`.

use crate::fail::Failure;
use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A capture file in progress. If it is not finished it is removed, unless it is a pipe or a
/// device.
pub struct CaptureFile {
    path: PathBuf,
    is_file: bool,
    state: Mutex<State>,
}

struct State {
    out: BufWriter<File>,
    failed: Option<Error>,
    done: bool,
}

impl CaptureFile {
    pub fn create(path: &Path) -> Result<CaptureFile, Failure> {
        let file = File::create(path)
            .map_err(|e| Failure::new(format!("cannot create {}: {e}", path.display())))?;
        Ok(CaptureFile {
            path: path.into(),
            is_file: file.metadata().is_ok_and(|m| m.is_file()),
            state: Mutex::new(State { out: BufWriter::new(file), failed: None, done: false }),
        })
    }

    /// Appends a packet. An error is reported at the end, when the results are safe.
    pub fn write(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if state.failed.is_none() {
            state.failed = state.out.write_all(bytes).err();
        }
    }

    pub fn finish(self) -> Result<(), Failure> {
        let mut state = self.lock();
        let failed = state.failed.take().or_else(|| state.out.flush().err());
        state.done = failed.is_none();
        match failed {
            None => Ok(()),
            Some(e) => {
                let path = self.path.display();
                Err(Failure::io(format!("cannot write {path}: {e}"), &e))
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for CaptureFile {
    fn drop(&mut self) {
        if self.is_file && !self.lock().done {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
