//! A directed link: its port, its wire, and the packets on it.

use crate::packet::Packet;
use crate::pipe::Pipe;
use crate::pool::Queue;
use accord_aqm::{AnyAqm, Aqm};
use accord_elements::{InOrder, Loss, dice, port, timeline};
use accord_port::{Area, Count, Counters, Port, Timeline};
use accord_scenario::Link;
use accord_traffic::Dice;
use accord_units::{Duration, Time};

/// The forms of a port, from the one that can do everything to the cheapest. Where two can
/// be used, they give the same departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Holds its packets; an event for each departure.
    Stepped,
    /// Holds the packets that wait: when a service begins, its end is known. An event for each
    /// departure that another packet waits for.
    Port,
    /// One FIFO queue at a fixed rate: a departure is known at arrival.
    Timeline,
    /// The same without a limit, and nobody asks how long the queue is.
    Pipe,
}

/// A port in one of its forms. The larger ones are boxed: of most links there are many, and
/// they are pipes.
pub enum Line {
    /// See [`Form::Stepped`] and [`Form::Port`].
    Port(Box<Held>),
    /// See [`Form::Timeline`]; with the randomness of its discipline.
    Timeline(Box<(Timeline, Dice)>),
    /// See [`Form::Pipe`].
    Pipe(Pipe),
}

/// A port that holds packets.
pub struct Held {
    /// The port.
    pub port: Port<Packet>,
    /// A packet leaves it by an event of its own; if not, when its service begins.
    pub stepped: bool,
    /// The packet in service, where it is stepped.
    pub serving: Option<Packet>,
    /// When its service began.
    pub begun: Time,
    /// Keeps the packets on the wire in order.
    pub order: InOrder,
    /// The end of the service is an event.
    pub pending: bool,
    /// Randomness of its discipline.
    pub dice: Dice,
}

/// A directed link: two cache lines.
#[repr(align(64))]
pub struct Wire {
    /// Its port.
    pub line: Line,
    /// Propagation delay.
    pub delay: Duration,
    /// Packets in the port and on the wire whose arrival at the far end is known, with that
    /// time, in order. An event is pending for the first.
    pub flying: Queue,
    loss: Option<Box<Loss>>,
}

const _: () = assert!(size_of::<Wire>() == 128);

impl Wire {
    /// An idle link with its port in the given form, which must be able to do what the link
    /// wants.
    pub fn new(link: &Link, id: usize, seed: u64, form: Form) -> Wire {
        let dice = dice(id, seed);
        let line = match form {
            Form::Stepped | Form::Port => Line::Port(Box::new(Held {
                port: port(link, id, seed),
                stepped: form == Form::Stepped,
                serving: None,
                begun: Time::ZERO,
                order: InOrder::default(),
                pending: false,
                dice,
            })),
            Form::Timeline => Line::Timeline(Box::new((timeline(link, id, seed), dice))),
            Form::Pipe => Line::Pipe(Pipe::new(link.rate)),
        };
        Wire {
            line,
            delay: link.delay,
            flying: Queue::EMPTY,
            loss: Loss::of(link, id, seed).map(Box::new),
        }
    }

    /// The wire takes a packet, or loses it.
    #[inline]
    pub fn takes(&mut self, packet: &Packet) -> bool {
        match &mut self.loss {
            Some(loss) => !loss.takes(packet.is_control()),
            None => true,
        }
    }

    /// Brings counters and backlog up to date.
    pub fn advance(&mut self, now: Time) {
        match &mut self.line {
            Line::Port(held) => held.advance(now),
            Line::Timeline(t) => t.0.advance(now),
            Line::Pipe(_) => {}
        }
    }

    /// What happened at the port so far; of a pipe, what will have happened by the end.
    pub fn counters(&self) -> Counters {
        match &self.line {
            Line::Port(p) => *p.port.counters(),
            Line::Timeline(t) => *t.0.counters(),
            Line::Pipe(p) => Counters {
                offered: p.served + p.held(),
                served: p.served,
                ..Counters::default()
            },
        }
    }

    /// What is queued, as the queue discipline sees it, integrated up to `now`, the time of the
    /// last [`Wire::advance`]. A pipe does not know.
    pub fn area(&self, now: Time) -> Area {
        match &self.line {
            Line::Port(p) => p.port.area(now),
            Line::Timeline(t) => t.0.area(now),
            Line::Pipe(_) => Area::default(),
        }
    }

    /// The most packets and bytes that were queued at any time since this was last called. A pipe
    /// does not know.
    pub fn take_longest(&mut self) -> Count {
        match &mut self.line {
            Line::Port(p) => p.port.take_longest(),
            Line::Timeline(t) => t.0.take_longest(),
            Line::Pipe(_) => Count::default(),
        }
    }

    /// Bytes sent by `now`, the time of the last [`Wire::advance`]; of a pipe, by the end.
    pub fn sent(&self, now: Time) -> f64 {
        match &self.line {
            Line::Port(p) => p.port.sent(now),
            Line::Timeline(t) => t.0.sent(now),
            Line::Pipe(p) => p.served.bytes as f64,
        }
    }

    /// Packets and bytes in the port, control packets included; of a pipe, at the end.
    pub fn held(&self) -> Count {
        match &self.line {
            Line::Port(p) => p.port.held(),
            Line::Timeline(t) => {
                let (packets, bytes) = t.0.backlog();
                let bytes = bytes.get();
                Count { packets, bytes }
            }
            Line::Pipe(p) => p.held(),
        }
    }

    /// The packets that its port holds; all others are in the pool.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let held = match &self.line {
            Line::Port(held) => Some(held),
            Line::Timeline(_) | Line::Pipe(_) => None,
        };
        let held = held.into_iter();
        held.flat_map(|held| held.port.waiting().chain(&held.serving))
    }

    /// The queue discipline, unless it is known to be droptail.
    pub fn aqm(&self) -> Option<&AnyAqm> {
        match &self.line {
            Line::Port(p) => Some(p.port.aqm()),
            Line::Timeline(t) => Some(t.0.aqm()),
            Line::Pipe(_) => None,
        }
    }

    /// When the queue discipline wants its timer.
    pub fn next_timer(&self) -> Option<Time> {
        self.aqm().and_then(Aqm::next_timer)
    }
}

impl Held {
    /// When the packet in service, which is on the wire at `now`, comes out of it.
    pub fn arrival(&mut self, now: Time, delay: Duration) -> Time {
        self.order.arrival(self.begun, now, delay)
    }

    /// Brings the port up to date.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if !self.stepped {
            self.port.advance(now);
        }
    }
}
