//! The places of WireGuard datagrams, which identify lost packets for retransmission.

use accord_transport::tunnel::repair::Place;

/// The type of a datagram with data, and the places of its receiver index and its counter
/// [WireGuard §5.4.6].
const DATA: u8 = 4;
const INDEX: std::ops::Range<usize> = 4..8;
const COUNTER: std::ops::Range<usize> = 8..16;

/// Reads the place of a WireGuard datagram, if it has data.
pub fn place(datagram: &[u8]) -> Option<Place> {
    let index = datagram.get(INDEX)?.try_into().ok()?;
    let counter = datagram.get(COUNTER)?.try_into().ok()?;
    (datagram[0] == DATA).then_some(Place {
        session: u32::from_le_bytes(index),
        counter: u64::from_le_bytes(counter),
    })
}
