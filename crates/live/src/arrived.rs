//! The received data of a kernel connection.

use rangemap::RangeSet;

/// Distinguishes data that arrives for the first time from copies, by sequence numbers.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    /// The numbers that have arrived, and all before the first of them, unwrapped at 2^32. Empty before the first
    /// arrival.
    known: RangeSet<u64>,
}

impl Arrived {
    /// Adds `count` numbers from `first`. Returns true if one of them is new. A packet without
    /// numbers is never a copy.
    pub fn add(&mut self, first: u32, count: u32) -> bool {
        // The offset of 2^32 keeps numbers slightly below the first packet's from being negative.
        let next = self.known.first().map_or((1 << 32) + u64::from(first), |known| known.end);
        self.known.insert(0..next);
        if count == 0 {
            return true;
        }
        let ahead = first.wrapping_sub(next as u32) as i32;
        let from = next.saturating_add_signed(i64::from(ahead));
        let numbers = from..from + u64::from(count);
        let new = self.known.gaps(&numbers).next().is_some();
        self.known.insert(numbers);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_distinguished_from_new_data() {
        for start in [0u32, 77, u32::MAX - 5] {
            let mut arrived = Arrived::default();
            let mut add = |from: i32, count| arrived.add(start.wrapping_add_signed(from), count);
            assert!(add(0, 10));
            assert!(!add(0, 10), "the same");
            assert!(add(10, 0), "without data");
            assert!(add(20, 10), "beyond a hole");
            assert!(!add(20, 10) && !add(22, 3));
            assert!(add(40, 10) && add(30, 5));
            assert!(add(10, 10), "the hole");
            assert!(!add(0, 35));
            assert!(add(30, 15), "in part");
            assert!(!add(35, 15) && !add(-4, 4));
            assert!(add(50, 1));
            assert_eq!(arrived.known.len(), 1, "{arrived:?}");
        }
    }
}
