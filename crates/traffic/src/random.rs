//! Random streams: one for each (seed, entity, purpose), so that adding a flow or a
//! random choice changes no other.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The purpose of a random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Start times drawn from an interval; the entity is the flow.
    Start = 1,
    /// Queue disciplines drawn from a list; the entity is the link.
    Discipline = 2,
    /// Decisions of a queue discipline; the entity is the link.
    Queue = 3,
    /// Loss on the wire; the entity is the link.
    Loss = 4,
    /// Sizes, pauses and instants of an application; the entity is the flow.
    Demand = 5,
    /// Arrivals at the instant of a departure; the entity is the link.
    Tie = 6,
    /// Sizes of packets; the entity is the flow.
    Size = 7,
    /// Processing times of a host; the entity is the flow.
    Processing = 8,
}

/// The random stream of `entity` for `purpose` under `seed`.
pub fn stream(seed: u64, entity: usize, purpose: Purpose) -> Xoshiro256PlusPlus {
    // seed_from_u64 spreads its input by SplitMix64, so inputs need to differ, no more.
    let tag = (entity as u64) << 8 | purpose as u64;
    Xoshiro256PlusPlus::seed_from_u64(splitmix(seed) ^ splitmix(tag ^ 0x6163_636f_7264))
}

/// A number that nobody else has, to be mixed with what is decided by it.
pub fn secret(seed: u64, entity: usize, purpose: Purpose) -> u64 {
    stream(seed, entity, purpose).next_u64()
}

/// A random stream of numbers uniform in [0, 1).
#[derive(Clone, Debug)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// See [`stream`].
    pub fn new(seed: u64, entity: usize, purpose: Purpose) -> Dice {
        Dice(stream(seed, entity, purpose))
    }

    /// The next number.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        // The upper 53 bits, as a fraction.
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// The finaliser of SplitMix64.
fn splitmix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
