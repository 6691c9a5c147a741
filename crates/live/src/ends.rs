//! The two ends of a flow, each at its node, with their counters.

use accord_elements::{Session, ends};
use accord_record::Delays;
use accord_scenario::{Carrier, Flow, Scenario, State};
use accord_traffic::Sizer;
use accord_transport::wire::{self, Header, Kind, tos};
use accord_transport::{Receiver, Segment, Sender, View};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

use crate::arrived::Arrived;
use crate::packet::Packet;
use crate::quic::Quic;

/// An order to a connection of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Supply: the application of a flow has this number of packets more to send; `u64::MAX` is
    /// unlimited.
    Supply(usize, u64),
    /// Stop: a flow stops.
    Stop(usize),
    /// Deliver: a packet has arrived at the node of its end.
    Deliver(Packet),
    /// Enter: a packet is at the entry of this tunnel.
    Enter(usize, Packet),
}

/// The sending end of a flow.
#[derive(Debug)]
pub struct Source {
    /// The flow.
    pub flow: usize,
    /// The endpoint. It is idle if another stack carries the flow.
    pub sender: Sender,
    /// True if the flow is a connection of the kernel, or a tunnel of gateways.
    pub is_kernel: bool,
    /// The sending end of a QUIC stack, if one carries the flow.
    pub quic: Option<Quic>,
    /// The application.
    pub session: Session,
    /// The sizes of the packets, if they are random.
    pub sizes: Option<Sizer>,
    /// The data sent, in bytes.
    sent: u64,
    /// Sending times and the bytes sent by then, as far back as needed.
    history: VecDeque<(Time, u64)>,
    /// The bytes that would have arrived by now over empty queues.
    due: u64,
}

/// The reading of a sending end at a sample. Sums are since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceReading {
    /// True if the flow has started.
    pub started: bool,
    /// True if the flow has stopped.
    pub stopped: bool,
    /// The data bytes sent.
    pub sent: u64,
    /// The data bytes that would have arrived by now over empty queues.
    pub due: u64,
    /// The sender's state. For a connection of the kernel, the connection's owner fills it in.
    pub view: View,
    /// The bytes that wait at the edge of a tunnel, and the packets that were dropped there.
    pub edge: Option<(u64, u64)>,
}

impl Source {
    /// Creates the sending end of a flow that has not started, carried by our transport. Its sender
    /// keeps a log if `log`.
    pub fn new(scenario: &Scenario, flow: usize, log: bool) -> Source {
        let f = &scenario.flows[flow];
        let base_rtt = base_rtt(&scenario.at(Time::ZERO), flow);
        let (sender, _) = ends(f, base_rtt);
        let sender = if log && f.carrier == Carrier::Ours { sender.logged() } else { sender };
        Source {
            flow,
            sender,
            is_kernel: is_foreign(f),
            quic: None,
            session: Session::default(),
            sizes: (f.sizes.as_ref()).map(|law| Sizer::new(law, flow, scenario.seed)),
            sent: 0,
            history: VecDeque::new(),
            due: 0,
        }
    }

    /// Runs the application, in the present state of the network. Returns the time of its next
    /// action.
    pub fn act(&mut self, now: Time, network: &State, orders: &mut Vec<Order>) -> Time {
        self.session.allow(&self.sender, now);
        let Some(step) = self.session.act(now) else {
            return Time::MAX;
        };
        if step.new_connection {
            let f = &network.scenario.flows[self.flow];
            let base_rtt = base_rtt(network, self.flow);
            (self.sender).reconnect(&f.controller, &f.service, base_rtt, now);
        }
        match &mut self.quic {
            Some(quic) => quic.end.supply(step.supply, step.is_transfer, now),
            None if self.is_kernel => orders.push(Order::Supply(self.flow, step.supply)),
            None => self.sender.supply(step.supply),
        }
        step.again.map_or(Time::MAX, |span| now + span)
    }

    /// Stops the flow. The rest of a transfer is never sent.
    pub fn stop(&mut self, now: Time, orders: &mut Vec<Order>) {
        self.session.stop();
        match &mut self.quic {
            Some(quic) => quic.end.stop(now),
            None if self.is_kernel => orders.push(Order::Stop(self.flow)),
            None => self.sender.stop(),
        }
    }

    /// Counts data that is sent.
    pub fn count(&mut self, now: Time, size: Bytes) {
        self.sent += size.get();
        self.history.push_back((now, self.sent));
    }

