//! Packets for tests.

use etherparse::Ipv6Header;

/// Returns a packet of UDP over IPv4.
pub fn v4(tos: u8, ends: ([u8; 4], [u8; 4]), ports: (u16, u16), length: usize) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[0] = 0x45;
    packet[1] = tos;
    packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    packet[8] = 64;
    packet[9] = 17;
    packet[12..16].copy_from_slice(&ends.0);
    packet[16..20].copy_from_slice(&ends.1);
    packet[20..22].copy_from_slice(&ports.0.to_be_bytes());
    packet[22..24].copy_from_slice(&ports.1.to_be_bytes());
    let sum: u32 =
        (packet[..20].chunks(2)).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    packet
}

/// Returns a packet of UDP over IPv6.
pub fn v6(tos: u8, length: usize) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[0] = 0x60 | tos >> 4;
    packet[1] = tos << 4;
    packet[4..6].copy_from_slice(&((length - Ipv6Header::LEN) as u16).to_be_bytes());
    packet[6] = 17;
    packet[8] = 0x20;
    packet[24] = 0x20;
    packet
}
