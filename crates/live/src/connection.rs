//! Connections of the kernel's TCP, for flows of a scenario with the key `kernel`.
//!
//! Each end is a socket in the namespace of its node, and a TUN device through which the kernel
//! exchanges the connection's packets with us. Between the devices they pass our ports as any
//! packet does. The applications are part of the ends: one writes the data of the scenario's
//! demand, and the other reads and discards it.

use crate::LiveError;
use crate::deciders::Deciders;
use crate::namespace::Namespace;
use crate::site::Site;
use crate::tcp_info::TcpInfo;
use crate::tun::Tun;
use accord_family::Value;
use accord_scenario::{Carrier, Congestion, Flow, Scenario};
use accord_sim::{CarriedEnd, addresses};
use accord_transport::View;
use accord_units::{Bytes, Duration};
use nix::errno::Errno;
use nix::libc::linger;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The headers of IP and TCP, with its timestamps, of every packet with data, in bytes.
const HEADERS: u64 = 20 + 20 + 12;
/// The TCP port of all receivers.
const PORT: u16 = 7_471;
/// The maximum number of bytes per read or write of an application.
const CHUNK: usize = 1 << 16;
/// The maximum size of a connection's buffers, in bytes. That of the sender grows with the window. The
/// value is twice the bandwidth-delay product of 1 Gbps and 200 ms, and as much again for the queues.
const BUFFER: u64 = 64 << 20;

/// The sending end of a connection.
#[derive(Debug)]
pub struct Connection {
    /// The device that supplies its packets, and receives acknowledgements.
    pub tun: Tun,
    /// The addresses of both ends.
    pub ends: (Ipv4Addr, Ipv4Addr),
    stream: Option<TcpStream>,
    /// The size of its packets.
    packet: Bytes,
    /// True after the connection attempt has begun.
    called: bool,
    /// The bytes that the application has supplied and the socket has not accepted. `u64::MAX` is
    /// unlimited.
    unsent: u64,
    /// The latest state.
    view: View,
    /// The reason why the connection broke, if it did.
    pub broken: Option<String>,
}

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Drain {
    /// The device that supplies its packets, and receives data.
    pub tun: Tun,
    /// The addresses of both ends.
    pub ends: (Ipv4Addr, Ipv4Addr),
    listener: TcpListener,
    stream: Option<TcpStream>,
    /// The room for data, which is discarded.
    room: Box<[u8]>,
}

/// Both ends of a flow carried by another stack. Each is passed to the station of its node.
#[derive(Debug, Default)]
pub struct Ends {
    /// The sending end, of the kernel.
    pub source: Option<Connection>,
    /// The receiving end, of the kernel.
    pub sink: Option<Drain>,
    /// The sending end, of a QUIC stack.
    pub client: Option<CarriedEnd>,
    /// The receiving end, of a QUIC stack.
    pub server: Option<CarriedEnd>,
    /// The site of a tunnel's entry.
    pub entry: Option<Site>,
    /// The site of a tunnel's exit.
    pub exit: Option<Site>,
}

/// Creates the ends of the kernel's connections, by flow. A flow has none if it is not of the kernel, or if
/// `places` has no namespaces for its source and sink. `deciders` has the controllers of flows with
/// `kernel = "accord"`.
pub fn ends<'a>(
    scenario: &Scenario,
    places: impl Fn(usize) -> Option<(&'a Namespace, &'a Namespace)>,
    deciders: &Deciders,
) -> Result<Vec<Ends>, LiveError> {
    let flows = scenario.flows.iter().enumerate();
    flows
        .map(|(id, flow)| match (&flow.carrier, places(id)) {
            (Carrier::Kernel(congestion), Some(places)) => {
                let name = match congestion {
                    Congestion::Named(name) => Some(name.as_str()),
                    Congestion::Accord => deciders.name_of(flow),
                };
                open(id, flow, name.unwrap_or(Congestion::ACCORD), places)
            }
            _ => Ok(Ends::default()),
        })
        .collect()
}

