//! The received data of a kernel connection.

/// Distinguishes data that arrives for the first time from copies, by sequence numbers.
#[derive(Clone, Debug, Default)]
pub struct Arrived {
    /// The next number that has not arrived, without the wrap at 2^32. It is `None` before any
    /// arrived.
    next: Option<u64>,
    /// The ranges beyond it that have arrived: from, to. They are disjoint and in order.
    beyond: Vec<(u64, u64)>,
}

impl Arrived {
    /// Adds `count` numbers from `first`. Returns true if one of them is new. A packet without any
    /// number is never a copy.
    pub fn add(&mut self, first: u32, count: u32) -> bool {
        // The offset of 2^32 keeps numbers slightly below the first packet's from being negative.
        let next = self.next.unwrap_or((1 << 32) + u64::from(first));
        self.next = Some(next);
        if count == 0 {
            return true;
        }
        let ahead = first.wrapping_sub(next as u32) as i32;
        let from = next.saturating_add_signed(i64::from(ahead));
        let to = from + u64::from(count);
        let mut covered = from.max(next);
        for (start, end) in &self.beyond {
            if *start <= covered && covered < *end {
                covered = *end;
            }
        }
        let new = covered < to;
        if new {
            self.beyond.push((from.max(next), to));
            self.beyond.sort_unstable();
            self.beyond.dedup_by(|later, earlier| {
                let touch = later.0 <= earlier.1;
                if touch {
                    earlier.1 = earlier.1.max(later.1);
                }
                touch
            });
            if self.beyond[0].0 <= next {
                self.next = Some(self.beyond.remove(0).1);
            }
        }
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
            assert!(arrived.beyond.is_empty(), "{arrived:?}");
        }
    }
}
