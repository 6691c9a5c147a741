//! The packets of the sites: the parts of IPv4 and IPv6 that a tunnel needs.

use crate::config::Dscp;
use accord_aqm::Ecn;
use accord_transport::ip;
use accord_transport::tunnel::Part;
use accord_transport::wire::{ECN, MARKED};
use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;

/// The length of the header of IPv6.
pub(crate) const V6: usize = 40;

/// The protocol TCP, and its flags FIN, SYN and RST [RFC 9293 §3.1].
const TCP: u8 = 6;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;

/// A packet that is as long as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner<'a> {
    bytes: &'a [u8],
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// The address that the packet comes from.
    pub source: IpAddr,
    /// The address that the packet goes to.
    pub destination: IpAddr,
    /// The protocol of the contents. In IPv6 it is the first next header.
    pub protocol: u8,
    /// The place of the contents.
    contents: usize,
}

impl<'a> Inner<'a> {
    /// Returns the bytes as a packet if they form one.
    pub fn new(bytes: &'a [u8]) -> Option<Inner<'a>> {
        match bytes.first()? >> 4 {
            4 => {
                let packet = ip::Ipv4Packet::new(bytes)?;
                let (source, destination) = packet.ends();
                Some(Inner {
                    bytes,
                    tos: packet.tos(),
                    source: source.into(),
                    destination: destination.into(),
                    protocol: bytes[9],
                    contents: usize::from(bytes[0] & 0xf) * 4,
                })
            }
            6 => {
                let length = usize::from(u16::from_be_bytes([*bytes.get(4)?, *bytes.get(5)?]));
                if bytes.len() != V6 + length {
                    return None;
                }
                let source: [u8; 16] = bytes[8..24].try_into().ok()?;
                let destination: [u8; 16] = bytes[24..40].try_into().ok()?;
                Some(Inner {
                    bytes,
                    tos: bytes[0] << 4 | bytes[1] >> 4,
                    source: source.into(),
                    destination: destination.into(),
                    protocol: bytes[6],
                    contents: V6,
                })
            }
            _ => None,
        }
    }

    /// The code point of differentiated services.
    pub fn dscp(&self) -> Dscp {
        Dscp(self.tos >> 2)
    }

    /// The ECN codepoint.
    pub fn ecn(&self) -> Ecn {
        match self.tos & ECN {
            0 => Ecn::NotCapable,
            MARKED => Ecn::Marked,
            _ => Ecn::Capable,
        }
    }

    /// Returns a number for the packet's flow: addresses, protocol and ports, if any. Without the secret,
    /// flows with equal numbers cannot be found.
    pub fn flow(&self, secret: u64) -> u32 {
        self.number(secret) as u32
    }

    fn number(&self, secret: u64) -> u64 {
        let (addresses, v4) = match self.source {
            IpAddr::V4(_) => (&self.bytes[12..20], true),
            IpAddr::V6(_) => (&self.bytes[8..40], false),
        };
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(secret);
        hasher.write(addresses);
        hasher.write_u8(self.protocol);
        // Fragments of IPv4 have the same flow, although only the first of them has ports.
        let fragment = v4 && self.bytes[6..8].iter().any(|b| b & !0x40 != 0);
        if matches!(self.protocol, 6 | 17 | 33 | 132)
            && !fragment
            && let Some(ports) = self.bytes.get(self.contents..self.contents + 4)
        {
            hasher.write(ports);
        }
        hasher.finish()
    }

    /// Returns the part of the flow that a TCP packet carries.
    pub fn part(&self, secret: u64) -> Option<Part> {
        let is_fragment = self.source.is_ipv4() && self.bytes[6..8].iter().any(|b| b & !0x40 != 0);
        let header = self.contents();
        if self.protocol != TCP || is_fragment || header.len() < 20 {
            return None;
        }
        let flags = header[13];
        let data = header.len().checked_sub(usize::from(header[12] >> 4) * 4)?;
        // SYN and FIN have a number each [RFC 9293 §3.4].
        let length = data as u32 + u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        Some(Part {
            flow: self.number(secret),
            first: u32::from_be_bytes(header[4..8].try_into().ok()?),
            length,
            begins: flags & (SYN | RST) != 0,
        })
    }

    /// The contents after the header.
    pub fn contents(&self) -> &'a [u8] {
        &self.bytes[self.contents..]
    }
}

/// Sets the congestion mark of a packet whose ends understand it.
pub fn mark(packet: &mut [u8]) {
    exit(packet, MARKED);
}