    /// Returns the reading, with `one_way` the delay of data over empty queues.
    pub fn read(&mut self, now: Time, one_way: Duration) -> SourceReading {
        while let Some(&(sent, bytes)) = self.history.front()
            && sent + one_way <= now
        {
            self.due = bytes;
            self.history.pop_front();
        }
        SourceReading {
            started: self.session.is_started(),
            stopped: self.session.has_ended(),
            sent: self.sent,
            due: self.due,
            view: match &self.quic {
                Some(quic) => quic.end.view(),
                None => self.sender.view(),
            },
            edge: None,
        }
    }
}

/// Returns the round-trip time of a flow over empty queues. Real hosts have their own processing
/// time, so that none is added.
pub fn base_rtt(network: &State, flow: usize) -> Duration {
    network.base_rtt(flow) - network.scenario.flows[flow].mean_processing()
}

/// Returns true if the packets of a flow come from the kernel: it is a connection of the kernel, or
/// a tunnel of gateways.
pub fn is_foreign(flow: &Flow) -> bool {
    matches!(flow.carrier, Carrier::Kernel(_)) || flow.tunnel.is_some()
}

/// The receiving end of a flow.
#[derive(Debug)]
pub struct Sink {
    /// The flow.
    pub flow: usize,
    receiver: Receiver,
    /// The receiving end of a QUIC stack, if one carries the flow.
    pub quic: Option<Quic>,
    /// The data that has arrived, for a connection of the kernel.
    arrived: Arrived,
    /// The reading for a sample.
    pub reading: SinkReading,
}

/// The reading of a receiving end. Sums are since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinkReading {
    /// The data bytes that arrived.
    pub delivered: u64,
    /// The data bytes that arrived for the first time.
    pub fresh: u64,
    /// The delays of data, for flows whose packets carry their sending time.
    pub delays: Option<Delays>,
}

impl Sink {
    /// Creates the receiving end of a flow.
    pub fn new(scenario: &Scenario, flow: usize) -> Sink {
        let f = &scenario.flows[flow];
        // The receiver depends neither on the path nor on the sender's control.
        let (_, receiver) = ends(f, Duration::ZERO);
        Sink {
            flow,
            receiver,
            quic: None,
            arrived: Arrived::default(),
            reading: SinkReading::default(),
        }
    }

    /// Counts an arrived packet of a connection, with these sequence numbers.
    pub fn arrived(&mut self, size: Bytes, numbers: Option<(u32, u32)>) {
        let fresh = numbers.is_none_or(|(first, count)| self.arrived.add(first, count));
        self.count(size, fresh);
    }

    /// Counts an arrived packet. A packet that is not fresh is a copy.
    pub fn count(&mut self, size: Bytes, fresh: bool) {
        self.reading.delivered += size.get();
        self.reading.fresh += if fresh { size.get() } else { 0 };
    }

    /// Takes an arrived packet, with `one_way` its delay over empty queues. Returns the packet to
    /// send back.
    pub fn receive(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        one_way: Duration,
        now: Time,
    ) -> Option<Segment> {
        let size = packet.header.size;
        let marked = packet.is_marked();
        let virtual_s = wire::virtual_delay(&packet.datagram).map_or(0.0, |d| d.as_secs_f64());
        let receipt = (self.receiver).on_segment(segment, size, marked, virtual_s, None, now);
        if let Some(fresh) = receipt.data {
            self.count(size, fresh);
            if let Segment::Data { sent, .. } = segment {
                let delays = self.reading.delays.get_or_insert_default();
                delays.add(now.since(*sent), one_way);
            }
        }
        receipt.reply
    }
}

/// Writes the packet that carries a segment of a flow. `size` is that of a data packet, if it is
/// random.
pub fn packet(
    scenario: &Scenario,
    flow: usize,
    segment: &Segment,
    size: Option<Bytes>,
    ecn: u8,
    route: u16,
    run: u32,
) -> Packet {
    let f = &scenario.flows[flow];
    let kind = Kind::of(segment);
    let header = Header {
        kind,
        size: match kind {
            Kind::Data => size.unwrap_or(f.packet),
            Kind::Ack => f.ack,
            Kind::OutOfBand | Kind::InBand | Kind::Report | Kind::Count => f.control,
            // No segment is of this kind.
            Kind::Ip | Kind::IpReply => f.packet,
        },
        flow: flow as u32,
        run,
        route,
    };
    let mut datagram = Vec::with_capacity(header.size.get() as usize);
    wire::encode(&header, segment, &mut datagram);
    Packet { datagram, header, tos: tos(kind, ecn), aggregate: f.aggregate as u8 }
}
