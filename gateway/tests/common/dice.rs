//! Random numbers that are the same for the same seed (splitmix64).

#![allow(dead_code, reason = "not every test uses all of it")]

/// Dice with a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    pub fn in_thousand(&mut self, n: u64) -> bool {
        n > 0 && self.below(1000) < n
    }

    pub fn bytes(&mut self) -> [u8; 32] {
        std::array::from_fn(|_| self.next() as u8)
    }
}
