//! Any datagram: it is refused, or it is a packet that is written as it was read.
#![no_main]

use accord_transport::ip;
use accord_transport::wire::{add_virtual_delay, decode, encode, header, unwrap, wrap};
use accord_units::Duration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    let before = header(&bytes);
    add_virtual_delay(&mut bytes, Duration::from_us(7));
    assert_eq!(header(&bytes), before);
    if let Ok((header, segment)) = decode(&bytes) {
        let mut again = Vec::new();
        encode(&header, &segment, &mut again);
        assert_eq!(decode(&again), Ok((header, segment)));
    }
    if let Ok((header, packet)) = unwrap(&bytes) {
        let mut again = Vec::new();
        wrap(&header, packet, &mut again);
        assert_eq!(unwrap(&again), Ok((header, packet)));
        let sequence = ip::Packet::new(packet).and_then(|p| p.sequence());
        assert!(sequence.is_none_or(|(_, n)| n as usize <= packet.len()));
        let mut marked = packet.to_vec();
        ip::exit(&mut marked, 3);
        assert!(ip::Packet::new(&marked).is_some());
    }
});
