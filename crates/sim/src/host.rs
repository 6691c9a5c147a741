//! The host of a flow, where it does more than to hand packets over.

use crate::pool::{Place, Pool, Queue};
use accord_scenario::{Flow, Scenario};
use accord_traffic::{Dice, Purpose, Sizer};
use accord_units::{Duration, Time};

/// Draws the sizes of packets, or takes a time for each before it sends it.
///
/// A host takes one packet after the other. Its time for one is random and uniform, which breaks
/// the phase effects of lines of equal rates [Floyd and Jacobson 1991; RFC 5166 §2.9].
pub struct Host {
    /// Of the packets, where they are random.
    sizes: Option<Sizer>,
    /// The time for a packet is less than this, in picoseconds.
    longest: f64,
    dice: Dice,
    /// When it has done with the last packet.
    free: Time,
    /// Packets that it has not done with, by when it will have.
    waiting: Queue,
}

impl Host {
    /// That of flow `id`, if it does anything at all.
    pub fn new(flow: &Flow, id: usize, scenario: &Scenario) -> Option<Box<Host>> {
        let seed = scenario.seed;
        let sizes = flow.sizes.as_ref().map(|law| Sizer::new(law, id, seed));
        (sizes.is_some() || !flow.processing.is_zero()).then(|| {
            Box::new(Host {
                sizes,
                longest: flow.processing.as_ps() as f64,
                dice: Dice::new(seed, id, Purpose::Processing),
                free: Time::ZERO,
                waiting: Queue::EMPTY,
            })
        })
    }

    /// The size of the next packet, where it is random.
    pub fn size(&mut self) -> Option<u16> {
        let size = self.sizes.as_mut()?.draw();
        Some(size.get() as u16)
    }

    /// Takes a packet at `now`. Gives when it has done with it, if it takes a time for packets.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<Time> {
        if self.longest == 0.0 {
            return None;
        }
        let time = self.dice.uniform() * self.longest;
        // By way of a signed integer, which is one instruction.
        self.free = self.free.max(now) + Duration::from_ps(time as i64 as u64);
        Some(self.free)
    }

    /// Keeps a packet until it has done with it. Gives whether none is before it.
    pub fn hold(&mut self, pool: &mut Pool, place: Place, until: Time) -> bool {
        pool.push(&mut self.waiting, place, until)
    }

    /// The packet that it has done with, and when it will have done with the next.
    pub fn done(&mut self, pool: &mut Pool) -> Option<(Place, Time)> {
        let place = pool.pop(&mut self.waiting)?;
        Some((place, self.waiting.time()))
    }
}
