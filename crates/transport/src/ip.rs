//! The headers of IP, TCP and UDP, as far as needed to inspect and wrap packets of other programs.

use crate::tos::{ECN, MARKED};
use core::net::IpAddr;
use etherparse::{
    IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6Header,
    Ipv6HeaderSlice,
};
use etherparse::{TcpSlice, UdpHeader, UdpSlice};

/// The length of the headers of IP and UDP, in bytes. They count as part of a packet's size.
pub const UDP_HEADERS: usize = Ipv4Header::MIN_LEN + UdpHeader::LEN;

/// The hop limit of packets made here.
const HOPS: u8 = 64;

/// A packet of IPv4 or IPv6 that is as long as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// The address that the packet comes from.
    pub source: IpAddr,
    /// The address that the packet goes to.
    pub destination: IpAddr,
    /// The protocol of the contents. In IPv6 it is the first next header, or the second after that of a
    /// fragment, and may be another extension.
    pub protocol: IpNumber,
    /// True for a fragment.
    pub is_fragment: bool,
    /// True for a fragment other than the first.
    pub is_continued: bool,
    /// The contents after the header, or after that of a fragment.
    pub contents: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Returns the bytes as a packet if they form one.
    pub fn new(bytes: &'a [u8]) -> Option<Packet<'a>> {
        match bytes.first()? >> 4 {
            4 => {
                let header = Ipv4HeaderSlice::from_slice(bytes).ok()?;
                (usize::from(header.total_len()) == bytes.len()).then(|| Packet {
                    tos: header.dcp().value() << 2 | header.ecn().value(),
                    source: header.source_addr().into(),
                    destination: header.destination_addr().into(),
                    protocol: header.protocol(),
                    is_fragment: header.is_fragmenting_payload(),
                    is_continued: header.fragments_offset().value() > 0,
                    contents: &bytes[header.slice().len()..],
                })
            }
            6 => {
                let header = Ipv6HeaderSlice::from_slice(bytes).ok()?;
                let contents = &bytes[Ipv6Header::LEN..];
                let mut packet = Packet {
                    tos: header.traffic_class(),
                    source: header.source_addr().into(),
                    destination: header.destination_addr().into(),
                    protocol: header.next_header(),
                    is_fragment: false,
                    is_continued: false,
                    contents,
                };
                if packet.protocol == IpNumber::IPV6_FRAGMENTATION_HEADER {
                    let fragment = Ipv6FragmentHeaderSlice::from_slice(contents).ok()?;
                    packet.protocol = fragment.next_header();
                    packet.is_fragment = fragment.is_fragmenting_payload();
                    packet.is_continued = fragment.fragment_offset().value() > 0;
                    packet.contents = &contents[fragment.slice().len()..];
                }
                (usize::from(header.payload_length()) == contents.len()).then_some(packet)
            }
            _ => None,
        }
    }

    /// Returns the segment of TCP in a packet that is not a fragment.
    pub fn tcp(&self) -> Option<TcpSlice<'a>> {
        let is_tcp = self.protocol == IpNumber::TCP && !self.is_fragment;
        is_tcp.then(|| TcpSlice::from_slice(self.contents).ok())?
    }

    /// Returns the first sequence number of a segment of TCP and the length of its sequence. The flags SYN
    /// and FIN take one each [RFC 9293 §3.4].
    pub fn sequence(&self) -> Option<(u32, u32)> {
        let tcp = self.tcp()?;
        let flags = u32::from(tcp.syn()) + u32::from(tcp.fin());
        Some((tcp.sequence_number(), tcp.payload().len() as u32 + flags))
    }

    /// Returns true if a packet opens a connection of TCP: the first one from its client.
    pub fn opens(&self) -> bool {
        self.tcp().is_some_and(|tcp| tcp.syn() && !tcp.ack())
    }

    /// Returns the ports of the source and the destination: zeros if the packet has none, as in ICMP or a later
    /// fragment.
    pub fn ports(&self) -> [u16; 2] {
        let has_ports = matches!(self.protocol, IpNumber::TCP | IpNumber::UDP);
        match self.contents {
            [a, b, c, d, ..] if has_ports && !self.is_continued => {
                [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])]
            }
            _ => [0, 0],
        }
    }

    /// Returns the payload of a packet of UDP that is not a fragment.
    pub fn udp(&self) -> Option<&'a [u8]> {
        if self.protocol != IpNumber::UDP || self.is_fragment {
            return None;
        }
        let udp = UdpSlice::from_slice(self.contents).ok()?;
        (usize::from(udp.length()) == self.contents.len()).then(|| udp.payload())
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
    let headers = udp_headers(from, to, tos, payload);
    datagram.reserve_exact(UDP_HEADERS);
    datagram.extend(headers);
    datagram.copy_within(..payload, UDP_HEADERS);
    datagram[..UDP_HEADERS].copy_from_slice(&headers);
    datagram
}

/// Returns the headers of a packet as [`wrap_udp`] does, for a payload of so many bytes. The packet must not be
/// cut into fragments.
pub(crate) fn udp_headers(
    from: ([u8; 4], u16),
    to: ([u8; 4], u16),
    tos: u8,
    payload: usize,
) -> [u8; UDP_HEADERS] {
    let length = u16::try_from(UdpHeader::LEN + payload).expect("a datagram");
    let (source_port, destination_port) = (from.1, to.1);
    let udp = UdpHeader { source_port, destination_port, length, checksum: 0 };
    let mut ip =
        Ipv4Header::new(length, HOPS, IpNumber::UDP, from.0, to.0).expect("a packet of IPv4");
    ip.dscp = IpDscp::try_new(tos >> 2).expect("six bits");
    ip.ecn = IpEcn::try_new(tos & ECN).expect("two bits");
    ip.header_checksum = ip.calc_header_checksum();
    let mut headers = [0; UDP_HEADERS];
    headers[..Ipv4Header::MIN_LEN].copy_from_slice(&ip.to_bytes());
    headers[Ipv4Header::MIN_LEN..].copy_from_slice(&udp.to_bytes());
    headers
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
    let Some(Packet { tos, source, .. }) = Packet::new(packet) else {
        return true;
    };
    let Some(ecn) = decapsulated(tos, outer) else {
        return false;
    };
    if source.is_ipv6() {
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
