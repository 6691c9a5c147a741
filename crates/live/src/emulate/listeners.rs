//! The sockets of a network namespace that wait for peers.

use super::program::{Program, pause};
use crate::LiveError;
use crate::namespace::Namespace;
use accord_host::Clock;
use accord_units::{Duration, Time};
use std::collections::BTreeSet;

/// The longest wait for servers that do not listen yet.
const LONGEST: Duration = Duration::from_secs(2);
/// The state of a listening TCP socket.
const LISTENS: &str = "0A";
/// The columns of a socket's address, state and inode.
const COLUMNS: [usize; 3] = [1, 3, 9];

/// The sockets that wait in the namespace of a server before it starts. A joined namespace may have
/// some.
pub struct Before<'a> {
    place: &'a Namespace,
    server: &'a Program<'a>,
    there: BTreeSet<String>,
}

impl<'a> Before<'a> {
    /// Looks at the namespace of a server that is about to start.
    pub fn new(place: &'a Namespace, server: &'a Program<'a>) -> Result<Before<'a>, LiveError> {
        Ok(Before { place, server, there: place.within(listeners)? })
    }
}

/// Waits until a new socket waits in the namespace of each server, or the server is gone, or for two
/// seconds. Returns true if it was `stopped` before.
pub fn await_new(mut left: Vec<Before<'_>>, mut stopped: impl FnMut() -> bool) -> bool {
    // A look may take long, because the kernel walks all of its sockets.
    let clock = Clock::starting_in(Duration::ZERO);
    while clock.now() < Time::ZERO + LONGEST {
        left.retain(|Before { place, server, there }| {
            let has_new = || !listeners().is_subset(there);
            !server.has_ended() && !place.within(has_new).unwrap_or(true)
        });
        if left.is_empty() {
            return false;
        }
        if stopped() {
            return true;
        }
        pause();
    }
    false
}

/// Returns the listening TCP sockets in the current namespace, and all UDP sockets: protocol, address and inode.
fn listeners() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/thread-self/net/{table}"));
        for line in text.unwrap_or_default().lines().skip(1) {
            let words: Vec<_> = line.split_whitespace().collect();
            let [Some(address), Some(state), Some(inode)] = COLUMNS.map(|n| words.get(n)) else {
                continue;
            };
            if table.starts_with("udp") || *state == LISTENS {
                all.insert(format!("{table} {address} {inode}"));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};

    /// Other programs may listen in a joined namespace. Only a new listener is the server's.
    #[test]
    fn a_new_listener_is_told_from_those_before() {
        // Other tests open and close sockets of their own at the same time.
        let has = |set: &BTreeSet<String>, table: &str, at: SocketAddr| {
            let port = format!(":{:04X} ", at.port());
            set.iter().any(|row| row.starts_with(table) && row.contains(&port))
        };
        let old = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let old_at = old.local_addr().expect("bound");
        let before = listeners();
        assert!(has(&before, "tcp ", old_at));
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let tcp_at = tcp.local_addr().expect("bound");
        let stream = TcpStream::connect(tcp_at).expect("it listens");
        let new: BTreeSet<_> = listeners().difference(&before).cloned().collect();
        assert!(!has(&new, "tcp ", old_at), "{new:?}");
        assert!(has(&new, "tcp ", tcp_at), "{new:?}");
        assert!(has(&new, "udp ", udp.local_addr().expect("bound")), "{new:?}");
        // A connection does not listen.
        assert!(!has(&new, "tcp ", stream.local_addr().expect("bound")), "{new:?}");
    }
}
