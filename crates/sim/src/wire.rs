//! A directed link: its port, its wire, and the packets on it.

use crate::packet::Packet;
use crate::pipe::{Calm, Express, Lane, Pipe};
use crate::pool::{Place, Queue};
use crate::shared::Shared;
use crate::ticket::Ticket;
use accord_aqm::{AnyAqm, Aqm, Structure};
use accord_elements::{InOrder, Loss, Transit, dice, ledger, port, timeline};
use accord_port::{Area, Count, Counters, DropReason, Port, Timeline};
use accord_scenario::{Link, Scenario};
use accord_traffic::Dice;
use accord_transport::Segment;
use accord_units::{Bytes, Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The forms of a port, from the one that can do everything to the cheapest. If two of them can be
/// used, they give the same departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Its queue is that of a fluid, which packets share. Departures are known at arrival.
    Shared,
    /// Holds its packets. Each departure has an event.
    Stepped,
    /// Holds the packets that wait. The end of a service is known when it begins. A departure has
    /// an event only if another packet waits for it.
    Port,
    /// A droptail [`Form::Port`] that leaves its packets in the pool, in a run without events of
    /// packets.
    Express,
    /// A [`Form::Pipe`] with two priorities, in a run without events of packets.
    Lane,
    /// Has one FIFO queue at a fixed rate. A departure is known at arrival.
    Timeline,
    /// A port on which no packet waits, in a run without events of packets. All its packets have this
    /// size. Its discipline does nothing then.
    Calm(u16),
    /// Has one FIFO queue at a fixed rate, without a limit, whose length is never read.
    Pipe,
}

/// Returns whether the link's queue drops what does not fit, and nothing else.
pub fn is_droptail(link: &Link) -> bool {
    let aqm = AnyAqm::build(&link.queue.discipline);
    aqm.passes_all() && matches!(aqm.structure(), Structure::Fifo)
}

/// A port in one of its forms. The larger ones are boxed, because a network may have very many
/// links, and most of those are pipes.
pub enum Line {
    /// A port of [`Form::Stepped`] or [`Form::Port`].
    Port(Box<Held>),
    /// A port of [`Form::Express`].
    Express(Box<Express>),
    /// A port of [`Form::Timeline`], with the random stream of its discipline.
    Timeline(Box<(Timeline, Dice)>),
    /// A port of [`Form::Calm`].
    Calm(Box<Calm>),
    /// A port of [`Form::Pipe`].
    Pipe(Pipe),
    /// A port of [`Form::Lane`].
    Lane(Box<Lane>),
    /// A port of [`Form::Shared`], with its random stream.
    Shared(Box<(Shared, Dice)>),
    /// No port: the edge of a tunnel, which is this flow.
    Edge(usize),
}

/// A port that holds packets.
pub struct Held {
    /// The port.
    pub port: Port<Ticket>,
    /// True if a packet leaves the port by an event of its own. If not, it leaves when its service
    /// begins.
    pub stepped: bool,
    /// The packet in service, if the port is stepped.
    pub serving: Option<Ticket>,
    /// The time at which its service began.
    pub begun: Time,
    /// The order of the packets on the wire.
    pub order: InOrder,
    /// What else decides when packets come out of the wire, if anything.
    pub transit: Option<Box<Transit>>,
    /// The packets on a wire whose packets overtake each other, by the time when they come out and
    /// then by the order in which they went in.
    pub loose: BinaryHeap<Reverse<(Time, u64, Place)>>,
    /// The number of packets that went in there.
    pub loosened: u64,
    /// True if the end of the service has an event.
    pub pending: bool,
    /// The random stream of the discipline.
    pub dice: Dice,
}

/// A directed link: two cache lines.
#[repr(align(64))]
pub struct Wire {
    /// The port.
    pub line: Line,
    /// The propagation delay.
    pub delay: Duration,
    /// The packets in the port and on the wire whose arrival at the far end is known, with that
    /// time, in order. An event is pending for the first one.
    pub flying: Queue,
    loss: Option<Box<Loss>>,
}

