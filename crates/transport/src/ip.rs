//! The headers of IP, TCP and UDP, as far as needed to inspect and wrap packets of other programs.

use crate::tos::{ECN, MARKED};
use core::net::Ipv6Addr;

/// An IPv4 packet that is as long as its header says.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4Packet<'a> {
    bytes: &'a [u8],
    /// The length of the header, in bytes.
    header: usize,
}

/// The protocol numbers of TCP and UDP.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The length of the headers of IP and UDP, in bytes. They count as part of a packet's size.
pub const UDP_HEADERS: usize = 28;

impl<'a> Ipv4Packet<'a> {
    /// Returns the bytes as a packet if they form one.
    pub fn new(bytes: &'a [u8]) -> Option<Ipv4Packet<'a>> {
        let first = *bytes.first()?;
        let header = usize::from(first & 0xf) * 4;
        let length = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        let sound = first >> 4 == 4 && header >= 20 && header <= length && length == bytes.len();
        sound.then_some(Ipv4Packet { bytes, header })
    }

    /// The octet of DSCP and ECN.
    pub fn tos(&self) -> u8 {
        self.bytes[1]
    }

    /// The addresses of the source and the destination.
    pub fn ends(&self) -> ([u8; 4], [u8; 4]) {
        let b = self.bytes;
        ([b[12], b[13], b[14], b[15]], [b[16], b[17], b[18], b[19]])
    }

    /// Returns the first sequence number of a TCP packet and the length of its sequence. The flags
    /// SYN and FIN take one each [RFC 9293 §3.4].
    pub fn sequence(&self) -> Option<(u32, u32)> {
        let tcp = self.bytes.get(self.header..)?;
        let offset = usize::from(tcp.get(12)? >> 4) * 4;
        if self.bytes[9] != TCP || offset < 20 || offset > tcp.len() {
            return None;
        }
        let first = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let (fin, syn) = (tcp[13] & 1, tcp[13] >> 1 & 1);
        let length = (tcp.len() - offset) as u32;
        Some((first, length + u32::from(fin) + u32::from(syn)))
    }

    /// Returns the protocol, and the ports of the source and the destination: zeros if the packet has none, as in
    /// ICMP or a later fragment.
    pub fn connection(&self) -> (u8, [u16; 2]) {
        let (b, protocol) = (self.bytes, self.bytes[9]);
        let is_first = u16::from_be_bytes([b[6], b[7]]) & 0x1fff == 0;
        let ports = if is_first { ports(protocol, &b[self.header..]) } else { [0, 0] };
        (protocol, ports)
    }

    /// Returns the payload of a packet of UDP.
    pub fn udp(&self) -> Option<&'a [u8]> {
        let udp = self.bytes.get(self.header..)?;
        let length = usize::from(u16::from_be_bytes([*udp.get(4)?, *udp.get(5)?]));
        (self.bytes[9] == UDP && length == udp.len()).then(|| udp.get(8..))?
    }
}

/// Returns the packet that carries a UDP datagram from one address and port to another. Its UDP
/// checksum is zero, which means that there is none [RFC 768]. Allocates no memory if the datagram
/// has room for the headers.
///
/// # Panics
/// Panics if the packet would be longer than 65535 bytes.
pub fn wrap_udp(
    from: ([u8; 4], u16),
    to: ([u8; 4], u16),
    tos: u8,
    mut datagram: Vec<u8>,
) -> Vec<u8> {
    let payload = datagram.len();
    let length = u16::try_from(UDP_HEADERS + payload).expect("a packet of IPv4");
    let mut header = [0; UDP_HEADERS];
    (header[0], header[1]) = (0x45, tos);
    header[2..4].copy_from_slice(&length.to_be_bytes());
    // No identification. The packet must not be cut into fragments; 64 hops.
    (header[6], header[8], header[9]) = (0x40, 64, UDP);
    header[12..16].copy_from_slice(&from.0);
    header[16..20].copy_from_slice(&to.0);
    let words = header[..20].as_chunks::<2>().0.iter();
    let sum: u32 = words.map(|w| u32::from(u16::from_be_bytes(*w))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header[20..22].copy_from_slice(&from.1.to_be_bytes());
    header[22..24].copy_from_slice(&to.1.to_be_bytes());
    header[24..26].copy_from_slice(&(length - 20).to_be_bytes());
    datagram.reserve_exact(UDP_HEADERS);
    datagram.extend(header);
    datagram.copy_within(..payload, UDP_HEADERS);
    datagram[..UDP_HEADERS].copy_from_slice(&header);
    datagram
}

/// An IPv6 packet that is as long as its header says.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6Packet<'a>(&'a [u8]);

/// The length of the header of IPv6, without extensions, in bytes.
const V6: usize = 40;

impl<'a> Ipv6Packet<'a> {
    /// Returns the bytes as a packet if they form one.
    pub fn new(bytes: &'a [u8]) -> Option<Ipv6Packet<'a>> {
        let payload = bytes.len().checked_sub(V6)?;
        let said = usize::from(u16::from_be_bytes([bytes[4], bytes[5]]));
        (bytes[0] >> 4 == 6 && said == payload).then_some(Ipv6Packet(bytes))
    }

    /// The traffic class: the octet of DSCP and ECN.
    pub fn tos(&self) -> u8 {
        self.0[0] << 4 | self.0[1] >> 4
    }

    /// Returns the addresses of the source and the destination.
    pub fn ends(&self) -> [Ipv6Addr; 2] {
        let address = |at: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&self.0[at..at + 16]);
            Ipv6Addr::from(octets)
        };
        [address(8), address(24)]
    }

    /// Returns the protocol and the ports, as [`Ipv4Packet::connection`] does. There are no ports behind an
    /// extension header.
    pub fn connection(&self) -> (u8, [u16; 2]) {
        let protocol = self.0[6];
        (protocol, ports(protocol, &self.0[V6..]))
    }
}

