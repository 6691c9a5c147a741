//! News of the kernel about the device: a device that goes down loses its routes, and does not regain them
//! when it goes up [rtnetlink(7)].

use nix::errno::Errno;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};
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
/// The size of the buffer for messages of the kernel, in bytes.
const ROOM: usize = 1 << 15;
/// The lengths of the head of a message, and of the part of a message of routes before its attributes.
const HEAD: usize = 16;
const ROUTE: usize = 12;

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

    /// Takes the messages that have arrived. Returns whether the device may have lost an address or a route.
    pub fn hears(&mut self) -> bool {
        let mut news = false;
        loop {
            match recv(self.socket.as_raw_fd(), &mut self.room, MsgFlags::empty()) {
                Ok(length) => news |= is_news(&self.room[..length], self.device),
                Err(Errno::EINTR) => {}
                // Messages were lost that may have concerned the device.
                Err(Errno::ENOBUFS) => news = true,
                Err(_) => return news,
            }
        }
    }
}

/// Returns whether messages indicate that a device may have lost an address or a route: the device has
/// changed, an address or a route is gone, or another route has replaced one.
fn is_news(mut bytes: &[u8], device: u32) -> bool {
    let number = |bytes: &[u8], at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_ne_bytes(four.try_into().ok()?))
    };
    let short = |bytes: &[u8], at: usize| {
        let two = bytes.get(at..at + 2)?;
        Some(u16::from_ne_bytes(two.try_into().ok()?))
    };
    while let (Some(length), Some(kind), Some(flags)) =
        (number(bytes, 0), short(bytes, 4), short(bytes, 6))
    {
        let Some(message) = bytes.get(HEAD..length as usize) else {
            return false;
        };
        let replaces = u32::from(flags) & libc::NLM_F_REPLACE as u32 != 0;
        let news = match kind {
            libc::RTM_NEWLINK | libc::RTM_DELLINK | libc::RTM_DELADDR => {
                number(message, 4) == Some(device)
            }
            libc::RTM_NEWROUTE => replaces,
            libc::RTM_DELROUTE => {
                let guard = message.get(7) == Some(&libc::RTN_BLACKHOLE);
                guard
                    || attribute(message.get(ROUTE..).unwrap_or(&[]), libc::RTA_OIF) == Some(device)
            }
            libc::RTM_DELRULE => true,
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

/// Returns the number in an attribute.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<u32> {
    while let [l0, l1, k0, k1, rest @ ..] = bytes {
        let length = usize::from(u16::from_ne_bytes([*l0, *l1]));
        if u16::from_ne_bytes([*k0, *k1]) == wanted {
            return Some(u32::from_ne_bytes(rest.get(..4)?.try_into().ok()?));
        }
        // An attribute is at least as long as its head.
        bytes = bytes.get(length.max(4).next_multiple_of(4)..)?;
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

    fn route(kind: u8, device: u32) -> Vec<u8> {
        let mut bytes = vec![0; ROUTE];
        bytes[7] = kind;
        // A destination, and the device.
        for (attribute, value) in [(libc::RTA_DST, 7), (libc::RTA_OIF, device)] {
            bytes.extend(8u16.to_ne_bytes());
            bytes.extend(attribute.to_ne_bytes());
            bytes.extend(u32::to_ne_bytes(value));
        }
        bytes
    }

    #[test]
    fn losses_of_the_device_are_news() {
        let link = |device: u32| [&[0; 4][..], &device.to_ne_bytes(), &[0; 8]].concat();
        let replace = libc::NLM_F_REPLACE as u16;
        for (kind, flags, rest, news) in [
            (libc::RTM_NEWLINK, 0, link(5), true),
            (libc::RTM_NEWLINK, 0, link(6), false),
            (libc::RTM_DELADDR, 0, link(5), true),
            (libc::RTM_NEWADDR, 0, link(5), false),
            (libc::RTM_DELROUTE, 0, route(libc::RTN_UNICAST, 5), true),
            (libc::RTM_DELROUTE, 0, route(libc::RTN_UNICAST, 6), false),
            (libc::RTM_DELROUTE, 0, route(libc::RTN_BLACKHOLE, 1), true),
            (libc::RTM_NEWROUTE, 0, route(libc::RTN_UNICAST, 5), false),
            (libc::RTM_NEWROUTE, replace, route(libc::RTN_UNICAST, 6), true),
            (libc::RTM_DELRULE, 0, vec![], true),
        ] {
            let other = message(libc::RTM_NEWADDR, 0, &link(5));
            let both = [other, message(kind, flags, &rest)].concat();
            assert_eq!(is_news(&both, 5), news, "{kind} {flags} {rest:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            is_news(&bytes, 5);
            let [length, rest @ ..] = &bytes[..] else { return Ok(()) };
            let mut message = message(libc::RTM_DELROUTE, 0, rest);
            message[0] = *length;
            is_news(&message, 5);
        }
    }
}
