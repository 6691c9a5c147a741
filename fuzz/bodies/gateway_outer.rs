//! Any datagram: its outer header is read, and a router adds to it, within its eight bytes. A datagram
//! without one stays as it is.

use accord_gateway::outer::{LENGTH, add, split};
use accord_units::Duration;

/// Whether it had an outer header.
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
