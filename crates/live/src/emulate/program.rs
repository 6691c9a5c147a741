//! A program of an emulation, in its network namespace and behind its guard.

use super::ends::Address;
use super::guard;
use crate::LiveError;
use crate::fabric::limit_before;
use crate::namespace::Namespace;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;

/// The time between two looks at a program.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// Waits until the next look at a program.
#[allow(clippy::disallowed_methods, reason = "other programs are waited for")]
pub fn pause() {
    std::thread::sleep(LOOK);
}

/// A program, from before its start to its end.
pub struct Program<'a> {
    place: &'a Namespace,
    /// The line that starts a guard, the rest of which is for the guard.
    guard: &'a [OsString],
    line: Vec<OsString>,
    variables: Vec<(String, String)>,
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
    /// Creates a program in a namespace. Each end has a name with its addresses. The first name is that of the far
    /// end, and of equal names the last one counts. A program that `lasts` ends with the last process that it
    /// started. Names are resolved at `resolver`, or as on the host.
    pub fn new(
        place: &'a Namespace,
        guard: &'a [OsString],
        line: &[OsString],
        names: &[(String, Address)],
        lasts: bool,
        resolver: Option<IpAddr>,
    ) -> Program<'a> {
        let replaced = |word: &OsString| match word.to_str() {
            Some(text) => addressed(text, names).into(),
            None => word.clone(),
        };
        let variables = names.iter().flat_map(|(name, Address { v4, v6 })| {
            let name = variable(name);
            [(name.clone(), v4.to_string()), (name + "6", v6.to_string())]
        });
        // The name that programs for mahimahi know.
        let far = names.first().map(|(_, far)| ("MAHIMAHI_BASE".into(), far.v4.to_string()));
        Program {
            place,
            guard,
            line: line.iter().map(replaced).collect(),
            variables: far.into_iter().chain(variables).collect(),
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
        let files = limit_before().to_string();
        let words = [guard::WORD, &parent, lasts, &resolver, &files].map(OsStr::new);
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

    /// Asks the program to end, or kills it. The guard may miss the first request.
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

/// Returns a word with the addresses of the ends in place of their names in braces. Shell variables stay.
fn addressed(word: &str, names: &[(String, Address)]) -> String {
    let mut parts = word.split('{');
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let named = part.split_once('}').filter(|_| !text.ends_with('$'));
        let found = named.and_then(|(name, rest)| {
            names.iter().rfind(|(known, _)| known == name).map(|(_, address)| (address.v4, rest))
        });
        match found {
            Some((address, rest)) => text += &format!("{address}{rest}"),
            None => text += &format!("{{{part}"),
        }
    }
    text
}

/// Returns the name of the variable with the address of an end: `ACCORD_` and its letters and digits.
fn variable(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("ACCORD_{}", name.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_become_addresses() {
        let end = |n: u8| Address { v4: [198, 18, 0, n].into(), v6: [0; 16].into() };
        let names = [("cell-1".to_string(), end(1)), ("server".to_string(), end(2))];
        let text = "ping {server} ${server} {cell-1}:{x} {} {server";
        assert_eq!(addressed(text, &names), "ping 198.18.0.2 ${server} 198.18.0.1:{x} {} {server");
        assert_eq!(variable("cell-1"), "ACCORD_CELL_1");
    }
}
