//! Reads the outer header of any datagram and adds to it as a router does, within its eight bytes. A datagram
//! without one stays unchanged.

use accord_gateway::outer::{LENGTH, add, split};
use accord_units::Duration;

/// Returns true if the datagram has an outer header.
pub fn check(bytes: &[u8]) -> bool {
    let (collected, rest) = split(bytes);
    assert!(bytes.ends_with(rest));
    let mut more = bytes.to_vec();
    if rest.len() == bytes.len() {
        assert!(!add(&mut more, Duration::MAX) && more == bytes && collected.is_zero());
        return false;
    }
    assert_eq!(bytes.len() - rest.len(), LENGTH);
    let added = Duration::from_us(1000);
    let most = Duration::from_us(u64::from(u32::MAX));
    assert!(add(&mut more, added));
    assert_eq!(split(&more), ((collected + added).min(most), rest));
    assert!(add(&mut more, Duration::MAX));
    assert_eq!(split(&more), (most, rest));
    true
}
