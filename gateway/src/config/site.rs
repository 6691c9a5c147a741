//! The contents of a site file, with defaults.

use super::Dscp;
use crate::keys::PublicKey;
use accord_family::{Service, Signal};
use accord_units::{Bytes, Duration, Rate, Size, words};
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// A gateway and its peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The gateway itself.
    pub interface: Interface,
    /// The classes of its packets. Packets that match none of them are in a further class, the default.
    pub classes: Vec<Class>,
    /// The peers, in the order of the file.
    pub peers: Vec<PeerConfig>,
}

impl Site {
    /// Returns the queuing delay from which the limit of a peer's service makes its contract yield, or `None`
    /// for a peer without a contract or a limit.
    ///
    /// Within the limit, weight × target is the tunnel's own queue. The rest carries the contract through
    /// this delay [Har02 eq. 8].
    pub fn yields_from(&self, peer: &PeerConfig) -> Option<Duration> {
        let Service { contract, weight, limit } = peer.service;
        let limit = limit.filter(|_| contract > Rate::ZERO)?.as_f64();
        let own = weight * self.interface.target_bytes();
        let carries = (limit - own).max(0.0);
        Some(Duration::from_secs_f64(8.0 * carries / contract.as_bps_f64()))
    }

    /// Checks that no peer has this key, which is the gateway's own.
    ///
    /// # Errors
    /// The message names the peer.
    pub fn check_own_key(&self, key: &PublicKey) -> Result<(), String> {
        match self.peers.iter().find(|p| p.has(key)) {
            Some(own) => Err(format!("peer {} has the key of this gateway itself", own.name)),
            None => Ok(()),
        }
    }
}

/// The gateway's own end.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// The file of the private key.
    pub key: PathBuf,
    /// The address of the UDP socket.
    pub listen: SocketAddr,
    /// The name of the TUN device.
    pub device: String,
    /// The addresses of the device.
    pub addresses: Vec<IpNet>,
    /// The MTU of the device in bytes.
    pub mtu: u16,
    /// True if the path MTU to each peer is discovered, up to `mtu`.
    pub finds_mtu: bool,
    /// The rate of the site's own uplink, against which contracts are checked.
    pub uplink: Option<Rate>,
    /// The accumulation that a tunnel of weight 1 keeps in the network.
    pub target: Size,
    /// The quantity that a loss in the network halves.
    pub loss: Loss,
    /// The maximum number of bytes that may wait for a peer in each class.
    pub queue: Bytes,
    /// The path of the Unix socket for status, metrics and commands.
    pub status: Option<PathBuf>,
    /// The loopback address at which metrics can be read over TCP.
    pub metrics: Option<SocketAddr>,
    /// The mark of the gateway's own datagrams. It is also the number of the routing table for networks of
    /// all addresses.
    pub fwmark: Option<u32>,
    /// True if the kernel may join and cut packets, where it can.
    pub offload: bool,
    /// True if the device stays when the gateway ends, with its addresses and routes.
    pub persist: bool,
    /// True if packets to networks of peers are dropped when they have no route to the device, even if the
    /// gateway does not run.
    pub guard: bool,
}

/// The bytes that the tunnel adds to a packet: IPv4 and UDP 28, WireGuard 32. Tunnels over IPv6 are
/// counted in the same way, 20 bytes too short, so both ends always count the same size.
pub const OVERHEAD: u64 = 28 + 32;

impl Interface {
    /// Returns whether datagrams of the socket reach addresses of this kind. `[::]` is both.
    pub fn reaches(&self, address: IpAddr) -> bool {
        let both = self.listen.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED);
        both || address.is_ipv4() == self.listen.is_ipv4()
    }

    /// The size of the largest packet on the wire.
    pub fn packet(&self) -> Bytes {
        Bytes::new(u64::from(self.mtu) + OVERHEAD)
    }

    /// The target in bytes.
    pub fn target_bytes(&self) -> f64 {
        self.target.bytes_f64(self.packet())
    }
}

/// A class of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name.
    pub name: String,
    /// The code points of the packets in the class.
    pub dscp: Vec<Dscp>,
}