const _: () = assert!(size_of::<Wire>() == 128);

impl Wire {
    /// Creates an idle link with its port in the given form, which must be able to do what the link
    /// needs.
    pub fn new(scenario: &Scenario, id: usize, form: Form) -> Wire {
        let (link, seed) = (&scenario.links[id], scenario.seed);
        let dice = dice(id, seed);
        let line = match form {
            Form::Stepped | Form::Port => Line::Port(Box::new(Held {
                port: port(scenario, id),
                stepped: form == Form::Stepped,
                serving: None,
                begun: Time::ZERO,
                order: InOrder::default(),
                transit: Transit::of(link, id, seed).map(Box::new),
                loose: BinaryHeap::new(),
                loosened: 0,
                pending: false,
                dice,
            })),
            Form::Shared => Line::Shared(Box::new((Shared::new(link), dice))),
            Form::Express => Line::Express(Box::new(Express::new(ledger(link, id, seed)))),
            Form::Timeline => Line::Timeline(Box::new((timeline(link, id, seed), dice))),
            Form::Calm(size) => {
                Line::Calm(Box::new(Calm::new(link.rate, Bytes::new(u64::from(size)))))
            }
            Form::Pipe => Line::Pipe(Pipe::new(link.rate)),
            Form::Lane => Line::Lane(Box::new(Lane::new(link.rate))),
        };
        Wire {
            line,
            delay: link.delay,
            flying: Queue::EMPTY,
            loss: Loss::of(link, id, seed).map(Box::new),
        }
    }

    /// Creates the edge of a tunnel, which is this flow. The flow has what waits there.
    pub fn edge(tunnel: usize) -> Wire {
        Wire {
            line: Line::Edge(tunnel),
            delay: Duration::ZERO,
            flying: Queue::EMPTY,
            loss: None,
        }
    }

