//! Telling systemd how the service is [sd_notify(3)]. Without systemd nothing is told.

use accord_units::{Duration, Time};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The connection to the service manager.
#[derive(Debug, Default)]
pub struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// The time between signs of life, and when the next one is due.
    watchdog: Option<Duration>,
    next: Time,
}

impl Manager {
    /// Connects as the environment says.
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
            // Twice as often as asked for.
            watchdog: interval.map(|us| Duration::from_us(us / 2)),
            next: Time::ZERO,
        }
    }

    /// Tells it something, such as `READY=1`.
    pub fn tell(&self, what: &str) {
        if let Some((socket, address)) = &self.socket {
            // A manager that does not listen is none.
            let _ = socket.send_to_addr(what.as_bytes(), address);
        }
    }

    /// Gives a sign of life, if one is due.
    pub fn live(&mut self, now: Time) {
        if let Some(interval) = self.watchdog
            && now >= self.next
        {
            self.next = now + interval;
            self.tell("WATCHDOG=1");
        }
    }
}
