//! Gateways in the simulation: the edge queue of a tunnel, and the packets of other flows in it.
//!
//! A packet that arrives at a gateway leaves the calendar and waits in the edge queue. A datagram
//! of the tunnel's flow then travels in its place, and the packet goes on at the far gateway.

use crate::packet::Packet;
use accord_aqm::PacketMeta;
use accord_family::Service;
use accord_port::{Count, Edge, PortPacket as _};
use accord_scenario::Scenario;
use accord_traffic::{Purpose, secret};
use accord_transport::{Segment, Sender};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// A packet that waits at the edge.
#[derive(Clone, Copy)]
struct EdgePacket {
    packet: Packet,
    overhead: u16,
}

impl accord_port::PortPacket for EdgePacket {
    fn meta(&self) -> PacketMeta {
        let meta = self.packet.meta();
        PacketMeta { size: meta.size + Bytes::new(u64::from(self.overhead)), ..meta }
    }

    fn mark(&mut self) {
        self.packet.mark();
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        self.packet.add_virtual_delay(delay);
    }
}

/// The gateways of a tunnel: where packets enter it, and where they leave it.
pub struct Gateway {
    edge: Edge<EdgePacket>,
    overhead: u16,
    /// True once the tunnel may send.
    open: bool,
    /// The packets in the network, by the numbers of their datagrams.
    inside: VecDeque<(u64, Packet)>,
    /// The packets that the edge queue dropped since they were last counted.
    dropped: Vec<Packet>,
    /// The packets that arrived, that were sent and that were dropped.
    counts: [Count; 3],
}

impl Gateway {
    /// Creates the gateways of flow `id`, if it is a tunnel.
    pub fn new(scenario: &Scenario, id: usize) -> Option<Gateway> {
        let flow = &scenario.flows[id];
        let tunnel = flow.tunnel.as_ref()?;
        let secret = secret(scenario.seed, id, Purpose::Edge);
        Some(Gateway {
            edge: Edge::new(&[Service::default()], tunnel.queue, flow.packet, secret),
            overhead: tunnel.overhead.get() as u16,
            open: false,
            inside: VecDeque::new(),
            dropped: Vec::new(),
            counts: [Count::default(); 3],
        })
    }

    /// Takes a packet that arrives at the edge.
    pub fn push(&mut self, packet: Packet, now: Time) {
        let waiting = EdgePacket { packet, overhead: self.overhead };
        self.counts[0].add(waiting.meta().size);
        let (dropped, counts) = (&mut self.dropped, &mut self.counts);
        self.edge.push(waiting, 0, now, &mut |waiting, _| {
            counts[2].add(waiting.meta().size);
            dropped.push(waiting.packet);
        });
    }

    /// Passes the size of the first packet and the length of the queue to the sender.
    pub fn offer(&mut self, sender: &mut Sender, now: Time) {
        if !self.open {
            return;
        }
        let (dropped, counts) = (&mut self.dropped, &mut self.counts);
        let head = self.edge.head(now, &mut |waiting, _| {
            counts[2].add(waiting.meta().size);
            dropped.push(waiting.packet);
        });
        let size = head.map(|head| head.packet.meta().size);
        sender.set_head(size, self.edge.len());
    }

    /// Puts the next packet into a datagram. The packet's codepoint becomes that of the datagram
    /// [RFC 6040 §4.1].
    pub fn load(&mut self, datagram: &mut Packet, sender: &mut Sender, now: Time) {
        let (Some(head), Segment::Data { number, .. }) = (self.edge.take(), datagram.segment)
        else {
            return debug_assert!(false, "the sender knows what waits");
        };
        let waiting = head.packet;
        let size = waiting.meta().size;
        self.counts[1].add(size);
        datagram.size = size.get() as u16;
        datagram.ecn = waiting.packet.ecn;
        self.inside.push_back((number, waiting.packet));
        self.offer(sender, now);
    }

    /// Takes the packet out of the datagram of this number.
    pub fn unload(&mut self, number: u64) -> Option<Packet> {
        // Datagrams seldom overtake each other.
        let at = self.inside.partition_point(|(n, _)| *n < number);
        let found = self.inside.get(at).is_some_and(|(n, _)| *n == number);
        found.then(|| self.inside.remove(at))?.map(|(_, packet)| packet)
    }

    /// Lets the tunnel send from now on.
    pub fn open(&mut self) {
        self.open = true;
    }

    /// Returns the packets that the edge queue has dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.dropped)
    }

    /// The packets at the edge and in the network.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.edge.packets().map(|waiting| &waiting.packet);
        waiting.chain(self.inside.iter().map(|(_, packet)| packet))
    }

    /// The packets that arrived, that were sent and that were dropped at the edge. Bytes include
    /// the overhead.
    pub fn counts(&self) -> [Count; 3] {
        self.counts
    }

    /// The packets that wait at the edge.
    pub fn held(&self) -> Count {
        let mut held = Count::default();
        for waiting in self.edge.packets() {
            held.add(waiting.meta().size);
        }
        held
    }

    /// The packets that the edge queue has dropped.
    pub fn drops(&self) -> u64 {
        self.counts[2].packets
    }
}
