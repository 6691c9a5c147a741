//! The host of a flow, where it does more than to hand packets over.

use crate::pool::{Place, Pool, Queue};
use accord_scenario::{Dice, Flow, Purpose, Scenario, Sizer};
use accord_units::{Duration, Time};

/// Draws the sizes of packets, or takes a time for each before it sends it.
///
/// A host takes one packet after the other. Its time for one is random and uniform, which breaks
/// the phase effects of lines of equal rates [Floyd and Jacobson 1991; RFC 5166 §2.9].
pub struct Host {
    /// Of the packets, where they are random.
    sizes: Option<Sizer>,
    /// The time for a packet is less than this.
    longest: Duration,
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
                longest: flow.processing,
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

    /// It takes a time for each packet.
    pub fn processes(&self) -> bool {
        !self.longest.is_zero()
    }

    /// Takes a packet at `now`. Gives when it has done with it, if none is before it.
    pub fn take(&mut self, pool: &mut Pool, place: Place, now: Time) -> Option<Time> {
        let time = self.dice.uniform() * self.longest.as_ps() as f64;
        self.free = self.free.max(now) + Duration::from_ps(time as u64);
        let first = pool.push(&mut self.waiting, place, self.free);
        first.then_some(self.free)
    }

    /// The packet that it has done with, and when it will have done with the next.
    pub fn done(&mut self, pool: &mut Pool) -> Option<(Place, Time)> {
        let place = pool.pop(&mut self.waiting)?;
        Some((place, self.waiting.time()))
    }
}
