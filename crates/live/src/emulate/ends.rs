//! The ends of the path: a namespace each, of our own or one that is joined, with a TUN device.
//!
//! A device goes with the file that holds it, and takes its addresses and routes along. So nothing that an
//! emulation adds to a joined namespace outlives it, however it ends.

use crate::LiveError;
use crate::Programs;
use crate::namespace::{Namespace, ip};
use crate::tun::Tun;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// The connection of a packet: its protocol, and the address and port of both ends, the client's first.
pub type Connection = (u8, [(IpAddr, u16); 2]);

/// The name of the devices, with a number if it is taken.
const DEVICE: &str = "accord";
/// Pairs of addresses to choose from.
const PAIRS: u8 = 250;

/// The addresses of the client and of the server.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    pub v4: [Ipv4Addr; 2],
    pub v6: [Ipv6Addr; 2],
}

impl Addresses {
    /// Returns a pair of the networks for benchmarks [RFC 2544, RFC 5180].
    fn numbered(k: u8) -> Addresses {
        let v6 = |end| Ipv6Addr::new(0x2001, 2, 0, u16::from(k), 0, 0, 0, end);
        Addresses { v4: [1, 2].map(|end| Ipv4Addr::new(198, 18, k, end)), v6: [1, 2].map(v6) }
    }

    /// The addresses of the server.
    pub fn server(&self) -> (IpAddr, IpAddr) {
        (self.v4[1].into(), self.v6[1].into())
    }
}

/// Both ends of the path.
pub struct Ends {
    /// The namespaces of the client and of the server.
    pub places: [Namespace; 2],
    /// The devices of the client and of the server.
    pub devices: [Tun; 2],
    /// The names of the devices.
    pub names: [String; 2],
    /// The addresses of the client and of the server.
    pub addresses: Addresses,
}

impl Ends {
    /// Creates or joins the ends for packets of up to `mtu` bytes. `out` is true of the versions of IP, 4
    /// and 6, that lead on from the server's end.
    pub fn new(programs: &Programs, mtu: u64, out: [bool; 2]) -> Result<Ends, LiveError> {
        let [a, b] = &programs.join;
        let place = |joined: &Option<PathBuf>| match joined {
            Some(path) => Namespace::open(path),
            None => Namespace::new(),
        };
        let places = [place(a)?, place(b)?];
        let joined = [a, b].map(Option::is_some);
        let addresses = free(&places, joined)?;
        let Addresses { v4, v6 } = addresses;
        let names = [name(&places[0])?, name(&places[1])?];
        let device = |end: usize| {
            let (place, name) = (&places[end], &names[end]);
            if !joined[end] {
                ip(place, "link set lo up\n")?;
            }
            let device = Tun::open(place, name, (v4[end], v4[1 - end]), mtu, false)?;
            // Some kernels have no IPv6.
            let has_v6 = place.set(&format!("net/ipv6/conf/{name}/disable_ipv6"), "0").is_ok();
            let mut commands = String::new();
            if has_v6 {
                let (here, there) = (v6[end], v6[1 - end]);
                commands += &format!("address add {here}/128 dev {name} nodad\n");
                commands += &format!("route add {there}/128 dev {name}\n");
            }
            if end == 0 {
                for (leads, all) in [(out[0], "0.0.0.0/0"), (out[1] && has_v6, "::/0")] {
                    if leads && !joined[0] {
                        commands += &format!("route add {all} dev {name}\n");
                    }
                }
                for prefix in &programs.routes {
                    commands += &format!("route add {prefix} dev {name}\n");
                }
            }
            if !commands.is_empty() {
                ip(place, &commands)?;
            }
            if joined[end] {
                let [who, other] = [["client", "server"], ["server", "client"]][end];
                let (here, there) = (v4[end], v4[1 - end]);
                (programs.announce)(&format!(
                    "{name} is in the namespace of the {who}, with {here}; the {other} is {there}"
                ));
            }
            Ok::<_, LiveError>(device)
        };
        let devices = [device(0)?, device(1)?];
        Ok(Ends { places, devices, names, addresses })
    }
}

/// Returns addresses that the joined namespaces do not use.
fn free(places: &[Namespace; 2], joined: [bool; 2]) -> Result<Addresses, LiveError> {
    let mut used = String::new();
    for (place, _) in places.iter().zip(joined).filter(|(_, joined)| *joined) {
        let list = || accord_host::ip(&["route", "show", "table", "all"], "").unwrap_or_default();
        used += &place.within(list)?;
    }
    let is_free = |k: &u8| !used.contains(&format!("198.18.{k}."));
    let free = (0..PAIRS).find(is_free);
    let none =
        || LiveError::Unable("all networks 198.18.0.0/24 to 198.18.249.0/24 are in use".into());
    free.map(Addresses::numbered).ok_or_else(none)
}

/// Returns a name that no device in a namespace has.
fn name(place: &Namespace) -> Result<String, LiveError> {
    let list = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let devices = place.within(list)?;
    let is_taken = |name: &String| {
        let mut names = devices.lines().filter_map(|line| line.split_once(':'));
        names.any(|(taken, _)| taken.trim() == name)
    };
    let numbered = (1..).map(|n| format!("{DEVICE}{n}"));
    let mut names = std::iter::once(DEVICE.to_string()).chain(numbered);
    Ok(names.find(|name| !is_taken(name)).expect("a namespace does not have all numbers"))
}

/// Returns the versions of IP, 4 and 6, by which this host reaches others.
pub fn reached() -> [bool; 2] {
    // Connecting a socket of UDP looks for a route, and sends nothing.
    let leads = |from: IpAddr, to: IpAddr| {
        let socket = std::net::UdpSocket::bind((from, 0));
        socket.is_ok_and(|socket| socket.connect((to, 53)).is_ok())
    };
    let far = Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888);
    [
        leads(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(8, 8, 8, 8).into()),
        leads(Ipv6Addr::UNSPECIFIED.into(), far.into()),
    ]
}

/// Returns the first name server of this host.
pub fn resolver() -> Option<IpAddr> {
    let text = std::fs::read_to_string(Path::new("/etc/resolv.conf")).ok()?;
    let mut lines = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    lines.find_map(|address| address.trim().parse().ok())
}
