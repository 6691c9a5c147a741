//! News of the kernel about the device: a device that goes down loses its routes, and does not regain them
//! when it goes up [rtnetlink(7)].

use super::ways::Ways;
use ipnet::IpNet;
use nix::errno::Errno;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// The groups of messages: of links, addresses, routes and rules.
const GROUPS: [u32; 7] = [
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_IFADDR,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV6_RULE,
];
/// The maximum number of messages that are read at once. Other programs can change routes as fast as they like.
const MOST: usize = 256;
/// The size of the buffer for messages of the kernel, in bytes.
const ROOM: usize = 1 << 15;
/// The lengths of the head of a message, and of the part of a message of routes or rules before its attributes.
const HEAD: usize = 16;
const ROUTE: usize = 12;
/// The attribute of a rule with its preference (`FRA_PRIORITY`).
const RULE_PREFERENCE: u16 = 6;

/// Messages of the kernel about a device.
#[derive(Debug)]
pub struct Watch {
    socket: OwnedFd,
    /// The number of the device.
    device: u32,
    room: Vec<u8>,
}

impl Watch {
    /// Begins to listen.
    pub fn open(device: &str) -> nix::Result<Watch> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let protocol = SockProtocol::NetlinkRoute;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?;
        let groups = GROUPS.iter().fold(0, |all, group| all | 1 << (group - 1));
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
        Ok(Watch { socket, device: if_nametoindex(device)?, room: vec![0; ROOM] })
    }

    /// Takes messages that have arrived. Returns whether one of these ways may be lost.
    pub fn hears(&mut self, ways: &Ways) -> bool {
        let mut news = false;
        for _ in 0..MOST {
            match recv(self.socket.as_raw_fd(), &mut self.room, MsgFlags::empty()) {
                Ok(length) => news = news || is_news(&self.room[..length], self.device, ways),
                Err(Errno::EINTR) => {}
                // Messages were lost that may have concerned the device.
                Err(Errno::ENOBUFS) => news = true,
                Err(_) => break,
            }
        }
        news
    }
}

/// Returns whether messages indicate that a device may have lost one of its ways: the device has changed, an
/// address, a route, a guard or a rule is gone, or another route has replaced one.
fn is_news(mut bytes: &[u8], device: u32, ways: &Ways) -> bool {
    while let (Some(length), Some(kind), Some(flags)) =
        (number(bytes), short(bytes, 4), short(bytes, 6))
    {
        let Some(message) = bytes.get(HEAD..length as usize) else {
            return false;
        };
        let attributes = message.get(ROUTE..).unwrap_or(&[]);
        let replaces = u32::from(flags) & libc::NLM_F_REPLACE as u32 != 0;
        let news = match kind {
            libc::RTM_NEWLINK | libc::RTM_DELLINK | libc::RTM_DELADDR => {
                message.get(4..).and_then(number) == Some(device)
            }
            libc::RTM_NEWROUTE => replaces && is_way(message, attributes, ways),
            libc::RTM_DELROUTE => {
                let guard = message.get(7) == Some(&libc::RTN_BLACKHOLE);
                let on = attribute(attributes, libc::RTA_OIF).and_then(number);
                (guard || on == Some(device)) && is_way(message, attributes, ways)
            }
            libc::RTM_DELRULE => {
                let preference = attribute(attributes, RULE_PREFERENCE).and_then(number);
                preference.is_some_and(|preference| ways.has_rule(preference))
            }
            _ => false,
        };
        if news {
            return true;
        }
        // Messages begin at multiples of four bytes.
        bytes = bytes.get((length as usize).next_multiple_of(4)..).unwrap_or(&[]);
    }
    false
}

/// Returns whether a message of routes is about a route of these ways, or its guard.
fn is_way(message: &[u8], attributes: &[u8], ways: &Ways) -> bool {
    let [family, prefix, _, _, table, ..] = *message else {
        return false;
    };
    let to = attribute(attributes, libc::RTA_DST);
    let to: Option<IpAddr> = match i32::from(family) {
        libc::AF_INET => to.map_or(Some([0u8; 4]), |to| to.try_into().ok()).map(IpAddr::from),
        libc::AF_INET6 => to.map_or(Some([0u8; 16]), |to| to.try_into().ok()).map(IpAddr::from),
        _ => None,
    };
    // A large number of a table is in an attribute only.
    let table = attribute(attributes, libc::RTA_TABLE).and_then(number).unwrap_or(table.into());
    let network = to.and_then(|to| IpNet::new(to, prefix).ok());
    network.is_some_and(|network| ways.has_route(network, table))
}

/// Returns the number of four bytes at the begin.
fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?))
}

