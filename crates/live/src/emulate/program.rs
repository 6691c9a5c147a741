//! A program of an emulation, in its network namespace and behind its guard.

use super::guard;
use crate::LiveError;
use crate::namespace::Namespace;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;

/// A program, from before its start to its end.
pub struct Program<'a> {
    place: &'a Namespace,
    /// The line that starts a guard, the rest of which is for the guard.
    guard: &'a [OsString],
    line: Vec<OsString>,
    variables: Vec<(&'static str, String)>,
    lasts: bool,
    resolver: Option<IpAddr>,
    state: Mutex<State>,
}

/// The guard of the program, if it is running.
#[derive(Default)]
struct State {
    child: Option<Child>,
    has_ended: bool,
}

impl<'a> Program<'a> {
    /// Creates a program in a namespace, with the addresses of the server. One that `lasts` ends with the
    /// last process that it started. Names are resolved at `resolver`, or where the host does.
    pub fn new(
        place: &'a Namespace,
        guard: &'a [OsString],
        line: &[OsString],
        (server, server6): (IpAddr, IpAddr),
        lasts: bool,
        resolver: Option<IpAddr>,
    ) -> Program<'a> {
        let replaced = |word: &OsString| match word.to_str() {
            Some(text) => text.replace("{server}", &server.to_string()).into(),
            None => word.clone(),
        };
        Program {
            place,
            guard,
            line: line.iter().map(replaced).collect(),
            variables: vec![
                ("ACCORD_SERVER", server.to_string()),
                ("ACCORD_SERVER6", server6.to_string()),
                // The name that programs for mahimahi know.
                ("MAHIMAHI_BASE", server.to_string()),
            ],
            lasts,
            resolver,
            state: Mutex::default(),
        }
    }

    /// Runs the program to its end.
    pub fn run(&self) -> Result<ExitStatus, LiveError> {
        let status = self.guarded();
        self.state().has_ended = true;
        status
    }

    /// Returns true if the program was run.
    pub fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    fn guarded(&self) -> Result<ExitStatus, LiveError> {
        let [program, rest @ ..] = self.guard else {
            return Err(LiveError::Unable("an emulation needs a guard for its programs".into()));
        };
        let parent = guard::number("Pid").to_string();
        let lasts = if self.lasts { guard::LASTS } else { guard::ENDS };
        let resolver = self.resolver.map_or(guard::NONE.into(), |address| address.to_string());
        let words = [guard::WORD, &parent, lasts, &resolver].map(OsStr::new);
        let mut command = Command::new(program);
        command.args(rest).args(words).args(&self.line).envs(self.variables.iter().cloned());
        // The thread lives as long as the guard: its end would be taken for that of this process.
        let status = self.place.within(|| {
            // The next process is the first of its namespace.
            unshare(CloneFlags::CLONE_NEWPID)?;
            let child = command.spawn()?;
            let process = Pid::from_raw(child.id().cast_signed());
            self.state().child = Some(child);
            // It keeps its number until it is waited for, so that no other process has a signal.
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            while waitid(Id::Pid(process), flags) == Err(nix::errno::Errno::EINTR) {}
            let mut child = self.state().child.take().ok_or(std::io::ErrorKind::NotFound)?;
            child.wait()
        })?;
        status.map_err(|e| LiveError::system(&format!("run {}", self.line[0].display()), e))
    }

    /// Asks the program to end, or kills it. Its guard may not hear the first time.
    pub fn end(&self, kills: bool) {
        let signal = if kills { Signal::SIGKILL } else { Signal::SIGTERM };
        let state = self.state();
        if let Some(child) = &state.child {
            // One that is gone has ended.
            let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}
