//! The way out of an emulation into the host's network, in user space.
//!
//! The far end's kernel treats every address as its own. A connection ends there, in a socket that is made before
//! its first packet arrives, and its data continue in a socket of the host. So the host's devices, routes and
//! tables are not touched, and no privilege is needed beyond that for the namespaces. Only TCP and UDP lead out.

use super::ends::Place;
use crate::LiveError;
use crate::fabric::allow;
use crate::namespace::ip;
use accord_transport::ip as header;
use nix::poll::{PollFd, PollFlags, poll};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Result as IoResult, Write};
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket,
};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::{Builder, Scope};
use std::time::Duration as Wait;

/// The protocols that lead out.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The port of name servers.
const DNS: u16 = 53;
/// The time between two looks at the end of the emulation, in ms.
const LOOK: u16 = 200;
/// The looks at a silent socket before it is closed: a minute in all.
const SILENCE: u32 = 300;
/// The maximum number of threads. Later connections wait until others end.
const MOST: usize = 2_000;
/// The files of all connections, which have two each, and of the rest of the program.
const FILES: u64 = 2 * MOST as u64 + 256;
/// The most data of a connection that wait for one of its ends, each way.
const BUFFER: usize = 1 << 16;

/// A socket at the far end, and the address that it stands for.
pub enum Opened {
    Listener(TcpListener, SocketAddr),
    Socket(UdpSocket, SocketAddr),
}

/// A socket to which packets can be handed.
pub type Open = Arc<AtomicBool>;

/// The key of a socket: the protocol, the source for UDP, and the destination.
type Key = (u8, Option<SocketAddr>, SocketAddr);

/// The door of the way out, at the far end.
pub struct Door {
    /// The addresses of the far end, which stand for the host itself.
    own: [IpAddr; 2],
    /// The name server of the host, if only the host reaches it.
    resolver: Option<IpAddr>,
    open: BTreeMap<Key, Open>,
    opened: Sender<(Opened, Open)>,
}

impl Door {
    /// Prepares the namespace of the far end, the second one, for these versions of IP, 4 and 6.
    pub fn new(
        places: &[Place],
        versions: [bool; 2],
        resolver: Option<IpAddr>,
        opened: Sender<(Opened, Open)>,
    ) -> std::result::Result<Door, LiveError> {
        let far = &places[1];
        // The more specific routes are those to the other ends.
        let (mut v4, mut v6) = (String::new(), String::new());
        for Place { address, .. } in places.iter().filter(|place| place.address != far.address) {
            v4 += &format!("route add {} dev {} table local\n", address.v4, far.name);
            v6 += &format!("route add {} dev {} table local\n", address.v6, far.name);
        }
        ip(&far.namespace, &(v4 + "route add local 0.0.0.0/0 dev lo table local\n"))?;
        if versions[1] {
            far.namespace.set("net/ipv6/ip_nonlocal_bind", "1")?;
            ip(&far.namespace, &(v6 + "route add local ::/0 dev lo table local\n"))?;
        }
        let own = [far.address.v4.into(), far.address.v6.into()];
        Ok(Door { own, resolver, open: BTreeMap::new(), opened })
    }

    /// Prepares for a packet that is about to arrive at the far end. Returns false if nothing there
    /// will take it. It is called in the namespace of the far end.
    pub fn admits(&mut self, packet: &[u8]) -> bool {
        let Some(packet) = header::Packet::new(packet) else {
            return false;
        };
        let ports = packet.ports();
        let from = SocketAddr::new(packet.source, ports[0]);
        let to = SocketAddr::new(packet.destination, ports[1]);
        let key = match packet.protocol.0 {
            TCP if !packet.opens() => return true,
            TCP => (TCP, None, to),
            // A later part of a datagram that was cut has no ports.
            UDP if to.port() == 0 => return true,
            UDP => (UDP, Some(from), to),
            // The kernel would answer for the host.
            _ => return self.own.contains(&to.ip()),
        };
        if self.open.get(&key).is_some_and(|open| open.load(Ordering::Relaxed)) {
            return true;
        }
        if self.open.len() >= MOST {
            self.open.retain(|_, open| open.load(Ordering::Relaxed));
            if self.open.len() >= MOST {
                return false;
            }
        }
        let opened = match key {
            (_, Some(from), to) => bound(from, to).map(|s| Opened::Socket(s, self.place(to))),
            (_, None, to) => listener(to).map(|l| Opened::Listener(l, self.place(to))),
        };
        let Ok(opened) = opened else {
            return false;
        };
        let open = Open::new(AtomicBool::new(true));
        self.open.insert(key, open.clone());
        self.opened.send((opened, open)).is_ok()
    }

