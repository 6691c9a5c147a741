//! Hosts of flows that draw sizes, take time or are gateways.

use crate::gateway::Gateway;
use crate::packet::Packet;
use crate::pool::{Handle, Pool, Queue};
use accord_scenario::{Flow, Scenario};
use accord_traffic::{Dice, Purpose, Sizer};
use accord_transport::Sender;
use accord_units::{Duration, Time};

/// The packets that a host sends.
enum Content {
    /// Packets of one size.
    Plain,
    /// Packets of random sizes.
    Sized(Box<Sizer>),
    /// The packets of other flows, through a tunnel.
    Others(Box<Gateway>),
}

/// A host that draws the sizes of packets, takes time for each packet before it sends it, or is a
/// gateway.
///
/// A host takes one packet after the other. Its time per packet is random and uniform, which breaks
/// the phase effects of lines of equal rates [Floyd and Jacobson 1991; RFC 5166 §2.9].
pub struct Host {
    content: Content,
    /// The upper bound of the time per packet, in picoseconds.
    longest: f64,
    dice: Dice,
    /// The time at which the host has processed the latest packet.
    free: Time,
    /// The packets in processing, by the time of completion.
    waiting: Queue,
}

impl Host {
    /// Creates the host of flow `id` if it draws sizes, takes time or is a gateway.
    pub fn new(flow: &Flow, id: usize, scenario: &Scenario) -> Option<Box<Host>> {
        let seed = scenario.seed;
        let sizes = flow.sizes.as_ref().map(|law| Sizer::new(law, id, seed));
        let content = match (sizes, Gateway::new(scenario, id)) {
            (Some(sizes), _) => Content::Sized(Box::new(sizes)),
            (None, Some(gateway)) => Content::Others(Box::new(gateway)),
            (None, None) => Content::Plain,
        };
        let plain = matches!(content, Content::Plain);
        (!plain || !flow.processing.is_zero()).then(|| {
            Box::new(Host {
                content,
                longest: flow.processing.as_ps() as f64,
                dice: Dice::new(seed, id, Purpose::Processing),
                free: Time::ZERO,
                waiting: Queue::EMPTY,
            })
        })
    }

    /// Sets the size, or the contents, of the next packet.
    #[inline]
    pub fn load(&mut self, packet: &mut Packet, sender: &mut Sender, now: Time) {
        match &mut self.content {
            Content::Plain => {}
            Content::Sized(sizes) => packet.size = sizes.draw().get() as u16,
            Content::Others(gateway) => gateway.load(packet, sender, now),
        }
    }

    /// The gateways, if the host is one.
    pub fn gateway(&self) -> Option<&Gateway> {
        match &self.content {
            Content::Others(gateway) => Some(gateway),
            Content::Plain | Content::Sized(_) => None,
        }
    }

    /// The gateways, mutably.
    pub fn gateway_mut(&mut self) -> Option<&mut Gateway> {
        match &mut self.content {
            Content::Others(gateway) => Some(gateway),
            Content::Plain | Content::Sized(_) => None,
        }
    }

    /// Takes a packet at `now`. Returns the time at which it is processed, if that takes time.
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

    /// Keeps a packet until it is processed. Returns true if no packet is before it.
    pub fn hold(&mut self, pool: &mut Pool, handle: Handle, until: Time) -> bool {
        pool.push(&mut self.waiting, handle, until)
    }

    /// Returns the packet that has been processed, and the completion time of the next one.
    pub fn done(&mut self, pool: &mut Pool) -> Option<(Handle, Time)> {
        let handle = pool.pop(&mut self.waiting)?;
        Some((handle, self.waiting.time()))
    }
}