/// A peer: a gateway at the other end of a tunnel.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerConfig {
    /// The name, for people.
    pub name: String,
    /// The public keys: one, or two while the peer changes its own.
    pub public_keys: Vec<PublicKey>,
    /// The file of a key that both ends share, if they have one.
    pub preshared_key: Option<PathBuf>,
    /// The place at which to call the peer. A peer without one calls first.
    pub endpoint: Option<Endpoint>,
    /// Further addresses, which are called in turn while the peer is silent.
    pub spares: Vec<SocketAddr>,
    /// The networks behind the peer.
    pub networks: Vec<IpNet>,
    /// The highest rate of the tunnel, which is also its rate while the path is unknown.
    pub cap: Rate,
    /// The service of the tunnel in the network.
    pub service: Service,
    /// The services of the classes within the tunnel, in the order of the site's classes, with the
    /// default last.
    pub shares: Vec<Service>,
    /// The thresholds of the circuit breaker.
    pub breaker: BreakerConfig,
    /// The initial mode.
    pub mode: Mode,
    /// The signal of the network to use.
    pub signal: Signal,
    /// The most virtual delay that counts, if routers on the path write it. Control pairs then have the
    /// [outer header](crate::outer).
    pub virtual_delay: Option<Duration>,
    /// The interval, in seconds, of packets that keep mappings of address translators open.
    pub keepalive: Option<u16>,
}

impl PeerConfig {
    /// The addresses at which to call the peer, as far as the file has them.
    pub fn endpoints(&self) -> impl Iterator<Item = SocketAddr> {
        let first = self.endpoint.as_ref().and_then(Endpoint::address);
        first.into_iter().chain(self.spares.iter().copied())
    }

    /// Returns whether this is a key of the peer.
    pub fn has(&self, key: &PublicKey) -> bool {
        self.public_keys.contains(key)
    }

    /// The most virtual delay that counts. It is zero unless routers write it.
    pub fn most_virtual(&self) -> Duration {
        self.virtual_delay.unwrap_or(Duration::ZERO)
    }
}

/// The thresholds of a circuit breaker. By default it trips at 25 % over 10 s or after a minute without
/// reports. The rate is then a tenth of the cap for a minute. Flows of BBR in a short buffer sustain losses
/// of almost 20 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakerConfig {
    /// The fraction of the bytes that must be lost, from 0 to 1.
    pub loss: f64,
    /// The time for which it must be lost.
    pub over: Duration,
    /// The highest rate of the tunnel while the breaker is tripped.
    pub rate: Rate,
    /// The time after which the tunnel regains its rate.
    pub rearm: Duration,
    /// The time without reports, although data is sent, after which the breaker also trips.
    pub blind: Option<Duration>,
}

words! {
    /// The effect of measurements.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mode by word {
        /// Measures and predicts, and sends at the cap.
        Shadow = "shadow",
        /// Sends at the controller's pace.
        Enforce = "enforce",
        /// Neither measures nor queues.
        Bypass = "bypass",
    }
}

words! {
    /// The quantity that a loss in the network halves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Loss by word {
        /// The window of the tunnel.
        Window = "window",
        /// The tunnel's own queue in the network.
        Accumulation = "accumulation",
        /// The tunnel's own queue if it has a contract, else the window.
        Contract = "contract",
    }
}

/// The place at which to call a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// An address and a port.
    Address(SocketAddr),
    /// A name for the host's resolver, and a port.
    Name(String, u16),
}

impl Endpoint {
    /// The address, unless it must be looked up.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Endpoint::Address(address) => Some(*address),
            Endpoint::Name(..) => None,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Address(address) => write!(f, "{address}"),
            Endpoint::Name(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Endpoint, String> {
        if let Ok(address) = text.parse() {
            return Ok(Endpoint::Address(address));
        }
        let wrong = || {
            "expected a host and a port, such as \"192.0.2.1:51820\", \"[2001:db8::1]:51820\" or \
             \"berlin.example.net:51820\""
                .to_string()
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let named = host.chars().all(plain)
            && (1..=253).contains(&host.len())
            // Otherwise it is an address with a mistake.
            && host.chars().any(|c| c.is_ascii_alphabetic())
            && host.trim_end_matches('.').split('.').all(|l| (1..=63).contains(&l.len()));
        let digits = port.chars().all(|c| c.is_ascii_digit());
        match port.parse() {
            Ok(port @ 1..) if named && digits => Ok(Endpoint::Name(host.to_string(), port)),
            _ => Err(wrong()),
        }
    }
}

/// Reads an address with the length of its prefix.
pub(super) fn address(text: &str) -> Result<IpNet, String> {
    let expected = || "expected an address and a prefix, such as \"10.1.0.1/24\"".to_string();
    let (address, prefix) = text.split_once('/').ok_or_else(expected)?;
    let address: IpAddr = address.parse().map_err(|_| expected())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (prefix.parse().ok().and_then(|prefix| IpNet::new(address, prefix).ok()))
        .ok_or_else(|| format!("a prefix of {address} has 0 to {most} bits"))
}

/// Reads a network: an address without bits beyond its prefix.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let network = address(text).map_err(|e| {
        e.replace(
            "an address and a prefix, such as \"10.1.0.1/24\"",
            "a network, such as \"10.2.0.0/24\"",
        )
    })?;
    match network.trunc() {
        first if first == network => Ok(network),
        first => Err(format!("{text} has bits beyond its prefix; the network is {first}")),
    }
}
