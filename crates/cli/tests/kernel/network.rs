//! Namespaces, and connections between them.

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{getsockopt, setsockopt, sockopt::TcpCongestion};
use nix::{getsockopt_impl, libc, sockopt_impl};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The maximum time of any operation: a slower one hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A network namespace without a name.
pub struct Namespace(File);

impl Namespace {
    pub fn new() -> Namespace {
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET).expect("root may");
            File::open("/proc/thread-self/ns/net").expect("it is there")
        };
        let file = std::thread::spawn(make).join().expect("no panic");
        let namespace = Namespace(file);
        namespace.does("ip link set lo up");
        namespace
    }

    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).expect("root may");
                work()
            });
            thread.join().expect("no panic")
        })
    }

    /// Makes a congestion control that of all new connections.
    pub fn has_default(&self, name: &str) {
        let variable = "/proc/sys/net/ipv4/tcp_congestion_control";
        self.within(|| std::fs::write(variable, name).expect("root may"));
    }

    pub fn does(&self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let output = self.within(|| Command::new(words[0]).args(&words[1..]).output());
        let output = output.expect("it starts");
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

/// Two hosts, and a router between them whose links are shaped.
pub struct Network {
    pub client: Namespace,
    pub server: Namespace,
    _router: Namespace,
}

pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 9, 2, 1);
pub const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0xfd09, 2, 0, 0, 0, 0, 0, 1);

/// Returns true if this kernel has IPv6.
pub fn has_v6() -> bool {
    Path::new("/proc/net/if_inet6").exists()
}

impl Network {
    /// Creates the network with a rate in Mbps, or without a limit.
    pub fn new(rate: Option<u32>) -> Network {
        let (client, router, server) = (Namespace::new(), Namespace::new(), Namespace::new());
        for (host, device, of) in [(&client, "left", 1), (&server, "right", 2)] {
            let netns = host.path();
            router.does(&format!("ip link add {device} type veth peer name eth netns {netns}"));
            router.does(&format!("ip addr add 10.9.{of}.2/24 dev {device}"));
            router.does(&format!("ip link set {device} up"));
            host.does(&format!("ip addr add 10.9.{of}.1/24 dev eth"));
            host.does("ip link set eth up");
            host.does(&format!("ip route add default via 10.9.{of}.2"));
            if has_v6() {
                router.does(&format!("ip addr add fd09:{of}::2/64 dev {device} nodad"));
                host.does(&format!("ip addr add fd09:{of}::1/64 dev eth nodad"));
                host.does(&format!("ip route add default via fd09:{of}::2"));
            }
            if let Some(rate) = rate {
                router.does(&format!(
                    "tc qdisc add dev {device} root tbf rate {rate}mbit burst 20kb limit 100kb"
                ));
            }
        }
        router.does("sysctl -qw net.ipv4.ip_forward=1");
        if has_v6() {
            router.does("sysctl -qw net.ipv6.conf.all.forwarding=1");
        }
        Network { client, server, _router: router }
    }

    /// Opens a connection. Returns the client's and the server's end.
    pub fn open(&self, server: IpAddr) -> (TcpStream, TcpStream) {
        let listener = self.server.within(|| TcpListener::bind((server, 0)));
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let connect = || TcpStream::connect_timeout(&address, PATIENCE);
        let client = self.client.within(connect).expect("a connection");
        let (server, _) = listener.accept().expect("a connection");
        for stream in [&client, &server] {
            stream.set_nodelay(true).expect("a socket");
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
            stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
        }
        (client, server)
    }

    /// Opens a connection whose client has a congestion control.
    pub fn connect(&self, name: &str) -> (TcpStream, TcpStream) {
        let ends = self.open(SERVER.into());
        setsockopt(&ends.0, TcpCongestion, &name.into()).expect("it is attached");
        ends
    }
}

/// Sends `bytes` bytes, runs `middle` halfway, and checks each byte at the other end. Returns the
/// client's end, which is still open.
pub fn transfer(ends: (TcpStream, TcpStream), bytes: usize, middle: impl FnOnce()) -> TcpStream {
    let (mut client, mut server) = ends;
    let content = |i: usize| (i % 251) as u8;
    let receiver = std::thread::spawn(move || {
        let (mut part, mut taken) = (vec![0; 1 << 16], 0);
        while taken < bytes {
            let n = server.read(&mut part).expect("the data come");
            assert!(n > 0, "{taken} of {bytes} bytes came");
            for (i, byte) in part[..n].iter().enumerate() {
                assert_eq!(*byte, content(taken + i), "at {}", taken + i);
            }
            taken += n;
        }
        server.write_all(b"x").expect("it is heard");
        // The server's end is open until the client's is closed.
        let _ = server.read(&mut part);
    });
    let data: Vec<u8> = (0..bytes).map(content).collect();
    let (first, second) = data.split_at(bytes / 2);
    client.write_all(first).expect("the data go");
    middle();
    client.write_all(second).expect("the data go");
    client.read_exact(&mut [0]).expect("all has come");
    drop(receiver);
    client
}

/// The words of the kernel's `struct tcp_info` up to 160 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TcpInfo([u32; 40]);

sockopt_impl!(
    /// The state of a connection.
    Information, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, TcpInfo
);

impl TcpInfo {
    pub fn of(stream: &TcpStream) -> TcpInfo {
        getsockopt(stream, Information).expect("a socket")
    }

    /// The milliseconds since the last acknowledgement.
    pub fn silence_ms(&self) -> u32 {
        self.0[14]
    }

    /// The smoothed round-trip time in microseconds.
    pub fn srtt_us(&self) -> u32 {
        self.0[17]
    }

    pub fn cwnd(&self) -> u32 {
        self.0[20]
    }
}
