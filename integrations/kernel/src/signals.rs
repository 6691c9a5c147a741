//! Signals that end a process.

use crate::{Ended, Error};
use nix::libc::c_int;
use nix::poll::{PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::atomic::{AtomicI32, Ordering};

/// The number of the latest signal that was not asked for, or 0 without one.
static LATEST: AtomicI32 = AtomicI32::new(0);

extern "C" fn keep(signal: c_int) {
    LATEST.store(signal, Ordering::Relaxed);
}

/// SIGHUP, SIGINT and SIGTERM of this process, which [`Signals::asked`] reads until this value is dropped.
/// Any thread may receive them, such as those of Python. Signals that the process ignores stay ignored, as
/// after nohup.
#[derive(Debug)]
pub struct Signals(Vec<(Signal, SigAction)>);

impl Signals {
    /// Takes the signals.
    ///
    /// # Errors
    ///
    /// Fails if the kernel refuses.
    pub fn take() -> Result<Signals, Error> {
        LATEST.store(0, Ordering::Relaxed);
        let ours = SigAction::new(SigHandler::Handler(keep), SaFlags::SA_RESTART, SigSet::empty());
        let mut taken = Signals(Vec::new());
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
            let before = set(signal, &ours)
                .map_err(|e| Error::Unable(format!("signals cannot be taken: {e}")))?;
            taken.0.push((signal, before));
            if matches!(before.handler(), SigHandler::SigIgn) {
                // Restores the previous action.
                let _ = set(signal, &before);
            }
        }
        Ok(taken)
    }

    /// Waits for a signal, for at most `limit_ms` milliseconds, and returns the end that it requests.
    pub fn within(&self, limit_ms: u16) -> Option<Ended> {
        // An interrupted wait is merely shorter.
        let _ = poll(&mut [], PollTimeout::from(limit_ms));
        self.asked()
    }

    /// Returns the end that a signal has requested.
    pub fn asked(&self) -> Option<Ended> {
        match LATEST.swap(0, Ordering::Relaxed) {
            0 => None,
            signal if signal == Signal::SIGTERM as c_int => Some(Ended::Stopped),
            _ => Some(Ended::Interrupted),
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, before) in &self.0 {
            let _ = set(*signal, before);
        }
    }
}

/// Sets the action of a signal, and returns the previous one.
fn set(signal: Signal, action: &SigAction) -> nix::Result<SigAction> {
    // SAFETY: the action is one that the process had before, or `keep`, which only stores a number
    // and so is async-signal-safe.
    #[expect(unsafe_code, reason = "handlers of signals")]
    unsafe {
        sigaction(signal, action)
    }
}
