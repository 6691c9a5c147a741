//! The host of a flow that does more than hand packets over.

use crate::pool::{Place, Pool, Queue};
use accord_scenario::{Flow, Scenario};
use accord_traffic::{Dice, Purpose, Sizer};
use accord_units::{Duration, Time};

/// A host that draws the sizes of packets, or takes time for each packet before it sends it.
///
/// A host takes one packet after the other. Its time per packet is random and uniform, which breaks
/// the phase effects of lines of equal rates [Floyd and Jacobson 1991; RFC 5166 §2.9].
pub struct Host {
    /// The sizes of the packets, if they are random.
    sizes: Option<Sizer>,
    /// The upper bound of the time per packet, in picoseconds.
    longest: f64,
    dice: Dice,
    /// The time at which the host is done with the last packet.
    free: Time,
    /// The packets that the host is not done with, by the time when it will be.
    waiting: Queue,
}

impl Host {
    /// Creates the host of flow `id` if it does more than hand packets over.
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

    /// Returns the size of the next packet if sizes are random.
    pub fn size(&mut self) -> Option<u16> {
        let size = self.sizes.as_mut()?.draw();
        Some(size.get() as u16)
    }

    /// Takes a packet at `now`. Returns the time at which the host is done with it, if the host
    /// takes time for packets.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<Time> {
        if self.longest == 0.0 {
            return None;
        }
        let time = self.dice.uniform() * self.longest;
        // The conversion by way of a signed integer is one instruction.
        self.free = self.free.max(now) + Duration::from_ps(time as i64 as u64);
        Some(self.free)
    }

    /// Keeps a packet until the host is done with it. Returns whether no packet is before it.
    pub fn hold(&mut self, pool: &mut Pool, place: Place, until: Time) -> bool {
        pool.push(&mut self.waiting, place, until)
    }

    /// Returns the packet that the host is done with, and the time at which it is done with the
    /// next.
    pub fn done(&mut self, pool: &mut Pool) -> Option<(Place, Time)> {
        let place = pool.pop(&mut self.waiting)?;
        Some((place, self.waiting.time()))
    }
}
