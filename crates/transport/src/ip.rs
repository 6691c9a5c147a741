//! The headers of IPv4 and TCP, as far as packets of other programs are inspected.

use crate::tos::{ECN, MARKED};

/// An IPv4 packet that is as long as its header says.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    /// The length of the header, in bytes.
    header: usize,
}

/// The protocol number of TCP.
const TCP: u8 = 6;

impl<'a> Packet<'a> {
    /// Returns the bytes as a packet, if they are one.
    pub fn new(bytes: &'a [u8]) -> Option<Packet<'a>> {
        let first = *bytes.first()?;
        let header = usize::from(first & 0xf) * 4;
        let length = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        let sound = first >> 4 == 4 && header >= 20 && header <= length && length == bytes.len();
        sound.then_some(Packet { bytes, header })
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

    /// Returns the sequence numbers that a packet of TCP takes: the first, and how many. The flags
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
}

/// Returns the ECN codepoint of the datagram in which a packet travels. It is the packet's own
/// [RFC 6040 §4.1, normal mode].
pub fn entry(inner: u8) -> u8 {
    inner & ECN
}

/// Copies the mark that a router has set on the datagram to the packet that travelled in it, and
/// corrects the checksum. Returns `false` if the packet is to be dropped, because its ends do not
/// understand marks and the router should have dropped it [RFC 6040 §4.2]. Bytes that are no packet
/// stay as they are.
pub fn exit(packet: &mut [u8], outer: u8) -> bool {
    let Some(tos) = Packet::new(packet).map(|p| p.tos()) else {
        return true;
    };
    match (tos & ECN, outer & ECN) {
        (0, MARKED) => return false,
        (0, _) | (MARKED, _) => {}
        (_, MARKED) => {
            packet[1] = tos | MARKED;
            // One word of the sum has changed, which is this one [RFC 1624 eq. 3].
            let word = |tos: u8| u32::from(u16::from_be_bytes([packet[0], tos]));
            let old = u32::from(u16::from_be_bytes([packet[10], packet[11]]));
            let sum = (!old & 0xffff) + (!word(tos) & 0xffff) + word(packet[1]);
            let folded = (sum & 0xffff) + (sum >> 16);
            let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        _ => {}
    }
    true
}
