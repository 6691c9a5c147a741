//! Fragments any packet of a site for paths of any MTU. Fragments are packets within the MTU, with the contents
//! in order, and the ICMP message is a packet to the sender.

use accord_gateway::inner::mark;
use accord_gateway::too_big::{fragments, message};
use accord_transport::ip::Packet;

/// Returns true if the bytes are a packet.
pub fn check(bytes: &[u8]) -> bool {
    let Some(inner) = Packet::new(bytes) else {
        return false;
    };
    let mut marked = bytes.to_vec();
    mark(&mut marked);
    assert!(Packet::new(&marked).is_some());
    for mtu in [0, 27, 28, 68, 576, 1280, 65_535] {
        if let Some(pieces) = fragments(bytes, mtu) {
            let mut contents = Vec::new();
            for piece in &pieces {
                let cut = Packet::new(piece).expect("a packet");
                assert!(piece.len() <= mtu);
                assert_eq!((cut.source, cut.destination), (inner.source, inner.destination));
                contents.extend_from_slice(cut.contents);
            }
            assert_eq!(contents, inner.contents);
        }
        if let Some(told) = message(bytes, &inner, mtu) {
            let read = Packet::new(&told).expect("a packet");
            assert_eq!((read.destination, read.source), (inner.source, inner.destination));
            assert!(
                told.len() <= 1280 && message(&told, &read, 0).is_none(),
                "no error of an error"
            );
        }
    }
    true
}
