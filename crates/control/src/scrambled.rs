//! Numbers that look random, for controllers, which have no stream of random numbers.

use accord_units::Time;

/// Returns a number that looks random for each time: the output function of SplitMix64.
pub(crate) fn scrambled(time: Time) -> u64 {
    let mut z = time.as_ps().wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
