//! Decodes any datagram, which is refused or encoded as it was read.

use accord::transport::ip;
use accord::transport::wire::{add_virtual_delay, decode, encode, header, unwrap, wrap};
use accord::units::Duration;

/// Returns true if the datagram is a packet.
pub fn check(bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    let before = header(&bytes);
    add_virtual_delay(&mut bytes, Duration::from_us(7));
    assert_eq!(header(&bytes), before);
    let decoded = decode(&bytes);
    if let Ok((header, segment)) = decoded {
        let mut again = Vec::new();
        encode(&header, &segment, &mut again);
        assert_eq!(decode(&again), decoded);
    }
    let unwrapped = unwrap(&bytes);
    if let Ok((header, packet)) = unwrapped {
        let mut again = Vec::new();
        wrap(&header, packet, &mut again);
        assert_eq!(unwrap(&again), unwrapped);
        let sequence = ip::Packet::new(packet).and_then(|p| p.sequence());
        assert!(sequence.is_none_or(|(_, n)| n as usize <= packet.len()));
        let mut marked = packet.to_vec();
        ip::exit(&mut marked, 3);
        assert!(ip::Packet::new(&marked).is_some());
    }
    decoded.is_ok() || unwrapped.is_ok()
}
