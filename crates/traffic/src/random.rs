//! Random streams, one per (seed, entity, purpose), so an additional flow or random choice does not change
//! existing draws.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The purpose of a random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Start times drawn from an interval. The entity is the flow.
    Start = 1,
    /// Queue disciplines drawn from a list. The entity is the link.
    Discipline = 2,
    /// Decisions of a queue discipline. The entity is the link.
    Queue = 3,
    /// Loss on the wire. The entity is the link.
    Loss = 4,
    /// Sizes, pauses and instants of an application. The entity is the flow.
    Demand = 5,
    /// Arrivals at the instant of a departure. The entity is the link.
    Tie = 6,
    /// Sizes of packets. The entity is the flow.
    Size = 7,
    /// Processing times of a host. The entity is the flow.
    Processing = 8,
    /// Networks and flows of templates. The entity is zero.
    Template = 9,
    /// Jitter of a wire. The entity is the link.
    Jitter = 10,
    /// Packets that a wire holds back. The entity is the link.
    Reorder = 11,
    /// Queues of flows at the edge of a tunnel. The entity is the tunnel's flow.
    Edge = 12,
}

/// Returns the random stream of `entity` for `purpose` under `seed`.
pub fn stream(seed: u64, entity: usize, purpose: Purpose) -> Xoshiro256PlusPlus {
    // seed_from_u64 spreads its input by SplitMix64, so inputs only need to differ.
    let tag = (entity as u64) << 8 | purpose as u64;
    Xoshiro256PlusPlus::seed_from_u64(splitmix(seed) ^ splitmix(tag ^ 0x6163_636f_7264))
}

/// Returns a number that is unique to the stream, to be hashed with the subject of a decision.
pub fn secret(seed: u64, entity: usize, purpose: Purpose) -> u64 {
    stream(seed, entity, purpose).next_u64()
}

/// A random stream of numbers uniform in [0, 1).
#[derive(Clone, Debug)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// Creates the random stream of `entity` for `purpose` under `seed`.
    pub fn new(seed: u64, entity: usize, purpose: Purpose) -> Dice {
        Dice(stream(seed, entity, purpose))
    }

    /// Draws the next number.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        // The result is the upper 53 bits, as a fraction. The conversion of a signed integer is one
        // instruction.
        (self.0.next_u64() >> 11) as i64 as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Returns the hash of SplitMix64's finaliser.
fn splitmix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