/// Copies the mark that a router has set on the datagram to the packet inside. Returns `false` if the packet
/// must be dropped [RFC 6040 §4.2]. Leaves bytes that are not a packet unchanged.
pub fn exit(packet: &mut [u8], outer: u8) -> bool {
    match packet.first().map(|b| b >> 4) {
        Some(4) => ip::exit(packet, outer),
        Some(6) if packet.len() >= V6 => match ip::decapsulated(packet[1] >> 4, outer) {
            Some(ecn) => {
                packet[1] = packet[1] & !(ECN << 4) | ecn << 4;
                true
            }
            None => false,
        },
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{v4, v6};

    const ENDS: ([u8; 4], [u8; 4]) = ([10, 1, 0, 1], [10, 2, 0, 1]);

    #[test]
    fn fields_are_read_of_both_versions() {
        let packet = v4(0xba, ENDS, (1, 2), 100);
        let inner = Inner::new(&packet).expect("a packet");
        assert_eq!((inner.dscp(), inner.ecn()), (Dscp(46), Ecn::Capable));
        assert_eq!(inner.destination, IpAddr::from([10, 2, 0, 1]));
        let packet = v6(0xbb, 100);
        let inner = Inner::new(&packet).expect("a packet");
        assert_eq!((inner.dscp(), inner.ecn()), (Dscp(46), Ecn::Marked));
        assert_eq!(inner.contents().len(), 60);
        assert_eq!(Inner::new(&packet[..99]), None);
    }

    #[test]
    fn flows_differ_by_ports_but_not_by_fragments() {
        let flow = |packet: &[u8]| Inner::new(packet).expect("a packet").flow(7);
        let (a, b) = (v4(0, ENDS, (1, 2), 100), v4(0, ENDS, (1, 3), 100));
        assert_ne!(flow(&a), flow(&b));
        let fragment = |mut packet: Vec<u8>| {
            packet[6] = 0x20;
            packet
        };
        assert_eq!(flow(&fragment(a)), flow(&fragment(b)));
    }

    /// The sixteen cases of RFC 6040 figure 4: rows by the inner codepoint, columns by the outer one.
    #[test]
    fn codepoints_are_those_of_the_rfc() {
        let (not, zero, one, ce) = (0b00, 0b10, 0b01, 0b11);
        let figure = [
            (not, [Some(not), Some(not), Some(not), None]),
            (zero, [Some(zero), Some(zero), Some(one), Some(ce)]),
            (one, [Some(one), Some(one), Some(one), Some(ce)]),
            (ce, [Some(ce), Some(ce), Some(ce), Some(ce)]),
        ];
        for (inside, row) in figure {
            for (outer, left) in [not, zero, one, ce].into_iter().zip(row) {
                let mut four = v4(0xb8 | inside, ENDS, (1, 2), 60);
                let mut six = v6(0xb8 | inside, 60);
                let passed = (exit(&mut four, outer), exit(&mut six, outer));
                assert_eq!(passed, (left.is_some(), left.is_some()), "{inside} {outer}");
                if let Some(left) = left {
                    assert_eq!(four, v4(0xb8 | left, ENDS, (1, 2), 60), "{inside} {outer}");
                    assert_eq!(six, v6(0xb8 | left, 60), "{inside} {outer}");
                }
            }
        }
    }

    #[test]
    fn marks_go_over_and_the_checksum_stays_right() {
        let mut packet = v4(0b10, ENDS, (1, 2), 60);
        assert!(exit(&mut packet, MARKED));
        assert_eq!(packet, v4(0b11, ENDS, (1, 2), 60));
        assert!(!exit(&mut v4(0, ENDS, (1, 2), 60), MARKED), "it is dropped");
        let mut packet = v6(0b01, 60);
        assert!(exit(&mut packet, MARKED));
        assert_eq!(packet, v6(0b11, 60));
        assert!(!exit(&mut v6(0, 60), MARKED), "it is dropped");
        assert!(exit(&mut v6(0, 60), 0b10));
    }

    #[test]
    fn segments_of_tcp_have_their_numbers() {
        let segment = |flags: u8, fragment: bool| {
            let mut packet = v4(0, ENDS, (1, 2), 60);
            packet[9] = TCP;
            packet[24..28].copy_from_slice(&7u32.to_be_bytes());
            (packet[32], packet[33]) = (6 << 4, flags);
            packet[6] = if fragment { 0x20 } else { 0x40 };
            packet
        };
        let part = |packet: &[u8]| {
            let part = Inner::new(packet).expect("a packet").part(1)?;
            Some((part.first, part.length, part.begins))
        };
        let data = (segment(0, false).len() - 44) as u32;
        assert_eq!(part(&segment(0x10, false)), Some((7, data, false)));
        assert_eq!(part(&segment(0x10 | FIN, false)), Some((7, data + 1, false)));
        assert_eq!(part(&segment(SYN, false)), Some((7, data + 1, true)));
        assert_eq!(part(&segment(RST, false)), Some((7, data, true)));
        assert_eq!(part(&segment(0x10, true)), None, "a fragment");
        assert_eq!(part(&v4(0, ENDS, (1, 2), 60)), None, "not TCP");
        let mut short = segment(0x10, false);
        short[32] = 15 << 4;
        assert_eq!(part(&short), None, "a header beyond the packet");
    }
}
