//! Packets of random sizes.

use crate::draw::exponential;
use crate::random::{Dice, Purpose};
use accord_units::Bytes;
use libm::exp;

/// The smallest random packet, in bytes: the headers of TCP and IP.
pub const LEAST: u64 = 40;
/// The largest packet, in bytes: the most that an IP header can state.
pub const MOST: u64 = 65_535;

/// The distribution of packet sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum PacketSizes {
    /// Exponentially distributed sizes in whole bytes, held within `LEAST` and `MOST`.
    Exponential(Bytes),
    /// Uniform sizes in whole bytes, from the first to the second.
    Uniform(Bytes, Bytes),
    /// A choice of these sizes, each with its relative frequency.
    Mix(Vec<(Bytes, u64)>),
}

impl PacketSizes {
    /// Returns the mean size, in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            PacketSizes::Exponential(mean) => {
                // The mean is the sum of P(size > k). A size is above k if the draw is k + 1/2 or
                // more.
                let above = |k: u64| exp(-(k as f64 + 0.5) / mean.as_f64());
                let ratio = exp(-1.0 / mean.as_f64());
                LEAST as f64 + (above(LEAST) - above(MOST)) / (1.0 - ratio)
            }
            PacketSizes::Uniform(least, most) => (least.as_f64() + most.as_f64()) / 2.0,
            PacketSizes::Mix(sizes) => {
                let weight: f64 = sizes.iter().map(|(_, n)| *n as f64).sum();
                let sum: f64 = sizes.iter().map(|(size, n)| size.as_f64() * *n as f64).sum();
                sum / weight
            }
        }
    }

    /// Returns the largest size. For exponential sizes it returns the mean, because few packets are near
    /// their largest size, `MOST`.
    pub fn largest(&self) -> Bytes {
        match self {
            PacketSizes::Exponential(mean) => *mean,
            PacketSizes::Uniform(least, most) => *least.max(most),
            PacketSizes::Mix(sizes) => {
                sizes.iter().map(|(size, _)| *size).max().unwrap_or(Bytes::ZERO)
            }
        }
    }

    /// Returns the law with `f` applied to each of its sizes.
    pub fn map(&self, f: impl Fn(Bytes) -> Bytes) -> PacketSizes {
        match self {
            PacketSizes::Exponential(mean) => PacketSizes::Exponential(f(*mean)),
            PacketSizes::Uniform(least, most) => PacketSizes::Uniform(f(*least), f(*most)),
            PacketSizes::Mix(sizes) => {
                PacketSizes::Mix(sizes.iter().map(|(size, n)| (f(*size), *n)).collect())
            }
        }
    }
}

/// The sizes of a flow's packets, drawn one by one.
#[derive(Clone, Debug)]
pub struct Sizer {
    law: PacketSizes,
    dice: Dice,
}

impl Sizer {
    /// Creates the sizes of flow `id`, with a random stream of their own.
    pub fn new(law: &PacketSizes, id: usize, seed: u64) -> Sizer {
        Sizer { law: law.clone(), dice: Dice::new(seed, id, Purpose::Size) }
    }

    /// Draws the size of the next packet.
    pub fn draw(&mut self) -> Bytes {
        let dice = &mut self.dice;
        Bytes::new(match &self.law {
            PacketSizes::Exponential(mean) => {
                let size = exponential(dice, mean.as_f64()).round() as u64;
                size.clamp(LEAST, MOST)
            }
            PacketSizes::Uniform(least, most) => {
                let sizes = most.get() - least.get() + 1;
                least.get() + (dice.uniform() * sizes as f64) as u64
            }
            PacketSizes::Mix(sizes) => {
                let weight: u64 = sizes.iter().map(|(_, n)| n).sum();
                let mut place = (dice.uniform() * weight as f64) as u64;
                let found = sizes.iter().find(|(_, n)| {
                    let here = place < *n;
                    place = place.saturating_sub(*n);
                    here
                });
                found.map_or(MOST, |(size, _)| size.get())
            }
        })
    }
}
