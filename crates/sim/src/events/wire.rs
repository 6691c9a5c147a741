//! A directed link: its port, its wire, and the packets on it.

use super::shared::Shared;
use crate::gauge::Gauge;
use crate::packet::Packet;
use crate::pipe::Pipe;
use crate::pool::{Place, Queue};
use crate::survey::Form;
use crate::ticket::Ticket;
use accord_aqm::{AnyAqm, Aqm};
use accord_elements::{InOrder, Loss, Transit, dice, port, timeline};
use accord_port::{Area, Count, Counters, DropReason, Port, Timeline};
use accord_scenario::Scenario;
use accord_traffic::Dice;
use accord_transport::Segment;
use accord_units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A port in one of its forms. The larger ones are boxed, because a network may have very many
/// links, and most of those are pipes.
pub enum Line {
    /// A port of [`Form::Stepped`] or [`Form::Port`].
    Port(Box<Held>),
    /// A port of [`Form::Timeline`], with the random stream of its discipline.
    Timeline(Box<(Timeline, Dice)>),
    /// A port of [`Form::Pipe`].
    Pipe(Pipe),
    /// A port of [`Form::Shared`], with its random stream.
    Shared(Box<(Shared, Dice)>),
    /// No port: the edge of a tunnel, which is this flow.
    Edge(Edge),
}

/// The edge of a tunnel, which is this flow. The flow has what waits there.
pub struct Edge(pub usize);

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

    /// Creates the edge of a tunnel, which is this flow. The flow has what waits there.
    pub fn edge(tunnel: usize) -> Wire {
        Wire {
            line: Line::Edge(Edge(tunnel)),
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

    /// The port, to be read.
    pub fn gauge(&mut self) -> &mut dyn Gauge {
        match &mut self.line {
            Line::Port(held) => &mut **held,
            Line::Timeline(timeline) => &mut timeline.0,
            Line::Pipe(pipe) => pipe,
            Line::Shared(shared) => &mut shared.0,
            Line::Edge(edge) => edge,
        }
    }

    /// Returns the time at which the queue discipline wants its timer.
    pub fn next_timer(&self) -> Option<Time> {
        match &self.line {
            Line::Port(held) => held.port.aqm().next_timer(),
            Line::Timeline(timeline) => timeline.0.aqm().next_timer(),
            Line::Pipe(_) | Line::Shared(_) | Line::Edge(_) => None,
        }
    }
}

impl Gauge for Edge {
    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn held(&self) -> Count {
        Count::default()
    }

    fn sent(&self, _now: Time) -> f64 {
        0.0
    }
}

impl Gauge for Held {
    fn advance(&mut self, now: Time) {
        if !self.stepped {
            self.port.advance(now);
        }
    }

    fn counters(&self) -> Counters {
        *self.port.counters()
    }

    fn held(&self) -> Count {
        self.port.held()
    }

    fn sent(&self, now: Time) -> f64 {
        self.port.sent(now)
    }

    fn area(&self, now: Time) -> Area {
        self.port.area(now)
    }

    fn take_longest(&mut self) -> Count {
        self.port.take_longest()
    }

    fn aqm(&self) -> Option<&AnyAqm> {
        Some(self.port.aqm())
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
}