    /// Returns whether the wire carries the packet. If not, the packet is lost.
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
            Line::Express(e) if e.ledger.is_sent(now) => {
                e.ledger.complete();
            }
            Line::Express(_) => {}
            Line::Timeline(t) => t.0.advance(now),
            Line::Calm(c) => c.advance(now),
            Line::Pipe(_) | Line::Lane(_) | Line::Shared(_) | Line::Edge(_) => {}
        }
    }

    /// Returns the counters of the port so far. Those of a pipe are as of the end of the run. Those of a
    /// port that packets share with a fluid are of the packets.
    pub fn counters(&self) -> Counters {
        match &self.line {
            Line::Port(p) => *p.port.counters(),
            Line::Express(e) => *e.ledger.counters(),
            Line::Timeline(t) => t.0.counters(),
            Line::Calm(c) => passed(c.served(), c.held()),
            Line::Shared(s) => s.0.counters(),
            Line::Pipe(p) => passed(p.served, p.held()),
            Line::Lane(l) => passed(l.served(), l.held()),
            Line::Edge(_) => Counters::default(),
        }
    }

    /// Returns what waits in the queue that the discipline governs, integrated up to `now`, the time of
    /// the last [`Wire::advance`]. For a pipe it is not known.
    pub fn area(&self, now: Time) -> Area {
        match &self.line {
            Line::Port(p) => p.port.area(now),
            Line::Express(e) => e.ledger.area(now),
            Line::Timeline(t) => t.0.area(now),
            // No packet waits at a calm port.
            Line::Calm(_) => Area::default(),
            Line::Pipe(_) | Line::Lane(_) | Line::Shared(_) | Line::Edge(_) => Area::default(),
        }
    }

    /// Returns the largest backlog in packets and in bytes since the last call. For a pipe it is
    /// not known.
    pub fn take_longest(&mut self) -> Count {
        match &mut self.line {
            Line::Port(p) => p.port.take_longest(),
            Line::Express(e) => e.ledger.take_longest(),
            Line::Timeline(t) => t.0.take_longest(),
            Line::Calm(c) => c.take_longest(),
            Line::Pipe(_) | Line::Lane(_) | Line::Shared(_) | Line::Edge(_) => Count::default(),
        }
    }

    /// Returns the bytes sent by `now`, the time of the last [`Wire::advance`]. Those of a pipe are
    /// as of the end of the run.
    pub fn sent(&self, now: Time) -> f64 {
        match &self.line {
            Line::Port(p) => p.port.sent(now),
            Line::Express(e) => e.ledger.sent(now),
            Line::Timeline(t) => t.0.sent(now),
            Line::Calm(c) => c.sent(),
            Line::Pipe(p) => p.served.bytes as f64,
            Line::Lane(l) => l.served().bytes as f64,
            Line::Shared(_) | Line::Edge(_) => 0.0,
        }
    }

    /// Returns the packets and bytes in the port, control packets included. Those of a pipe are as
    /// of the end of the run.
    pub fn held(&self) -> Count {
        match &self.line {
            Line::Port(p) => p.port.held(),
            Line::Express(e) => e.ledger.held(),
            Line::Timeline(t) => {
                let (packets, bytes) = t.0.backlog();
                let bytes = bytes.get();
                Count { packets, bytes }
            }
            Line::Calm(c) => c.held(),
            Line::Pipe(p) => p.held(),
            Line::Lane(l) => l.held(),
            Line::Shared(s) => s.0.held(),
            Line::Edge(_) => Count::default(),
        }
    }

    /// Returns the queue discipline, unless it is known to be droptail.
    pub fn aqm(&self) -> Option<&AnyAqm> {
        match &self.line {
            Line::Port(p) => Some(p.port.aqm()),
            Line::Timeline(t) => Some(t.0.aqm()),
            Line::Express(_)
            | Line::Calm(_)
            | Line::Pipe(_)
            | Line::Lane(_)
            | Line::Shared(_)
            | Line::Edge(_) => None,
        }
    }

    /// Returns the time at which a service ends, if that matters to a port in a run with windows.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        match &self.line {
            Line::Port(held) => held.next(),
            _ => None,
        }
    }

    /// Returns the time at which the queue discipline wants its timer.
    pub fn next_timer(&self) -> Option<Time> {
        self.aqm().and_then(Aqm::next_timer)
    }
}

/// Returns the counters of a port without a limit.
fn passed(served: Count, held: Count) -> Counters {
    Counters {
        offered: served + held,
        served,
        ..Counters::default()
    }
}

impl Held {
    /// Returns the time at which `packet`, which was in service and is on the wire at `now`, comes out of
    /// it.
    pub fn arrival(&mut self, now: Time, delay: Duration, packet: &Packet) -> Time {
        match &mut self.transit {
            None => self.order.arrival(self.begun, now, delay),
            Some(transit) => {
                let is_ack = matches!(packet.segment, Segment::Ack { .. });
                transit.arrival(self.begun, now, delay, is_ack)
            }
        }
    }

    /// Returns whether packets may come out of the wire in another order than they went in.
    pub fn is_loose(&self) -> bool {
        self.transit.as_ref().is_some_and(|t| t.reorders())
    }

    /// Passes a packet that arrives at `now` through an idle port, as [`Port::pass`] does.
    #[inline]
    pub fn pass(
        &mut self,
        now: Time,
        place: Place,
        packet: &mut Packet,
    ) -> Option<Result<Time, DropReason>> {
        if self.stepped {
            return None;
        }
        self.port.advance(now);
        if self.port.held().packets > 0 {
            return None;
        }
        let (dice, mut ticket) = (&mut self.dice, Ticket::new(place, packet));
        let passed = (self.port).pass(now, &mut ticket, &mut || dice.uniform());
        ticket.settle(packet);
        passed
    }

    /// Returns the time at which a service ends, if that matters to the port.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        match self.stepped {
            true => self.port.busy_until(),
            false => self.port.next(),
        }
    }

    /// Brings the port up to date.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if !self.stepped {
            self.port.advance(now);
        }
    }
}
