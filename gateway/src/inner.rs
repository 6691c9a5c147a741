//! The packets of the sites, as a tunnel sees them.

use crate::config::Dscp;
use accord_aqm::Ecn;
use accord_transport::ip::{self, Packet};
use accord_transport::tunnel::Part;
use accord_transport::wire::{ECN, MARKED};
use etherparse::IpNumber;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The code point of differentiated services.
pub fn dscp(packet: &Packet) -> Dscp {
    Dscp(packet.tos >> 2)
}

/// The ECN codepoint.
pub fn ecn(packet: &Packet) -> Ecn {
    match packet.tos & ECN {
        0 => Ecn::NotCapable,
        MARKED => Ecn::Marked,
        _ => Ecn::Capable,
    }
}

/// Returns a number for the packet's flow: addresses, protocol and ports, if any. Without the secret,
/// flows with equal numbers cannot be found.
pub fn flow(packet: &Packet, secret: u64) -> u32 {
    number(packet, secret) as u32
}

fn number(packet: &Packet, secret: u64) -> u64 {
    const WITH_PORTS: [IpNumber; 4] =
        [IpNumber::TCP, IpNumber::UDP, IpNumber::DCCP, IpNumber::SCTP];
    let mut hasher = DefaultHasher::new();
    (secret, packet.source, packet.destination, packet.protocol).hash(&mut hasher);
    // Fragments have the same flow, although only the first of them has ports.
    if WITH_PORTS.contains(&packet.protocol)
        && !packet.is_fragment
        && let Some(ports) = packet.contents.first_chunk::<4>()
    {
        hasher.write(ports);
    }
    hasher.finish()
}

/// Returns the part of the flow that a TCP packet carries.
pub fn part(packet: &Packet, secret: u64) -> Option<Part> {
    let tcp = packet.tcp()?;
    let (first, length) = packet.sequence()?;
    Some(Part { flow: number(packet, secret), first, length, begins: tcp.syn() || tcp.rst() })
}

/// Sets the congestion mark of a packet whose ends understand it.
pub fn mark(packet: &mut [u8]) {
    ip::exit(packet, MARKED);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{v4, v6};
    use accord_transport::ip::exit;
    use std::net::IpAddr;

    const ENDS: ([u8; 4], [u8; 4]) = ([10, 1, 0, 1], [10, 2, 0, 1]);

    #[test]
    fn fields_are_read_of_both_versions() {
        let packet = v4(0xba, ENDS, (1, 2), 100);
        let inner = Packet::new(&packet).expect("a packet");
        assert_eq!((dscp(&inner), ecn(&inner)), (Dscp(46), Ecn::Capable));
        assert_eq!(inner.destination, IpAddr::from([10, 2, 0, 1]));
        let packet = v6(0xbb, 100);
        let inner = Packet::new(&packet).expect("a packet");
        assert_eq!((dscp(&inner), ecn(&inner)), (Dscp(46), Ecn::Marked));
        assert_eq!(inner.contents.len(), 60);
        assert_eq!(Packet::new(&packet[..99]), None);
    }

    #[test]
    fn flows_differ_by_ports_but_not_by_fragments() {
        let flow = |packet: &[u8]| flow(&Packet::new(packet).expect("a packet"), 7);
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

    const FIN: u8 = 1;
    const SYN: u8 = 2;
    const RST: u8 = 4;

    #[test]
    fn segments_of_tcp_have_their_numbers() {
        let segment = |flags: u8, fragment: bool| {
            let mut packet = v4(0, ENDS, (1, 2), 60);
            packet[9] = IpNumber::TCP.0;
            packet[24..28].copy_from_slice(&7u32.to_be_bytes());
            (packet[32], packet[33]) = (6 << 4, flags);
            packet[6] = if fragment { 0x20 } else { 0x40 };
            packet
        };
        let part = |packet: &[u8]| {
            let part = part(&Packet::new(packet).expect("a packet"), 1)?;
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
