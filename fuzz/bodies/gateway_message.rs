//! Parses any bytes as a packet, whose contents lie within its bytes. A control message is encoded as it was read.

use accord_gateway::inner::flow;
use accord_gateway::message::{decode, encode};
use accord_transport::ip::{Packet, exit};

/// Returns true if the packet is a control message.
pub fn check(bytes: &[u8]) -> bool {
    for tos in 0..4 {
        let mut marked = bytes.to_vec();
        exit(&mut marked, tos);
        assert_eq!(Packet::new(&marked).is_some(), Packet::new(bytes).is_some());
    }
    let Some(inner) = Packet::new(bytes) else {
        return false;
    };
    assert!(inner.contents.len() < bytes.len());
    assert_eq!(flow(&inner, 1), flow(&inner, 1));
    let Some(message) = decode(&inner) else {
        return false;
    };
    let again = encode(&message);
    let inner = Packet::new(&again).expect("a packet");
    assert_eq!(decode(&inner), Some(message));
    true
}
