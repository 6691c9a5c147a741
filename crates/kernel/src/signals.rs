//! Signals that end a process.

use crate::{Ended, Error};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

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

    /// Leaves the signals to a command, which would begin with those of this thread blocked.
    pub fn leave_to(&self, command: &mut Command) {
        let leave = || Ok(all().thread_unblock()?);
        // SAFETY: between fork and exec only the signal mask is set, which is async-signal-safe, and
        // nothing is allocated.
        #[expect(unsafe_code, reason = "the signal mask of a child")]
        let _ = unsafe { command.pre_exec(leave) };
    }

    /// Waits for a signal, for at most `limit_ms` milliseconds, and returns the end that it requests.
    pub fn within(&self, limit_ms: u16) -> Option<Ended> {
        let mut files = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        // An interrupted wait is merely shorter.
        let _ = poll(&mut files, PollTimeout::from(limit_ms));
        self.asked()
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