/// Returns the reason why connections with these congestion controls are impossible here, if there
/// is one. It opens trial sockets.
pub fn obstacle(congestions: &BTreeSet<&Congestion>) -> Option<LiveError> {
    let attempt = || -> Result<(), LiveError> {
        let ends = addresses(0);
        for (i, congestion) in congestions.iter().enumerate() {
            let namespace = Namespace::new()?;
            if i == 0 {
                prepare(&namespace)?;
            }
            Tun::open(&namespace, "k", ends, 1500, false)?;
            if let Congestion::Named(name) = congestion {
                caller(&namespace, name, Ipv4Addr::UNSPECIFIED)?;
            }
        }
        Ok(())
    };
    attempt().err()
}

/// Creates the ends of a flow.
fn open(
    id: usize,
    flow: &Flow,
    congestion: &str,
    (source, sink): (&Namespace, &Namespace),
) -> Result<Ends, LiveError> {
    let (here, there) = addresses(id);
    let name = format!("k{id}");
    let marks = |(param, value): (&accord_family::Param, Value)| {
        param.name == "ecn" && value == Value::Flag(true)
    };
    let ecn = flow.controller.iter().any(marks);
    prepare(source)?;
    prepare(sink)?;
    let mtu = flow.packet.get();
    let tun = Tun::open(source, &name, (here, there), mtu, ecn)?;
    let connection = Connection {
        tun,
        ends: (here, there),
        stream: Some(caller(source, congestion, here)?),
        packet: flow.packet,
        called: false,
        unsent: 0,
        view: View::default(),
        broken: None,
    };
    let tun = Tun::open(sink, &name, (there, here), mtu, false)?;
    let listener = sink.within(|| {
        let listener = TcpListener::bind(SocketAddrV4::new(there, PORT))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    })?;
    let listener = listener.map_err(|e| LiveError::system("listen for a connection", e))?;
    let room = vec![0; CHUNK].into();
    let drain = Drain { tun, ends: (there, here), listener, stream: None, room };
    Ok(Ends { source: Some(connection), sink: Some(drain), ..Ends::default() })
}

/// Keeps connections from using metrics of earlier ones, and buffers from limiting them. A receive
/// buffer that begins small limits a start among losses: data behind a hole occupies it, and BBR takes
/// the receiver's window for the bandwidth.
fn prepare(namespace: &Namespace) -> Result<(), LiveError> {
    namespace.set("net/ipv4/tcp_no_metrics_save", "1")?;
    namespace.set("net/ipv4/tcp_wmem", &format!("4096 16384 {BUFFER}"))?;
    namespace.set("net/ipv4/tcp_rmem", &format!("4096 {BUFFER} {BUFFER}"))
}

/// Creates a socket for an outgoing connection with this congestion control.
fn caller(namespace: &Namespace, congestion: &str, here: Ipv4Addr) -> Result<TcpStream, LiveError> {
    let made = namespace.within(|| {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
        let stream = TcpStream::from(socket);
        stream.set_nodelay(true)?;
        // When the flow stops, unsent data is discarded.
        let now = linger { l_onoff: 1, l_linger: 0 };
        setsockopt(&stream, sockopt::Linger, &now)?;
        let address = SockaddrIn::from(SocketAddrV4::new(here, 0));
        nix::sys::socket::bind(stream.as_raw_fd(), &address)?;
        let chosen = setsockopt(&stream, sockopt::TcpCongestion, &OsString::from(congestion));
        Ok((stream, chosen))
    })?;
    let (stream, chosen) =
        made.map_err(|e: std::io::Error| LiveError::system("open a TCP socket", e))?;
    match chosen {
        Ok(()) => Ok(stream),
        Err(Errno::ENOENT) => Err(LiveError::Unable(format!(
            "this kernel has no congestion control \"{congestion}\" (available: {})",
            available().join(", ")
        ))),
        Err(e) => Err(LiveError::system("choose a congestion control", e.into())),
    }
}