/// Returns the number of two bytes at a place.
fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Returns the contents of an attribute.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    while let (Some(length), Some(kind)) = (short(bytes, 0), short(bytes, 2)) {
        // An attribute is at least as long as its head.
        let length = usize::from(length).max(4);
        if kind == wanted {
            return bytes.get(4..length);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A message of a kind, with flags.
    fn message(kind: u16, flags: u16, rest: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((HEAD as u32 + rest.len() as u32).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(rest);
        bytes
    }

    /// A message of a route of IPv4 of this kind, without its head.
    fn route(kind: u8, to: [u8; 4], prefix: u8, table: u32, device: u32) -> Vec<u8> {
        let mut bytes = vec![0; ROUTE];
        (bytes[0], bytes[1], bytes[7]) = (libc::AF_INET as u8, prefix, kind);
        let mut add = |attribute: u16, value: [u8; 4]| {
            bytes.extend(8u16.to_ne_bytes());
            bytes.extend(attribute.to_ne_bytes());
            bytes.extend(value);
        };
        if prefix > 0 {
            add(libc::RTA_DST, to);
        }
        add(libc::RTA_TABLE, table.to_ne_bytes());
        add(libc::RTA_OIF, device.to_ne_bytes());
        bytes
    }

    fn rule(preference: u32) -> Vec<u8> {
        let attribute = [8u16.to_ne_bytes(), RULE_PREFERENCE.to_ne_bytes()].concat();
        [&[0; ROUTE][..], &attribute, &preference.to_ne_bytes()].concat()
    }

    /// Routes of the host that are none of the gateway's are no news, however many there are.
    #[test]
    fn losses_of_the_device_are_news() {
        let link = |device: u32| [&[0; 4][..], &device.to_ne_bytes(), &[0; 8]].concat();
        let (replace, own, other) = (libc::NLM_F_REPLACE as u16, [10, 2, 0, 0], [10, 3, 0, 0]);
        let (unicast, guard) = (libc::RTN_UNICAST, libc::RTN_BLACKHOLE);
        let ways = Ways::of_networks(Some(7), &["10.2.0.0/24", "0.0.0.0/0"]);
        for (kind, flags, rest, news) in [
            (libc::RTM_NEWLINK, 0, link(5), true),
            (libc::RTM_NEWLINK, 0, link(6), false),
            (libc::RTM_DELADDR, 0, link(5), true),
            (libc::RTM_NEWADDR, 0, link(5), false),
            (libc::RTM_DELROUTE, 0, route(unicast, own, 24, 254, 5), true),
            (libc::RTM_DELROUTE, 0, route(unicast, own, 25, 254, 5), false),
            (libc::RTM_DELROUTE, 0, route(unicast, own, 24, 100, 5), false),
            (libc::RTM_DELROUTE, 0, route(unicast, own, 24, 254, 6), false),
            (libc::RTM_DELROUTE, 0, route(unicast, other, 24, 254, 5), false),
            (libc::RTM_DELROUTE, 0, route(unicast, own, 0, 7, 5), true),
            (libc::RTM_DELROUTE, 0, route(unicast, own, 0, 254, 5), false),
            (libc::RTM_DELROUTE, 0, route(guard, own, 24, 254, 1), true),
            (libc::RTM_DELROUTE, 0, route(guard, other, 24, 254, 1), false),
            (libc::RTM_NEWROUTE, 0, route(unicast, own, 24, 254, 5), false),
            (libc::RTM_NEWROUTE, replace, route(unicast, own, 24, 254, 6), true),
            (libc::RTM_NEWROUTE, replace, route(unicast, other, 24, 254, 6), false),
            (libc::RTM_NEWROUTE, replace, route(unicast, own, 0, 254, 6), false),
            (libc::RTM_DELRULE, 0, rule(32_764), true),
            (libc::RTM_DELRULE, 0, rule(32_765), true),
            (libc::RTM_DELRULE, 0, rule(1000), false),
            (libc::RTM_DELRULE, 0, vec![], false),
        ] {
            let address = message(libc::RTM_NEWADDR, 0, &link(5));
            let both = [address, message(kind, flags, &rest)].concat();
            assert_eq!(is_news(&both, 5, &ways), news, "{kind} {flags} {rest:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let ways = Ways::of_networks(Some(7), &["10.2.0.0/24", "::/0"]);
            is_news(&bytes, 5, &ways);
            let [length, rest @ ..] = &bytes[..] else { return Ok(()) };
            let mut message = message(libc::RTM_DELROUTE, 0, rest);
            message[0] = *length;
            is_news(&message, 5, &ways);
        }
    }
}
