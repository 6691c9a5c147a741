//! A directed link: its port, its wire, and the packets on it.

use crate::buffered::BufferedPort;
use crate::gauge::Gauge;
use crate::packet::Packet;
use crate::pipe::Pipe;
use crate::pool::{Handle, Queue};
use crate::survey::Form;
use accord_aqm::Aqm;
use accord_elements::{InOrder, Loss, Transit, dice, timeline};
use accord_port::{Count, Counters, Timeline};
use accord_scenario::Scenario;
use accord_traffic::Dice;
use accord_transport::Segment;
use accord_units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A port in one of its forms. The larger forms are boxed, because a network may have many links,
/// most of them pipes.
pub enum EventPort {
    /// A port of [`Form::Stepped`] or [`Form::Port`].
    Buffered(Box<BufferedLink>),
    /// A port of [`Form::Timeline`], with the random stream of its discipline.
    Timeline(Box<(Timeline, Dice)>),
    /// A port of [`Form::Pipe`].
    Pipe(Pipe),
    /// The edge of a tunnel in place of a port.
    TunnelEdge(TunnelEdge),
}

/// The edge of the tunnel with this flow. The flow holds the packets that wait there.
pub struct TunnelEdge(pub usize);

/// A port that holds packets, and the order of the packets on its wire.
pub struct BufferedLink {
    /// The port.
    pub port: BufferedPort,
    /// The time at which the service in progress began, if the port is stepped.
    pub begun: Time,
    /// The order of the packets on the wire.
    pub order: InOrder,
    /// The jitter, the reordering and the aggregation of the wire, if it has any.
    pub transit: Option<Box<Transit>>,
    /// The packets on a reordering wire, ordered by (exit time, entry order).
    pub unordered: BinaryHeap<Reverse<(Time, u64, Handle)>>,
    /// The number of packets that have entered a reordering wire.
    pub entered: u64,
    /// True if there is an event for the end of the service.
    pub pending: bool,
}

/// A directed link: two cache lines.
#[repr(align(64))]
pub struct Wire {
    /// The port.
    pub port: EventPort,
    /// The propagation delay.
    pub delay: Duration,
    /// The packets in the port and on the wire whose arrival at the far end is known, in order of
    /// arrival. Only the first one has a pending event.
    pub in_flight: Queue,
    loss: Option<Box<Loss>>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Wire>() == 128);

impl Wire {
    /// Creates an idle link with a port of the given form, which must support all features that the
    /// link needs.
    pub fn new(scenario: &Scenario, id: usize, form: Form) -> Wire {
        let (link, seed) = (&scenario.links[id], scenario.seed);
        let dice = dice(id, seed);
        let port = match form {
            Form::Stepped | Form::Port => EventPort::Buffered(Box::new(BufferedLink {
                port: BufferedPort::new(scenario, id, form == Form::Stepped),
                begun: Time::ZERO,
                order: InOrder::default(),
                transit: Transit::of(link, id, seed).map(Box::new),
                unordered: BinaryHeap::new(),
                entered: 0,
                pending: false,
            })),
            Form::Timeline => EventPort::Timeline(Box::new((timeline(link, id, seed), dice))),
            Form::Pipe => EventPort::Pipe(Pipe::new(link.rate)),
        };
        Wire {
            port,
            delay: link.delay,
            in_flight: Queue::EMPTY,
            loss: Loss::of(link, id, seed).map(Box::new),
        }
    }

    /// Creates the edge of the tunnel with this flow.
    pub fn edge(tunnel: usize) -> Wire {
        Wire {
            port: EventPort::TunnelEdge(TunnelEdge(tunnel)),
            delay: Duration::ZERO,
            in_flight: Queue::EMPTY,
            loss: None,
        }
    }

    /// Returns true if the wire carries the packet. Otherwise the packet is lost.
    #[inline]
    pub fn takes(&mut self, packet: &Packet) -> bool {
        match &mut self.loss {
            Some(loss) => !loss.takes(packet.is_control()),
            None => true,
        }
    }

    /// The port, for readings.
    pub fn gauge(&mut self) -> &mut dyn Gauge {
        match &mut self.port {
            EventPort::Buffered(link) => &mut link.port,
            EventPort::Timeline(timeline) => &mut timeline.0,
            EventPort::Pipe(pipe) => pipe,
            EventPort::TunnelEdge(edge) => edge,
        }
    }

    /// Returns the time of the queue discipline's timer.
    pub fn next_timer(&self) -> Option<Time> {
        match &self.port {
            EventPort::Buffered(link) => link.port.next_timer(),
            EventPort::Timeline(timeline) => timeline.0.aqm().next_timer(),
            EventPort::Pipe(_) | EventPort::TunnelEdge(_) => None,
        }
    }
}

impl Gauge for TunnelEdge {
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

impl BufferedLink {
    /// Returns the time at which `packet` comes out of the wire. The service of the packet ended at
    /// `now`.
    pub fn arrival(&mut self, now: Time, delay: Duration, packet: &Packet) -> Time {
        match &mut self.transit {
            None => self.order.arrival(self.begun, now, delay),
            Some(transit) => {
                let is_ack = matches!(packet.segment, Segment::Ack { .. });
                transit.arrival(self.begun, now, delay, is_ack)
            }
        }
    }

    /// Returns true if the wire may reorder packets.
    pub fn reorders(&self) -> bool {
        self.transit.as_ref().is_some_and(|t| t.reorders())
    }
}
