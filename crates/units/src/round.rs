//! Rounding without a function call.

/// Returns the nearest whole number as `x.round() as u64` does. On processors without an instruction for it,
/// `round` is a function call, and pacing rounds a rate per packet.
#[inline]
pub(crate) fn rounded(x: f64) -> u64 {
    let whole = x as u64;
    whole.saturating_add(u64::from(x - whole as f64 >= 0.5))
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn halves_are_rounded_up_and_the_ends_are_those_of_a_cast() {
        let large = [1u64 << 52, (1 << 53) - 1, 1 << 63, u64::MAX].map(|n| n as f64);
        let wholes = (0..1000).map(f64::from).chain(large);
        let parts = wholes.flat_map(|n| [n, n + 0.5, n + 0.25, n.next_up(), n.next_down()]);
        let ends = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0, -0.5, -7.0];
        for x in parts.chain(ends).chain([0.5, 0.5f64.next_down(), 1.5f64.next_down()]) {
            assert_eq!(rounded(x), x.round() as u64, "{x}");
        }
    }
}
