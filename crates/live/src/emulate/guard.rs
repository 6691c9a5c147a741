//! The guard of a program: the first process of a PID namespace.
//!
//! The kernel kills all processes of such a namespace when the first one ends, and it ends with the emulation, by
//! whatever signal. So nothing stays behind, whatever a program starts and whichever user it becomes. The guard has
//! a view of `/proc` with these processes only, and collects the exit codes of orphans.

use accord_host::Clock;
use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

/// The first argument of the program `accord` that makes it a guard.
pub const WORD: &str = "emulate-guard";
/// A guard that ends with its command, together with all processes that the command has started.
pub const ENDS: &str = "ends";
/// A guard that lives as long as a process does.
pub const LASTS: &str = "lasts";
/// No name server.
pub const NONE: &str = "-";

/// The time that the remaining processes have to end, before they are killed.
const GRACE: Duration = Duration::from_ms(500);
/// The exit codes that shells use for a command that does not exist, and for one that cannot be run.
const MISSING: u8 = 127;
const UNFIT: u8 = 126;
/// The exit code of a guard whose emulation is gone.
const ORPHAN: u8 = 125;

/// Returns the number of a process in the current view of `/proc`: that of the thread itself, or of its
/// parent. It is zero without such a view.
pub fn number(of: &str) -> i32 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(of)?.strip_prefix(':'));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Runs a command as the first process of a PID namespace. The arguments are the number of the parent, `ENDS` or
/// `LASTS`, the address of a name server or `NONE`, the limit of open files or zero, and the command. Returns the
/// exit code of the command, or 128 plus the signal that ended it.
pub fn run(arguments: &[OsString]) -> u8 {
    let [parent, lasts, resolver, files, program, rest @ ..] = arguments else {
        return complain("a guard is started by `accord emulate` only", UNFIT);
    };
    if set_pdeathsig(Signal::SIGKILL).is_err() || parent != &*number("PPid").to_string() {
        // The emulation ended before its end would have been noticed.
        return ORPHAN;
    }
    let own = unshare(CloneFlags::CLONE_NEWNS).and_then(|()| {
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
    });
    if own.is_ok() {
        // Containers may forbid another view of processes. Then numbers are those outside.
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let _ = mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>);
    }
    let resolver = resolver.to_str().and_then(|text| text.parse().ok());
    if let Some(resolver) = resolver
        && let Err(e) = own.map_err(Into::into).and_then(|()| resolve_at(resolver))
    {
        let _ = complain(format_args!("no names are resolved: {e}"), UNFIT);
    }
    // The emulation raised its own.
    let files = files.to_str().and_then(|text| text.parse().ok()).filter(|files| *files > 0);
    if let (Some(files), Ok((_, hard))) = (files, getrlimit(Resource::RLIMIT_NOFILE)) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, files, hard);
    }
    let child = match Command::new(program).args(rest).spawn() {
        Ok(child) => Pid::from_raw(child.id().cast_signed()),
        Err(e) => {
            let code = if e.kind() == std::io::ErrorKind::NotFound { MISSING } else { UNFIT };
            return complain(format_args!("cannot run {}: {e}", program.display()), code);
        }
    };
    // The command has them unblocked. The kernel discards those that came until now, as it does for every
    // first process.
    let signals = SigSet::all();
    if let Err(e) = signals.thread_block() {
        return complain(format_args!("signals cannot be blocked: {e}"), UNFIT);
    }
    watch(child, &signals, lasts.as_os_str() == OsStr::new(LASTS))
}

/// Waits for the command, and then ends the remaining processes, at once if asked to. Returns the exit code.
fn watch(child: Pid, signals: &SigSet, lasts: bool) -> u8 {
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let Ok(heard) = SignalFd::with_flags(signals, flags) else {
        return complain("no signals can be read", UNFIT);
    };
    let clock = Clock::at_one_second();
    let (mut code, mut until) = (None, None::<Time>);
    loop {
        let mut asked = false;
        while let Ok(Some(signal)) = heard.read_signal() {
            asked |= signal.ssi_signo == Signal::SIGTERM as u32;
        }
        let is_empty = loop {
            match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(process, exit)) if process == child => {
                    code = Some(exit as u8);
                }
                Ok(WaitStatus::Signaled(process, signal, _)) if process == child => {
                    code = Some(128 + signal as u8);
                }
                Ok(WaitStatus::StillAlive) => break false,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => break true,
            }
        };
        let left = until.map(|until| until.since(clock.now()));
        if is_empty || left == Some(Duration::ZERO) {
            return code.unwrap_or(128 + Signal::SIGKILL as u8);
        }
        if until.is_none() && (asked || code.is_some() && !lasts) {
            // All but the guard.
            let _ = kill(Pid::from_raw(-1), Signal::SIGTERM);
            until = Some(clock.now() + GRACE);
            continue;
        }
        // Whole milliseconds, and one for the rest.
        let patience = left.map_or(-1, |left| left.as_secs_f64().mul_add(1e3, 1.0) as i32);
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::NONE);
        let _ = poll(&mut [PollFd::new(heard.as_fd(), PollFlags::POLLIN)], patience);
    }
}

/// Makes the processes here use a name server.
fn resolve_at(resolver: IpAddr) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new()?;
    writeln!(file, "nameserver {resolver}")?;
    // Everyone may read it.
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(file.path(), everyone)?;
    // The name may be a link. The file stays as long as it is mounted.
    let place = std::fs::canonicalize(Path::new("/etc/resolv.conf"))?;
    mount(Some(file.path()), &place, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
    Ok(())
}

/// Prints a message. Returns the exit code.
#[allow(clippy::disallowed_methods, reason = "a closed pipe is no error here")]
fn complain(text: impl std::fmt::Display, code: u8) -> u8 {
    let _ = writeln!(std::io::stderr(), "error: {text}");
    code
}