    /// Returns the address in the host's network that an address stands for.
    fn place(&self, to: SocketAddr) -> SocketAddr {
        let address = match (to.ip(), self.resolver) {
            (address, _) if !self.own.contains(&address) => address,
            (_, Some(resolver)) if to.port() == DNS => resolver,
            (IpAddr::V4(_), _) => Ipv4Addr::LOCALHOST.into(),
            (IpAddr::V6(_), _) => Ipv6Addr::LOCALHOST.into(),
        };
        SocketAddr::new(address, to.port())
    }
}

/// Returns a listener at a foreign address.
fn listener(at: SocketAddr) -> IoResult<TcpListener> {
    let listener = TcpListener::bind(at)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Returns a socket at a foreign address for the datagrams of one source.
fn bound(from: SocketAddr, at: SocketAddr) -> IoResult<UdpSocket> {
    let socket = Socket::new(Domain::for_address(at), Type::DGRAM, None)?;
    // Other sources have sockets at the same address.
    socket.set_reuse_address(true)?;
    socket.bind(&at.into())?;
    socket.connect(&from.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// The other side of doors, in the host's network.
struct Outside<'a> {
    stop: &'a AtomicBool,
    threads: AtomicUsize,
}

/// Raises the limit of open files for all connections, as far as this process may.
pub fn make_room() {
    allow(FILES);
}

/// Moves the data of all sockets that a door opens, until the door is gone and `stop` is set. It is
/// called in the host's namespace.
pub fn serve(opened: Receiver<(Opened, Open)>, stop: &AtomicBool) {
    let outside = Outside { stop, threads: AtomicUsize::new(0) };
    std::thread::scope(|scope| {
        for (opened, open) in opened {
            outside.take(scope, opened, &open);
        }
    });
}

impl Outside<'_> {
    /// Moves the data of a socket in a thread. Without a thread the socket is closed, and the next packet opens
    /// another.
    fn take<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, opened: Opened, open: &Open) {
        let moving = open.clone();
        let starts = self.spawn(scope, move || {
            match opened {
                Opened::Listener(listener, to) => self.accept(scope, &listener, to, &moving),
                Opened::Socket(near, to) => self.datagrams(&near, to),
            }
            moving.store(false, Ordering::Relaxed);
        });
        if !starts {
            open.store(false, Ordering::Relaxed);
        }
    }

    /// Starts a thread. If there are too many, drops the work and returns false.
    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() + Send + 'scope,
    ) -> bool {
        if self.threads.fetch_add(1, Ordering::Relaxed) < MOST {
            let work = move || {
                work();
                self.threads.fetch_sub(1, Ordering::Relaxed);
            };
            if Builder::new().spawn_scoped(scope, work).is_ok() {
                return true;
            }
        }
        // The socket is closed, and its other end sees that.
        self.threads.fetch_sub(1, Ordering::Relaxed);
        false
    }

    /// Waits for one of these files, or for the end. Returns false at the end, and after a long silence.
    fn wait(&self, files: &mut [PollFd]) -> bool {
        for _ in 0..SILENCE {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            match poll(files, LOOK) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    /// Accepts connections, and moves their data.
    fn accept<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        listener: &TcpListener,
        to: SocketAddr,
        open: &AtomicBool,
    ) {
        while self.wait(&mut [PollFd::new(listener.as_fd(), PollFlags::POLLIN)]) {
            loop {
                let near = match listener.accept() {
                    Ok((near, _)) => near,
                    Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => {
                        // Without a file for it the connection stays, and would wake this thread at once.
                        let _ = poll(&mut [], LOOK);
                        break;
                    }
                };
                self.spawn(scope, move || {
                    if self.connect(to).and_then(|far| self.stream([&near, &far])).is_err() {
                        // The client sees a reset.
                        let _ = socket2::SockRef::from(&near).set_linger(Some(Wait::ZERO));
                    }
                });
            }
        }
        // A connection that is being opened gets a new listener.
        open.store(false, Ordering::Relaxed);
    }

    /// Connects to a host.
    fn connect(&self, to: SocketAddr) -> IoResult<TcpStream> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        match socket.connect(&to.into()) {
            Err(e) if e.raw_os_error() != Some(nix::errno::Errno::EINPROGRESS as i32) => {
                return Err(e);
            }
            _ => {}
        }
        if !self.wait(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)]) {
            return Err(ErrorKind::TimedOut.into());
        }
        match socket.take_error()? {
            Some(e) => Err(e),
            None => Ok(socket.into()),
        }
    }

    /// Moves data both ways, until both ends have finished or one is gone.
    fn stream(&self, ends: [&TcpStream; 2]) -> IoResult<()> {
        for end in ends {
            end.set_nonblocking(true)?;
            end.set_nodelay(true)?;
        }
        let mut ways = [Way::new(ends), Way::new([ends[1], ends[0]])];
        loop {
            for way in &mut ways {
                while way.step()? {}
            }
            if ways.iter().all(|way| way.is_done) {
                return Ok(());
            }
            // One that nothing is wanted from would report that it has ended, again and again.
            let polls = [0, 1].map(|end| {
                let mut flags = PollFlags::empty();
                flags.set(PollFlags::POLLIN, ways[end].reads());
                flags.set(PollFlags::POLLOUT, ways[1 - end].writes());
                (!flags.is_empty()).then(|| PollFd::new(ends[end].as_fd(), flags))
            });
            let mut polls: Vec<_> = polls.into_iter().flatten().collect();
            // A silent connection is not closed.
            if !self.wait(&mut polls) && self.stop.load(Ordering::Relaxed) {
                return Err(ErrorKind::Interrupted.into());
            }
        }
    }

    /// Moves datagrams both ways, until a long silence.
    fn datagrams(&self, near: &UdpSocket, to: SocketAddr) {
        let any: IpAddr = match to {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let far = UdpSocket::bind((any, 0)).and_then(|far| {
            far.connect(to)?;
            far.set_nonblocking(true)?;
            Ok(far)
        });
        let Ok(far) = far else {
            return;
        };
        let mut buffer = vec![0; BUFFER];
        let mut polls = [near, &far].map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
        while self.wait(&mut polls) {
            for [from, to] in [[near, &far], [&far, near]] {
                // An error is that of an earlier datagram.
                while let Ok(length) = from.recv(&mut buffer) {
                    let _ = to.send(&buffer[..length]);
                }
            }
        }
    }
}