/// Returns the congestion controls available in the kernel.
fn available() -> Vec<String> {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names = names.unwrap_or_default();
    names.split_whitespace().map(str::to_string).collect()
}

impl Connection {
    /// Adds `packets` packets of application data, or unlimited data for `u64::MAX`.
    pub fn supply(&mut self, packets: u64) {
        let payload = self.packet.get() - HEADERS;
        self.unsent = self.unsent.saturating_add(packets.saturating_mul(payload));
        if !self.called
            && let Some(stream) = &self.stream
        {
            self.called = true;
            let to = SockaddrIn::from(SocketAddrV4::new(self.ends.1, PORT));
            match connect(stream.as_raw_fd(), &to) {
                Ok(()) | Err(Errno::EINPROGRESS) => {}
                Err(e) => self.fail(&e.into()),
            }
        }
        self.write();
    }

    /// Fills the socket's buffer.
    pub fn write(&mut self) {
        static ZEROS: [u8; CHUNK] = [0; CHUNK];
        while self.unsent > 0
            && let Some(stream) = &mut self.stream
        {
            let chunk = usize::try_from(self.unsent).map_or(CHUNK, |n| n.min(CHUNK));
            match stream.write(&ZEROS[..chunk]) {
                Ok(written) if self.unsent < u64::MAX => self.unsent -= written as u64,
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => self.fail(&e),
            }
        }
    }

    /// Returns true if all supplied data has been acknowledged.
    pub fn is_done(&self) -> bool {
        let info = self.stream.as_ref().and_then(|s| TcpInfo::read(s).ok());
        self.unsent == 0
            && info.is_some_and(|i| {
                i.state == TcpInfo::ESTABLISHED && i.notsent == 0 && i.unacked == 0
            })
    }

    /// Resets the connection at once.
    pub fn stop(&mut self) {
        self.view();
        self.stream = None;
        self.unsent = 0;
    }

    /// Returns the state, or the last state after the end of the connection.
    pub fn view(&mut self) -> View {
        if self.called
            && let Some(Ok(info)) = self.stream.as_ref().map(TcpInfo::read)
        {
            let bytes = |segments: u32| Bytes::new(self.packet.get() * u64::from(segments));
            let time = |us: u32| Duration::from_us(u64::from(us));
            self.view = View {
                pacing: None,
                cwnd: Some(bytes(info.cwnd)),
                // The kernel writes TCP_INFINITE_SSTHRESH, 2^31 - 1, for no threshold.
                ssthresh: (info.ssthresh < i32::MAX as u32).then(|| bytes(info.ssthresh)),
                rtt: (info.rtt > 0).then(|| time(info.rtt)),
                min_rtt: (info.min_rtt < u32::MAX).then(|| time(info.min_rtt)),
                accumulation: None,
                retransmissions: u64::from(info.total_retrans),
            };
        }
        self.view
    }

    /// Returns the socket to poll in addition to the device.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    fn fail(&mut self, e: &std::io::Error) {
        self.broken.get_or_insert_with(|| e.to_string());
        self.stop();
    }
}

impl Drain {
    /// Accepts an incoming connection, and reads its data. Returns a new socket to poll.
    pub fn read(&mut self) -> Option<BorrowedFd<'_>> {
        let mut new = false;
        if self.stream.is_none()
            && let Ok((stream, _)) = self.listener.accept()
            && stream.set_nonblocking(true).is_ok()
        {
            (self.stream, new) = (Some(stream), true);
        }
        while let Some(stream) = &mut self.stream {
            match stream.read(&mut self.room) {
                // There was less than the room.
                Ok(1..CHUNK) => break,
                Ok(CHUNK..) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The flow has stopped.
                Ok(0) | Err(_) => self.stream = None,
            }
        }
        self.stream.as_ref().filter(|_| new).map(AsFd::as_fd)
    }

    /// Returns the socket to poll in addition to the device, before there is a connection.
    pub fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
