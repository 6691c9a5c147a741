//! The ends of the paths. Each is a namespace, new or joined, with a TUN device.
//!
//! A device disappears with the file that holds it, and so do its addresses and routes. So nothing that an
//! emulation adds to a joined namespace outlives the emulation, however it ends.

use crate::namespace::{Namespace, ip};
use crate::tun::Tun;
use crate::{End, LiveError, Programs};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// The connection of a packet: its protocol, and the address and port of both ends.
pub type Connection = (u8, [(IpAddr, u16); 2]);

/// The name of the devices, with a number if it is taken.
const DEVICE: &str = "accord";
/// Networks of addresses to choose from.
const NETWORKS: u8 = 250;
/// The maximum number of ends: all have flows to all others.
pub const MOST: usize = 16;

/// The addresses of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub v4: Ipv4Addr,
    pub v6: Ipv6Addr,
}

impl Address {
    /// Returns the addresses of an end in one of the networks for benchmarks [RFC 2544, RFC 5180].
    fn numbered(network: u8, end: usize) -> Address {
        let host = u8::try_from(end + 1).unwrap_or(u8::MAX);
        Address {
            v4: Ipv4Addr::new(198, 18, network, host),
            v6: Ipv6Addr::new(0x2001, 2, 0, u16::from(network), 0, 0, 0, u16::from(host)),
        }
    }

    /// Returns true for either address.
    pub fn is(&self, address: IpAddr) -> bool {
        address == IpAddr::V4(self.v4) || address == IpAddr::V6(self.v6)
    }
}

/// An end of a path.
pub struct Place {
    pub namespace: Namespace,
    pub device: Tun,
    /// The name of the device.
    pub name: String,
    pub address: Address,
}

/// Creates or joins the ends for packets of up to `mtu` bytes. `out` is true for the versions of IP (4 and 6) that
/// lead on from the second end.
pub fn open(programs: &Programs, mtu: u64, out: [bool; 2]) -> Result<Vec<Place>, LiveError> {
    if programs.ends.len() > MOST {
        let why = format!("{} ends are too many, at most {MOST} are possible", programs.ends.len());
        return Err(LiveError::Scenario(why));
    }
    let namespace = |end: &End| match &end.join {
        Some(path) => Namespace::open(path),
        None => Namespace::new(),
    };
    let namespaces: Vec<_> = programs.ends.iter().map(namespace).collect::<Result<_, _>>()?;
    refuse(programs, &namespaces)?;
    let joined = programs.ends.iter().map(|end| end.join.is_some());
    let network = free(namespaces.iter().zip(joined).filter(|(_, joined)| *joined))?;
    let addresses: Vec<_> =
        (0..namespaces.len()).map(|end| Address::numbered(network, end)).collect();
    let mut places = Vec::new();
    for (end, namespace) in namespaces.into_iter().enumerate() {
        let is_joined = programs.ends[end].join.is_some();
        let (name, here) = (name(&namespace)?, addresses[end]);
        let others = || addresses.iter().filter(|other| **other != here);
        let first = others().next().expect("there are two ends");
        if !is_joined {
            ip(&namespace, "link set lo up\n")?;
        }
        let device = Tun::open(&namespace, &name, (here.v4, first.v4), mtu, false)?;
        // Some kernels have no IPv6.
        let has_v6 = namespace.set(&format!("net/ipv6/conf/{name}/disable_ipv6"), "0").is_ok();
        let mut commands = String::new();
        for Address { v4, .. } in others().skip(1) {
            commands += &format!("route add {v4}/32 dev {name} src {}\n", here.v4);
        }
        if has_v6 {
            commands += &format!("address add {}/128 dev {name} nodad\n", here.v6);
            others().for_each(|o| commands += &format!("route add {}/128 dev {name}\n", o.v6));
        }
        for (leads, all) in [(out[0], "0.0.0.0/0"), (out[1] && has_v6, "::/0")] {
            if leads && !is_joined && end != 1 {
                commands += &format!("route add {all} dev {name}\n");
            }
        }
        if !commands.is_empty() {
            ip(&namespace, &commands)?;
        }
        for prefix in programs.routes.iter().filter(|_| end == 0) {
            let added = ip(&namespace, &format!("route add {prefix} dev {name}\n"));
            added.map_err(|e| LiveError::Unable(format!("the route {prefix}: {e}")))?;
        }
        if is_joined {
            (programs.announce)(&announcement(programs, &addresses, end, &name));
        }
        places.push(Place { namespace, device, name, address: here });
    }
    Ok(places)
}