/// One way of a connection.
struct Way<'a> {
    ends: [&'a TcpStream; 2],
    buffer: Vec<u8>,
    /// The data that are left in the buffer.
    left: std::ops::Range<usize>,
    has_ended: bool,
    is_done: bool,
}

impl<'a> Way<'a> {
    fn new(ends: [&'a TcpStream; 2]) -> Way<'a> {
        Way { ends, buffer: vec![0; BUFFER], left: 0..0, has_ended: false, is_done: false }
    }

    fn reads(&self) -> bool {
        self.left.is_empty() && !self.has_ended
    }

    fn writes(&self) -> bool {
        !self.left.is_empty()
    }

    /// Reads or writes once. Returns false if it would have to wait.
    fn step(&mut self) -> IoResult<bool> {
        let [mut from, mut to] = self.ends;
        let done = if self.writes() {
            to.write(&self.buffer[self.left.clone()]).map(|sent| self.left.start += sent)
        } else if self.reads() {
            from.read(&mut self.buffer).map(|length| {
                self.left = 0..length;
                self.has_ended = length == 0;
            })
        } else {
            if !std::mem::replace(&mut self.is_done, true) {
                to.shutdown(Shutdown::Write)?;
            }
            return Ok(false);
        };
        match done {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
            Err(e) => Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::resource::{Resource, getrlimit};

    /// An open socket is being served, so the door hands packets to it.
    #[test]
    fn a_socket_without_a_thread_is_not_open() {
        let stop = AtomicBool::new(false);
        let outside = Outside { stop: &stop, threads: AtomicUsize::new(MOST) };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let to = listener.local_addr().expect("bound");
        let open = Open::new(AtomicBool::new(true));
        std::thread::scope(|scope| outside.take(scope, Opened::Listener(listener, to), &open));
        assert!(!open.load(Ordering::Relaxed));
        assert_eq!(outside.threads.load(Ordering::Relaxed), MOST);
    }

    #[test]
    fn all_connections_have_their_files() {
        make_room();
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("there is a limit");
        assert!(soft >= FILES.min(hard), "{soft} of {hard}");
    }
}
