//! A directed link: its port and its wire.

use crate::packet::Packet;
use accord_aqm::{AnyAqm, Aqm, Entropy};
use accord_port::{Count, Counters, Limit, Port, Timeline};
use accord_scenario::{self as scenario, Purpose, stream};
use accord_units::{Bytes, Duration, Rate, Time};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random stream as the crates without I/O want it.
pub struct Dice(pub Xoshiro256PlusPlus);

impl Entropy for Dice {
    fn uniform(&mut self) -> f64 {
        // The upper 53 bits, as a fraction.
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// The port, in the form that the link needs.
pub enum Line {
    /// One FIFO queue, fixed rate.
    Timeline(Timeline),
    /// Everything else.
    Port(Port<Packet>),
}

/// A directed link.
pub struct Wire {
    /// Its port.
    pub line: Line,
    /// Propagation delay.
    pub delay: Duration,
    /// Nothing arrives before what was sent earlier.
    pub last_arrival: Time,
    /// All that it carries comes from one link, so packets need no event to enter it.
    pub inline: bool,
    /// Packets lost on the wire.
    pub lost: Count,
    loss: f64,
    control_loss: f64,
    loss_dice: Dice,
    /// For the queue discipline.
    pub dice: Dice,
}

impl Wire {
    /// An idle link. `stepped` chooses the form of its port.
    pub fn new(link: &scenario::Link, id: usize, seed: u64, stepped: bool) -> Wire {
        let aqm = AnyAqm::build(&link.queue.discipline);
        let limit = match link.queue.limit {
            scenario::Limit::Packets(n) => Limit::packets(n),
            scenario::Limit::Bytes(b) => Limit::bytes(b),
            scenario::Limit::Unlimited => Limit::UNLIMITED,
        };
        let line = if stepped || aqm.next_timer().is_some() {
            Line::Port(Port::new(link.rate, limit, aqm))
        } else {
            Line::Timeline(Timeline::new(link.rate, limit, aqm))
        };
        Wire {
            line,
            delay: link.delay,
            last_arrival: Time::ZERO,
            inline: false,
            lost: Count::default(),
            loss: link.loss,
            control_loss: link.control_loss,
            loss_dice: Dice(stream(seed, id, Purpose::Loss)),
            dice: Dice(stream(seed, id, Purpose::Queue)),
        }
    }

    /// A packet is on the wire at `sent`: when it comes out, unless it is lost.
    #[inline]
    pub fn propagate(&mut self, packet: &Packet, sent: Time) -> Option<Time> {
        let p = if packet.is_control() {
            self.control_loss
        } else {
            self.loss
        };
        if p > 0.0 && self.loss_dice.uniform() < p {
            self.lost.add(packet.bytes());
            return None;
        }
        let arrival = (sent + self.delay).max(self.last_arrival);
        self.last_arrival = arrival;
        Some(arrival)
    }

    /// Brings counters and backlog up to date.
    pub fn advance(&mut self, now: Time) {
        if let Line::Timeline(t) = &mut self.line {
            t.advance(now);
        }
    }

    /// What happened at the port so far.
    pub fn counters(&self) -> &Counters {
        match &self.line {
            Line::Timeline(t) => t.counters(),
            Line::Port(p) => p.counters(),
        }
    }

    /// Packets and bytes queued.
    pub fn backlog(&self) -> (u64, Bytes) {
        match &self.line {
            Line::Timeline(t) => t.backlog(),
            Line::Port(p) => p.backlog(),
        }
    }

    /// Packets and bytes in the port, control packets included.
    pub fn held(&self) -> Count {
        match &self.line {
            Line::Timeline(t) => {
                let (packets, bytes) = t.backlog();
                Count {
                    packets,
                    bytes: bytes.get(),
                }
            }
            Line::Port(p) => p.held(),
        }
    }

    /// The queue discipline.
    pub fn aqm(&self) -> &AnyAqm {
        match &self.line {
            Line::Timeline(t) => t.aqm(),
            Line::Port(p) => p.aqm(),
        }
    }

    /// The service rate.
    pub fn rate(&self) -> Rate {
        match &self.line {
            Line::Timeline(t) => t.rate(),
            Line::Port(p) => p.rate(),
        }
    }
}