/// Refuses namespaces whose packets would not cross the path, or would cross it without end.
fn refuse(programs: &Programs, namespaces: &[Namespace]) -> Result<(), LiveError> {
    for (end, namespace) in namespaces.iter().enumerate() {
        if let Some(other) = namespaces[..end].iter().position(|other| other.is(namespace)) {
            let [a, b] = [other, end].map(|end| &programs.ends[end].name);
            return Err(LiveError::Scenario(format!(
                "the ends {a} and {b} are in the same network namespace, so their packets do not cross the path"
            )));
        }
    }
    let far = &programs.ends[1];
    let leads_out = far.line.is_none() && far.join.is_none();
    if leads_out && !programs.routes.is_empty() && Namespace::own()?.is(&namespaces[0]) {
        return Err(LiveError::Scenario(format!(
            "{} joins the namespace of this program, so the routes would lead the way out into the path again",
            programs.ends[0].name
        )));
    }
    Ok(())
}

/// Returns the line about a device in a joined namespace.
fn announcement(programs: &Programs, addresses: &[Address], end: usize, device: &str) -> String {
    let others = programs.ends.iter().zip(addresses).enumerate().filter(|(n, _)| *n != end);
    let others: Vec<_> = others.map(|(_, (o, a))| format!("{} is {}", o.name, a.v4)).collect();
    let (own, here) = (&programs.ends[end].name, addresses[end].v4);
    format!("{device} is in the namespace of {own}, with {here}; {}", others.join(", "))
}

/// Returns the number of the ends, and of those that are joined.
pub fn described(ends: &[End]) -> String {
    let count = ends.len();
    let joined = match ends.iter().filter(|end| end.join.is_some()).count() {
        0 => String::new(),
        joined if joined == count => " that were there".into(),
        joined => format!(", {joined} of which {} there", if joined == 1 { "was" } else { "were" }),
    };
    format!("{count} network namespaces{joined}")
}

/// Returns a network that the joined namespaces do not use.
fn free<'a>(joined: impl Iterator<Item = (&'a Namespace, bool)>) -> Result<u8, LiveError> {
    let mut used = String::new();
    for (namespace, _) in joined {
        let list = || accord_host::ip(&["route", "show", "table", "all"], "").unwrap_or_default();
        used += &namespace.within(list)?;
    }
    let is_free = |k: &u8| !used.contains(&format!("198.18.{k}."));
    let none =
        || LiveError::Unable("all networks 198.18.0.0/24 to 198.18.249.0/24 are in use".into());
    (0..NETWORKS).find(is_free).ok_or_else(none)
}

/// Returns a name that no device in a namespace has.
fn name(namespace: &Namespace) -> Result<String, LiveError> {
    let list = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let devices = namespace.within(list)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_counted() {
        let new = End::default;
        let joined = || End { join: Some("/proc/self/ns/net".into()), ..End::default() };
        for (ends, said) in [
            (vec![new(), new()], "2 network namespaces"),
            (vec![new(), new(), joined()], "3 network namespaces, 1 of which was there"),
            (vec![joined(), new(), joined()], "3 network namespaces, 2 of which were there"),
            (vec![joined(), joined()], "2 network namespaces that were there"),
        ] {
            assert_eq!(described(&ends), said);
        }
    }
}
