//! The protocol between a service and systemd: notifications, and files that systemd keeps from one
//! start to the next [sd_notify(3), sd_listen_fds(3)]. Without systemd, calls have no effect.

use accord_units::{Duration, Time};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};
use std::io::IoSlice;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

/// The first file that is handed over.
const FIRST: RawFd = 3;

/// The connection to the service manager.
#[derive(Debug, Default)]
pub struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// The time between signs of life, and the time of the next one.
    watchdog: Option<Duration>,
    next: Time,
}

impl Manager {
    /// Connects as the environment specifies.
    pub fn connect() -> Manager {
        let socket = std::env::var_os("NOTIFY_SOCKET").and_then(|path| {
            let path = path.into_encoded_bytes();
            let address = match path.split_first()? {
                (b'@', name) => SocketAddr::from_abstract_name(name).ok()?,
                _ => SocketAddr::from_pathname(String::from_utf8(path).ok()?).ok()?,
            };
            Some((UnixDatagram::unbound().ok()?, address))
        });
        let interval = std::env::var("WATCHDOG_USEC").ok();
        let interval = interval.and_then(|text| text.parse::<u64>().ok());
        Manager {
            socket,
            // The signs are sent twice as often as requested.
            watchdog: interval.map(|us| Duration::from_us(us / 2)),
            next: Time::ZERO,
        }
    }

    /// Returns whether there is a service manager.
    pub fn is_there(&self) -> bool {
        self.socket.is_some()
    }

    /// Sends a notification, such as `READY=1`.
    pub fn tell(&self, what: &str) {
        if let Some((socket, address)) = &self.socket {
            // A manager that does not listen counts as absent.
            let _ = socket.send_to_addr(what.as_bytes(), address);
        }
    }

    /// Hands over a file for the next start, under a name. Returns whether the message was sent.
    pub fn keep(&self, name: &str, file: BorrowedFd) -> bool {
        let Some((socket, address)) = &self.socket else {
            return false;
        };
        let address = match (address.as_pathname(), address.as_abstract_name()) {
            (Some(path), _) => UnixAddr::new(path),
            (_, Some(name)) => UnixAddr::new_abstract(name),
            _ => return false,
        };
        let Ok(address) = address else { return false };
        let text = format!("FDSTORE=1\nFDNAME={name}");
        let (text, files) = ([IoSlice::new(text.as_bytes())], [file.as_raw_fd()]);
        let files = [ControlMessage::ScmRights(&files)];
        let flags = MsgFlags::MSG_NOSIGNAL;
        sendmsg(socket.as_raw_fd(), &text, &files, flags, Some(&address)).is_ok()
    }

    /// Removes the files of this name from the store.
    pub fn forget(&self, name: &str) {
        self.tell(&format!("FDSTOREREMOVE=1\nFDNAME={name}"));
    }

    /// Sends a sign of life if one is due.
    pub fn live(&mut self, now: Time) {
        if let Some(interval) = self.watchdog
            && now >= self.next
        {
            self.next = now + interval;
            self.tell("WATCHDOG=1");
        }
    }
}

/// Takes the files that were kept for this process, with their names. Call it once, before anything
/// else opens files.
pub fn kept() -> Vec<(String, OwnedFd)> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<RawFd>().ok();
    let own = number("LISTEN_PID") == i32::try_from(std::process::id()).ok();
    let (true, Some(count @ 1..)) = (own, number("LISTEN_FDS")) else {
        return Vec::new();
    };
    let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names = names.split(':').map(String::from);
    let numbers = FIRST..FIRST.saturating_add(count);
    // Missing files are skipped, because the environment may be wrong.
    let there = |fd: &RawFd| Path::new(&format!("/proc/self/fd/{fd}")).exists();
    let files = numbers.take_while(there).map(|fd| {
        // SAFETY: the file is open, and by the protocol it belongs to this process. No other code
        // here knows it, since the numbers are taken once, at the start.
        #[allow(unsafe_code, reason = "a number from the environment becomes a file")]
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // Child processes do not need it.
        let _ = fcntl(&file, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
        file
    });
    names.zip(files).collect()
}
