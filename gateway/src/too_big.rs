//! A router's treatment of packets that are larger than the next link takes: it cuts a packet if the sender
//! allows it, and otherwise sends an ICMP message [RFC 791, RFC 1191, RFC 8200 §5, RFC 4443 §3.2].
//!
//! IPv4 packets with options are not cut.

use accord_transport::ip::Packet;
use accord_units::{Duration, Time};
use etherparse::icmpv4::DestUnreachableHeader::FragmentationNeeded;
use etherparse::{Icmpv4Header, Icmpv4Type, Icmpv6Header, Icmpv6Type};
use etherparse::{IpFragOffset, IpNumber, Ipv4Header, Ipv6Header};
use std::net::IpAddr;

/// The least MTU of IPv6: a message with a smaller one is ignored.
pub const LEAST_V6: usize = 1280;
/// The lengths of the headers of IPv4 and ICMP.
const V4: usize = Ipv4Header::MIN_LEN;
const ICMP: usize = 8;
const HOPS: u8 = 64;
/// The number of messages that may be sent at once, and the time after which one more is allowed [RFC 4443
/// §2.4 (f)].
const BURST: u32 = 50;
const EACH: Duration = Duration::from_ms(10);

/// Returns the fragments of a packet, each of at most `mtu` bytes, if it may be cut.
pub fn fragments(packet: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let (header, contents) = Ipv4Header::from_slice(packet).ok()?;
    let each = mtu.checked_sub(V4)? / 8 * 8;
    if header.dont_fragment || header.header_len() > V4 || each == 0 {
        return None;
    }
    let count = contents.len().div_ceil(each);
    let pieces = contents.chunks(each).enumerate().map(|(i, piece)| {
        let place = usize::from(header.fragment_offset.value()) + i * each / 8;
        let mut cut = header.clone();
        cut.fragment_offset = IpFragOffset::try_new(u16::try_from(place).ok()?).ok()?;
        cut.more_fragments |= i + 1 < count;
        cut.set_payload_len(piece.len()).ok()?;
        cut.header_checksum = cut.calc_header_checksum();
        Some([&cut.to_bytes()[..], piece].concat())
    });
    pieces.collect()
}

/// Returns the message that informs the sender of a packet that it is larger than `mtu` bytes. Returns `None`
/// if there must be no message: for ICMP errors, for fragments other than the first, and for packets to or
/// from groups [RFC 1122 §3.2.2, RFC 4443 §2.4].
///
/// The source of the message is the destination of the packet. A host drops packets from a device that
/// carry one of its own addresses, such as that of the device.
pub fn message(packet: &[u8], inner: &Packet, mtu: usize) -> Option<Vec<u8>> {
    if inner.is_continued {
        return None;
    }
    let kind = inner.contents.first().copied();
    match (inner.source, inner.destination) {
        (IpAddr::V4(source), IpAddr::V4(from)) => {
            let error = inner.protocol == IpNumber::ICMP && !matches!(kind, Some(0 | 8 | 13 | 14));
            let many = from.is_multicast() || from.is_broadcast();
            let nobody = source.is_multicast() || source.is_broadcast() || source.is_unspecified();
            if error || many || nobody {
                return None;
            }
            // The message quotes enough of the packet to fill 576 bytes [RFC 1812 §4.3.2.3].
            let quoted = &packet[..packet.len().min(576 - V4 - ICMP)];
            let needed = FragmentationNeeded { next_hop_mtu: mtu as u16 };
            let icmp =
                Icmpv4Header::with_checksum(Icmpv4Type::DestinationUnreachable(needed), quoted);
            let length = (icmp.header_len() + quoted.len()) as u16;
            let ends = (from.octets(), source.octets());
            let mut header = Ipv4Header::new(length, HOPS, IpNumber::ICMP, ends.0, ends.1).ok()?;
            header.header_checksum = header.calc_header_checksum();
            Some([&header.to_bytes()[..], &icmp.to_bytes(), quoted].concat())
        }
        (IpAddr::V6(source), IpAddr::V6(from)) => {
            let error =
                inner.protocol == IpNumber::IPV6_ICMP && kind.is_some_and(|kind| kind < 128);
            let many = from.is_multicast() || source.is_multicast();
            if error || many || source.is_unspecified() {
                return None;
            }
            let quoted = &packet[..packet.len().min(LEAST_V6 - Ipv6Header::LEN - ICMP)];
            let too_big = Icmpv6Type::PacketTooBig { mtu: mtu.max(LEAST_V6) as u32 };
            let (from, source) = (from.octets(), source.octets());
            let icmp = Icmpv6Header::with_checksum(too_big, from, source, quoted).ok()?;
            let header = Ipv6Header {
                payload_length: (icmp.header_len() + quoted.len()) as u16,
                next_header: IpNumber::IPV6_ICMP,
                hop_limit: HOPS,
                source: from,
                destination: source,
                ..Ipv6Header::default()
            };
            Some([&header.to_bytes()[..], &icmp.to_bytes(), quoted].concat())
        }
        _ => None,
    }
}

