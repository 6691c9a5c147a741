//! The outer header, into which routers of the operator write virtual delay: eight bytes ahead of the
//! WireGuard datagram of each in-band half of a control pair, if the site file asks for it. Its layout and
//! its effects are in `docs/src/gateway/design.md`.
//!
//! The field has the unit and the width of the corresponding field of the engines' packets
//! (`accord_transport::wire`).

use accord_units::Duration;

/// The length of the header in bytes.
pub const LENGTH: usize = 8;
/// The first bytes: the magic number, the version and the flags.
const BEGIN: [u8; 4] = [0xac, 1, 0, 0];

/// Prepends the header of a datagram that has not yet collected delay.
pub fn prepend(datagram: &mut Vec<u8>) {
    let mut header = [0; LENGTH];
    header[..4].copy_from_slice(&BEGIN);
    datagram.splice(..0, header);
}

/// Splits a datagram into the virtual delay of its header and the rest. A datagram without the header has no
/// virtual delay.
pub fn split(datagram: &[u8]) -> (Duration, &[u8]) {
    match datagram.split_at_checked(LENGTH) {
        Some(([0xac, 1, 0, 0, delay @ ..], rest)) => {
            let bytes = delay.try_into().unwrap_or_default();
            let micros = u32::from_be_bytes(bytes);
            (Duration::from_us(u64::from(micros)), rest)
        }
        _ => (Duration::ZERO, datagram),
    }
}

/// Adds virtual delay to a datagram with the header, as a router does, up to the largest value of
/// the field. Returns whether there is a header.
pub fn add(datagram: &mut [u8], more: Duration) -> bool {
    let Some((header, _)) = datagram.split_at_mut_checked(LENGTH) else {
        return false;
    };
    if header[..4] != BEGIN {
        return false;
    }
    let (before, _) = split(header);
    let micros = (before + more).as_ps().saturating_add(500_000) / 1_000_000;
    let micros = u32::try_from(micros).unwrap_or(u32::MAX);
    header[4..].copy_from_slice(&micros.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_routers_add_arrives_with_the_datagram(
            datagram in prop::collection::vec(any::<u8>(), 0..200),
            delays in prop::collection::vec(0..2_000_000_000u64, 0..5),
        ) {
            let mut sent = datagram.clone();
            prepend(&mut sent);
            prop_assert_eq!(sent.len(), datagram.len() + LENGTH);
            for micros in &delays {
                prop_assert!(add(&mut sent, Duration::from_us(*micros)));
            }
            let most = Duration::from_us(u64::from(u32::MAX));
            let sum = Duration::from_us(delays.iter().sum()).min(most);
            prop_assert_eq!(split(&sent), (sum, &datagram[..]));
        }

        #[test]
        fn whatever_has_no_header_stays_as_it_is(
            mut datagram in prop::collection::vec(any::<u8>(), 0..50),
            kind in 1..=4u8,
            more in any::<u64>(),
        ) {
            if let Some(first) = datagram.first_mut() {
                *first = kind;
            }
            let before = datagram.clone();
            prop_assert!(!add(&mut datagram, Duration::from_ps(more)));
            prop_assert_eq!(&datagram, &before);
            prop_assert_eq!(split(&datagram), (Duration::ZERO, &before[..]));
        }
    }
}
