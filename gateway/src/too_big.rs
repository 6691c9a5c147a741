//! A router's treatment of packets that are larger than the next link takes: it cuts a packet if the sender
//! allows it, and otherwise sends an ICMP message [RFC 791, RFC 1191, RFC 8200 §5, RFC 4443 §3.2].
//!
//! IPv4 packets with options are not cut.

use crate::inner::{Inner, V6};
use accord_units::{Duration, Time};
use std::net::IpAddr;

/// The least MTU of IPv6: a message with a smaller one is ignored.
pub const LEAST_V6: usize = 1280;
/// The length of the IPv4 header without options, and that of an ICMP header.
const V4: usize = 20;
const ICMP: usize = 8;
/// The flags and the place of a fragment, in the header of IPv4.
const UNBROKEN: u16 = 0x4000;
const MORE: u16 = 0x2000;
const PLACE: u16 = 0x1fff;
/// The protocols ICMP and ICMPv6.
const ICMP_V4: u8 = 1;
const ICMP_V6: u8 = 58;
/// The number of messages that may be sent at once, and the time after which one more is allowed [RFC 4443
/// §2.4 (f)].
const BURST: u32 = 50;
const EACH: Duration = Duration::from_ms(10);

/// Returns the fragments of a packet, each of at most `mtu` bytes, if it may be cut.
pub fn fragments(packet: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let word = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]);
    let each = mtu.checked_sub(V4)? / 8 * 8;
    if packet[0] != 0x45 || word & UNBROKEN != 0 || each == 0 {
        return None;
    }
    let (header, contents) = packet.split_at_checked(V4)?;
    let count = contents.len().div_ceil(each);
    let pieces = contents.chunks(each).enumerate().map(|(i, piece)| {
        let mut cut = [header, piece].concat();
        let more = word & MORE | if i + 1 < count { MORE } else { 0 };
        let place = (word & PLACE).wrapping_add((i * each / 8) as u16);
        cut[2..4].copy_from_slice(&((V4 + piece.len()) as u16).to_be_bytes());
        cut[6..8].copy_from_slice(&(more | place & PLACE).to_be_bytes());
        cut[10..12].fill(0);
        let sum = checksum(&[&cut[..V4]]);
        cut[10..12].copy_from_slice(&sum.to_be_bytes());
        cut
    });
    Some(pieces.collect())
}

/// Returns the message that informs the sender of a packet that it is larger than `mtu` bytes. Returns `None`
/// if there must be no message: for ICMP errors, for fragments other than the first, and for packets to or
/// from groups [RFC 1122 §3.2.2, RFC 4443 §2.4].
///
/// The source of the message is the destination of the packet. A host drops packets from a device that
/// carry one of its own addresses, such as that of the device.
pub fn message(packet: &[u8], inner: &Inner, mtu: usize) -> Option<Vec<u8>> {
    let kind = inner.contents().first().copied();
    match (inner.source, inner.destination) {
        (IpAddr::V4(source), IpAddr::V4(from)) => {
            let place = u16::from_be_bytes([packet[6], packet[7]]) & PLACE;
            let error = inner.protocol == ICMP_V4 && !matches!(kind, Some(0 | 8 | 13 | 14));
            let many = from.is_multicast() || from.is_broadcast();
            let nobody = source.is_multicast() || source.is_broadcast() || source.is_unspecified();
            if place != 0 || error || many || nobody {
                return None;
            }
            // The message quotes enough of the packet to fill 576 bytes [RFC 1812 §4.3.2.3].
            let quoted = &packet[..packet.len().min(576 - V4 - ICMP)];
            let mut body = vec![3, 4, 0, 0, 0, 0, 0, 0];
            body[6..8].copy_from_slice(&(mtu as u16).to_be_bytes());
            body.extend_from_slice(quoted);
            let sum = checksum(&[&body]);
            body[2..4].copy_from_slice(&sum.to_be_bytes());
            let mut whole = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, ICMP_V4, 0, 0];
            whole.extend_from_slice(&from.octets());
            whole.extend_from_slice(&source.octets());
            whole[2..4].copy_from_slice(&((V4 + body.len()) as u16).to_be_bytes());
            let sum = checksum(&[&whole]);
            whole[10..12].copy_from_slice(&sum.to_be_bytes());
            whole.extend_from_slice(&body);
            Some(whole)
        }
        (IpAddr::V6(source), IpAddr::V6(from)) => {
            let error = inner.protocol == ICMP_V6 && kind.is_some_and(|kind| kind < 128);
            let many = from.is_multicast() || source.is_multicast();
            if error || many || source.is_unspecified() {
                return None;
            }
            let quoted = &packet[..packet.len().min(LEAST_V6 - V6 - ICMP)];
            let mut body = vec![2, 0, 0, 0];
            body.extend_from_slice(&(mtu.max(LEAST_V6) as u32).to_be_bytes());
            body.extend_from_slice(quoted);
            let length = (body.len() as u32).to_be_bytes();
            let (from, source) = (from.octets(), source.octets());
            let sum = checksum(&[&from, &source, &length, &[0, 0, 0, ICMP_V6], &body]);
            body[2..4].copy_from_slice(&sum.to_be_bytes());
            let mut whole = vec![0x60, 0, 0, 0, 0, 0, ICMP_V6, 64];
            whole[4..6].copy_from_slice(&(body.len() as u16).to_be_bytes());
            whole.extend_from_slice(&from);
            whole.extend_from_slice(&source);
            whole.extend_from_slice(&body);
            Some(whole)
        }
        _ => None,
    }
}

/// Returns the Internet checksum over parts. All but the last must have even lengths.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 =
        words.map(|w| u32::from(u16::from_be_bytes([w[0], *w.get(1).unwrap_or(&0)]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
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
                let inner = Inner::new(piece).expect("a packet");
                assert_eq!(inner.contents().len() + 20, piece.len());
                let word = u16::from_be_bytes([piece[6], piece[7]]);
                assert_eq!(usize::from(word & 0x1fff) * 8, contents.len());
                assert_eq!(word & 0x2000 != 0, i + 1 < cut.len());
                contents.extend_from_slice(inner.contents());
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
        let inner = Inner::new(&packet).expect("a packet");
        let told = message(&packet, &inner, 1300).expect("a message");
        let read = Inner::new(&told).expect("a packet");
        assert_eq!((read.source, read.destination), (inner.destination, inner.source));
        assert!(is_sound(&told[..20]) && is_sound(&told[20..]) && told.len() == 576);
        assert_eq!(told[20..28], [3, 4, told[22], told[23], 0, 0, 5, 20]);
        assert_eq!(told[28..], packet[..548]);
        let packet = v6(0, 1400);
        let inner = Inner::new(&packet).expect("a packet");
        let told = message(&packet, &inner, 1300).expect("a message");
        let read = Inner::new(&told).expect("a packet");
        assert_eq!((read.source, read.destination), (inner.destination, inner.source));
        let length = (told.len() - 40) as u32;
        let pseudo = [&told[8..40], &length.to_be_bytes(), &[0, 0, 0, 58]].concat();
        assert!(is_sound(&[&pseudo, &told[40..]].concat()) && told.len() == 1280);
        assert_eq!(told[44..48], 1300u32.to_be_bytes());
    }

    #[test]
    fn errors_and_later_fragments_are_not_answered() {
        let told = |packet: &[u8]| {
            let inner = Inner::new(packet).expect("a packet");
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
