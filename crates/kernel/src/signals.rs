//! Signals that end a process.

use crate::{Ended, Error};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGHUP, SIGINT and SIGTERM of this thread, which [`Signals::asked`] reads instead of a handler
/// until this is dropped.
#[derive(Debug)]
pub struct Signals(SignalFd);

fn all() -> SigSet {
    [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM]
        .into_iter()
        .collect()
}

impl Signals {
    /// Takes the signals.
    ///
    /// # Errors
    ///
    /// Fails if the kernel refuses.
    pub fn take() -> Result<Signals, Error> {
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        (all().thread_block())
            .and_then(|()| SignalFd::with_flags(&all(), flags))
            .map(Signals)
            .map_err(|e| Error::Unable(format!("signals cannot be taken: {e}")))
    }

    /// Returns the end that a signal has requested.
    pub fn asked(&self) -> Option<Ended> {
        let signal = self.0.read_signal().ok().flatten()?;
        Some(match signal.ssi_signo as i32 == Signal::SIGTERM as i32 {
            true => Ended::Stopped,
            false => Ended::Interrupted,
        })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // The signal mask is restored, except for signals that the program had blocked before.
        let _ = all().thread_unblock();
    }
}
