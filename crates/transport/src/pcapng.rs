//! Capture files in the format pcapng [draft-ietf-opsawg-pcapng], which Wireshark and tshark read.
//!
//! Each link is an interface. A packet is captured when it has left the link's port. It has the
//! IPv4 and UDP headers that it has on the wire, with the addresses of its two ends: node `n` of
//! the scenario has the address 10.0.0.0 + 1 + n, and flow `n` the port 49152 + n at its source. Its
//! length is the size that links count, and a packet smaller than its header is cut to it. A whole IP
//! packet keeps its own headers. The first [`SNAP`] bytes of each packet are kept, and all of a whole
//! packet of UDP, because QUIC is decrypted only with all of its bytes.

use crate::wire::{self, Header, Kind};
use crate::{Segment, ip};
use accord_units::Time;

/// The number of bytes of a packet that are kept.
pub const SNAP: usize = 128;
/// The number of bytes of a whole packet of UDP that are kept.
const MOST: usize = u16::MAX as usize;

/// The link type of IP without a link header.
const LINKTYPE_RAW: u16 = 101;
/// The UDP port at the sinks of flows, and the first one at their sources.
const PORT: u16 = 7_471;
const FIRST: u16 = 49_152;

/// A capture in progress, as bytes of the file. The default value is a continuation, without the
/// beginning of the file.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    bytes: Vec<u8>,
    datagram: Vec<u8>,
}

/// The source and the destination of a packet, as numbers of nodes, and its DSCP and ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The node that sent the packet first.
    pub from: usize,
    /// The node to which the packet is addressed.
    pub to: usize,
    /// The octet of DSCP and ECN.
    pub tos: u8,
}

impl Envelope {
    /// Creates the envelope of a packet of this kind, whose flow goes from the source to the sink.
    pub fn new((source, sink): (usize, usize), kind: Kind, tos: u8) -> Envelope {
        let (from, to) = if kind.is_reply() { (sink, source) } else { (source, sink) };
        Envelope { from, to, tos }
    }
}

impl Capture {
    /// Creates a capture of the links of these names.
    pub fn new<'a>(links: impl Iterator<Item = &'a str>) -> Capture {
        let mut capture = Capture::default();
        capture.block(0x0a0d_0d0a, |b| {
            b.extend(0x1a2b_3c4d_u32.to_le_bytes());
            b.extend([1, 0, 0, 0]);
            // The length of the section is left open.
            b.extend(u64::MAX.to_le_bytes());
        });
        for name in links {
            capture.block(1, |b| {
                b.extend(LINKTYPE_RAW.to_le_bytes());
                b.extend([0, 0]);
                b.extend((MOST as u32).to_le_bytes());
                option(b, 2, name.as_bytes());
                // Times are in nanoseconds.
                option(b, 9, &[9]);
                option(b, 0, &[]);
            });
        }
        capture
    }

    /// Adds a packet that has left the port of link `link`.
    pub fn segment(
        &mut self,
        link: usize,
        at: Time,
        envelope: Envelope,
        header: &Header,
        segment: &Segment,
    ) {
        let mut datagram = std::mem::take(&mut self.datagram);
        wire::encode(header, segment, &mut datagram);
        self.datagram(link, at, envelope, &datagram);
        self.datagram = datagram;
    }

    /// Adds a packet that has left the port of link `link` and is already encoded.
    pub fn datagram(&mut self, link: usize, at: Time, envelope: Envelope, datagram: &[u8]) {
        // A whole IP packet is captured unchanged, except for the mark that it has by now.
        if let Ok((_, packet)) = wire::unwrap(datagram) {
            return self.whole(link, at, envelope.tos, packet);
        }
        let Ok(header) = wire::header(datagram) else {
            return debug_assert!(false, "an encoded packet has a header");
        };
        let counted = (header.size.get() as usize).saturating_sub(wire::UDP_HEADERS);
        let datagram = &datagram[..datagram.len().min(counted)];
        let headers = headers(envelope, &header, datagram.len());
        self.packet(link, at, &headers, datagram, SNAP);
    }

    /// Adds a whole IP packet that has left the port of link `link` with this octet of DSCP and ECN.
    pub fn whole(&mut self, link: usize, at: Time, tos: u8, packet: &[u8]) {
        let mut packet = packet.to_vec();
        ip::exit(&mut packet, tos);
        let is_udp = ip::Packet::new(&packet).is_some_and(|p| p.udp().is_some());
        self.packet(link, at, &[], &packet, if is_udp { MOST } else { SNAP });
    }

    /// Adds an IP packet of two parts, of which at most `snap` bytes are kept.
    fn packet(&mut self, link: usize, at: Time, headers: &[u8], rest: &[u8], snap: usize) {
        let nanos = at.as_ps() / 1_000;
        let kept = &rest[..rest.len().min(snap - headers.len())];
        self.block(6, |b| {
            b.extend((link as u32).to_le_bytes());
            b.extend(((nanos >> 32) as u32).to_le_bytes());
            b.extend((nanos as u32).to_le_bytes());
            b.extend(((headers.len() + kept.len()) as u32).to_le_bytes());
            b.extend(((headers.len() + rest.len()) as u32).to_le_bytes());
            b.extend(headers);
            b.extend(kept);
            pad(b);
        });
    }

    /// Takes the bytes so far. Later bytes are their continuation.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Adds a block of this type, with its length before and after.
    fn block(&mut self, kind: u32, content: impl FnOnce(&mut Vec<u8>)) {
        let bytes = &mut self.bytes;
        let start = bytes.len();
        bytes.extend(kind.to_le_bytes());
        bytes.extend([0; 4]);
        content(bytes);
        let length = ((bytes.len() - start + 4) as u32).to_le_bytes();
        bytes.extend(length);
        bytes[start + 4..start + 8].copy_from_slice(&length);
    }
}

/// Adds an option of a block.
fn option(bytes: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    bytes.extend(code.to_le_bytes());
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
    pad(bytes);
}

/// Pads to a multiple of 4 bytes. Blocks are multiples of 4 bytes as well, so the whole file is.
fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// Returns the headers of IPv4 and UDP for a datagram of `length` bytes.
fn headers(envelope: Envelope, header: &Header, length: usize) -> [u8; wire::UDP_HEADERS] {
    let address = |node: usize| (0x0a00_0001_u32).wrapping_add(node as u32).to_be_bytes();
    let source = FIRST + (header.flow % u32::from(u16::MAX - FIRST)) as u16;
    let ports = if header.kind.is_reply() { [PORT, source] } else { [source, PORT] };
    let ends = (address(envelope.from), address(envelope.to));
    ip::udp_headers((ends.0, ports[0]), (ends.1, ports[1]), envelope.tos, length)
}
