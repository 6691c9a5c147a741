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

/// The host of a flow, which may draw the sizes of packets, take time for each packet before it sends
/// it, or be a gateway.
///
/// A host takes packets one after the other. Its time per packet is random and uniform, which
/// prevents the phase effects of lines with equal rates [Floyd and Jacobson 1991; RFC 5166 §2.9].
pub struct Host {
    /// The upper bound of the time per packet, in picoseconds.
    longest: f64,
    dice: Dice,
    /// The time at which the host has processed the latest packet.
    free: Time,
    /// The rest, boxed because most hosts have none.
    rest: Option<Box<Rest>>,
}

/// The contents of packets that are not all of one size, and the packets in processing.
struct Rest {
    content: Content,
    /// The packets in processing, by the time of completion.
    waiting: Queue,
}

/// The longest time per packet, in picoseconds: 53 days. A longer one is shortened.
const LONGEST: u64 = 1 << 62;

impl Host {
    /// Creates the host of flow `id`.
    pub fn new(flow: &Flow, id: usize, scenario: &Scenario) -> Host {
        let seed = scenario.seed;
        let sizes = flow.sizes.as_ref().map(|law| Sizer::new(law, id, seed));
        let content = match (sizes, Gateway::new(scenario, id)) {
            (Some(sizes), _) => Some(Content::Sized(Box::new(sizes))),
            (None, Some(gateway)) => Some(Content::Others(Box::new(gateway))),
            (None, None) => None,
        };
        Host {
            longest: flow.processing.as_ps().min(LONGEST) as f64,
            dice: Dice::new(seed, id, Purpose::Processing),
            free: Time::ZERO,
            rest: content.map(|content| Box::new(Rest { content, waiting: Queue::EMPTY })),
        }
    }

    /// Returns true if all data packets of a new flow have the same size.
    pub fn is_plain(&self) -> bool {
        self.rest.is_none()
    }

    /// Sets the size, or the contents, of the next packet.
    #[inline]
    pub fn load(&mut self, packet: &mut Packet, sender: &mut Sender, now: Time) {
        match self.rest.as_mut().map(|rest| &mut rest.content) {
            None | Some(Content::Plain) => {}
            Some(Content::Sized(sizes)) => packet.size = sizes.draw().get() as u16,
            Some(Content::Others(gateway)) => gateway.load(packet, sender, now),
        }
    }

    /// The gateways, if the host is a gateway.
    pub fn gateway(&self) -> Option<&Gateway> {
        match &self.rest.as_ref()?.content {
            Content::Others(gateway) => Some(gateway),
            Content::Plain | Content::Sized(_) => None,
        }
    }

    /// The gateways, mutably.
    pub fn gateway_mut(&mut self) -> Option<&mut Gateway> {
        match &mut self.rest.as_mut()?.content {
            Content::Others(gateway) => Some(gateway),
            Content::Plain | Content::Sized(_) => None,
        }
    }

    /// Takes a packet at `now`. Returns the time at which it is processed, if that takes time.
    #[inline]
    #[allow(unsafe_code)]
    pub fn take(&mut self, now: Time) -> Option<Time> {
        if self.longest == 0.0 {
            return None;
        }
        let time = self.dice.uniform() * self.longest;
        // SAFETY: the product is at least zero and at most `LONGEST`, which an `i64` holds, because a
        // uniform number is at least zero and below 1.
        let time = unsafe { time.to_int_unchecked::<i64>() };
        self.free = self.free.max(now) + Duration::from_ps(time as u64);
        Some(self.free)
    }

    /// Keeps a packet until it is processed. Returns true if no packet is before it.
    pub fn hold(&mut self, pool: &mut Pool, handle: Handle, until: Time) -> bool {
        let plain = || Box::new(Rest { content: Content::Plain, waiting: Queue::EMPTY });
        let rest = self.rest.get_or_insert_with(plain);
        pool.push(&mut rest.waiting, handle, until)
    }

    /// Returns the packet that has been processed, and the completion time of the next one.
    pub fn done(&mut self, pool: &mut Pool) -> Option<(Handle, Time)> {
        let waiting = &mut self.rest.as_mut()?.waiting;
        let handle = pool.pop(waiting)?;
        Some((handle, waiting.time()))
    }
}
