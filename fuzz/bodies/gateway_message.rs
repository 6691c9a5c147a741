//! Parses any bytes as a packet, whose contents lie within its bytes. A control message is encoded as it was read.

use accord_gateway::inner::{Inner, exit};
use accord_gateway::message::{decode, encode};

/// Returns true if the packet is a control message.
pub fn check(bytes: &[u8]) -> bool {
    for tos in 0..4 {
        let mut marked = bytes.to_vec();
        exit(&mut marked, tos);
        assert_eq!(Inner::new(&marked).is_some(), Inner::new(bytes).is_some());
    }
    let Some(inner) = Inner::new(bytes) else {
        return false;
    };
    assert!(inner.contents().len() < bytes.len());
    assert_eq!(inner.flow(1), inner.flow(1));
    let Some(message) = decode(&inner) else {
        return false;
    };
    let again = encode(&message);
    let inner = Inner::new(&again).expect("a packet");
    assert_eq!(decode(&inner), Some(message));
    true
}