/// Returns true if a packet opens a connection of TCP: the first one from its client.
pub fn opens(packet: &[u8]) -> bool {
    const SYN: u8 = 2;
    const ACK: u8 = 16;
    let (protocol, payload) = match (Ipv4Packet::new(packet), Ipv6Packet::new(packet)) {
        (Some(p), _) => (p.connection(), &packet[p.header..]),
        (_, Some(p)) => (p.connection(), &packet[V6..]),
        _ => return false,
    };
    let flags = payload.get(13).filter(|_| protocol.0 == TCP && protocol.1 != [0, 0]);
    flags.is_some_and(|flags| flags & (SYN | ACK) == SYN)
}

/// Returns the ports of the source and the destination in the header that follows the IP header, or zeros if
/// it has none.
fn ports(protocol: u8, payload: &[u8]) -> [u16; 2] {
    match payload {
        [a, b, c, d, ..] if matches!(protocol, TCP | UDP) => {
            [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])]
        }
        _ => [0, 0],
    }
}

/// Returns the ECN codepoint of the datagram in which a packet travels. It is the packet's own
/// [RFC 6040 §4.1, normal mode].
pub fn entry(inner: u8) -> u8 {
    inner & ECN
}

/// Copies the mark that a router has set on the datagram to the packet inside, and corrects the
/// checksum. Returns `false` if the packet must be dropped, because its ends do not understand
/// marks and the router would have dropped it [RFC 6040 §4.2]. Leaves bytes that are not a packet
/// unchanged.
pub fn exit(packet: &mut [u8], outer: u8) -> bool {
    let (version_4, tos) = match (Ipv4Packet::new(packet), Ipv6Packet::new(packet)) {
        (Some(p), _) => (true, p.tos()),
        (_, Some(p)) => (false, p.tos()),
        _ => return true,
    };
    let Some(ecn) = decapsulated(tos, outer) else {
        return false;
    };
    if !version_4 {
        // No checksum covers the traffic class.
        packet[1] = packet[1] & !(ECN << 4) | ecn << 4;
        return true;
    }
    if ecn != tos & ECN {
        packet[1] = tos & !ECN | ecn;
        // This is the only word of the sum that has changed [RFC 1624 eq. 3].
        let word = |tos: u8| u32::from(u16::from_be_bytes([packet[0], tos]));
        let old = u32::from(u16::from_be_bytes([packet[10], packet[11]]));
        let sum = (!old & 0xffff) + (!word(tos) & 0xffff) + word(packet[1]);
        let folded = (sum & 0xffff) + (sum >> 16);
        let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
    true
}

/// Returns the ECN codepoint of a packet that leaves a tunnel, from its octet of DSCP and ECN and that of its
/// datagram, or `None` if it must be dropped [RFC 6040 figure 4].
pub fn decapsulated(inner: u8, outer: u8) -> Option<u8> {
    match (inner & ECN, outer & ECN) {
        (0, MARKED) => None,
        (0, _) => Some(0),
        (_, MARKED) => Some(MARKED),
        // ECT(1) may be a mark weaker than CE.
        (0b10, 0b01) => Some(0b01),
        (there, _) => Some(there),
    }
}