/// The limit of messages per time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// The time at which all messages so far would have been due.
    until: Time,
}

impl Limit {
    /// Returns whether one more message may be sent at `now`, and if so counts it.
    pub fn allows(&mut self, now: Time) -> bool {
        let until = self.until.max(now);
        let allowed = until.since(now) < EACH * u64::from(BURST);
        if allowed {
            self.until = until + EACH;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{v4, v6};

    const ENDS: ([u8; 4], [u8; 4]) = ([10, 1, 0, 1], [10, 2, 0, 1]);

    /// Returns whether the sum of a header, including its checksum, is all ones [RFC 1071 §1 (3)].
    fn is_sound(bytes: &[u8]) -> bool {
        let sum: u64 = bytes
            .chunks(2)
            .map(|w| u64::from(w[0]) << 8 | u64::from(*w.get(1).unwrap_or(&0)))
            .sum();
        sum > 0 && sum.is_multiple_of(0xffff)
    }

    #[test]
    fn fragments_are_the_packet_in_order() {
        let mut packet = v4(0, ENDS, (1, 2), 1400);
        for (i, byte) in packet[20..].iter_mut().enumerate() {
            *byte = i as u8;
        }
        for mtu in [1399, 1280, 576, 68, 28] {
            let cut = fragments(&packet, mtu).expect("it may be cut");
            let mut contents = Vec::new();
            for (i, piece) in cut.iter().enumerate() {
                assert!(piece.len() <= mtu && is_sound(&piece[..20]), "{mtu}");
                let inner = Packet::new(piece).expect("a packet");
                assert_eq!(inner.contents.len() + 20, piece.len());
                let word = u16::from_be_bytes([piece[6], piece[7]]);
                assert_eq!(usize::from(word & 0x1fff) * 8, contents.len());
                assert_eq!(word & 0x2000 != 0, i + 1 < cut.len());
                contents.extend_from_slice(inner.contents);
            }
            assert_eq!(contents, packet[20..]);
            // Cutting a fragment again gives the same result as cutting the packet directly.
            let again = cut.iter().flat_map(|p| fragments(p, 68).unwrap_or_default());
            let contents: Vec<u8> = again.flat_map(|p| p[20..].to_vec()).collect();
            assert_eq!(contents, packet[20..]);
        }
        packet[6] = 0x40;
        assert_eq!(fragments(&packet, 576), None);
        assert_eq!(fragments(&v6(0, 1400), 576), None);
    }

    #[test]
    fn senders_are_told_with_sound_checksums() {
        let packet = v4(0, ENDS, (1, 2), 1400);
        let inner = Packet::new(&packet).expect("a packet");
        let told = message(&packet, &inner, 1300).expect("a message");
        let read = Packet::new(&told).expect("a packet");
        assert_eq!((read.source, read.destination), (inner.destination, inner.source));
        assert!(is_sound(&told[..20]) && is_sound(&told[20..]) && told.len() == 576);
        assert_eq!(told[20..28], [3, 4, told[22], told[23], 0, 0, 5, 20]);
        assert_eq!(told[28..], packet[..548]);
        let packet = v6(0, 1400);
        let inner = Packet::new(&packet).expect("a packet");
        let told = message(&packet, &inner, 1300).expect("a message");
        let read = Packet::new(&told).expect("a packet");
        assert_eq!((read.source, read.destination), (inner.destination, inner.source));
        let length = (told.len() - 40) as u32;
        let pseudo = [&told[8..40], &length.to_be_bytes(), &[0, 0, 0, 58]].concat();
        assert!(is_sound(&[&pseudo, &told[40..]].concat()) && told.len() == 1280);
        assert_eq!(told[44..48], 1300u32.to_be_bytes());
    }

    #[test]
    fn errors_and_later_fragments_are_not_answered() {
        let told = |packet: &[u8]| {
            let inner = Packet::new(packet).expect("a packet");
            message(packet, &inner, 1280).is_some()
        };
        let mut packet = v4(0, ENDS, (1, 2), 1400);
        assert!(told(&packet));
        packet[7] = 1;
        assert!(!told(&packet), "a later fragment");
        let mut packet = v4(0, ENDS, (1, 2), 1400);
        (packet[9], packet[20]) = (1, 8);
        assert!(told(&packet), "an echo request");
        packet[20] = 3;
        assert!(!told(&packet), "an error");
        assert!(!told(&v4(0, (ENDS.0, [224, 0, 0, 1]), (1, 2), 1400)));
    }

    #[test]
    fn messages_have_a_limit() {
        let (mut limit, mut count) = (Limit::default(), 0);
        for us in 0..1_000_000 {
            let now = Time::ZERO + Duration::from_secs(1) + Duration::from_us(us);
            count += u32::from(limit.allows(now));
        }
        assert!((145..=151).contains(&count), "{count} in a second");
    }
}
